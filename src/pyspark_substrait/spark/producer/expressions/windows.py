"""Window functions, and aggregate functions over windows."""

from __future__ import annotations

import decimal
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import Options, resolved
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    Bound,
    BoundsType,
    Cast,
    CurrentRow,
    EnumArgument,
    Expression,
    FailureBehavior,
    Following,
    Function,
    FunctionOption,
    IfClause,
    IfThen,
    Preceding,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP64,
    I32,
    I64,
    Boolean,
    Date,
    IntervalDay,
    PrecisionTimestampTZ,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.expressions.aggregate_forms import aggregated, filter_of
from pyspark_substrait.spark.producer.expressions.sorting import sort_fields
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope, urn_of

__all__ = ["FORMS"]


@dataclass(frozen=True, slots=True)
class _Called:
    """A function without its window.

    Args:
        function: the function.
        arguments: its arguments.
        options: option values.
        type: the type of the result.
        result: converts its value to the type in Spark.
        whole: whether it uses the whole partition, whatever the frame.
    """

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...]
    type: Type
    result: Callable[[Expression], Expression]
    whole: bool


def window(node: Node, scope: Scope) -> Expression:
    """``WindowExpression``: a function over a window of records."""
    function, spec = node.child("windowFunction"), node.child("windowSpec")
    called = _aggregate(function, scope) if function.name == "AggregateExpression" else _own(function, scope)
    frame = spec.child("frameSpecification")
    orders = spec.listed("orderSpec")
    type, lower, upper = _frame(frame, orders, scope)
    if called.whole:
        type, lower, upper = BoundsType.ROWS, Unbounded(), Unbounded()
    made = WindowFunction(
        function=called.function,
        arguments=called.arguments,
        options=called.options,
        output_type=called.type,
        derived_type=called.type,
        sorts=sort_fields(orders, scope),
        partitions=expressions(spec.listed("partitionSpec"), scope),
        bounds_type=type,
        lower_bound=lower,
        upper_bound=upper,
    )
    return called.result(made)


# functions -----------------------------------------------------------------------------------------------------------

#: functions of the whole partition without arguments, and their types in Spark
_RANKS: Final[Mapping[str, tuple[str, Type]]] = {
    "RowNumber": ("row_number", I32()),
    "Rank": ("rank", I32()),
    "DenseRank": ("dense_rank", I32()),
    "PercentRank": ("percent_rank", FP64()),
    "CumeDist": ("cume_dist", FP64()),
}
_SHIFTED: Final = {"Lag": "lag", "Lead": "lead"}
_VALUES: Final = {"First": "first_value", "Last": "last_value", "AnyValue": "first_value"}
#: aggregate functions that ignore nulls, so that a null excludes a record
_WITHOUT_NULLS: Final = frozenset(
    {"count", "sum", "avg", "min", "max", "std_dev", "variance", "corr", "bool_and", "bool_or", "median", "mode"}
    | {"approx_count_distinct"}
)
_OWN: Final = "extension:pyspark_substrait:functions_spark_window"


def _own(node: Node, scope: Scope) -> _Called:
    """Translate a function that is only defined over windows."""
    if node.name in _RANKS:
        name, type = _RANKS[node.name]
        return _called(scope, name, (), type, whole=True)
    match node.name:
        case "NTile":
            return _called(scope, "ntile", (_constant(node.children[0], scope),), I32(), whole=True)
        case "Lag" | "Lead":
            value, offset, default = node.children
            arguments = [expression(value, scope), _constant(offset, scope)]
            if default.name != "Literal" or default.value("value") is not None:
                arguments.append(typed(expression(default, scope), arguments[0].type))
            nullable = len(arguments) < 3 or any(argument.type.nullable for argument in arguments)
            type = with_nullability(arguments[0].type, nullable)
            return _called(scope, _SHIFTED[node.name], arguments, type, whole=True, ignored=_ignores_nulls(node))
        case "NthValue":
            return _value(node, "nth_value", scope)
        case _:
            raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: there is no function for {node.name}")


def _value(node: Node, name: str, scope: Scope) -> _Called:
    """Translate a function for a value of the frame: the first, the last, or the one at a position."""
    value = expression(node.children[0], scope)
    position = (_constant(node.children[1], scope),) if name == "nth_value" else ()
    type = with_nullability(value.type, True)
    return _called(scope, name, (value, *position), type, ignored=_ignores_nulls(node))


def _ignores_nulls(node: Node) -> bool:
    return bool(node.value("ignoreNulls"))


def _called(
    scope: Scope, name: str, arguments: Sequence[Expression], type: Type, *, whole: bool = False, ignored: bool = False
) -> _Called:
    """Resolve a window function, with its type in Spark."""
    options: Options = {}
    if ignored:
        options = {"ignore_nulls": "TRUE"}
    elif name == "nth_value":
        options = {"on_domain_error": "ERROR"}
    urn = _OWN if ignored else urn_of("functions_arithmetic")
    call = resolved(scope.production.registry, urn, name, arguments, options, "window")

    def result(value: Expression) -> Expression:
        if same_type(value.type, type) and value.type.nullable >= type.nullable:
            return value
        wanted = with_nullability(type, type.nullable or value.type.nullable)
        return Cast(type=wanted, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)

    return _Called(call.function, call.arguments, call.options, call.type, result, whole)


