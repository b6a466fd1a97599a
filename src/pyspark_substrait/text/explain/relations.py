"""The content of a relation's line: its properties, and the source of each of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import FieldReference, Function, RootReference, SortField, StructField
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    Broadcast,
    BrokenRelation,
    ComparisonJoinKey,
    DetachedRel,
    ExchangeKind,
    ExchangeTarget,
    ExtensionObject,
    ExtensionTable,
    Generator,
    IcebergTable,
    LocalFiles,
    Measure,
    MultiBucketExpression,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Read,
    Reference,
    Relation,
    RoundRobin,
    ScatterFields,
    Set,
    SimpleComparisonType,
    SingleBucketExpression,
    SwitchingField,
    TransformExpression,
    Update,
    VirtualTable,
    WindowRelFunction,
    WriteOp,
    description,
)
from pyspark_substrait.model.types import NamedStruct, OpenStruct
from pyspark_substrait.text.explain.columns import Column, Scope, labels
from pyspark_substrait.text.explain.expressions import (
    aggregate_text,
    expression_text,
    list_text,
    sorts_text,
    window_text,
)
from pyspark_substrait.text.explain.literals import message_text
from pyspark_substrait.text.explain.page_state import PageState
from pyspark_substrait.text.explain.table_text import (
    exchange_targets,
    named_columns,
    object_text,
    read_columns,
    read_text,
    schema_text,
)

__all__ = ["Details", "Item", "Run", "details"]


@dataclass(frozen=True, slots=True)
class Item:
    """A column of the direct output.

    Args:
        column: the column, without its type.
        source: its expression as text.
        origin: its position in the relation's scope if it is one of those columns; None if it is computed.
        expression: whether the source is shown nowhere else on the line, so that it must be shown even if not emitted.
    """

    column: Column
    source: str
    origin: int | None = None
    expression: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Columns of the scope, from ``start`` to before ``stop``, written as ``label`` if they pass unchanged."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The properties and columns that the line of a relation shows.

    Args:
        properties: the properties, each readable by itself; the first may be the main one.
        items: the columns of the direct output.
        scope: the scope of its expressions.
        runs: the abbreviations for runs of its columns, the longest first.
    """

    properties: tuple[str, ...]
    items: tuple[Item, ...]
    scope: Scope
    runs: tuple[Run, ...] = ()


def details(relation: Relation, inputs: Sequence[tuple[Column, ...]], outer: Scope | None, marks: PageState) -> Details:
    """Return the properties and columns of a relation.

    Args:
        inputs: the columns of each of its inputs.
        outer: the scope around the query that contains it.
        marks: the state of the page, which collects subqueries.
    """
    if isinstance(relation, Reference):
        return _elsewhere(relation.subtree, (f"relations[{relation.subtree_ordinal}]",), outer)
    if isinstance(relation, DetachedRel):
        number, shown = marks.detach(relation.relation)
        if shown and not inputs:
            return _elsewhere(relation.relation, (f"#{number}", "shown above"), outer)
        line = _Line(relation, inputs, outer, marks)
        return Details(properties=(f"#{number}",), items=line.items, scope=line.scope, runs=line.runs())
    line = _Line(relation, inputs, outer, marks)
    properties = tuple(line.properties())
    return Details(properties=properties, items=line.items, scope=line.scope, runs=line.runs())


def _elsewhere(shown: Relation, properties: tuple[str, ...], outer: Scope | None) -> Details:
    """Return the details for a relation that is shown elsewhere: its columns, by the names the model knows."""
    items = _named(tuple(Column(name=name) for name in shown.names))
    return Details(properties=properties, items=items, scope=_scope((), outer, None))


