"""The functions of functions_comparison, and the comparisons of functions_datetime."""

from __future__ import annotations

import math

from tests.reference.functions.registry import Call, Thunk, scalar
from tests.reference.values import Value, compare, equal

_HERE = "functions_comparison"


@scalar(_HERE, "equal")
def _equal(call: Call, left: Value, right: Value) -> bool:
    return equal(left, right, call.choices)


@scalar(_HERE, "not_equal")
def _not_equal(call: Call, left: Value, right: Value) -> bool:
    return not equal(left, right, call.choices)


def _same(call: Call, left: Value, right: Value) -> bool:
    if left is None or right is None:
        return left is None and right is None
    return equal(left, right, call.choices)


@scalar(_HERE, "is_not_distinct_from", nulls=True)
def _is_not_distinct_from(call: Call, left: Value, right: Value) -> bool:
    return _same(call, left, right)


@scalar(_HERE, "is_distinct_from", nulls=True)
def _is_distinct_from(call: Call, left: Value, right: Value) -> bool:
    return not _same(call, left, right)


for _extension in (_HERE, "functions_datetime"):

    @scalar(_extension, "lt")
    def _lt(call: Call, left: Value, right: Value) -> bool:
        return compare(left, right, call.choices) < 0

    @scalar(_extension, "gt")
    def _gt(call: Call, left: Value, right: Value) -> bool:
        return compare(left, right, call.choices) > 0

    @scalar(_extension, "lte")
    def _lte(call: Call, left: Value, right: Value) -> bool:
        return compare(left, right, call.choices) <= 0

    @scalar(_extension, "gte")
    def _gte(call: Call, left: Value, right: Value) -> bool:
        return compare(left, right, call.choices) >= 0


@scalar(_HERE, "between", nulls=True)
def _between(call: Call, value: Value, low: Value, high: Value) -> bool | None:
    above = None if value is None or low is None else compare(value, low, call.choices) >= 0
    below = None if value is None or high is None else compare(value, high, call.choices) <= 0
    return False if False in (above, below) else None if None in (above, below) else True


@scalar(_HERE, "is_true", nulls=True)
def _is_true(call: Call, value: Value) -> bool:
    return value is True


@scalar(_HERE, "is_not_true", nulls=True)
def _is_not_true(call: Call, value: Value) -> bool:
    return value is not True


@scalar(_HERE, "is_false", nulls=True)
def _is_false(call: Call, value: Value) -> bool:
    return value is False


@scalar(_HERE, "is_not_false", nulls=True)
def _is_not_false(call: Call, value: Value) -> bool:
    return value is not False


@scalar(_HERE, "is_null", nulls=True)
def _is_null(call: Call, value: Value) -> bool:
    return value is None


@scalar(_HERE, "is_not_null", nulls=True)
def _is_not_null(call: Call, value: Value) -> bool:
    return value is not None


@scalar(_HERE, "is_nan")
def _is_nan(call: Call, value: float) -> bool:
    return math.isnan(value)


@scalar(_HERE, "is_finite")
def _is_finite(call: Call, value: float) -> bool:
    return math.isfinite(value)


@scalar(_HERE, "is_infinite")
def _is_infinite(call: Call, value: float) -> bool:
    return math.isinf(value)


@scalar(_HERE, "nullif", nulls=True)
def _nullif(call: Call, value: Value, other: Value) -> Value:
    if value is None or (other is not None and equal(value, other, call.choices)):
        return None
    return value


@scalar(_HERE, "coalesce", lazy=True)
def _coalesce(call: Call, *arguments: Thunk) -> Value:
    for argument in arguments:
        value = argument()
        if value is not None:
            return value
    return None


def _extreme(call: Call, values: tuple[Value, ...], sign: int) -> Value:
    chosen = values[0]
    for value in values[1:]:
        if sign * compare(value, chosen, call.choices) > 0:
            chosen = value
    return chosen


@scalar(_HERE, "greatest")
def _greatest(call: Call, *values: Value) -> Value:
    return _extreme(call, values, 1)


@scalar(_HERE, "least")
def _least(call: Call, *values: Value) -> Value:
    return _extreme(call, values, -1)


@scalar(_HERE, "greatest_skip_null", nulls=True)
def _greatest_skip_null(call: Call, *values: Value) -> Value:
    known = tuple(value for value in values if value is not None)
    return _extreme(call, known, 1) if known else None


@scalar(_HERE, "least_skip_null", nulls=True)
def _least_skip_null(call: Call, *values: Value) -> Value:
    known = tuple(value for value in values if value is not None)
    return _extreme(call, known, -1) if known else None
