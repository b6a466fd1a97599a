"""Quantiles and medians: exact, by the positions of the values in order.

An approximate quantile may be any value between the smallest and the largest, so the exact one is allowed.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, I64, Decimal, Func, Type, Unbound, UserDefined, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, has_map, has_order, spark_type, unsigned_bits
from pyspark_substrait.sql.fragment import UNKNOWN, Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import AWAY, EVEN
from pyspark_substrait.sql.functions.arithmetic.interpolation import (
    between_decimals,
    between_floats,
    between_integers,
    rounded,
)
from pyspark_substrait.sql.functions.common_expressions import LAMBDAS_SINCE, bound, narrowed
from pyspark_substrait.sql.functions.ordering import in_order
from pyspark_substrait.sql.functions.table import Call

__all__ = ["NEAREST", "median_of_floats", "median_of_integers", "plain_median", "quantile"]

#: the functions that round a DOUBLE that is an integer or halfway between two
_HALVES = {
    "TIE_TO_EVEN": "rint({})",
    "TIE_AWAY_FROM_ZERO": "round({})",
    "TRUNCATE": "{}",
    "CEILING": "ceil({})",
    "FLOOR": "floor({})",
}


def median_of_integers(call: Call) -> str:
    """Return the middle value, or the rounded mean of the two middle values."""
    x, rounding = call.sql(1), call.options.get("rounding", EVEN)
    if not isinstance(concrete(call.type(1)), I64):
        middle = call.aggregate("percentile", x, "0.5D")
        return Atom(f"CAST({_HALVES[rounding].format(middle)} AS {spark_type(call.output)})")
    # a DOUBLE doesn't hold every i64
    return _in_the_middle(call, between_integers(*_MIDDLE, "1L", 2, rounding))


#: the directions of rounding to the nearest number
NEAREST: Final = (EVEN, AWAY)


def plain_median(call: Call) -> str:
    return narrowed(call.aggregate("percentile", call.sql(1), "0.5D"), call.output)


def median_of_floats(call: Call) -> str:
    """Return the mean of the two middle values, rounded once; a single middle value is both of them."""
    return _in_the_middle(call, between_floats(*_MIDDLE, "1L", 2, call.output, call.options.get("rounding", EVEN)))


_MIDDLE = "get(a, (size(a) - 1) div 2)", "get(a, size(a) div 2)"


def _in_the_middle(call: Call, text: str) -> str:
    return bound(f"sort_array({call.aggregate('collect_list', call.sql(1))})", "a", text)


def quantile(call: Call) -> str:
    """Return the values at the boundaries of n equal parts of the ordered records; boundary i is at i * (m - 1) / n.

    Without an order, the records are ordered by the values, smallest first. Null if a value is null, if n is null or
    less than one, and if there are no records.
    """
    boundaries, n, value = call.sql(0), call.operands[2].literal, call.sql(3)
    if call.operands[2].sql.value is UNKNOWN:
        raise InvalidPlanError("the number of parts must be a literal", path="arguments[2]")
    known, records = call.aggregate("count", value), call.aggregate("count", "1")
    if n is None or int(n) < 1:
        # it must remain an aggregate
        return Atom(f"CAST(if({records} < 0L, array(), NULL) AS {spark_type(call.output)})")
    n = int(n)
    first = 0 if boundaries in ("MINIMUM", "BOTH") else 1
    last = n if boundaries in ("MAXIMUM", "BOTH") else n - 1
    if last < first:
        items = f"CAST(array() AS {spark_type(call.output)})"
    else:
        rounding = call.options.get("rounding", EVEN)
        if isinstance(concrete(call.type(3)), FP32 | FP64) and rounding in NEAREST:
            call.require_spark(LAMBDAS_SINCE, "its analyser gives up on the text that rounds exactly")
        item = at_boundary(call.type(3), n, rounding)
        items = f"transform(sequence({first}L, {last}L), i -> {item})"
    values = in_order(call, value) if call.sorts else f"sort_array({in_order(call, value)})"
    if call.distinct:
        records = f"{known} + coalesce({call.aggregate('max', f'if({value} IS NULL, 1L, 0L)')}, 0L)"
    missing = f"{records} = 0L OR {known} <> {records}"
    return Atom(f"if({missing}, NULL, {bound(values, 'a', items)})")


def at_boundary(type: Type, n: int, rounding: str) -> str:
    """The value at boundary ``i`` of the array ``a``."""
    type = concrete(type)
    place = "i * (size(a) - 1)"
    here, part = f"get(a, CAST({place} div {n}L AS INT))", f"(({place}) % {n}L)"
    next = f"get(a, CAST(({place} + {n - 1}L) div {n}L AS INT))"
    bits = unsigned_bits(type) if isinstance(type, UserDefined) else None
    match type:
        case _ if type.__class__ in INTEGERS or (bits is not None and bits < 64):
            return f"CAST({between_integers(here, next, part, n, rounding)} AS {spark_type(type)})"
        case UserDefined() if bits is not None:
            return between_decimals(here, next, part, n, 20, 0, rounding)
        case Decimal(precision=precision, scale=scale):
            return between_decimals(here, next, part, n, precision, scale, rounding)
        case FP32() | FP64():
            return between_floats(here, next, part, n, type, rounding)
        case UserDefined() | Func() | Unbound():
            raise UnsupportedPlanError(f"quantiles of {type}: its values have no order")
        case _ if has_map(type) or not has_order(type):
            raise UnsupportedPlanError(f"quantiles of {type}: Spark cannot put its values in order")
        case _:
            # other values can't be interpolated: the position is rounded
            return f"get(a, CAST({rounded(place, f'{n}L', rounding)} AS INT))"
