"""The aggregate functions of the specification's extensions.

Each is a Python function of a :class:`Call` and the rows of its arguments' values, in an order that only functions
registered as ``ordered`` may depend on. Rows in which an argument is null are left out, but for those with ``nulls``.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    EnumArgument,
    SortField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import FP32, FP64, Decimal, Struct, Type, concrete
from tests.reference.casts import as_declared
from tests.reference.errors import Failure, NotCovered
from tests.reference.expressions import evaluate
from tests.reference.functions.arithmetic import integer_result, real_result, truncated_quotient
from tests.reference.functions.decimals import decimal_result
from tests.reference.functions.registry import EXTENSION, Call
from tests.reference.orders import same_in_all_orders, sort_runs
from tests.reference.scope import Scope
from tests.reference.values import Row, Value, compare, equal, identity, padded, single

__all__ = ["aggregate", "call_of", "is_aggregate", "is_ordered"]

Rows = Sequence[Row]
Body = Callable[[Call, Rows], Value]
AnyCall = AggregateFunction | WindowFunction | WindowRelFunction


@dataclass(frozen=True)
class _Aggregate:
    body: Body
    nulls: bool
    ordered: bool
    #: the functions that give a part of the whole, merge parts, and make the result of them; None without phases
    steps: tuple[str, str, str] | None


_AGGREGATES: Final[dict[tuple[str, str], _Aggregate]] = {}


def _register(
    name: str,
    *extensions: str,
    nulls: bool = False,
    ordered: bool = False,
    steps: tuple[str, str, str] | None = None,
) -> Callable[[Body], Body]:
    def register(body: Body) -> Body:
        for extension in extensions:
            _AGGREGATES[extension, name] = _Aggregate(body, nulls, ordered, steps)
        return body

    return register


def _found(function: AnyCall) -> _Aggregate | None:
    return _AGGREGATES.get((function.function.urn.removeprefix(EXTENSION), function.function.name))


def is_aggregate(function: AnyCall) -> bool:
    """Whether a call is one of a known aggregate function."""
    return _found(function) is not None


def is_ordered(function: AnyCall) -> bool:
    """Whether a known aggregate function depends on the order of its records."""
    found = _found(function)
    return found is not None and found.ordered


def call_of(function: AnyCall, scope: Scope) -> Call:
    """The call, without its values."""
    types: list[Type | None] = []
    for argument in function.arguments:
        if isinstance(argument, TypeArgument):
            raise NotCovered(f"type argument of {function.function.name}")
        types.append(None if isinstance(argument, EnumArgument) else argument.type)
    return Call.of(function.function, types, function.options, function.derived_type, scope.choices)


def aggregate(
    function: AnyCall, scopes: Sequence[Scope], sorts: Sequence[SortField], context: Scope, *, given_order: bool = False
) -> Value:
    """The result over the records of some scopes.

    Args:
        function: the call.
        scopes: one for each record.
        sorts: the order in which the function gets the records.
        context: any scope of the plan.
        given_order: whether the records are in their order already, as in a window.
    """
    found = _found(function)
    if found is None:
        name = f"{function.function.urn.removeprefix(EXTENSION)}.{function.function.name}"
        raise NotCovered(f"aggregate function {name}")
    call = call_of(function, context)
    if function.phase is not AggregationPhase.INITIAL_TO_RESULT:
        return _phase(function, found, call, scopes)
    runs = [[scope] for scope in scopes] if given_order else sort_runs(scopes, sorts, lambda scope: scope)
    rows = [[_arguments(function, scope) for scope in run] for run in runs]
    if function.invocation is AggregationInvocation.DISTINCT:
        rows = _distinct(rows, call, found.ordered and not given_order and bool(sorts))
    if not found.nulls:
        rows = [[row for row in run if None not in row] for run in rows]
    rows = [run for run in rows if run]
    if found.ordered and rows:
        value = same_in_all_orders(rows, lambda order: found.body(call, order), function.function.name)
    else:
        value = found.body(call, [row for run in rows for row in run])
    return as_declared(padded(value, call.type), function.derived_type, function.output_type, context.choices)


def _arguments(function: AnyCall, scope: Scope) -> Row:
    return tuple(
        argument.value if isinstance(argument, EnumArgument) else evaluate(argument, scope)  # type: ignore[arg-type]
        for argument in function.arguments
    )


def _distinct(runs: list[list[Row]], call: Call, sorted_: bool) -> list[list[Row]]:
    if not call.types:
        raise NotCovered("distinct records without arguments")
    if sorted_:
        raise NotCovered("an order of distinct values")
    seen: dict[object, Row] = {}
    for run in runs:
        for row in run:
            seen.setdefault(identity(row, call.choices), row)
    return [list(seen.values())]


def _phase(function: AnyCall, found: _Aggregate, call: Call, scopes: Sequence[Scope]) -> Value:
    """One step of an aggregation. Null is the part of a group without values, so that it adds nothing."""
    if found.steps is None or function.invocation is AggregationInvocation.DISTINCT:
        raise NotCovered(f"{function.function.name} in phases")
    part, merged, final = found.steps
    name = {
        AggregationPhase.INITIAL_TO_INTERMEDIATE: part,
        AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE: merged,
        AggregationPhase.INTERMEDIATE_TO_RESULT: final,
    }[function.phase]
    if function.phase is not AggregationPhase.INTERMEDIATE_TO_RESULT and call.options.get("overflow") != "ERROR":
        # a bound in the place of a part would make the whole wrong
        call = replace(call, options={name: value for name, value in call.options.items() if name != "overflow"})
    body = _AGGREGATES[function.function.urn.removeprefix(EXTENSION), name].body
    rows = [_arguments(function, scope) for scope in scopes]
    return padded(body(call, [row for row in rows if None not in row]), call.type)


# counts --------------------------------------------------------------------------------------------------------------


@_register(
    "count",
    "functions_aggregate_generic",
    "functions_aggregate_decimal_output",
    steps=("count", "count merged", "count merged"),
)
def _count(call: Call, rows: Rows) -> Value:
    return decimal.Decimal(len(rows)) if isinstance(concrete(call.type), Decimal) else len(rows)


@_register("count merged", "functions_aggregate_generic", "functions_aggregate_decimal_output")
def _count_merged(call: Call, rows: Rows) -> Value:
    start = decimal.Decimal(0) if isinstance(concrete(call.type), Decimal) else 0
    return sum((row[0] for row in rows), start)


@_register("any_value", "functions_aggregate_generic", nulls=True)
def _any_value(call: Call, rows: Rows) -> Value:
    values = [row[0] for row in rows]
    if call.options.get("ignore_nulls") == "TRUE":
        values = [value for value in values if value is not None]
    if not values:
        return None
    if any(value is None for value in values):
        if all(value is None for value in values):
            return None
        raise call.open("a null or another value")
    if not all(equal(values[0], value, call.choices) for value in values):
        raise call.open("one of several values")
    return values[0]


# sums ----------------------------------------------------------------------------------------------------------------

_SUMMED: Final = ("functions_arithmetic", "functions_arithmetic_decimal", "unsigned_integers")


@_register("sum", *_SUMMED, steps=("sum", "sum", "sum"))
def _sum(call: Call, rows: Rows) -> Value:
    return _total(call, [row[0] for row in rows]) if rows else None


@_register("sum0", *_SUMMED, steps=("sum0", "sum0", "sum0"))
def _sum0(call: Call, rows: Rows) -> Value:
    if not rows and isinstance(concrete(call.type), FP64):
        return 0.0
    return _total(call, [row[0] for row in rows])


def _total(call: Call, values: list[Any]) -> Value:
    if values and isinstance(values[0], float):
        return _real_total(call, values)
    # added in one order or another, the sum may leave the range in between
    least, most = sum(value for value in values if value < 0), sum(value for value in values if value > 0)
    total = sum(map(Fraction, values), Fraction(0))
    if isinstance(concrete(call.type), Decimal):
        for part in (least, most):
            if _overflows(call, Fraction(part)) and not _overflows(call, total):
                raise call.open("an overflow that depends on the order")
        return decimal_result(call, total)
    whole = int(total)
    if integer_or_none(call, whole) is not None and None in (integer_or_none(call, least), integer_or_none(call, most)):
        raise call.open("an overflow that depends on the order")
    return integer_result(call, whole)


def integer_or_none(call: Call, value: int) -> int | None:
    """The integer; None if the call's type doesn't have it."""
    try:
        return integer_result(replace(call, options={"overflow": "ERROR"}), value)
    except Failure:
        return None


def _overflows(call: Call, value: Fraction) -> bool:
    try:
        decimal_result(replace(call, options={"overflow": "ERROR"}), value)
    except Failure:
        return True
    return False


#: the least sum that is rounded to infinity
_TOO_LARGE: Final = Fraction(2) ** 1024 - Fraction(2) ** 970


def _real_total(call: Call, values: list[float]) -> float:
    """The sum of floating-point numbers. It is the same in every order if every partial sum is exact."""
    if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values):
        return math.nan
    infinite = [value for value in values if math.isinf(value)]
    if infinite:
        return infinite[0]
    exact, size = sum(map(Fraction, values), Fraction(0)), sum(map(abs, map(Fraction, values)), Fraction(0))
    if not exact and all(math.copysign(1.0, value) < 0 for value in values):
        raise call.open("the sign of a sum of negative zeros")
    unit = min(Fraction(1, Fraction(value).denominator) for value in values)
    if size < unit * 2**53:
        return float(exact)
    if size >= _TOO_LARGE:
        if abs(exact) < _TOO_LARGE:
            raise call.open("an overflow that depends on the order")
        return real_result(call, math.inf if exact > 0 else -math.inf, overflowed=True)
    return call.approximate(float(exact))


@_register("avg", *_SUMMED[:2], steps=("avg part", "avg merged", "avg of parts"))
def _avg(call: Call, rows: Rows) -> Value:
    return _mean(call, [row[0] for row in rows], len(rows))


@_register("avg part", *_SUMMED[:2])
def _avg_part(call: Call, rows: Rows) -> Value:
    return _sum_and_count(call, [row[0] for row in rows], len(rows))


@_register("avg merged", *_SUMMED[:2])
def _avg_merged(call: Call, rows: Rows) -> Value:
    return _sum_and_count(call, [part[0] for (part,) in rows], sum(part[1] for (part,) in rows))


@_register("avg of parts", *_SUMMED[:2])
def _avg_of_parts(call: Call, rows: Rows) -> Value:
    return _mean(call, [part[0] for (part,) in rows], sum(part[1] for (part,) in rows))


def _sum_and_count(call: Call, values: list[Any], count: int) -> Value:
    """The intermediate struct of an average."""
    type = concrete(call.type)
    assert isinstance(type, Struct)
    if not count:
        raise call.open("the part of a group without values")
    return _total(replace(call, type=type.types[0]), values), count


def _mean(call: Call, values: list[Any], count: int) -> Value:
    """The sum of some values, divided by a count."""
    if not count:
        return None
    if isinstance(values[0], float):
        if sum(abs(Fraction(value)) for value in values if math.isfinite(value)) >= _TOO_LARGE:
            raise call.open("a sum that is too large")
        total = _real_total(call, values)
        if not math.isfinite(total):
            return total
        mean = Fraction(total) / count
        made = single(float(mean)) if isinstance(concrete(call.type), FP32) else float(mean)
        return made if Fraction(made) == mean else call.approximate(made)
    if isinstance(concrete(call.type), Decimal):
        return decimal_result(call, sum(map(Fraction, values), Fraction(0)) / count)
    return integer_result(call, truncated_quotient(sum(values), count))


# extremes ------------------------------------------------------------------------------------------------------------

_ORDERED: Final = (*_SUMMED, "functions_datetime")


@_register("min", *_ORDERED, steps=("min", "min", "min"))
def _min(call: Call, rows: Rows) -> Value:
    return _extreme(call, rows, -1)


@_register("max", *_ORDERED, steps=("max", "max", "max"))
def _max(call: Call, rows: Rows) -> Value:
    return _extreme(call, rows, 1)


def _extreme(call: Call, rows: Rows, sign: int) -> Value:
    chosen: Value = None
    for (value,) in rows:
        # a comparison with itself, so that a NaN alone is noticed
        if chosen is None or sign * compare(value, chosen, call.choices) > 0:
            chosen = value
    return chosen


@_register("bool_and", "functions_boolean")
def _bool_and(call: Call, rows: Rows) -> Value:
    return all(value for (value,) in rows) if rows else None


@_register("bool_or", "functions_boolean")
def _bool_or(call: Call, rows: Rows) -> Value:
    return any(value for (value,) in rows) if rows else None


# statistics ----------------------------------------------------------------------------------------------------------


def _variance(call: Call, rows: Rows) -> Fraction | float | None:
    """The exact variance of the last argument; NaN if there are values that aren't finite."""
    values = [row[-1] for row in rows]
    words = [row[0] for row in rows[:1] if len(row) > 1]
    distribution = words[0].upper() if words else call.options.get("distribution")
    if not values:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    squares = sum((value - mean) ** 2 for value in exact)
    match distribution:
        case "POPULATION":
            return squares / len(exact)
        case "SAMPLE":
            return squares / (len(exact) - 1) if len(exact) > 1 else None
        case _:
            raise call.open("the distribution")


def _statistic(call: Call, exact: Fraction | float | None, of: Callable[[float], float]) -> Value:
    if exact is None or isinstance(exact, float):
        return exact
    value = of(float(exact))
    value = single(value) if isinstance(concrete(call.type), FP32) else value
    return value if exact == 0 else call.approximate(value)


@_register("variance", "functions_arithmetic")
def _variance_of(call: Call, rows: Rows) -> Value:
    return _statistic(call, _variance(call, rows), lambda value: value)


@_register("std_dev", "functions_arithmetic")
def _std_dev(call: Call, rows: Rows) -> Value:
    return _statistic(call, _variance(call, rows), math.sqrt)


# text ----------------------------------------------------------------------------------------------------------------


@_register("string_agg", "functions_string", ordered=True, nulls=True)
def _string_agg(call: Call, rows: Rows) -> Value:
    known = [row for row in rows if row[0] is not None]
    separators = {row[1] for row in rows}
    if not known or None in separators or len(separators) > 1:
        raise call.open("no value, a null separator, or several of them")
    return separators.pop().join(row[0] for row in known)
