"""Integers and decimals as numbers of the machine (``machine``), and the test whether a number is a power."""

from __future__ import annotations

from fractions import Fraction

from pyspark_substrait.model.types import I64, Decimal, Type, concrete
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.elementary.machine import Number, constant, given, power_of_two

__all__ = ["beside_one", "is_power", "number"]

_WIDE = "DECIMAL(38, 0)"


def number(x: str, type: Type) -> Number:
    """A number of type I64, FP32, FP64 or DECIMAL; ``x`` is a name (of a DOUBLE for the floating-point types)."""
    match concrete(type):
        case I64():
            return given(f"CAST(shiftright({x}, 32) AS DOUBLE) * {2.0**32!r}D") + given(
                f"CAST({x} & 4294967295L AS DOUBLE)"
            )
        case Decimal(scale=scale):
            return _sum(_pieces(x), scale)
        case _:
            return given(x)


def beside_one(x: str, type: Type, sign: int) -> Number:
    """Return ``x - 1`` or, with the sign 1, ``x + 1``; precise even if the difference is small."""
    if not isinstance(decimal := concrete(type), Decimal):
        return constant(sign) + number(x, type)  # a product with a huge number would be too large
    # the digits of both are subtracted piece by piece, as the machine would lose the last ones of the whole
    one = str(10**decimal.scale).rjust(45, "0")
    ones = (one[:15], one[15:30], one[30:])
    parts = [
        f"{piece} {'+' if sign > 0 else '-'} {float(digits)!r}D" for piece, digits in zip(_pieces(x), ones, strict=True)
    ]
    return _sum(parts, decimal.scale)


def _pieces(x: str) -> list[str]:
    """The digits of a decimal, without the point, in three DOUBLEs with its sign."""
    # as text, because Spark's negative of a decimal keeps no more than 34 digits
    digits = f"lpad(translate(CAST({x} AS STRING), '-.', ''), 45, '0')"
    sign = f"sign(CAST({x} AS DOUBLE))"  # comparing small decimals with 0 is unreliable
    return [f"CAST(substr({digits}, {start}, 15) AS DOUBLE) * {sign}" for start in (1, 16, 31)]


def _sum(pieces: list[str], scale: int) -> Number:
    high, middle, low = (given(piece) for piece in pieces)
    whole = high.times(constant(1e15), plus=middle).times(constant(1e15), plus=low)
    return whole / constant(Fraction(10**scale))


def is_power(x: str, base: str, exponent: str, types: tuple[Type, Type]) -> str:
    """Return the condition that a positive number is exactly a power of another one.

    It is false if the proof needs integers of more than 38 digits.

    Args:
        x: the name of the number.
        base: a name or a literal.
        exponent: the name of a DOUBLE, which isn't zero; the condition is false if it isn't a multiple of 1/1024.
        types: the types of the number and of the base, both decimals or integers, or both floating-point.
    """
    # with x = m * r^i and base = n * r^j, neither m nor n divisible by r, and the exponent p / q in lowest terms, n is
    # g^q, m is g^p, and i q = j p; a negative exponent makes m * g^p a power of r, which is 1 but for decimals
    decimal = isinstance(concrete(types[0]), (Decimal, I64))
    parts = _decimal_parts if decimal else _binary_parts
    powers = ", ".join(str(2**power) for power in range(11))
    q = f"try_element_at(filter(array({powers}), q -> {exponent} * q = rint({exponent} * q)), 1)"
    known = f"named_struct('x', {parts(x)}, 'b', {parts(base)}, 'q', {q}, 'p', {exponent})"
    root = f"CAST(rint(pow(CAST(z.b.m AS DOUBLE), 1D / z.q)) AS {_WIDE})"
    known = bound(known, "z", f"named_struct('x', z.x, 'b', z.b, 'q', z.q, 'p', CAST(z.p * z.q AS INT), 'g', {root})")
    power = _power("z.g", "abs(z.p)")
    above = f"{power} = z.x.m AND z.x.i * z.q = z.b.i * z.p"
    product = f"try_multiply(z.x.m, {power})"
    if decimal:
        below = f"{product} = try_cast(concat('1e', z.b.i * z.p div z.q - z.x.i) AS {_WIDE})"
    else:
        below = f"{product} = 1 AND z.x.i * z.q = z.b.i * z.p"
    same = f"{_power('z.g', 'z.q')} = z.b.m AND if(z.p > 0, {above}, {below})"
    return bound(known, "z", f"coalesce({same}, false)")


def _power(number: str, exponent: str) -> str:
    start = f"CAST(1 AS {_WIDE})"
    return f"aggregate(sequence(1, {exponent}), {start}, (a, i) -> CAST(try_multiply(a, {number}) AS {_WIDE}))"


def _decimal_parts(x: str) -> str:
    digits = f"named_struct('d', replace(CAST({x} AS STRING), '.', ''), 's', locate('.', reverse(CAST({x} AS STRING))))"
    stripped = bound(digits, "o", "named_struct('d', o.d, 's', greatest(o.s - 1, 0), 't', rtrim('0', o.d))")
    parts = f"named_struct('m', CAST(o.t AS {_WIDE}), 'i', length(o.d) - length(o.t) - o.s)"
    return bound(stripped, "o", parts)


def _binary_parts(x: str) -> str:
    whole = f"named_struct('n', CAST({power_of_two('(52D - o)', x)} AS BIGINT), 'e', o - 52)"
    odd = "named_struct('n', o.n, 'e', o.e, 'm', aggregate(sequence(1, 53), o.n, (a, i) -> if(a % 2 = 0, a div 2, a)))"
    parts = f"named_struct('m', CAST(o.m AS {_WIDE}), 'i', CAST(o.e + rint(log2(o.n / o.m)) AS INT))"
    return bound(bound(bound(f"floor(log2({x}))", "o", whole), "o", odd), "o", parts)
