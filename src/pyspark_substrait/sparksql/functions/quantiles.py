"""Quantiles and medians: exact, by the positions of the values in order.

An approximate quantile may be any value between the smallest and the largest, so the exact one serves.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    Decimal,
    Func,
    Type,
    Unbound,
    UserDefined,
    concrete,
)
from pyspark_substrait.sparksql.compiler.types import INTEGERS, has_map, spark_type
from pyspark_substrait.sparksql.functions.fragments import bound, constant, narrowed
from pyspark_substrait.sparksql.functions.ordering import in_order
from pyspark_substrait.sparksql.functions.table import Call

__all__ = ["median_of_floats", "median_of_integers", "quantile"]

#: what rounds a DOUBLE that is an integer or lies halfway between two
_HALVES = {
    "TIE_TO_EVEN": "rint({})",
    "TIE_AWAY_FROM_ZERO": "round({})",
    "TRUNCATE": "{}",
    "CEILING": "ceil({})",
    "FLOOR": "floor({})",
}


def rounded(dividend: str, divisor: str, rounding: str) -> str:
    """The quotient of two integers as a BIGINT, rounded; the divisor, an atom, is positive."""
    rest = f"z % {divisor}"
    sign, twice = "if(z < 0, -1L, 1L)", f"abs({rest}) * 2"
    quotient = f"z div {divisor}"
    match rounding:
        case "TIE_TO_EVEN":
            away = f"{twice} > {divisor} OR {twice} = {divisor} AND ({quotient}) % 2L <> 0L"
            text = f"({quotient}) + if({away}, {sign}, 0L)"
        case "TIE_AWAY_FROM_ZERO":
            text = f"({quotient}) + if({twice} >= {divisor}, {sign}, 0L)"
        case "CEILING":
            text = f"({quotient}) + if({rest} > 0, 1L, 0L)"
        case "FLOOR":
            text = f"({quotient}) - if({rest} < 0, 1L, 0L)"
        case _:
            text = quotient
    return bound(dividend, "z", text)


def median_of_integers(rounding: str) -> Callable[[Call], str]:
    """The value in the middle, or the mean of the two there, rounded."""

    def body(call: Call) -> str:
        x = call.sql(1)
        if not isinstance(concrete(call.type(1)), I64):
            middle = call.aggregate("percentile", x, "0.5D")
            return f"CAST({_HALVES[rounding].format(middle)} AS {spark_type(call.output)})"
        # a DOUBLE doesn't hold every i64
        lower, upper = (f"CAST(get(a, {at}) AS DECIMAL(20, 0))" for at in ("(size(a) - 1) div 2", "size(a) div 2"))
        values = f"sort_array({call.aggregate('collect_list', x)})"
        return bound(values, "a", rounded(f"{lower} + {upper}", "2BD", rounding))

    return body


def median_of_floats(call: Call) -> str:
    return narrowed(call.aggregate("percentile", call.sql(1), "0.5D"), call.output)


def quantile(rounding: str) -> Callable[[Call], str]:
    """The values at the boundaries of n equal parts of the records in their order; boundary i is at i * (m - 1) / n.

    Without an order, the records come in that of the values, smallest first. Null if a value is null, if n is or is
    less than one, and if there is no record.
    """

    def body(call: Call) -> str:
        boundaries, n, value = call.sql(0), call.operands[2].literal, call.sql(3)
        if n is None and not call.sql(2).upper().startswith(("NULL", "CAST(NULL", "(CAST(NULL")):
            raise InvalidPlanError("the number of parts must be a literal", path="arguments[2]")
        known, records = call.aggregate("count", value), call.aggregate("count", "1")
        if n is None or int(n) < 1:
            # it has to stay an aggregate
            return f"CAST(if({records} < 0L, array(), NULL) AS {spark_type(call.output)})"
        n = int(n)
        first = 0 if boundaries in ("MINIMUM", "BOTH") else 1
        last = n if boundaries in ("MAXIMUM", "BOTH") else n - 1
        if last < first:
            items = f"CAST(array() AS {spark_type(call.output)})"
        else:
            items = f"transform(sequence({first}L, {last}L), i -> {at_boundary(call.type(3), n, rounding)})"
        values = in_order(call, value) if call.sorts else f"sort_array({in_order(call, value)})"
        if call.distinct:
            records = f"{known} + coalesce({call.aggregate('max', f'if({value} IS NULL, 1L, 0L)')}, 0L)"
        missing = f"{records} = 0L OR {known} <> {records}"
        return f"if({missing}, NULL, {bound(values, 'a', items)})"

    return body


def at_boundary(type: Type, n: int, rounding: str) -> str:
    """The value at boundary ``i`` of the array ``a``."""
    type = concrete(type)
    place = "i * (size(a) - 1)"
    here, part = f"get(a, CAST({place} div {n}L AS INT))", f"(({place}) % {n}L)"
    next = f"get(a, CAST(({place} + {n - 1}L) div {n}L AS INT))"
    match type:
        case _ if type.__class__ in INTEGERS:
            return f"CAST({rounded(between(here, next, part, n), f'{n}BD', rounding)} AS {spark_type(type)})"
        case Decimal(precision=precision, scale=scale) if precision <= 18:
            shift = f"{10**scale}BD"
            lower, upper = (f"CAST({value} * {shift} AS BIGINT)" for value in (here, next))
            whole = f"CAST({rounded(between(lower, upper, part, n), f'{n}BD', rounding)} AS DECIMAL(19, 0))"
            return f"CAST({whole} / {shift} AS {spark_type(type)})"
        case FP32() | FP64() if rounding == "TIE_TO_EVEN":
            lower, upper = (f"CAST({value} AS DOUBLE)" for value in (here, next))
            mixed = f"{lower} + ({upper} - {lower}) * (CAST({part} AS DOUBLE) / {constant(n, FP64())})"
            return f"if({part} = 0L, {here}, {narrowed(f'({mixed})', type)})"
        case FP32() | FP64():
            raise UnsupportedPlanError(f"Spark rounds floating-point numbers to even, not by {rounding}")
        case Decimal() | UserDefined() | Func() | Unbound():
            raise UnsupportedPlanError(f"quantiles of {type} can't run on Spark yet")
        case _ if has_map(type):
            raise UnsupportedPlanError(f"quantiles of {type}: Spark can't compare maps")
        case _:
            # other values have no number between them: the place is rounded
            return f"get(a, CAST({rounded(place, f'{n}L', rounding)} AS INT))"


def between(lower: str, upper: str, part: str, n: int) -> str:
    """``n`` times the number that lies ``part / n`` of the way between two integers."""
    low, high = (f"CAST({value} AS DECIMAL(19, 0))" for value in (lower, upper))
    weight = f"CAST({part} AS DECIMAL(18, 0))"
    return f"CAST({low} * CAST({n}L - {part} AS DECIMAL(18, 0)) + {high} * {weight} AS DECIMAL(38, 0))"
