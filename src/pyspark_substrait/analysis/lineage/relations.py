"""The dependencies of each kind of relation: those of its columns, and those of its choice of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.analysis.lineage.traversal import Place
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
    Filter,
    Generate,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    OutputMode,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    SetOp,
    Sort,
    SwitchingField,
    TopN,
    Update,
    VirtualTable,
    Write,
    WriteOp,
)
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import OpenStruct, Struct

__all__ = ["Base", "Columns", "Kind", "Made", "Pooled", "Shape", "Use", "measure_uses", "shape"]


class Kind(Enum):
    """How a column depends on another one.

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
class Made:
    """A column that a relation computes: from expressions, and from columns by their nodes."""

    uses: tuple[Use, ...] = ()
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """A column of the table that a relation reads, by its position."""

    field: int


@dataclass(frozen=True, slots=True)
class Pooled:
    """A column that may depend on everything that the relation has."""


Column: TypeAlias = int | Made | Base | Pooled
"""A column before emit; a number is the node of a column that is passed on."""

_LEFT_ONLY = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK)
_RIGHT_ONLY = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK)
_MARKS = (JoinType.LEFT_MARK, JoinType.RIGHT_MARK)


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
    base: tuple[Made, ...] = ()
    pool: tuple[int, ...] | None = None
    open: bool = False
    fed: bool = True


def shape(relation: Relation, inputs: Sequence[Columns]) -> Shape:
    """Return the dependencies of a relation.

    Args:
        relation: the relation.
        inputs: the columns of its inputs, or of the subtree that a reference means.
    """
    opened = any(input.pool is not None for input in inputs)
    pool = _every(inputs) if opened else None
    match relation:
        case Read():
            return _read(relation)
        case Filter(condition=condition):
            return _passing(inputs, _conditions(condition))
        case Sort(sorts=sorts):
            return _passing(inputs, _conditions(*_sorted(sorts)))
        case Fetch():
            return _passing(inputs, _conditions(relation.offset_expr, relation.count_expr))
        case TopN(sorts=sorts):
            return _passing(inputs, _conditions(*_sorted(sorts), relation.offset, relation.count))
        case Exchange() | DetachedRel() | Reference():
            return _passing(inputs, ())
        case Project(expressions=expressions):
            made = [_made(item) for item in expressions]
            return Shape(columns=[*inputs[0].ports, *made], pool=pool, open=opened)
        case Aggregate():
            return _aggregate(relation)
        case Join(expression=condition):
            return _join(relation.type, inputs, [Use(condition)], relation.post_join_filter)
        case LateralJoin(expression=condition):
            given = [] if condition is None else [Use(condition)]
            return _join(relation.type, inputs, given, relation.post_join_filter)
        case NestedLoopJoin(expression=condition):
            return _join(relation.type, inputs, [] if condition is None else [Use(condition)], None)
        case HashJoin(keys=keys, residual_expression=residual) | MergeJoin(keys=keys, residual_expression=residual):
            lefts, rights = [key.left for key in keys], [key.right for key in keys]
            compared = [
                *(Use(key, place=Place.LEFT) for key in lefts),
                *(Use(key, place=Place.RIGHT) for key in rights),
            ]
            if residual is not None:
                compared.append(Use(residual))
            return _join(relation.type, inputs, compared, relation.post_join_filter)
        case Cross():
            return Shape(columns=[*inputs[0].ports, *inputs[1].ports], pool=pool, open=opened)
        case Set():
            return _set(relation.op, inputs, pool)
        case ConsistentPartitionWindow():
            ordering = (*relation.partition_expressions, *_sorted(relation.sorts))
            calls = [
                _made(
                    *_arguments(function.arguments),
                    beside=(*ordering, *_offsets(function.lower_bound), *_offsets(function.upper_bound)),
                )
                for function in relation.window_functions
            ]
            return Shape(columns=[*inputs[0].ports, *calls], pool=pool, open=opened)
        case Expand():
            fields = [
                _made(*(item.duplicates if isinstance(item, SwitchingField) else (item,)))
                for item in relation.all_fields
            ]
            return Shape(columns=[*fields, Made()], pool=pool, open=opened)
        case Generate(generator=generator):
            return _generate(relation, generator, inputs[0])
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            # not specified: every column may depend on everything, and so may the choice of records
            unknown = relation.derived is None
            width = 0 if relation.derived is None else _width(relation.derived.output.struct)
            every = _every(inputs)
            return Shape(columns=[Pooled()] * width, pool=every, open=unknown, deciding=every)
        case Write():
            return _write(relation, inputs[0])
        case Ddl():
            return Shape(columns=())
        case Update(condition=condition, table_schema=schema):
            # the number of the changed records
            base = (Made(),) * _width(schema.struct)
            return Shape(columns=[Made()], conditions=_conditions(condition), base=base)
        case BrokenRelation(record=record):
            return Shape(
                columns=[Made()] * _width(record),
                open=isinstance(record, OpenStruct),
                pool=() if isinstance(record, OpenStruct) else None,
                fed=False,
            )
        case _:
            assert_never(relation)


