"""Descriptions of relations, over inputs whose columns are known by identity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff import describe_joins, describe_writes
from pyspark_substrait.analysis.diff.describe_reads import bag, message, one, read
from pyspark_substrait.analysis.diff.describe_writes import passed, record_of
from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Source, Style
from pyspark_substrait.analysis.diff.equivalence import Form, Forms, conjuncts
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, SortField, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    BrokenRelation,
    ConsistentPartitionWindow,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    FetchMode,
    Filter,
    Generate,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    Sort,
    SwitchingField,
    TopN,
    Update,
    Write,
)

__all__ = ["describe"]

_NONE: Mapping[int, int] = {}


def describe(
    relation: Relation,
    inputs: Sequence[tuple[int, ...]],
    outer: Record | None,
    forms: Forms,
    *,
    swap: bool = False,
    known: Mapping[int, int] = _NONE,
) -> Description:
    """Describe a relation.

    Args:
        inputs: the identities of the columns of its inputs.
        outer: the record around the query.
        swap: whether to describe it with its left and right input exchanged.
        known: the identities, in the other plan, of columns of the table that it reads or updates.
    """
    told = _describe(relation, inputs, outer, forms, swap, known)
    added = [
        message("enhancement", extension.enhancement, forms)
        for _, extension in reversed(relation.extensions)
        if extension.enhancement is not None
    ]
    return Description(parts=(*told.parts, *added), columns=told.columns, sources=told.sources) if added else told


def _describe(
    relation: Relation,
    inputs: Sequence[tuple[int, ...]],
    outer: Record | None,
    forms: Forms,
    swap: bool,
    known: Mapping[int, int],
) -> Description:
    match relation:
        case Read():
            return read(relation, outer, forms, known)
        case Filter(condition=condition):
            record = record_of(relation, inputs, outer, forms)
            return passed(inputs[0], bag("condition", Kind.CONDITION, condition, record, forms))
        case Sort(sorts=sorts):
            return passed(inputs[0], _sorts(sorts, record_of(relation, inputs, outer, forms), forms))
        case Fetch(offset_expr=offset, count_expr=count):
            return passed(inputs[0], *_limits(offset, count, record_of(relation, inputs, outer, forms), forms))
        case TopN(sorts=sorts, offset=offset, count=count, mode=mode):
            record = record_of(relation, inputs, outer, forms)
            parts = [_sorts(sorts, record, forms), *_limits(offset, count, record, forms)]
            if mode is not FetchMode.UNSPECIFIED:
                parts.append(one("mode", Kind.FETCH, mode.value, forms))
            return passed(inputs[0], *parts)
        case Project(expressions=expressions):
            record = record_of(relation, inputs, outer, forms)
            return _computed(relation, inputs[0], expressions, record, forms)
        case Aggregate():
            return _aggregate(relation, record_of(relation, inputs, outer, forms), forms)
        case Set(op=op):
            width = min(map(len, inputs), default=0)
            columns = tuple(forms.number("set", *(member[at] for member in inputs)) for at in range(width))
            names = relation.members[0].names
            rows = tuple(
                Item(form=forms.plain(column), text=_name(names, at), column=column)
                for at, column in enumerate(columns)
            )
            parts = [one("operation", Kind.SET, op.value, forms), Part("column", Kind.SET, Style.BAG, rows)]
            return Description(parts=tuple(parts), columns=columns, sources=tuple((0, at) for at in range(width)))
        case ConsistentPartitionWindow():
            return _window(relation, inputs[0], record_of(relation, inputs, outer, forms), forms)
        case Expand():
            return _expand(relation, record_of(relation, inputs, outer, forms), forms)
        case Join() | LateralJoin() | Cross() | HashJoin() | MergeJoin() | NestedLoopJoin():
            return describe_joins.describe(relation, inputs, outer, forms, swap)
        case (
            Exchange()
            | Generate()
            | Write()
            | Ddl()
            | Update()
            | ExtensionLeaf()
            | ExtensionSingle()
            | ExtensionMulti()
        ):
            return describe_writes.describe(relation, inputs, outer, forms, known)
        case BrokenRelation(kind=kind, fault=fault):
            return Description(parts=(one("fault", Kind.EXTENSION, f"{kind}: {fault}", forms),), columns=(), sources=())
        case Reference() | DetachedRel():
            raise AssertionError("these stand for another relation")
        case _:
            assert_never(relation)


def _name(names: Sequence[str | None], position: int) -> str:
    name = names[position] if position < len(names) else None
    return f"${position}" if name is None else name


def _sorts(sorts: Iterable[SortField], record: Record, forms: Forms) -> Part:
    items = tuple(Item(form=forms.sort(sort, record), node=sort, record=record) for sort in sorts)
    return Part("sort key", Kind.SORT, Style.ROW, items)


def _limits(offset: Expression | None, count: Expression | None, record: Record, forms: Forms) -> list[Part]:
    """Return the offset and the count, without those that have no effect."""
    parts = []
    for word, node in (("offset", offset), ("count", count)):
        value = node.value if isinstance(node, Literal) else node
        if node is None or value is None or (word == "offset" and value == 0):
            continue
        form = forms.plain("number", value) if isinstance(value, int) else forms.expression(node, record)
        parts.append(Part(word, Kind.FETCH, Style.ONE, (Item(form=form, node=node, record=record),)))
    return parts


def _emitted(relation: Relation, position: int) -> str | None | bool:
    """Return the name under which a column before emit is put out; False if it isn't put out."""
    emit = relation.common.emit
    if emit is None:
        at = position
    elif position in emit:
        at = emit.index(position)
    else:
        return False
    names = relation.names
    return names[at] if at < len(names) else None