def _aggregate(node: Node, scope: Scope) -> _Called:
    """Translate an aggregate function over a window; ``first`` and ``last`` become window functions."""
    function, condition = node.child("aggregateFunction"), filter_of(node)
    if function.name in _VALUES:
        if condition is not None:
            raise _no_filter(node)
        return _value(function, _VALUES[function.name], scope)
    if node.value("isDistinct"):
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form over a window")
    found = aggregated(function, scope, distinct=False)
    arguments = found.call.arguments
    if condition is not None:
        arguments = _filtered(node, found.call, expression(condition, scope))
    name = found.call.function.name
    call = found.call
    if len(arguments) != len(call.arguments):
        counted = resolved(scope.production.registry, call.function.urn, name, arguments, {}, "aggregate")
        return _Called(counted.function, counted.arguments, counted.options, counted.type, found.result, False)
    if call.sorts:
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form over a window: it has an order of its own")
    return _Called(call.function, arguments, call.options, call.output_type, found.result, False)


def _filtered(node: Node, call: AggregateFunction, condition: Expression) -> tuple[Argument, ...]:
    """Replace an argument by null where a condition isn't true, because window functions have no filter."""
    if call.function.name not in _WITHOUT_NULLS:
        raise _no_filter(node)
    position = next(
        (position for position, one in enumerate(call.arguments) if not isinstance(one, EnumArgument)), None
    )
    if position is None:
        return (IfThen(ifs=(IfClause(condition, Literal(type=Boolean(), value=True)),), else_=None),)
    value: Any = call.arguments[position]
    kept = IfThen(ifs=(IfClause(condition, value),), else_=None)
    return (*call.arguments[:position], kept, *call.arguments[position + 1 :])


def _no_filter(node: Node) -> UnsupportedPlanError:
    return UnsupportedPlanError(
        f"`{written(node)}` has no Substrait form over a window: window functions have no filter",
        hint="Filter the records before, or return null for those that do not count",
    )


# frames --------------------------------------------------------------------------------------------------------------


def _frame(node: Node, orders: Sequence[Node], scope: Scope) -> tuple[BoundsType, Bound, Bound]:
    """Translate a ``SpecifiedWindowFrame``."""
    rows = node.object_name("frameType") == "RowFrame"
    key = None if rows or len(orders) != 1 else expression(orders[0].children[0], scope).type
    lower, upper = (_bound(node.child(side), node, rows, key, scope) for side in ("lower", "upper"))
    return BoundsType.ROWS if rows else BoundsType.RANGE, lower, upper


def _bound(node: Node, frame: Node, rows: bool, key: Type | None, scope: Scope) -> Bound:
    match node.name:
        case "UnboundedPreceding$" | "UnboundedFollowing$":
            return Unbounded()
        case "CurrentRow$":
            return CurrentRow()
    offset = _constant(node, scope)
    if not isinstance(offset.value, int | float | decimal.Decimal | DayTime):
        raise UnsupportedPlanError(f"the window frame `{written(frame)}` has no Substrait form")
    value, negative = _size(offset.value)
    if value in (0, DayTime(0, 0, 0)):
        return CurrentRow()
    distance = _distance(value, offset.type, key, rows)
    if key is not None and isinstance(concrete(key), PrecisionTimestampTZ):
        _check_zone(distance, frame, scope)
    return Preceding(distance) if negative else Following(distance)


def _size(value: Any) -> tuple[Any, bool]:
    """Return the absolute value of a number or an interval, and whether it is negative."""
    match value:
        case DayTime(days=days, seconds=seconds, subseconds=subseconds):
            negative = (days, seconds, subseconds) < (0, 0, 0)
            return DayTime(abs(days), abs(seconds), abs(subseconds)), negative
        case _:
            return abs(value), bool(value < 0)


def _distance(value: Any, type: Type, key: Type | None, rows: bool) -> Literal:
    """Return the offset of a bound: a number of rows, or a distance from the sort key."""
    if rows:
        return Literal(type=I64(), value=value)
    if isinstance(concrete(type), I32) and key is not None and isinstance(concrete(key), Date):
        return Literal(type=IntervalDay(precision=6), value=DayTime(value, 0, 0))
    return Literal(type=type, value=value)


def _check_zone(distance: Literal, frame: Node, scope: Scope) -> None:
    """Refuse days and months as distances of instants unless the session's time zone is UTC, which plans assume."""
    zone = str(scope.production.session.conf.get("spark.sql.session.timeZone"))
    short = isinstance(distance.value, DayTime) and distance.value.days == 0
    if not short and zone not in _UTC:
        raise UnsupportedPlanError(
            f"the window frame `{written(frame)}` has no Substrait form: its days and months are those of {zone}",
            hint="Write the interval in hours, or set spark.sql.session.timeZone to UTC",
        )


_UTC: Final = frozenset({"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UTC+0", "GMT+0", "Etc/GMT"})


def _constant(node: Node, scope: Scope) -> Literal:
    """Return the value of a constant expression, computed by Spark."""
    if node.name != "Literal":
        value, type = node.java.eval(None), node.java.dataType()
        if isinstance(value, int | float):
            # back in the JVM, a number wouldn't keep its type
            fields = {"value": str(value), "dataType": json.loads(type.json())}
            node = Node(name="Literal", fields=fields, children=(), _java=lambda: None)
        else:
            literal = scope.production.session._jvm.org.apache.spark.sql.catalyst.expressions.Literal
            node = plan_of(literal.create(value, type))
    found = expression(node, scope)
    assert isinstance(found, Literal)
    return found


FORMS: Final = {"WindowExpression": window}