# --- what many of them share ------------------------------------------------------------------------------------------


def _every(inputs: Sequence[Columns]) -> tuple[int, ...]:
    return tuple(number for input in inputs for number in input.every())


def _width(struct: Struct) -> int:
    return 0 if isinstance(struct, OpenStruct) else len(struct.types)


def _passing(inputs: Sequence[Columns], conditions: tuple[Use, ...]) -> Shape:
    """Return the shape of a relation that passes on the columns of its only input."""
    pool = inputs[0].pool
    return Shape(
        columns=inputs[0].ports, conditions=conditions, pool=None if pool is None else (pool,), open=pool is not None
    )


def _made(*expressions: Expression, beside: Iterable[Expression | None] = ()) -> Made:
    """Return a column computed from expressions; those in ``beside`` choose the records for it, and their order."""
    return Made((*(Use(item) for item in expressions if not isinstance(item, Literal)), *_conditions(*beside)))


def _conditions(*expressions: Expression | None) -> tuple[Use, ...]:
    return tuple(
        Use(item, Kind.CONDITION) for item in expressions if item is not None and not isinstance(item, Literal)
    )


def _sorted(sorts: tuple[SortField, ...]) -> Iterator[Expression]:
    return (sort.expr for sort in sorts)


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[Expression]:
    for item in arguments:
        if not isinstance(item, EnumArgument | TypeArgument):
            yield item


def _offsets(bound: Bound) -> Iterator[Expression]:
    if isinstance(bound, Preceding | Following):
        yield bound.offset


# --- one kind each ----------------------------------------------------------------------------------------------------


def _read(relation: Read) -> Shape:
    """Return the shape of a read; the columns of a virtual table depend on its expressions."""
    base = [Made()] * _width(relation.base_schema.struct)
    if isinstance(relation.read_type, VirtualTable):
        for field in range(len(base)):
            values = [record.fields[field] for record in relation.read_type.expressions if field < len(record.fields)]
            uses = (Use(item, place=Place.NONE) for item in values if not isinstance(item, Literal))
            base[field] = Made(tuple(uses))
    kept = range(len(base))
    columns = [Base(field) for field in kept]
    if relation.projection is not None:
        columns = [Base(item.field) for item in relation.projection.select.struct_items]
    opened = isinstance(relation.base_schema.struct, OpenStruct)
    return Shape(
        columns=columns,
        conditions=_conditions(relation.filter, relation.best_effort_filter),
        base=tuple(base),
        pool=() if opened else None,
        open=opened,
    )


def measure_uses(
    arguments: tuple[Argument, ...], sorts: tuple[SortField, ...], filter: Expression | None = None
) -> tuple[Use, ...]:
    """Return the expressions that a measure depends on."""
    return _made(*_arguments(arguments), beside=(*_sorted(sorts), filter)).uses


def _aggregate(relation: Aggregate) -> Shape:
    keys = [_made(key) for key in relation.grouping_expressions]
    measures = [
        Made(measure_uses(measure.measure.arguments, measure.measure.sorts, measure.filter))
        for measure in relation.measures
    ]
    number = [Made()] if len(relation.groupings) > 1 else []
    return Shape(columns=[*keys, *measures, *number], conditions=_conditions(*relation.grouping_expressions))


def _join(type: JoinType, inputs: Sequence[Columns], compared: list[Use], above: Expression | None) -> Shape:
    """Return the shape of a join. A mark is computed from the condition; otherwise that chooses the records."""
    left, right = inputs
    passed: list[Column] = [] if type in _RIGHT_ONLY else [*left.ports]
    passed += [] if type in _LEFT_ONLY else right.ports
    conditions = [use._replace(place=Place.OUTPUT) for use in _conditions(above)]
    if type in _MARKS:
        other = (right if type in _LEFT_ONLY else left).records
        # without a condition, the mark states whether the other side has records
        passed.append(Made(tuple(compared), (other,) if other is not None and not compared else ()))
    else:
        conditions.extend(use._replace(kind=Kind.CONDITION) for use in compared)
    seen = [left] if type in _LEFT_ONLY else [right] if type in _RIGHT_ONLY else [left, right]
    opened = any(input.pool is not None for input in seen)
    return Shape(columns=passed, conditions=tuple(conditions), pool=_every(seen) if opened else None, open=opened)


def _set(op: SetOp, inputs: Sequence[Columns], pool: tuple[int, ...] | None) -> Shape:
    """Return the shape of a set operation. It compares whole records; only a union outputs values of all inputs."""
    primary = inputs[0].ports if inputs else range(0)
    deciding = _every(inputs)
    match op:
        case SetOp.UNION_ALL | SetOp.UNION_DISTINCT:
            deciding = () if op is SetOp.UNION_ALL else deciding
            ports = [input.ports for input in inputs]
            columns: list[Column] = [
                Made(columns=tuple(item[position] for item in ports if position < len(item)))
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
        columns=[*input.ports[:end], *(Made(columns=of(position)) for position in range(made))], deciding=deciding
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
