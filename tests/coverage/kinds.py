"""The kinds of expressions: for each, one of type i64 over a small table, and its value worked out in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark_substrait.model.expressions import (
    BoundsType,
    Cast,
    ComparisonOp,
    ContextVariable,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    ListElement,
    MapKey,
    MultiOrList,
    NamedLambda,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    PredicateOp,
    ReductionOp,
    RootReference,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    StructField,
    SwitchExpression,
    WindowFunction,
    referenced_type,
)
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect, masked_type
from pyspark_substrait.model.plan import DynamicParameterBinding
from pyspark_substrait.model.relations import Filter, Project, Read
from pyspark_substrait.model.types import I64, Date, List, Map, String, Struct
from tests.spark.plans import (
    LONG,
    LONG_,
    TEXT,
    aggregate,
    call,
    col,
    group,
    lit,
    long,
    outer,
    project,
    text,
    values,
    where,
)

__all__ = ["BINDING", "KINDS", "OTHER", "ROWS", "SHARED_LAMBDA", "TYPES", "Kind", "Row"]

Row: TypeAlias = tuple[int, "int | None", tuple[int, "int | None"], list[int], dict[str, int]]

#: the table: a number, one that may be null, a struct, a list and a map
TYPES = (LONG, LONG_, Struct(types=(LONG, LONG_)), List(type=LONG), Map(key=TEXT, value=LONG))
ROWS: tuple[Row, ...] = (
    (1, 10, (5, None), [1, 2], {"k": 3}),
    (2, None, (6, 1), [], {}),
    (3, 7, (0, 2), [9], {"k": 8, "z": 1}),
    (4, 10, (5, 3), [4, 4, 2], {"z": 5}),
)
#: the table that subqueries look into, and joins join with
OTHER: tuple[tuple[int, int | None], ...] = ((10, 1), (10, 2), (7, None), (99, 5))

A: Final = 0
B: Final = 1
S: Final = 2
L: Final = 3
M: Final = 4

#: the value of the dynamic parameter
BINDING = DynamicParameterBinding(parameter_anchor=3, value=long(8))

#: makes the expression over a record whose first columns are the table's; None: it sees no record
Make: TypeAlias = Callable[["Struct | None"], Expression]


@dataclass(frozen=True)
class Kind:
    """A kind of expression.

    Args:
        name: in the words of the message: the field of ``rex_type``, and what of it.
        make: the expression over a record.
        of: its value for each record of a relation.
        constant: the expression where there is no record to refer to, and its value; None when it has no such form.
    """

    name: str
    make: Callable[[Struct], Expression]
    of: Callable[[Sequence[Row]], list[int | None]]
    constant: tuple[Expression, int | None] | None = None

    @property
    def rex_type(self) -> str:
        return self.name.split(":")[0].split(" ")[0]


KINDS: list[Kind] = []


def _kind(name: str, make: Callable[[Struct], Expression], each: Callable[[Row], int | None]) -> None:
    KINDS.append(Kind(name, make, lambda rows: [each(row) for row in rows]))


def _anywhere(name: str, make: Make, each: Callable[[Row | None], int | None]) -> None:
    constant = (make(None), each(None))
    KINDS.append(Kind(name, make, lambda rows: [each(row) for row in rows], constant))


def _other(predicate: Callable[[Struct], Expression] | None = None) -> Read | Filter:
    read = values([LONG, LONG_], OTHER)
    return read if predicate is None else where(read, predicate(read.schema))


def _truth(condition: Expression) -> IfThen:
    """A condition as a number: 1, 0 or null."""
    arms = (IfClause(condition, long(1)), IfClause(call("not", condition), long(0)))
    return IfThen(ifs=arms, else_=lit(LONG_, None))


def _number(condition: bool | None) -> int | None:
    return None if condition is None else int(condition)


def _b(row: Row) -> int | None:
    return row[B]


def _one(root: Expression, *segments: StructField | ListElement | MapKey) -> FieldReference:
    return FieldReference(root=root, reference=segments, type=referenced_type(root.type, segments))


def _a(record: Struct | None) -> Expression:
    return long(4) if record is None else col(record, A)


def _nullable(record: Struct | None) -> Expression:
    return lit(LONG_, 10) if record is None else col(record, B)


def _column(position: int, predicate: Callable[[Struct], Expression] | None = None) -> Project:
    read = _other(predicate)
    return project(read, col(read, position))


def _outer_a(record: Struct | None) -> Expression:
    return long(4) if record is None else outer(record, A, steps_out=1)


def _up_to(record: Struct | None) -> Callable[[Struct], Expression]:
    return lambda inner: call("lte", col(inner, 1), long(2) if record is None else outer(record, A, steps_out=1))


def _sum_of_matches(record: Struct | None) -> Expression:
    def matches(inner: Struct) -> Expression:
        wanted = long(10) if record is None else outer(record, B, steps_out=1)
        return call("equal", col(inner, 0), wanted)

    read = _other(matches)
    return ScalarSubquery(input=group(read, [], [aggregate("sum", col(read, 1))]))


def _greater_than_all(record: Struct | None) -> Expression:
    def matches(inner: Struct) -> Expression:
        return call("equal", col(inner, 0), long(10) if record is None else outer(record, B, steps_out=1))

    return SetComparison(
        reduction_op=ReductionOp.ALL,
        comparison_op=ComparisonOp.GT,
        left=_a(record),
        right=_column(1, matches),
    )


def _larger_than_two() -> Lambda:
    parameter = FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=LONG)
    return Lambda(parameters=Struct(types=(LONG,)), body=call("gt", parameter, long(2)))


def _body() -> Lambda:
    """Doubles a number."""
    parameters = Struct(types=(LONG,))
    parameter = FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=LONG)
    return Lambda(parameters=parameters, body=call("add", parameter, parameter))


def _list(record: Struct | None) -> Expression:
    return lit(List(type=LONG), [3]) if record is None else col(record, L)


def _window(record: Struct) -> WindowFunction:
    measure = aggregate("sum", col(record, A))
    return WindowFunction(
        function=measure.function,
        arguments=measure.arguments,
        output_type=measure.output_type,
        derived_type=measure.derived_type,
        partitions=(col(record, B),),
        bounds_type=BoundsType.ROWS,
    )


def _masked(record: Struct) -> Expression:
    mask = MaskExpression(select=StructSelect((StructItem(S, StructSelect((StructItem(1),))),)))
    kept = FieldReference(root=RootReference(), reference=mask, type=masked_type(record, mask))
    return _one(kept, StructField(0))


def _first_doubled(row: Row | None) -> int | None:
    items = [3] if row is None else row[L]
    return 2 * items[0] if items else None


_anywhere("literal", lambda _: long(7), lambda _: 7)
_kind("selection: struct field", lambda record: col(record, S, StructField(1)), lambda row: row[S][1])
_kind(
    "selection: list element",
    lambda record: col(record, L, ListElement(-1)),
    lambda row: row[L][-1] if row[L] else None,
)
_kind("selection: map key", lambda record: col(record, M, MapKey(text("k"))), lambda row: row[M].get("k"))
_anywhere(
    "selection: of an expression",
    lambda record: _one(NestedStruct(fields=(long(1), long(6) if record is None else col(record, B))), StructField(1)),
    lambda row: 6 if row is None else row[B],
)


_kind("selection: mask", _masked, lambda row: row[S][1])
_kind(
    "selection: outer record",
    lambda record: ScalarSubquery(input=project(values([LONG], [(0,)]), outer(record, B, steps_out=1))),
    _b,
)


SHARED_LAMBDA = NamedLambda(lambda_=_body(), name="twice")


_anywhere(
    "selection: lambda parameter",
    lambda record: _one(call("transform", _list(record), _body()), ListElement(0)),
    _first_doubled,
)


_anywhere(
    "lambda",
    lambda record: _one(call("filter", _list(record), _larger_than_two()), ListElement(0)),
    lambda row: next((item for item in ([3] if row is None else row[L]) if item > 2), None),
)


_anywhere(
    "named_lambda_reference",
    lambda record: _one(call("transform", _list(record), NamedLambdaReference(lambda_=SHARED_LAMBDA)), ListElement(0)),
    _first_doubled,
)
_anywhere(
    "lambda_invocation",
    lambda record: LambdaInvocation(lambda_=_body(), arguments=(long(4) if record is None else col(record, A),)),
    lambda row: 8 if row is None else 2 * row[A],
)
_anywhere(
    "scalar_function",
    lambda record: call("add", long(5) if record is None else col(record, B), long(1)),
    lambda row: 6 if row is None else None if row[B] is None else row[B] + 1,
)


KINDS.append(
    Kind("window_function", _window, lambda rows: [sum(row[A] for row in rows if row[B] == b) for b in map(_b, rows)])
)
_anywhere(
    "if_then",
    lambda record: IfThen(ifs=(IfClause(call("gt", _a(record), long(2)), _nullable(record)),), else_=lit(LONG_, None)),
    lambda row: 10 if row is None else row[B] if row[A] > 2 else None,
)


_anywhere(
    "switch_expression",
    lambda record: SwitchExpression(
        match=_a(record),
        ifs=(IfValue(long(1), lit(LONG_, 100)), IfValue(long(2), lit(LONG_, None))),
        else_=_nullable(record),
    ),
    lambda row: 10 if row is None else {1: 100, 2: None}.get(row[A], row[B]),
)
_anywhere(
    "singular_or_list",
    lambda record: _truth(SingularOrList(value=_nullable(record), options=(long(7), lit(LONG_, None)))),
    lambda row: None if row is None or row[B] != 7 else 1,
)
_anywhere(
    "multi_or_list",
    lambda record: _truth(
        MultiOrList(value=(_a(record), _nullable(record)), options=((long(4), long(10)), (long(3), long(8))))
    ),
    lambda row: 1 if row is None else {1: 0, 2: 0, 3: 0, 4: 1}[row[A]],
)
_anywhere(
    "cast",
    lambda record: Cast(type=LONG_, input=Cast(type=String(nullable=True), input=_nullable(record))),
    lambda row: 10 if row is None else row[B],
)


_anywhere(
    "subquery: scalar",
    _sum_of_matches,
    lambda row: 3 if row is None else {None: None, 7: None, 10: 3}[row[B]],
)
_anywhere(
    "subquery: in_predicate",
    lambda record: _truth(InPredicate(needles=(_a(record),), haystack=_column(1))),
    lambda row: None if row is None else {1: 1, 2: 1, 3: None, 4: None}[row[A]],
)


_anywhere(
    "subquery: set_predicate EXISTS",
    lambda record: _truth(
        SetPredicate(
            predicate_op=PredicateOp.EXISTS,
            tuples=_other(lambda inner: call("equal", col(inner, 1), _outer_a(record))),
        )
    ),
    lambda row: 0 if row is None else int(row[A] in (1, 2)),
)


_anywhere(
    "subquery: set_predicate UNIQUE",
    lambda record: _truth(SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=_column(0, _up_to(record)))),
    lambda row: 0 if row is None else int(row[A] < 2),
)


_anywhere(
    "subquery: set_comparison",
    lambda record: _truth(_greater_than_all(record)),
    lambda row: 1 if row is None else {1: 0, 2: 1, 3: None, 4: 1}[row[A]],
)
_anywhere(
    "nested: struct",
    lambda record: _one(NestedStruct(fields=(_a(record), _nullable(record))), StructField(1)),
    lambda row: 10 if row is None else row[B],
)
_anywhere(
    "nested: list",
    lambda record: _one(NestedList(values=(_nullable(record), lit(LONG_, 3))), ListElement(0)),
    lambda row: 10 if row is None else row[B],
)
_anywhere(
    "nested: map",
    lambda record: _one(NestedMap(key_values=((text("x"), _nullable(record)),)), MapKey(text("x"))),
    lambda row: 10 if row is None else row[B],
)
_anywhere("dynamic_parameter", lambda _: DynamicParameter(type=I64(), parameter_reference=3), lambda _: 8)
_anywhere(
    "execution_context_variable",
    lambda _: _truth(
        call("gt", ExecutionContextVariable(variable=ContextVariable.CURRENT_DATE, type=Date()), lit(Date(), 20_000))
    ),
    lambda _: 1,
)
_anywhere(
    "detached_expression_ordinal",
    lambda record: DetachedExpression(expression=call("add", _nullable(record), long(1))),
    lambda row: 11 if row is None else None if row[B] is None else row[B] + 1,
)
