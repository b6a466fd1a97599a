"""Descriptions of relations, over inputs whose columns are known by identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Source, Style
from pyspark_substrait.analysis.diff.equivalence import Form, Forms, conjuncts
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.analysis.diff.value_descriptions import (
    fields,
    message,
    schema_columns,
    single_item_part,
    value_parts,
)
from pyspark_substrait.model.expressions import FieldReference, RootReference, SortField, StructField
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    BrokenRelation,
    BuildInput,
    ComparisonJoinKey,
    Cross,
    DetachedRel,
    Generate,
    Grouping,
    JoinType,
    Measure,
    Read,
    Reference,
    Relation,
    SimpleComparisonType,
    SwitchingField,
    TransformExpression,
    Update,
    WindowRelFunction,
    Write,
    description,
)
from pyspark_substrait.model.relations.joins import JoinBase
from pyspark_substrait.model.types import NamedStruct, Type

__all__ = ["describe"]

_NONE: Mapping[int, int] = {}

_KINDS = {subject: Kind(subject.value) for subject in description.Subject}

#: The join type that means the same with the inputs exchanged.
_SWAPPED: dict[object, object] = {
    JoinType.LEFT: JoinType.RIGHT,
    JoinType.LEFT_SEMI: JoinType.RIGHT_SEMI,
    JoinType.LEFT_ANTI: JoinType.RIGHT_ANTI,
    JoinType.LEFT_SINGLE: JoinType.RIGHT_SINGLE,
    JoinType.LEFT_MARK: JoinType.RIGHT_MARK,
}
_MIRRORED: Mapping[object, object] = {
    **_SWAPPED,
    **{right: left for left, right in _SWAPPED.items()},
    BuildInput.LEFT: BuildInput.RIGHT,
    BuildInput.RIGHT: BuildInput.LEFT,
}


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
    assert not isinstance(relation, Reference | DetachedRel), "these stand for another relation"
    return _Describer(relation, inputs, outer, forms, swap, known).made()


class _Describer:
    """Builds the description of a relation for comparison from the relation's own description."""

    def __init__(
        self,
        relation: Relation,
        inputs: Sequence[tuple[int, ...]],
        outer: Record | None,
        forms: Forms,
        swap: bool,
        known: Mapping[int, int],
    ) -> None:
        self.relation = relation
        self.described = relation.describe()
        self.outer = outer
        self.forms = forms
        self.swap = swap
        self.known = known
        self.inputs = list(inputs)
        if isinstance(relation, JoinBase | Cross):
            sides = (1, 0) if swap else (0, 1)
            self.inputs = [
                tuple(forms.number("side", side, column) for column in columns)
                for side, columns in zip(sides, inputs, strict=True)
            ]
        self.columns: list[int] = []
        self.sources: list[Source] = []
        self.of_columns: dict[int, list[Item]] = {}
        self.further: list[Part] = []

    def made(self) -> Description:
        for column in self.described.columns:
            self._put_out(column)
        parts = [made for part in self.described.parts for made in self._parts(part)]
        enhancements = [
            message("enhancement", extension.enhancement, self.forms)
            for _, extension in reversed(self.relation.extensions)
            if extension.enhancement is not None
        ]
        return Description(
            parts=(*parts, *self.further, *enhancements), columns=tuple(self.columns), sources=tuple(self.sources)
        )

    # records ----------------------------------------------------------------------------------------------------------

    def _record(
        self,
        columns: tuple[int, ...],
        names: tuple[str | None, ...],
        types: tuple[Type, ...],
        left: int | None = None,
    ) -> Record:
        anchor = self.relation.common.rel_anchor
        above = 0 if self.outer is None else self.outer.number
        number = 1 + self.forms.number("record", columns, anchor, above)
        return Record(
            columns=columns, names=names, types=types, left=left, anchor=anchor, outer=self.outer, number=number
        )

    def _of_input(self, at: int) -> Record:
        below = self.relation.inputs[at]
        return self._record(self.inputs[at], below.names, below.schema.types)

    @cached_property
    def input(self) -> Record:
        """The record of the only input, or of both inputs of a join."""
        below = self.relation.inputs
        if not below:
            return Record()
        if not isinstance(self.relation, JoinBase):
            return self._of_input(0)
        left, right = self.inputs
        types = tuple(type for item in below for type in item.schema.types)
        return self._record(left + right, below[0].names + below[1].names, types, len(left))

    @cached_property
    def output(self) -> Record:
        """The record of the columns before emit."""
        return self._record(tuple(self.columns), self.relation.direct_names, self.relation.direct_schema.types)

    @cached_property
    def table(self) -> Record:
        """The record of the table that is read or changed."""
        assert isinstance(self.relation, Read | Update), "others have no expressions over a table"
        schema = self.relation.base_schema if isinstance(self.relation, Read) else self.relation.table_schema
        return self._record(self._stored(schema), schema.top_level_names(), schema.struct.types)

    def _stored(self, schema: NamedStruct) -> tuple[int, ...]:
        """Return the identities of a table's columns."""
        return tuple(self.known.get(column, column) for column in schema_columns(schema, self.forms))

    def _over(self, over: Over) -> Record:
        match over:
            case Over.TABLE:
                return self.table
            case Over.OUTPUT:
                return self.output
            case _:
                return self.input

    # columns ----------------------------------------------------------------------------------------------------------

    def _put_out(self, column: description.Column) -> None:
        match column:
            case description.Passed(input=input, dropped=dropped):
                for at in range(len(self.inputs[input]) - dropped):
                    self._add(self.inputs[input][at], (input, at))
            case description.Part():
                self.of_columns[id(column)] = self._computed(column)
            case description.Own(title=title, count=count):
                made: tuple[object, ...] = (title,)
                if isinstance(self.relation, Generate):
                    arguments = self.input.columns[-self.relation.generator.arguments :]
                    made = (title, self.relation.generator, *arguments)
                for at in range(count):
                    self._add(self.forms.number(*made, at))
            case description.Merged():
                self._merge(column)
            case description.Declared(schema=schema):
                self._declare(schema)
            case _:
                assert_never(column)

    def _add(self, column: int, source: Source = None) -> None:
        self.columns.append(column)
        self.sources.append(source)

    def _computed(self, part: description.Part) -> list[Item]:
        """Put out the columns made from the nodes of a part, and return its items.

        A relation that passes on the columns of its input passes on those that it refers to, as well.
        """
        record = self.input
        beside = [
            self.forms.of(item.title, [self._form(node, record) for node in item.nodes], ordered=item.ordered).meaning
            for item in part.beside
        ]
        passes = isinstance(self.described.columns[0], description.Passed)
        items = []
        for node in part.nodes:
            assert not isinstance(node, TransformExpression), "it makes no column"
            position = len(self.columns)
            source = _referred(node, len(record.columns))
            if passes and source is not None:
                self._add(record.columns[source[1]], source)
                continue
            form = self._form(node, record)
            column = self.forms.number(part.title, form.meaning, *beside)
            self._add(column, source)
            name = self._emitted(position)
            if part.subject is description.Subject.GROUPING:
                items.append(Item(form=form, node=node, record=record, column=column))
            elif name is not False:
                named = name if isinstance(name, str) else None
                items.append(Item(form=form, node=node, record=record, column=column, name=named))
        return items

    def _emitted(self, position: int) -> str | None | bool:
        """Return the name under which a column before emit is put out; False if it isn't put out."""
        emit = self.relation.common.emit
        if emit is not None and position not in emit:
            return False
        at = position if emit is None else emit.index(position)
        names = self.relation.names
        return names[at] if at < len(names) else None

    def _merge(self, column: description.Merged) -> None:
        width = min(map(len, self.inputs), default=0)
        names = self.relation.inputs[0].names if self.inputs else ()
        rows = []
        for at in range(width):
            merged = self.forms.number("set", *(member[at] for member in self.inputs))
            self._add(merged, (0, at))
            rows.append(Item(form=self.forms.plain(merged), text=_name(names, at), column=merged))
        self.further.append(Part("column", Kind.SET, Style.BAG, tuple(rows)))

    def _declare(self, schema: NamedStruct | None) -> None:
        match self.relation:
            case Read():
                self._read(self.relation)
            case BrokenRelation():
                return
            case Write() if schema is not None:
                for column in schema_columns(schema, self.forms)[: len(self.relation.direct_schema.types)]:
                    self._add(column)
            case _:
                for at in range(len(self.relation.direct_schema.types)):
                    self._add(self.forms.number("made", at))

    def _read(self, relation: Read) -> None:
        columns, mask = self.table.columns, relation.projection
        if mask is None:
            for column in columns:
                self._add(column)
            return
        for item in mask.select.struct_items:
            column = self.forms.column(self.table, item.field)
            if item.child is not None:
                column = self.forms.number("masked", column, item.child, mask.maintain_singular_struct)
                text = f"what is kept of {self.table.names[item.field]}"
                self.further.append(single_item_part(text, Kind.COLUMN, str(item.child), self.forms, column))
            self._add(column)

    # parts ------------------------------------------------------------------------------------------------------------

    def _parts(self, part: description.Part) -> list[Part]:
        kind = _KINDS[part.subject]
        if id(part) in self.of_columns:
            return [Part(part.title, kind, Style.COLUMNS, tuple(self._used(part, self.of_columns[id(part)])))]
        if part.value is None:
            found = self._of_nodes(part, kind)
            return [] if found.style is Style.ONE and not found.items else [found]
        match part.value:
            case JoinType() | BuildInput() as value:
                meant = _MIRRORED.get(value, value) if self.swap else value
                return [single_item_part(part.title, kind, value.value, self.forms, meant)]
            case NamedStruct() as schema:
                return [fields(schema, self._stored(schema), self.forms, part.title)]
            case description.Records(input=input, last=last):
                return [self._whole(part.title, kind, self._of_input(input), last)]
            case groupings if part.subject is description.Subject.GROUPING:
                return [self._grouping_sets(part.title, groupings)]
            case value:
                return value_parts(part.title, kind, value, self.input, self.forms)

    def _used(self, part: description.Part, items: list[Item]) -> list[Item]:
        """Return the items of a part; of grouping keys, those that are in a grouping set."""
        if not isinstance(self.relation, Aggregate) or part.subject is not description.Subject.GROUPING:
            return items
        used = {at for grouping in self.relation.groupings for at in grouping.expression_references}
        return [item for at, item in enumerate(items) if at in used]

    def _of_nodes(self, part: description.Part, kind: Kind) -> Part:
        nodes: Sequence[description.Node] = part.nodes
        style = Style.ROW if part.ordered else Style.BAG
        record = self._over(part.over)
        match part.subject:
            case description.Subject.CONDITION:
                nodes = [item for node in nodes for item in conjuncts(node)]  # type: ignore[arg-type]
            case description.Subject.FETCH:
                nodes, style = [node for node in nodes if _has_effect(part.title, node)], Style.ONE
        items = []
        for node in nodes:
            form = self._form(node, record)
            if style is Style.ONE and isinstance(node, Literal):
                form = self.forms.plain("number", node.value)  # of any integer type
            if isinstance(node, TransformExpression):
                target = record.names[node.column_target] if node.column_target < len(record.names) else ""
                items.append(Item(form=form, node=node.transformation, record=record, name=target))
            else:
                items.append(Item(form=form, node=node, record=record))
        return Part(part.title, kind, style, tuple(items))

    def _whole(self, title: str, kind: Kind, record: Record, last: int | None) -> Part:
        """Return the last columns of a record, or all of them, as a part in which their order counts."""
        start = 0 if last is None else len(record.types) - last
        items = []
        for at, type in enumerate(record.types):
            node = FieldReference(root=RootReference(), reference=(StructField(at),), type=type)
            if at >= start:
                items.append(Item(form=self.forms.expression(node, record), node=node, record=record))
        return Part(title, kind, Style.ROW, tuple(items))

    def _grouping_sets(self, title: str, groupings: Sequence[Grouping]) -> Part:
        """Return the grouping sets; the part is empty if there is only one, as that has all keys of the grouping."""
        keys = self.of_columns[id(self.described.parts[0])]
        sets = []
        for grouping in groupings:
            chosen = sorted(set(grouping.expression_references))
            form = self.forms.of("grouping set", [keys[at].form for at in chosen if at < len(keys)], ordered=False)
            names = [_name(self.relation.direct_names, at) for at in chosen]
            sets.append(Item(form=form, text=f"({', '.join(names)})"))
        return Part(title, Kind.GROUPING, Style.ROW, tuple(sets) if len(sets) > 1 else ())

    # forms ------------------------------------------------------------------------------------------------------------

    def _form(self, node: description.Node, record: Record) -> Form:
        forms = self.forms
        match node:
            case SortField():
                return forms.sort(node, record)
            case Measure(measure=measure, filter=filter):
                form = forms.aggregate(measure, record)
                if filter is None:
                    return form
                kept = forms.of("filter", [forms.expression(item, record) for item in conjuncts(filter)], ordered=False)
                return forms.of("filtered", (form, kept))
            case WindowRelFunction():
                return forms.windowed(node, record)
            case SwitchingField(duplicates=duplicates):
                return forms.of("switching", [forms.expression(item, record) for item in duplicates])
            case ComparisonJoinKey():
                return self._key(node)
            case TransformExpression(transformation=new, column_target=target):
                return forms.of(("set", forms.column(record, target)), (forms.expression(new, record),))
            case _:
                return forms.expression(node, record)

    def _key(self, key: ComparisonJoinKey) -> Form:
        left, right = (
            self.forms.expression(node, Record(columns=columns))
            for node, columns in zip((key.left, key.right), self.inputs, strict=True)
        )
        # a function may give another result with its arguments exchanged
        turned = self.swap and isinstance(key.comparison, SimpleComparisonType)
        return self.forms.of(("key", key.comparison, key.taken), (right, left) if turned else (left, right))


def _name(names: Sequence[str | None], position: int) -> str:
    name = names[position] if position < len(names) else None
    return f"${position}" if name is None else name


def _has_effect(title: str, node: description.Node) -> bool:
    """Whether an offset or a count changes anything."""
    value = node.value if isinstance(node, Literal) else node
    return value is not None and not (title == "offset" and value == 0)


def _referred(node: description.Node, width: int) -> tuple[int, int] | None:
    """Return the input column that a plain reference means, as a source."""
    match node:
        case FieldReference(root=RootReference(), reference=(StructField(field=field),)) if field < width:
            return 0, field
        case _:
            return None
