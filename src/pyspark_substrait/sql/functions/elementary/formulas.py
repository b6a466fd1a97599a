"""The elementary functions as formulas for the machine (``machine``): values of about 100 binary digits.

There are two series, ``exp(x) - 1`` and sine with cosine, for arguments that were reduced to near zero. Their inverses
(logarithms, inverse trigonometric and hyperbolic functions) start from Spark's own result, which has 53 digits, and
correct it in one step: the difference between the argument and the function of the result is computed as a pair, and
only the first digits of the correction are needed. For small arguments, all have their Taylor series.

The conditions and texts refer to the DOUBLE ``x``. The values hold where Spark's own result isn't exact: not for NaN,
nor where a function is infinite, nor for the few arguments with a rational result.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from math import factorial
from typing import Final, TypeAlias

from pyspark_substrait.sql.functions.elementary.machine import (
    ONE,
    Number,
    Value,
    constant,
    given,
)

__all__ = [
    "LN_2",
    "LN_10",
    "PI",
    "SMALL",
    "Cases",
    "angle",
    "arcus_cosine",
    "arcus_sine",
    "arcus_tangent",
    "area",
    "exponential",
    "hyperbolic",
    "logarithm",
    "logarithm_near_one",
    "proportional",
    "trigonometric",
]

#: values with the conditions under which they hold; the first one applies
Cases: TypeAlias = list[tuple[str, Value]]


def _arcus_tangent_of_inverse(n: int, unit: int) -> int:
    """Return the angle whose tangent is 1 / n, in units of 1 / ``unit``."""
    term = total = unit // n
    for k in range(3, unit.bit_length(), 2):
        term //= -n * n
        total += term // k
    return total


_UNIT: Final = 1 << 1400
#: to 1,380 binary digits, by Machin's formula: huge angles need that many
PI: Final = Fraction(4 * (4 * _arcus_tangent_of_inverse(5, _UNIT) - _arcus_tangent_of_inverse(239, _UNIT)), _UNIT)
with localcontext() as _context:
    _context.prec = 100
    LN_2: Final = Fraction(Decimal(2).ln())
    LN_10: Final = Fraction(Decimal(10).ln())

#: below this, the Taylor series is used
SMALL: Final = 2.0**-8
#: below this, a function is adjacent to its first term
_TINY: Final = 2.0**-30
#: a difference too small to change a DOUBLE near 1
_BESIDE: Final = 2.0**-60
#: beyond this, exp and related functions exceed the DOUBLEs
_LARGEST: Final = 750.0

_X: Final = given("x")
_SIZE: Final = given("abs(x)")
_SIGN: Final = given("sign(x)")


# Taylor series -------------------------------------------------------------------------------------------------------


def _quotient(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    """The first terms of the quotient of two power series, the second of which begins with 1."""
    terms: list[Fraction] = []
    for n, term in enumerate(a):
        terms.append(term - sum((terms[k] * b[n - k] for k in range(n)), Fraction(0)))
    return terms


def _alternating(terms: list[Fraction]) -> list[Fraction]:
    return [-term if n % 2 else term for n, term in enumerate(terms)]


_COSH, _SINH = ([Fraction(1, factorial(2 * n + odd)) for n in range(9)] for odd in (0, 1))
_TANH = _quotient(_SINH, _COSH)
_ASIN = [Fraction(factorial(2 * n), 4**n * factorial(n) ** 2 * (2 * n + 1)) for n in range(9)]
_ATANH = [Fraction(1, 2 * n + 1) for n in range(9)]

#: coefficients by powers of the square of the argument; those of odd functions are divided by the argument
_SERIES: Final = {
    "cosh": _COSH,
    "sinh": _SINH,
    "tanh": _TANH,
    "cos": _alternating(_COSH),
    "sin": _alternating(_SINH),
    "tan": [abs(term) for term in _TANH],
    "asin": _ASIN,
    "asinh": _alternating(_ASIN),
    "atanh": _ATANH,
    "atan": _alternating(_ATANH),
}


def _near_zero(name: str) -> Cases:
    """Return a function of a small argument: the argument itself, or 1 for an even function, and a correction.

    As the first term is exact, the sign of the correction is known even if the next terms happen to be DOUBLEs.
    """
    even = name in ("cos", "cosh")
    coefficients = _SERIES[name][1:]
    side = math.copysign(_BESIDE, coefficients[0])
    up, down = given(f"x * {2.0**200!r}D", f"x * {2.0**200!r}D * {side!r}D"), constant(-200.0)
    tiny = Value(given("1D", side)) if even else Value(up, down)
    square = _X * _X
    correction = square * square.polynomial(coefficients)
    small = ONE + correction if even else _X + _X * correction
    return [
        (f"abs(x) < {_TINY!r}D", tiny),
        (f"abs(x) < {SMALL!r}D", Value(small, uncertain=square)),
    ]


def _beside_one(distance: str, series: list[Fraction]) -> Value:
    """An inverse function at a small distance t from 1: the square root of 2 t, times a series of t / 2."""
    half = given(f"({distance}) * 0.5D")
    double = half * constant(4.0)
    first, rest = double.first_root()
    root = first + rest.ratio(first + first)
    # for an exact square root, only the error of the series remains
    uncertain = (rest * rest).choose(ONE, half)
    return Value(root.times(half * half.polynomial(series[1:]), plus=root), uncertain=uncertain)


# exponential functions -----------------------------------------------------------------------------------------------


def _expm1(x: Number) -> tuple[Number, Number]:
    """Return ``v`` and ``k`` for a DOUBLE: ``exp(x)`` is ``(1 + v) * 2^k``, with ``v`` between -0.3 and 0.42."""
    turns = (x * constant(1 / LN_2)).whole()
    first, second = (Fraction(math.floor(LN_2 * 2**digits), 2**digits) for digits in (42, 84))
    rest = x
    # the first two products are exact, because turns has no more than 11 binary digits
    for piece in (first, second - first, LN_2 - second):
        rest = turns.times(constant(-piece), plus=rest)
    return rest * rest.polynomial([Fraction(1, factorial(n + 1)) for n in range(23)]), turns


def exponential() -> Cases:
    v, turns = _expm1(given(f"greatest({-_LARGEST!r}D, least(x, {_LARGEST!r}D))"))
    near = Value(ONE + v, uncertain=v * v.choose(ONE, constant(-1.0)))
    return [
        (f"abs(x) < {_BESIDE!r}D", Value(given("1D", f"sign(x) * {_BESIDE!r}D"))),
        ("abs(x) < 0.34D", near),
        ("", Value(ONE + v, turns)),
    ]


def hyperbolic(name: str) -> Cases:
    """``sinh``, ``cosh`` or ``tanh``."""
    # with exp(|x|) = e * 2^k and q = 4^-k, exp(-|x|) is q / e * 2^k, which is (q - q * w) * 2^k
    v, turns = _expm1(given(f"least(abs(x), {_LARGEST!r}D)"))
    e = ONE + v
    q, w = ONE.scaled(-(turns + turns)), v / e
    sine, cosine = v + q.times(w, plus=ONE - q), e + (q - q * w)
    general = {
        "sinh": Value(sine * _SIGN, turns - ONE),
        "cosh": Value(cosine, turns - ONE),
        "tanh": Value(sine / cosine * _SIGN),
    }
    limit = [("abs(x) > 20D", Value(given("sign(x)", f"-sign(x) * {_BESIDE!r}D")))] if name == "tanh" else []
    return [*_near_zero(name), *limit, ("", general[name])]


# logarithms ----------------------------------------------------------------------------------------------------------


def logarithm(y: Number, u: Number) -> Number:
    """The natural logarithm of a positive number ``y``, which is ``1 + u``."""
    # the square of a huge number is infinite or NaN, which Spark treats as the larger one
    near = (u * u - constant(0.25)).choose(y.native("ln"), u.native("log1p"))
    # exp(near) is (1 + v) * 2^k, and log(y) is near + log1p(d), where d is (y / 2^k - 1 - v) / (1 + v)
    v, turns = _expm1(near)
    shrunk = (turns * turns).choose(y.scaled(-turns) - ONE, u)
    d = (shrunk - v).ratio(ONE + v)
    return near + d.times(d * constant(-0.5), plus=d)


def logarithm_near_one(distance: str, u: Number) -> Cases:
    """The natural logarithm of ``1 + u`` for a small number ``u``, which is a DOUBLE; ``distance`` is its text."""
    tiny = Value(
        given(f"{distance} * {2.0**200!r}D", f"-abs({distance}) * {2.0**140!r}D"),
        constant(-200.0),
    )
    coefficients = [Fraction((-1) ** n, n + 1) for n in range(1, 15)]
    size = given(f"abs({distance})")
    return [
        (f"abs({distance}) < {_BESIDE!r}D", tiny),
        (f"abs({distance}) < {SMALL!r}D", Value(u + u * (u * u.polynomial(coefficients)), uncertain=size)),
    ]


def area(name: str) -> Cases:
    """``asinh``, ``acosh`` or ``atanh``: the logarithm of ``1 + u``."""
    large = f"abs(x) > {2.0**200!r}D"  # there, u is twice the argument, which may be beyond the DOUBLEs
    beside: Cases = _near_zero(name) if name != "acosh" else []
    if name == "acosh":
        beside = [(f"x < {1 + SMALL**2!r}D", _beside_one("x - 1D", _alternating(_ASIN)))]
        more = _X - ONE
        u = more + (more * (more + constant(2.0))).root()
    elif name == "asinh":
        square = _X * _X
        u = _SIZE + square / (ONE + (ONE + square).root())
    else:
        u = (_SIZE + _SIZE) / (ONE - _SIZE)
    result = logarithm(ONE + u, u) * _SIGN
    if name == "atanh":
        return [*beside, ("", Value(result * constant(0.5)))]
    huge = (logarithm(_SIZE, _SIZE) + constant(LN_2)) * _SIGN
    return [*beside, (large, Value(huge)), ("", Value(result))]


# angles --------------------------------------------------------------------------------------------------------------


def _sine_and_cosine(r: Number) -> tuple[Number, Number]:
    """Return sine and cosine of an angle within a quarter of pi."""
    square = r * r
    sine = square.polynomial([Fraction((-1) ** n, factorial(2 * n + 1)) for n in range(15)])
    return r * sine, square.polynomial([Fraction((-1) ** n, factorial(2 * n)) for n in range(16)])


def trigonometric(name: str) -> Cases:
    """``sin``, ``cos`` or ``tan``; ``g`` is the result of :func:`turned` for the argument."""
    s, c = _sine_and_cosine(given("g.r.h", "g.r.l"))
    if name == "tan":
        general = given("g.n % 2D").choose(-(c / s), s / c)
    else:
        quarter = "g.n" if name == "sin" else "(g.n + 1D) % 4D"
        general = given(f"{quarter} % 2D").choose(c, s) * given(f"if({quarter} < 2D, 1D, -1D)")
    return [*_near_zero(name), ("", Value(general))]


def _arctangent(a: Number, b: Number) -> Number:
    """The angle from 0 to half of pi whose tangent is ``a / b``, neither of them negative and not both zero."""
    steep = a - b
    t = steep.choose(b, a) / steep.choose(a, b)
    # t is nearly tan(y): atan(t) = y + atan((t cos y - sin y) / (cos y + t sin y))
    y = t.native("atan")
    s, c = _sine_and_cosine(y)
    flat = y + (t * c - s).ratio(c + t * s)
    return steep.choose(constant(PI / 2) - flat, flat)


def _mirrored(angle: Number, left: str) -> Number:
    """Return an angle from 0 to half of pi, mirrored at the vertical under a condition."""
    return given(f"if({left}, 1D, 0D)").choose(constant(PI) - angle, angle)


def _other_leg() -> Number:
    return ((ONE - _SIZE) * (ONE + _SIZE)).root()


def arcus_sine() -> Cases:
    return [*_near_zero("asin"), ("", Value(_arctangent(_SIZE, _other_leg()) * _SIGN))]


def arcus_cosine() -> Cases:
    beside = (f"x > {1 - SMALL**2!r}D", _beside_one("1D - x", _ASIN))
    return [beside, ("", Value(_mirrored(_arctangent(_other_leg(), _SIZE), "x < 0D")))]


def arcus_tangent() -> Cases:
    # for a tangent beyond the limit, the error of the angle is below the precision of a pair
    steep = given(f"least(abs(x), {2.0**200!r}D)")
    return [*_near_zero("atan"), ("", Value(_arctangent(steep, ONE) * _SIGN))]


def angle() -> Cases:
    """Return the angle of the point (x, y), from the result of :func:`directions` for it."""
    a, b = given("g.a"), given("g.b")
    sign = given("g.sign")
    # the angle is close to the quotient: if that is a DOUBLE, the series determines the side
    first = a.ratio(b)
    rest = a - first * b
    more = rest.ratio(b)
    square = (first + more) * (first + more)
    flat = first + first.times(square * square.polynomial(_SERIES["atan"][1:]), plus=more)
    above, below = given("1D", _BESIDE), given("1D", -_BESIDE)
    mantissa, divisor = given("g.y"), given("g.x")
    quotient = mantissa.ratio(divisor)
    slope = quotient * (mantissa - quotient * divisor).choose(above, below)
    return [
        (f"g.right AND g.a < g.b * {_BESIDE!r}D", Value(slope * sign, given("g.k"))),
        (f"g.right AND g.a < g.b * {SMALL!r}D", Value(flat * sign, uncertain=(rest * rest).choose(ONE, square))),
        ("", Value(_mirrored(_arctangent(a, b), "NOT g.right") * sign)),
    ]


def proportional(factor: Fraction) -> Cases:
    """The argument times an irrational number."""
    small, large = given(f"x * {2.0**500!r}D"), given(f"x * {2.0**-500!r}D")
    return [
        ("abs(x) < 1D", Value(small * constant(factor), constant(-500.0))),
        ("", Value(large * constant(factor), constant(500.0))),
    ]
