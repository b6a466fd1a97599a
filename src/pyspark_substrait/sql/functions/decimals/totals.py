"""Sums and averages of decimals.

A sum has 38 digits. If the argument has at most 28 digits, there is room for 10**10 numbers of any size, and Spark's
own sum is exact; its overflow is an error. Sums that must not fail add two *halves* instead: ``x div split`` and
``x % split``, of at most 18 and 20 digits, whose sums have room for 10**10 and 10**18 numbers.

An average is rounded half away from zero, which the specification leaves open, and only once.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import Decimal, Struct, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.aggregates import counted, packed, total_of_counts
from pyspark_substrait.sql.functions.common_expressions import bound, constant, largest, smallest
from pyspark_substrait.sql.functions.decimals.digits import WHOLE, as_decimal, decimal_of, digits
from pyspark_substrait.sql.functions.table import Call

__all__ = [
    "average",
    "final_average",
    "merged_average",
    "or_zero",
    "partial_average",
    "saturating_total",
    "total",
]

#: the precision of numbers whose sums always fit
_FEW_DIGITS = 28
#: the digits of the lower half
_LOW_DIGITS = 20
_LOW_UNIT = f"{10**_LOW_DIGITS}BD"

# sums ----------------------------------------------------------------------------------------------------------------


def total(call: Call) -> str:
    """Spark's own sum."""
    text, type, output = call.aggregate("sum", call.sql(0)), decimal_of(call.type(0)), decimal_of(call.output)
    # it has ten digits more than its argument
    same = min(type.precision + 10, 38) == output.precision and type.scale == output.scale
    return text if same else Atom(f"CAST({text} AS {spark_type(output)})")


def saturating_total(call: Call) -> str:
    """Return a sum; one with more than 38 digits is the nearest number of its type, whatever its partial sums."""
    type = decimal_of(call.type(0))
    if type.precision <= _FEW_DIGITS:
        return total(call)
    # moved by one unit of the upper half, each of the two has room if their sum has
    positive = f"try_add(try_multiply(h - 1BD, {_LOW_UNIT}), l + {_LOW_UNIT})"
    negative = f"try_add(try_multiply(h + 1BD, {_LOW_UNIT}), l - {_LOW_UNIT})"
    exact = as_decimal(f"if(h > 0, {positive}, {negative})", call.output)
    bounds = f"if(h > 0, {largest(call.output)}, {smallest(call.output)})"
    return _with_halves(call, call.sql(0), type, f"if(h IS NULL, NULL, coalesce({exact}, {bounds}))")


def or_zero(body: Callable[[Call], str]) -> Callable[[Call], str]:
    """A sum that is zero for no numbers."""
    return lambda call: Atom(f"coalesce({body(call)}, {constant(0, call.output)})")


def _with_halves(call: Call, x: str, type: Decimal, text: str) -> str:
    """Return ``text`` of a sum with the digits ``h * 10**20 + l``, ``abs(l) < 10**20``; null for no numbers."""
    split = f"{10 ** (_LOW_DIGITS - type.scale)}BD" if type.scale <= _LOW_DIGITS else _power(_LOW_DIGITS - type.scale)
    if call.distinct:
        # different numbers may have equal halves
        numbers = f"nullif({call.aggregate('collect_set', x)}, array())"
        high = _sum_of(numbers, f"CAST(e div {split} AS DECIMAL(18, 0))")
        low = _sum_of(numbers, digits(f"(e % {split})", type))
    else:
        high = f"CAST({call.aggregate('sum', f'CAST({x} div {split} AS DECIMAL(18, 0))')} AS {WHOLE})"
        low = digits(call.aggregate("sum", f"{x} % {split}"), type)
    carried = bound(f"h + CAST(l div {_LOW_UNIT} AS {WHOLE})", "h", bound(f"l % {_LOW_UNIT}", "l", text))
    return bound(high, "h", bound(low, "l", carried))


