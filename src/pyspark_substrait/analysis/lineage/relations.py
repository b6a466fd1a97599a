"""The dependencies of each kind of relation: those of its columns, and those of its choice of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.analysis.lineage.traversal import PLACES, Place
from pyspark_substrait.model.expressions import (
    Argument,
    Bound,
    EnumArgument,
    Expression,
    Following,
    Preceding,
    SortField,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    BrokenRelation,
    ComparisonJoinKey,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Generate,
    Measure,
    OutputMode,
    Read,
    Relation,
    Set,
    SetOp,
    SwitchingField,
    TransformExpression,
    Update,
    VirtualTable,
    WindowRelFunction,
    Write,
    WriteOp,
)
from pyspark_substrait.model.relations.description import Node, Own, Part, Passed
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import OpenStruct, Struct

__all__ = ["Columns", "ComputedColumn", "Kind", "OpaqueColumn", "Shape", "TableColumn", "Use", "measure_uses", "shape"]


class Kind(Enum):
    """The kind of a column's dependency on another one.

    VALUE: its value is computed from it. CONDITION: the other column decides which records there are, or how they are
    grouped, sorted or cut.
    """

    VALUE = "value"
    CONDITION = "condition"


class Use(NamedTuple):
    """An expression that a column, or the choice of records, depends on, and the record that it sees."""

    expression: Expression
    kind: Kind = Kind.VALUE
    place: Place = Place.INPUT


class Columns(NamedTuple):
    """The columns of a relation, as other relations see them.

    Args:
        ports: the nodes of the columns that it puts out; none if they aren't known.
        pool: the node that stands for any of its columns if these aren't known; None if they are.
        records: the node that stands for its records, and depends on what decides which there are.
    """

    ports: range
    pool: int | None
    records: int | None

    def every(self) -> tuple[int, ...]:
        """Return the nodes of all columns."""
        return tuple(self.ports) if self.pool is None else (self.pool,)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A column that a relation computes: from expressions, and from columns by their nodes."""

    uses: tuple[Use, ...] = ()
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table that a relation reads, by its position."""

    field: int


@dataclass(frozen=True, slots=True)
class OpaqueColumn:
    """A column that may depend on everything that the relation has."""


Column: TypeAlias = int | ComputedColumn | TableColumn | OpaqueColumn
"""A column before emit; a number is the node of a column that is passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The dependencies of a relation's columns and records.

    Args:
        columns: the columns before emit. Where ``open``, their positions aren't known.
        conditions: the expressions that decide which records there are; ``deciding`` are the columns that do.
        base: the columns of the table that the relation reads or changes, which no input has.
        pool: the nodes that the unknown columns depend on; None if all columns are known.
        open: whether the columns aren't known.
        fed: whether its records come from the records of its inputs.
    """

    columns: Sequence[Column]
    conditions: tuple[Use, ...] = ()
    deciding: tuple[int, ...] = ()
    base: tuple[ComputedColumn, ...] = ()
    pool: tuple[int, ...] | None = None
    open: bool = False
    fed: bool = True


def shape(relation: Relation, inputs: Sequence[Columns]) -> Shape:
    """Return the dependencies of a relation.

    Args:
        relation: the relation.
        inputs: the columns of its inputs, or of the subtree that a reference means.
    """
    match relation:
        case Read():
            return _read(relation)
        case Set():
            return _set(relation.op, inputs)
        case Generate(generator=generator):
            return _generate(relation, generator, inputs[0])
        case Write():
            return _write(relation, inputs[0])
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            # not specified: every column may depend on everything, and so may the choice of records
            unknown = relation.derived is None
            width = 0 if relation.derived is None else _width(relation.derived.output.struct)
            every = _every(inputs)
            return Shape(columns=[OpaqueColumn()] * width, pool=every, open=unknown, deciding=every)
        case BrokenRelation(record=record):
            return Shape(
                columns=[ComputedColumn()] * _width(record),
                open=isinstance(record, OpenStruct),
                pool=() if isinstance(record, OpenStruct) else None,
                fed=False,
            )
        case _:
            return _described(relation, inputs)


def _described(relation: Relation, inputs: Sequence[Columns]) -> Shape:
    """Return the shape of a relation, derived from its description."""
    description = relation.describe()
    columns: list[Column] = []
    seen = {0} if isinstance(relation, Expand) else set[int]()
    for column in description.columns:
        match column:
            case Passed(input=input):
                seen.add(input)
                columns.extend(inputs[input].ports)
            case Part():
                beside = _as_conditions(use for part in column.beside for use in _uses(part))
                columns.extend(ComputedColumn((*_node_uses(node), *beside)) for node in column.nodes)
            case Own(beside=parts):
                uses = tuple(use for part in parts for use in _uses(part))
                # without a condition, the mark of a join states whether the other side has records
                others = [input.records for number, input in enumerate(inputs) if number not in seen]
                alone = parts and not uses
                columns.append(ComputedColumn(uses, tuple(item for item in others if alone and item is not None)))
            case _:
                raise AssertionError("the columns of other relations are derived above")
    shown = [inputs[number] for number in sorted(seen)]
    opened = any(input.pool is not None for input in shown)
    return Shape(
        columns=columns,
        conditions=tuple(_as_conditions(use for part in description.parts if part.decides for use in _uses(part))),
        base=(ComputedColumn(),) * _width(relation.table_schema.struct) if isinstance(relation, Update) else (),
        pool=_every(shown) if opened else None,
        open=opened,
    )


# --- what many of them share ------------------------------------------------------------------------------------------


def _every(inputs: Sequence[Columns]) -> tuple[int, ...]:
    return tuple(number for input in inputs for number in input.every())


def _width(struct: Struct) -> int:
    return 0 if isinstance(struct, OpenStruct) else len(struct.types)


def _uses(part: Part) -> list[Use]:
    """Return the expressions of a part, with the records that they see."""
    uses = [use for node in part.nodes for use in _node_uses(node)]
    place = PLACES[part.over]
    if place is Place.INPUT:
        return uses
    return [Use(use.expression, use.kind, place) if use.place is Place.INPUT else use for use in uses]


def _as_conditions(uses: Iterable[Use]) -> list[Use]:
    return [Use(use.expression, Kind.CONDITION, use.place) for use in uses]


def _node_uses(node: Node) -> tuple[Use, ...]:
    """Return the expressions of a node, other than literals."""
    match node:
        case Literal():
            return ()
        case SortField(expr=expression):
            return (Use(expression),)
        case Measure(measure=measure, filter=filter):
            return measure_uses(measure.arguments, measure.sorts, filter)
        case WindowRelFunction():
            return _made(node.arguments, (*_offsets(node.lower_bound), *_offsets(node.upper_bound)))
        case SwitchingField(duplicates=duplicates):
            return _made(duplicates)
        case ComparisonJoinKey(left=left, right=right):
            return Use(left, place=Place.LEFT), Use(right, place=Place.RIGHT)
        case TransformExpression(transformation=new):
            return (Use(new),)
        case _:
            return (Use(node),)


def measure_uses(
    arguments: tuple[Argument, ...], sorts: tuple[SortField, ...], filter: Expression | None = None
) -> tuple[Use, ...]:
    """Return the expressions that a measure depends on."""
    return _made(arguments, [*(sort.expr for sort in sorts), *([] if filter is None else [filter])])


def _made(arguments: Iterable[Argument], beside: Iterable[Expression] = ()) -> tuple[Use, ...]:
    """Return the uses for a value: of its arguments, and of expressions that choose the records for it."""
    values = (Use(item) for item in arguments if not isinstance(item, EnumArgument | TypeArgument | Literal))
    return (*values, *(Use(item, Kind.CONDITION) for item in beside if not isinstance(item, Literal)))


def _offsets(bound: Bound) -> Iterator[Expression]:
    if isinstance(bound, Preceding | Following):
        yield bound.offset


# --- one kind each ----------------------------------------------------------------------------------------------------


def _read(relation: Read) -> Shape:
    """Return the shape of a read; the columns of a virtual table depend on its expressions."""
    base = [ComputedColumn()] * _width(relation.base_schema.struct)
    if isinstance(relation.read_type, VirtualTable) and relation.read_type.columns is None:
        for field in range(len(base)):
            values = [record.fields[field] for record in relation.read_type.expressions if field < len(record.fields)]
            uses = (Use(item, place=Place.NONE) for item in values if not isinstance(item, Literal))
            base[field] = ComputedColumn(tuple(uses))
    kept = range(len(base))
    columns = [TableColumn(field) for field in kept]
    if relation.projection is not None:
        columns = [TableColumn(item.field) for item in relation.projection.select.struct_items]
    opened = isinstance(relation.base_schema.struct, OpenStruct)
    return Shape(
        columns=columns,
        conditions=tuple(_as_conditions(use for part in relation.describe().parts for use in _uses(part))),
        base=tuple(base),
        pool=() if opened else None,
        open=opened,
    )


def _set(op: SetOp, inputs: Sequence[Columns]) -> Shape:
    """Return the shape of a set operation. It compares whole records; only a union outputs values of all inputs."""
    pool = _every(inputs) if any(input.pool is not None for input in inputs) else None
    primary = inputs[0].ports if inputs else range(0)
    deciding = _every(inputs)
    match op:
        case SetOp.UNION_ALL | SetOp.UNION_DISTINCT:
            deciding = () if op is SetOp.UNION_ALL else deciding
            ports = [input.ports for input in inputs]
            columns: list[Column] = [
                ComputedColumn(columns=tuple(item[position] for item in ports if position < len(item)))
                for position in range(len(primary))
            ]
        case (
            SetOp.MINUS_PRIMARY
            | SetOp.MINUS_PRIMARY_ALL
            | SetOp.MINUS_MULTISET
            | SetOp.INTERSECTION_PRIMARY
            | SetOp.INTERSECTION_MULTISET
            | SetOp.INTERSECTION_MULTISET_ALL
        ):
            columns = [*primary]
        case _:
            assert_never(op)
    return Shape(columns=columns, deciding=deciding, pool=pool, open=pool is not None)


def _generate(relation: Generate, generator: Generator, input: Columns) -> Shape:
    """Return the shape of a generator. Its arguments are the last columns of the input; its results replace them."""
    if input.pool is not None:
        return Shape(columns=(), pool=(input.pool,), open=True, deciding=(input.pool,))
    end = max(len(input.ports) - generator.arguments, 0)
    arguments = tuple(input.ports[end:])
    made = _generated(relation, end)
    if made is None:
        return Shape(columns=(), pool=input.every(), open=True, deciding=arguments)
    of: Callable[[int], tuple[int, ...]]
    deciding: tuple[int, ...] = ()
    match generator.kind:
        case GeneratorKind.STACK:
            of = lambda position: arguments[position::made]  # noqa: E731
        case GeneratorKind.JSON_TUPLE:
            of = lambda position: (*arguments[:1], *arguments[position + 1 : position + 2])  # noqa: E731
        case GeneratorKind.EXPLODE | GeneratorKind.POSEXPLODE | GeneratorKind.INLINE:
            of, deciding = lambda _: arguments, arguments
        case _:
            assert_never(generator.kind)
    return Shape(
        columns=[*input.ports[:end], *(ComputedColumn(columns=of(position)) for position in range(made))],
        deciding=deciding,
    )


def _generated(relation: Generate, kept: int) -> int | None:
    """Return the number of columns that a generator makes; None if it isn't known."""
    try:
        schema = relation.direct_schema
    except Exception:  # the relation contradicts itself
        return None
    return None if isinstance(schema, OpenStruct) else len(schema.types) - kept


def _write(relation: Write, input: Columns) -> Shape:
    """Return the shape of a write. Records to delete or update are found by their values."""
    if relation.output is not OutputMode.MODIFIED_RECORDS:
        return Shape(columns=())
    if input.pool is not None:
        return Shape(columns=(), pool=(input.pool,), open=True)
    width = _width(relation.table_schema.struct)
    both = relation.op is WriteOp.UPDATE and len(input.ports) == 2 * width
    deciding: tuple[int, ...] = ()
    match relation.op:
        case WriteOp.UPDATE:
            deciding = tuple(input.ports[:width])
        case WriteOp.DELETE:
            deciding = input.every()
        case WriteOp.INSERT | WriteOp.CTAS:
            pass
        case _:
            assert_never(relation.op)
    return Shape(columns=input.ports[width:] if both else input.ports, deciding=deciding)