class _Line:
    """The line of a relation, made from its description."""

    def __init__(
        self, relation: Relation, inputs: Sequence[tuple[Column, ...]], outer: Scope | None, marks: PageState
    ) -> None:
        self.relation = relation
        self.description = relation.describe()
        self.widths = [len(columns) for columns in inputs]
        self.marks = marks
        self._known: tuple[Item, ...] | None = None
        self._keys: list[Item] = []
        columns, left = tuple(column for input in inputs for column in input), None
        match relation:
            case Read():
                columns = named_columns(relation.base_schema, relation.read_type)
            case Update():
                columns = named_columns(relation.table_schema, relation.update_type)
            case Set():
                columns = inputs[0] if inputs else ()
            case _ if len(inputs) == 2:
                left = len(inputs[0])
        self.scope = _scope(columns, outer, relation.common.rel_anchor, left)

    # columns

    @property
    def items(self) -> tuple[Item, ...]:
        """The columns of the direct output."""
        if self._known is None:
            self._known = tuple(item for column in self.description.columns for item in self._items(column))
        return self._known

    def _items(self, column: description.Column) -> tuple[Item, ...]:
        match column:
            case description.Passed():
                return _passed(self.scope, *self._range(column))
            case description.Merged():
                return _passed(self.scope, 0, len(self.scope.columns))
            case description.Part(subject=description.Subject.GROUPING):
                # a key is written once, in front: its column only shows the key's number
                keys = [Item(Column(), f"key {number}") for number, _ in enumerate(self._keys, start=1)]
                return tuple(new if key.origin is None else key for key, new in zip(self._keys, keys, strict=True))
            case description.Part(nodes=nodes):
                return tuple(_computed(node, self.scope, self.marks) for node in nodes)
            case description.Own(title=title, count=count):
                return (Item(Column(), title),) * count
            case description.Declared(schema=schema):
                return _named(self._declared(schema))
            case _:
                assert_never(column)

    def _declared(self, schema: NamedStruct | None) -> tuple[Column, ...]:
        match self.relation:
            case Read():
                return read_columns(self.relation, self.scope)[1]
            case BrokenRelation(record=record, record_names=names):
                return () if isinstance(record, OpenStruct) else tuple(Column(name=name) for name in names)
            case _:
                return () if schema is None else named_columns(schema)

    def _range(self, columns: description.Passed) -> tuple[int, int]:
        """Return the positions in the scope from which an input's columns are passed on: start and stop."""
        start = sum(self.widths[: columns.input])
        return start, start + max(self.widths[columns.input] - columns.dropped, 0)

    def runs(self) -> tuple[Run, ...]:
        """Return the abbreviations for runs of columns."""
        if isinstance(self.relation, Set):
            return (Run("*", 0, len(self.scope.columns)),)
        passed = [item for item in self.description.columns if isinstance(item, description.Passed)]
        if len(self.widths) != 2:
            return tuple(Run("*", *self._range(item)) for item in passed)
        every = [Run("*", 0, len(self.scope.columns))] if len(passed) == 2 else []
        return (*every, *(Run(("left.*", "right.*")[item.input], *self._range(item)) for item in passed))

    # properties

    def properties(self) -> list[str]:
        """Return the properties, each readable by itself."""
        lead: list[str] = []
        others: list[str] = []
        for part in self.description.parts:
            if part.line:
                (lead if part.lead else others).extend(self._texts(part))
        if isinstance(self.relation, Read):
            others.extend(read_columns(self.relation, self.scope)[0])
        return [" ".join(lead), *others] if lead else others

    def _texts(self, part: description.Part) -> list[str]:
        if part.subject is description.Subject.GROUPING:
            return self._grouping(part)
        texts = self._nodes(part) if part.nodes else self._values(part.value)
        if not texts and part.absent is not None:
            texts = [part.absent]
        return [part.line.replace("{}", text) for text in texts]

    def _nodes(self, part: description.Part) -> list[str]:
        """Return the text of the nodes of a part, or one for each of them."""
        scope = self._output() if part.over is Over.OUTPUT else self.scope
        texts = [self._node(node, scope) for node in part.nodes]
        if part.each:
            return texts
        return [(" AND " if isinstance(part.nodes[0], ComparisonJoinKey) else ", ").join(texts)]

    def _node(self, node: description.Node, scope: Scope) -> str:
        match node:
            case SortField():
                return sorts_text((node,), scope, self.marks)
            case ComparisonJoinKey():
                return _key(node, self.widths[0], scope, self.marks)
            case TransformExpression(transformation=new, column_target=target):
                return f"{scope.label(target)} = {expression_text(new, scope, self.marks)}"
            case _:
                return _computed(node, scope, self.marks).source

    def _output(self) -> Scope:
        """Return the scope of expressions over the output of a join."""
        both_sides = len(self.items) == len(self.scope.columns)
        columns = tuple(item.column for item in self.items)
        return _scope(columns, self.scope.outer, self.scope.anchor, self.widths[0] if both_sides else None)

    def _grouping(self, part: description.Part) -> list[str]:
        """Return the grouping, keys and sets in one."""
        if part.value is None:
            self._keys = [_computed(node, self.scope, self.marks) for node in part.nodes]
            return []
        sets = [grouping.expression_references for grouping in part.value]
        sources = [key.source for key in self._keys]
        if not sources and len(sets) <= 1:
            return ["one group"]
        if len(sets) == 1 and sets[0] == tuple(range(len(sources))):
            return [f"by {', '.join(sources)}"]
        # keys that aren't plain columns are referred to by number, to keep a set short
        texts = [item.source for item in self.items]
        shown = [
            ", ".join(texts[key] if 0 <= key < len(sources) else f"key {key + 1}" for key in group) for group in sets
        ]
        grouped = f"sets {', '.join(f'({text})' for text in shown)}" if sets else "no grouping sets"
        return [f"by {', '.join(sources)}; {grouped}"]

    def _values(self, value: object) -> list[str]:
        """Return the texts of a value."""
        match value:
            case None:
                return []
            case Enum():
                return [_WORDS.get(value, str(value.value))]
            case NamedTable() | VirtualTable() | LocalFiles() | ExtensionTable() | IcebergTable():
                return [read_text(value, self.scope, self.marks)]
            case NamedObjectWrite() | ExtensionObject():
                return [object_text(value)]
            case NamedStruct():
                return [schema_text(value)]
            case AnyMessage():
                return [message_text(value)]
            case ScatterFields() | SingleBucketExpression() | MultiBucketExpression() | RoundRobin() | Broadcast():
                return [_exchange_kind(value, self.scope, self.marks)]
            case Generator():
                return [self._generator(value)]
            case tuple() if all(isinstance(item, ExchangeTarget) for item in value):
                return exchange_targets(value)
            case tuple():
                return [" ".join(text for item in value for text in self._values(item))]
            case _:
                return [str(value)]

    def _generator(self, generator: Generator) -> str:
        end = max(self.widths[0] - generator.arguments, 0)
        arguments = ", ".join(self.scope.label(position) for position in range(end, end + generator.arguments))
        rows = "" if generator.rows is None else f"{generator.rows} rows; "
        return f"{generator.kind.value}{' outer' if generator.outer else ''}({rows}{arguments})"