def _computed(
    relation: Project, input: tuple[int, ...], expressions: Sequence[Expression], record: Record, forms: Forms
) -> Description:
    columns, items = list(input), []
    sources: list[Source] = [(0, at) for at in range(len(input))]
    for position, node in enumerate(expressions, start=len(input)):
        match node:
            case FieldReference(root=RootReference(), reference=(StructField(field=field),)) if field < len(input):
                columns.append(input[field])
                sources.append((0, field))
            case _:
                form = forms.expression(node, record)
                column = forms.number("computed", form.meaning)
                columns.append(column)
                sources.append(None)
                name = _emitted(relation, position)
                if name is not False:
                    named = name if isinstance(name, str) else None
                    items.append(Item(form=form, node=node, record=record, column=column, name=named))
    parts = (Part("column", Kind.COLUMN, Style.COLUMNS, tuple(items)),)
    return Description(parts=parts, columns=tuple(columns), sources=tuple(sources))


def _aggregate(relation: Aggregate, record: Record, forms: Forms) -> Description:
    columns: list[int] = []
    sources: list[Source] = []
    keys = []
    for node in relation.grouping_expressions:
        form = forms.expression(node, record)
        column = forms.number("key", form.meaning)
        keys.append(Item(form=form, node=node, record=record, column=column))
        columns.append(column)
        match node:
            case FieldReference(root=RootReference(), reference=(StructField(field=field),)):
                sources.append((0, field))
            case _:
                sources.append(None)
    used = {at for grouping in relation.groupings for at in grouping.expression_references}
    parts = [
        Part("grouping key", Kind.GROUPING, Style.COLUMNS, tuple(key for at, key in enumerate(keys) if at in used)),
        _grouping_sets(relation, keys, forms),
    ]
    measures = []
    for position, measure in enumerate(relation.measures, start=len(keys)):
        form = forms.aggregate(measure.measure, record)
        if measure.filter is not None:
            kept = forms.of("filter", _bagged(measure.filter, record, forms), ordered=False)
            form = forms.of("filtered", (form, kept))
        column = forms.number("measure", form.meaning)
        columns.append(column)
        sources.append(None)
        name = _emitted(relation, position)
        if name is not False:
            named = name if isinstance(name, str) else None
            measures.append(Item(form=form, node=measure, record=record, column=column, name=named))
    if len(relation.groupings) > 1:
        columns.append(forms.number("grouping set"))
        sources.append(None)
    parts.append(Part("measure", Kind.MEASURE, Style.COLUMNS, tuple(measures)))
    return Description(parts=tuple(parts), columns=tuple(columns), sources=tuple(sources))


def _bagged(condition: Expression, record: Record, forms: Forms) -> list[Form]:
    return [forms.expression(item, record) for item in conjuncts(condition)]


def _grouping_sets(relation: Aggregate, keys: Sequence[Item], forms: Forms) -> Part:
    """Return the grouping sets; the part is empty if there is only one, as that has all keys of the grouping."""
    sets = []
    for grouping in relation.groupings:
        chosen = sorted(set(grouping.expression_references))
        form = forms.of("grouping set", [keys[at].form for at in chosen if at < len(keys)], ordered=False)
        names = [_name(relation.direct_names, at) for at in chosen]
        sets.append(Item(form=form, text=f"({', '.join(names)})"))
    return Part("grouping set", Kind.GROUPING, Style.ROW, tuple(sets) if len(sets) > 1 else ())


def _window(relation: ConsistentPartitionWindow, input: tuple[int, ...], record: Record, forms: Forms) -> Description:
    columns = list(input)
    sources: list[Source] = [(0, at) for at in range(len(input))]
    items = []
    over = forms.of(
        "over",
        (
            forms.of(
                "partitions", [forms.expression(x, record) for x in relation.partition_expressions], ordered=False
            ),
            forms.sorts(relation.sorts, record),
        ),
    )
    for position, node in enumerate(relation.window_functions, start=len(input)):
        form = forms.windowed(node, record)
        column = forms.number("windowed", form.meaning, over.meaning)
        columns.append(column)
        sources.append(None)
        name = _emitted(relation, position)
        if name is not False:
            named = name if isinstance(name, str) else None
            items.append(Item(form=form, node=node, record=record, column=column, name=named))
    partitions = tuple(
        Item(form=forms.expression(node, record), node=node, record=record) for node in relation.partition_expressions
    )
    parts = (
        Part("partition key", Kind.WINDOW, Style.BAG, partitions),
        _sorts(relation.sorts, record, forms),
        Part("window function", Kind.WINDOW, Style.COLUMNS, tuple(items)),
    )
    return Description(parts=parts, columns=tuple(columns), sources=tuple(sources))


def _expand(relation: Expand, record: Record, forms: Forms) -> Description:
    items, columns, copies = [], [], 1
    for node in relation.all_fields:
        if isinstance(node, SwitchingField):
            form = forms.of("switching", [forms.expression(item, record) for item in node.duplicates])
            copies = max(copies, len(node.duplicates))
        else:
            form = forms.expression(node, record)
        column = forms.number("expanded", form.meaning)
        items.append(Item(form=form, node=node, record=record, column=column))
        columns.append(column)
    columns.append(forms.number("duplicate"))
    parts = (
        one("number of copies", Kind.ROWS, str(copies), forms),
        Part("column", Kind.COLUMN, Style.COLUMNS, tuple(items)),
    )
    return Description(parts=parts, columns=tuple(columns), sources=(None,) * len(columns))
