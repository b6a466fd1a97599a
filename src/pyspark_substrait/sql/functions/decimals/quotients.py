"""Quotients and remainders of decimals.

A quotient is rounded half away from zero, which the specification leaves open, and only once: with a cast to a smaller
scale, 0.49 would become 0.5 and then 1.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.model.types import Decimal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import any_null, bound, largest, raised, smallest
from pyspark_substrait.sql.functions.decimals.digits import (
    WHOLE,
    decimal_of,
    is_negative,
    is_zero,
    magnitude,
    shifted,
)
from pyspark_substrait.sql.functions.table import Call

__all__ = ["divide", "modulus", "saturating_divide"]


def divide(call: Call) -> str:
    """A quotient; one that needs more than 38 digits is an error."""
    left, right, output = decimal_of(call.type(0)), decimal_of(call.type(1)), decimal_of(call.output)
    found = _widened(left, right, output.scale)
    if found is None:
        return _of_digits(call, left, right, output)
    x, y, type = _operands(call, found)
    text = f"{x} / {y}"
    return text if type.precision == output.precision else Atom(f"CAST({text} AS {spark_type(output)})")


def saturating_divide(call: Call) -> str:
    """Return a quotient; one with more than 38 digits is the nearest number of the type. Zero divisors are errors."""
    left, right, output = decimal_of(call.type(0)), decimal_of(call.type(1)), decimal_of(call.output)
    found = _widened(left, right, output.scale)
    whole = left.precision - left.scale + right.scale
    if found is None or whole + output.scale <= output.precision:
        return divide(call)
    x, y, _ = _operands(call, found)
    a, b = call.sql(0), call.sql(1)
    bounds = f"if(({is_negative(a, left)}) = ({is_negative(b, right)}), {largest(output)}, {smallest(output)})"
    beyond = f"if({is_zero(b, right)}, {raised(call, 'division by zero')}, {bounds})"
    return Atom(
        f"if({any_null(a, b)}, NULL, coalesce(try_cast(try_divide({x}, {y}) AS {spark_type(output)}), {beyond}))"
    )


def _spark_quotient(left: Decimal, right: Decimal) -> Decimal:
    """The type that Spark gives a quotient."""
    scale = max(6, left.scale + right.precision + 1)
    whole = left.precision - left.scale + right.scale
    if whole + scale <= 38:
        return Decimal(precision=whole + scale, scale=scale)
    return Decimal(precision=38, scale=max(38 - whole, min(scale, 6)))


def _widened(left: Decimal, right: Decimal, scale: int) -> tuple[Decimal, Decimal] | None:
    """Return operand types of larger precision with which Spark rounds the quotient to this scale, if there are any.

    They make Spark leave more room before the point and less after it.
    """
    for more in range(77):
        for more_left in range(max(0, more - (38 - right.precision)), min(more, 38 - left.precision) + 1):
            more_right = more - more_left
            wide_left = replace(left, precision=left.precision + more_left)
            # the same value with more zeros after the point
            wide_right = replace(right, precision=right.precision + more_right, scale=right.scale + more_right)
            if _spark_quotient(wide_left, wide_right).scale == scale:
                return wide_left, wide_right
    return None


def _operands(call: Call, types: tuple[Decimal, Decimal]) -> tuple[str, str, Decimal]:
    """The operands in these types, and the type that Spark gives their quotient."""
    x, y = (
        call.sql(position)
        if decimal_of(call.type(position)) == type
        else f"CAST({call.sql(position)} AS {spark_type(type)})"
        for position, type in enumerate(types)
    )
    return x, y, _spark_quotient(*types)


def _of_digits(call: Call, left: Decimal, right: Decimal, output: Decimal) -> str:
    """Return a quotient with fewer fractional digits than Spark gives it: rounded up or down by the remainder.

    In units of the result it is ``a / (b * 10**cut)``, where a and b are the digits of the operands. With
    ``a = 10**cut * high + low``, the remainder is ``10**cut * (high % b) + low``.
    """
    x, y = call.sql(0), call.sql(1)
    cut = left.scale - right.scale - output.scale
    high = f"CAST(left({magnitude(x)}, length({magnitude(x)}) - {cut}) AS {WHOLE})"
    low_is_half = f"substring({magnitude(x)}, -{cut}, 1) >= '5'"
    divisor = f"CAST({magnitude(y)} AS {WHOLE})"
    up = bound(f"{high} % {divisor}", "r", f"r >= {divisor} - r OR {divisor} - r - r = 1 AND {low_is_half}")
    quotient, places = f"{x} / {y}", output.scale
    down = f"if({quotient} < 0, ceil({quotient}, {places}), floor({quotient}, {places}))"
    return Atom(f"CAST(if({up}, round({quotient}, {places}), {down}) AS {spark_type(output)})")


def modulus(call: Call) -> str:
    """Return a remainder, with the sign of the dividend. It always fits its type; a zero divisor is an error."""
    x, y = call.sql(0), call.sql(1)
    left, right = decimal_of(call.type(0)), decimal_of(call.type(1))
    quotient_digits = left.precision - left.scale + right.scale
    if quotient_digits <= 38:
        return f"{x} % {y}"
    # Spark fails for a quotient of more than 39 digits; the first remainder removes all but the last 38
    places = quotient_digits - 38
    multiple = shifted(y, places, replace(right, scale=right.scale - places))
    return f"({x} % {multiple}) % {y}"