_WORDS: Final[dict[Enum, str]] = {
    WriteOp.INSERT: "insert into",
    WriteOp.DELETE: "delete from",
    WriteOp.CTAS: "create table",
    OutputMode.NO_OUTPUT: "puts out nothing",
    OutputMode.MODIFIED_RECORDS: "puts out the modified records",
}


def _scope(columns: tuple[Column, ...], outer: Scope | None, anchor: int | None, left: int | None = None) -> Scope:
    return Scope(columns=columns, labels=labels(columns, left), outer=outer, anchor=anchor)


def _passed(scope: Scope, start: int, stop: int) -> tuple[Item, ...]:
    """Return columns of the scope unchanged."""
    return tuple(Item(scope.columns[position], scope.labels[position], position) for position in range(start, stop))


def _named(columns: tuple[Column, ...]) -> tuple[Item, ...]:
    """Return columns by their names."""
    return tuple(Item(column, label) for column, label in zip(columns, labels(columns), strict=True))


def _computed(node: description.Node, scope: Scope, marks: PageState) -> Item:
    """Return the column that a node computes; a plain reference passes its column on."""
    match node:
        case FieldReference(root=RootReference(), reference=(StructField(field=position),)) if (
            0 <= position < len(scope.columns)
        ):
            return Item(scope.columns[position], scope.labels[position], position)
        case Measure(measure=measure, filter=filter):
            text = aggregate_text(measure, scope, marks)
            if filter is not None:
                text += f" FILTER (WHERE {expression_text(filter, scope, marks)})"
        case WindowRelFunction():
            text = window_text(node, scope, marks)
        case SwitchingField(duplicates=duplicates):
            text = f"each of ({list_text(duplicates, scope, marks)})"
        case SortField() | ComparisonJoinKey() | TransformExpression():
            raise AssertionError("these make no column")
        case _:
            text = expression_text(node, scope, marks)
    return Item(Column(), text, expression=True)


def _key(key: ComparisonJoinKey, width: int, scope: Scope, marks: PageState) -> str:
    """A pair of keys. Each refers to its own input, but is labelled as in the record of both."""
    rights = Scope(columns=scope.columns[width:], labels=scope.labels[width:], outer=scope.outer, lateral=scope.lateral)
    left, right = expression_text(key.left, scope, marks), expression_text(key.right, rights, marks)
    match key.comparison:
        case Function(name=name):
            return f"{name}({left}, {right})"
        case SimpleComparisonType.EQ:
            return f"{left} = {right}"
        case SimpleComparisonType.IS_NOT_DISTINCT_FROM:
            return f"{left} IS NOT DISTINCT FROM {right}"
        case SimpleComparisonType.MIGHT_EQUAL:
            return f"{left} might equal {right}"
        case _:
            assert_never(key.comparison)


def _exchange_kind(kind: ExchangeKind, scope: Scope, marks: PageState) -> str:
    match kind:
        case ScatterFields(fields=fields):
            return f"scatter by {list_text(fields, scope, marks)}"
        case SingleBucketExpression(expression=expression):
            return f"to bucket {expression_text(expression, scope, marks)}"
        case MultiBucketExpression(expression=expression, constrained_to_count=constrained):
            limit = ", constrained to the partition count" if constrained else ""
            return f"to buckets {expression_text(expression, scope, marks)}{limit}"
        case RoundRobin(exact=exact):
            return "round robin, exact" if exact else "round robin"
        case Broadcast():
            return "broadcast"
        case _:
            assert_never(kind)