def _power(exponent: int) -> str:
    """``10**exponent`` for a negative exponent."""
    return f"0.{'0' * (-exponent - 1)}1BD"


def _sum_of(numbers: str, part: str) -> str:
    return f"aggregate({numbers}, CAST(0 AS {WHOLE}), (s, e) -> CAST(s + {part} AS {WHOLE}))"


# averages ------------------------------------------------------------------------------------------------------------


def average(call: Call) -> str:
    type = decimal_of(call.type(0))
    if type.precision > _FEW_DIGITS:
        return _average_of_halves(call, call.sql(0), type, counted(call))
    total, count = call.aggregate("sum", call.sql(0)), counted(call)
    if type.precision <= 16:
        # the quotient has 28 - P digits more, so rounding twice makes no difference below 10**11 values
        return Atom(f"CAST({total} / CAST({count} AS DECIMAL(19, 0)) AS {spark_type(call.output)})")
    if type.scale >= 6:
        # Spark rounds a quotient of 38 digits to the scale of the sum, and so only once
        number = f"CAST({count} AS DECIMAL(19, 0))"
        return Atom(f"CAST(CAST({total} AS {spark_type(call.output)}) / {number} AS {spark_type(call.output)})")
    # it would round to six digits first: a sum of 25 digits leaves room for 13 more, enough for 10**12 values
    narrow = f"CAST({total} AS DECIMAL(25, {type.scale})) / CAST({count} AS DECIMAL(12, 0))"
    small = f"abs({total}) < {10 ** (25 - type.scale)}BD AND {count} BETWEEN 1L AND {10**12 - 1}L"
    exact = _average_of_halves(call, call.sql(0), type, count)
    return Atom(f"if({small}, CAST({narrow} AS {spark_type(call.output)}), {exact})")


def _average_of_halves(call: Call, x: str, type: Decimal, count: str) -> str:
    """An average of any numbers: no sum in it has too many digits."""
    # both halves get the sign of the whole
    sign = "CASE WHEN h > 0 AND l < 0 THEN -1BD WHEN h < 0 AND l > 0 THEN 1BD ELSE 0BD END"
    # the rest of the upper half is carried to the lower one
    rest = f"CAST((h + s) % n AS DECIMAL(19, 0)) * {_LOW_UNIT} + (l - s * {_LOW_UNIT})"
    last = "CASE WHEN r % n + r % n >= n THEN 1BD WHEN r % n + r % n <= -n THEN -1BD ELSE 0BD END"
    low = f"CAST((r - r % n) / n AS {WHOLE}) + {last}"
    mean = f"CAST((h + s) div n AS DECIMAL(18, 0)) * {_LOW_UNIT} + {low}"
    text = bound(sign, "s", bound(f"CAST({rest} AS {WHOLE})", "r", as_decimal(f"({mean})", call.output)))
    return bound(f"CAST(nullif({count}, 0L) AS DECIMAL(19, 0))", "n", _with_halves(call, x, type, text))


def partial_average(call: Call) -> str:
    return packed(_intermediate_total(call, call.sql(0)), counted(call))


def merged_average(call: Call) -> str:
    return packed(_intermediate_total(call, f"{call.sql(0)}.f0"), total_of_counts(call, f"{call.sql(0)}.f1"))


def _intermediate_total(call: Call, x: str) -> str:
    """Return the sum in the intermediate value of an average: a partial sum with more than 38 digits is an error."""
    intermediate = concrete(call.output)
    assert isinstance(intermediate, Struct)
    target = spark_type(intermediate.types[0])
    return f"coalesce(CAST({call.aggregate('sum', x)} AS {target}), CAST(0 AS {target}))"


def final_average(call: Call) -> str:
    total, count = f"{call.sql(0)}.f0", call.aggregate("sum", f"{call.sql(0)}.f1")
    return _average_of_halves(call, total, decimal_of(call.output), count)
