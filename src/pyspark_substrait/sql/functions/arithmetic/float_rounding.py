"""Sums, products, quotients and roots of floating-point numbers, rounded in any direction.

Spark rounds to the nearest number, ties to even. The other directions start from that number, the *nearest*, and from
the *rest*: the exact result minus the nearest number. The rest is computed without an error. That of a sum takes more
subtractions; that of a product takes the products of halves (a DOUBLE is a sum of two numbers of 26 binary digits);
those of quotients and roots take the product that reverses them. A product of two FLOATs is a DOUBLE. Where the rest
has the wrong sign for the direction, a neighbour of the nearest number is the result.

Very large and very small DOUBLEs are scaled close to 1 first, by powers of two, so that nothing overflows and no digit
of the rest is lost.

As IEEE 754 says: a finite result beyond the range becomes the largest number where the direction points toward zero,
two numbers that cancel each other have the sum -0.0 for FLOOR, and a result that is too small for any number becomes
the smallest one where the direction points away from zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark_substrait.model.types import FP32, FP64, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.neighbours import next_down, next_up
from pyspark_substrait.sql.functions.common_expressions import bound, infinity

__all__ = [
    "AWAY",
    "DIRECTED",
    "EVEN",
    "ROUNDINGS",
    "exact_product",
    "let",
    "rounded_product",
    "rounded_quotient",
    "rounded_root",
    "rounded_root_of_integer",
    "rounded_sum",
    "rounded_to_float",
]

EVEN, AWAY = "TIE_TO_EVEN", "TIE_AWAY_FROM_ZERO"
#: the rounding directions that Spark's own operations lack
DIRECTED = (AWAY, "TRUNCATE", "CEILING", "FLOOR")
ROUNDINGS = (EVEN, *DIRECTED)

_INFINITY = infinity(FP64())
_LARGE, _HALF_SCALE = 2.0**300, 2.0**300


def let(name: str, fields: Mapping[str, str], text: str) -> str:
    """``text``, in which ``name`` is a struct of these fields, each of them computed once."""
    return bound(f"named_struct({_named(fields)})", name, text)


def _named(fields: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}', {value}" for name, value in fields.items())


def rounded_sum(x: str, y: str, type: Type, rounding: str) -> str:
    """The sum of two numbers of a floating-point type."""
    if rounding == EVEN:
        return f"{x} + {y}"
    total = "(v.x + v.y)"
    # the number with the larger magnitude is first: then the difference is exact
    rest = f"if(abs(v.x) < abs(v.y), v.x - ({total} - v.y), v.y - ({total} - v.x))"
    fields = {
        # the negative of the sum of the negatives is the same number, but for the sign of a zero
        "nearest": "negative(negative(v.x) - v.y)" if rounding == "FLOOR" else total,
        "rest": _unless_infinite(rest, total, "v.x", "v.y"),
        "error": "0D",
    }
    return let("v", {"x": x, "y": y}, let("n", fields, _chosen(type, rounding, "0.5D")))


def rounded_product(x: str, y: str, type: Type, rounding: str) -> str:
    """The product of two numbers of a floating-point type."""
    if rounding == EVEN:
        return f"{x} * {y}"
    if isinstance(concrete(type), FP32):
        single = "CAST(v.x * v.y AS FLOAT)"
        fields = {
            "nearest": single,
            "rest": _unless_infinite(f"v.x * v.y - CAST({single} AS DOUBLE)", single, "v.x", "v.y"),
            "error": "0D",
        }
        return let("v", _doubles(x, y), let("n", fields, _chosen(type, rounding, "0.5D")))
    scaled = {"s": "v.x * v.y", "a": _scaled("v.x"), "b": _scaled("v.y"), "h": f"{_scale('v.x')} * {_scale('v.y')}"}
    fields = {
        "nearest": "w.s",
        "rest": _unless_infinite("t.p - w.s * w.h * w.h", "w.s", "w.a", "w.b"),
        "error": "nanvl(t.error, 0D)",
    }
    final = let("n", fields, _chosen(type, rounding, "w.h * w.h * 0.5D"))
    return let("v", {"x": x, "y": y}, let("w", scaled, bound(exact_product("w.a", "w.b"), "t", final)))


def rounded_quotient(x: str, y: str, type: Type, rounding: str) -> str:
    """The quotient of two numbers of a floating-point type; the divisor isn't zero."""
    if rounding == EVEN:
        return Atom(f"CAST({x} / {y} AS {spark_type(type)})") if isinstance(concrete(type), FP32) else f"{x} / {y}"
    dividend, divisor = "if(v.y < 0D, negative(v.x), v.x)", "abs(v.y)"
    if isinstance(concrete(type), FP32):
        single = "CAST(v.x / v.y AS FLOAT)"
        rest = f"{dividend} - CAST({single} AS DOUBLE) * {divisor}"
        fields = {"nearest": single, "rest": _unless_infinite(rest, single, "v.x", "v.y"), "error": "0D"}
        return let("v", _doubles(x, y), let("n", fields, _chosen(type, rounding, f"0.5D * {divisor}")))
    scaled = {
        "s": "v.x / v.y",
        "a": _scaled(dividend, "v.x"),
        "b": _scaled(divisor, "v.y"),
        "h": f"{_scale('v.x')} / {_scale('v.y')}",
    }
    fields = {
        "nearest": "w.s",
        "rest": _unless_infinite("w.a - t.p", "w.s", "w.a", "w.b"),
        "error": "nanvl(negative(t.error), 0D)",
    }
    final = let("n", fields, _chosen(type, rounding, "w.h * w.h * (0.5D * w.b)"))
    return let("v", {"x": x, "y": y}, let("w", scaled, bound(exact_product("w.s * w.h * w.h", "w.b"), "t", final)))


def rounded_root(x: str, type: Type, rounding: str) -> str:
    """The square root of a number of a floating-point type, NaN for a negative one. No root is a tie."""
    if rounding in (EVEN, AWAY):
        return Atom(f"CAST(sqrt({x}) AS FLOAT)") if isinstance(concrete(type), FP32) else Atom(f"sqrt({x})")
    if isinstance(concrete(type), FP32):
        single = "CAST(sqrt(v.x) AS FLOAT)"
        rest = f"v.x - CAST({single} AS DOUBLE) * CAST({single} AS DOUBLE)"
        fields = {"nearest": single, "rest": _unless_infinite(rest, single, "v.x"), "error": "0D"}
        return let("v", {"x": f"CAST({x} AS DOUBLE)"}, let("n", fields, _chosen(type, rounding, "0.5D")))
    scaled = {"s": "sqrt(v.x)", "a": _scaled("v.x"), "h": _scale("v.x")}
    fields = {
        "nearest": "w.s",
        "rest": _unless_infinite("w.a - t.p", "w.s", "w.a"),
        "error": "nanvl(negative(t.error), 0D)",
    }
    final = let("n", fields, _chosen(type, rounding, "0.5D"))
    return let("v", {"x": x}, let("w", scaled, bound(exact_product("w.s * w.h", "w.s * w.h"), "t", final)))


def rounded_root_of_integer(x: str, rounding: str) -> str:
    """The square root of a BIGINT as a DOUBLE, NaN for a negative one.

    Beyond 2**53 the number may not be a DOUBLE, so its root is compared with the root of the nearest DOUBLE in exact
    arithmetic: times 2**27, these roots and the midpoints between them are integers.
    """

    def whole(root: str) -> str:
        return Atom(f"CAST(CAST({root} * {2.0**27!r}D AS BIGINT) AS DECIMAL(18, 0))")

    def square(root: str) -> str:
        return Atom(f"CAST({root} * {root} AS DECIMAL(38, 0))")

    neighbours = {"nearest": "v.s", "down": next_down("v.s", FP64()), "up": next_up("v.s", FP64())}
    wholes = {"s": whole("u.nearest"), "down": whole("u.down"), "up": whole("u.up"), "x": f"v.x * {2**54}BD"}
    if rounding in (EVEN, AWAY):
        # four times the squares of the midpoints
        below, above = (
            f"CAST(4 * w.x AS DECIMAL(38, 0)) {sign} {square(f'(w.s + w.{next})')}" for sign, next in _SIDES
        )
        chosen = f"CASE WHEN {below} THEN u.down WHEN {above} THEN u.up ELSE u.nearest END"
    elif rounding == "CEILING":
        chosen = (
            f"CASE WHEN w.x > {square('w.s')} THEN u.up WHEN w.x <= {square('w.down')} THEN u.down ELSE u.nearest END"
        )
    else:
        chosen = (
            f"CASE WHEN w.x < {square('w.s')} THEN u.down WHEN w.x >= {square('w.up')} THEN u.up ELSE u.nearest END"
        )
    large = let("v", {"x": x, "s": f"sqrt(CAST({x} AS DOUBLE))"}, let("u", neighbours, let("w", wholes, chosen)))
    small = rounded_root(f"CAST({x} AS DOUBLE)", FP64(), rounding)
    return Atom(f"if({x} <= {2**53}L, {small}, {large})")


_SIDES = (("<", "down"), (">", "up"))


def rounded_to_float(x: str, rounding: str) -> str:
    """Return a DOUBLE rounded to a FLOAT."""
    if rounding == EVEN:
        return Atom(f"CAST({x} AS FLOAT)")
    single = "CAST(v.x AS FLOAT)"
    rest = f"v.x - CAST({single} AS DOUBLE)"
    fields = {"nearest": single, "rest": _unless_infinite(rest, single, "v.x"), "error": "0D"}
    return let("v", {"x": x}, let("n", fields, _chosen(FP32(), rounding, "0.5D")))


def _chosen(type: Type, rounding: str, half: str) -> str:
    """Return the nearest number or its neighbour.

    The struct ``n`` has the nearest number and, as a sum of two DOUBLEs, a multiple of the rest; ``half`` is half the
    factor of that multiple: the distance between two numbers, times ``half``, is compared with the rest.
    """
    nearest, up, down = "n.nearest", next_up("n.nearest", type), next_down("n.nearest", type)
    above, below = "n.rest + n.error > 0D", "n.rest + n.error < 0D"
    match rounding:
        case "CEILING":
            return Atom(f"if({above}, {up}, {nearest})")
        case "FLOOR":
            return Atom(f"if({below}, {down}, {nearest})")
        case "TRUNCATE":
            lower, upper = f"{nearest} > 0D AND {below}", f"{nearest} < 0D AND {above}"
            return f"CASE WHEN {lower} THEN {down} WHEN {upper} THEN {up} ELSE {nearest} END"
        case _:
            away = let("m", {"next": f"if({above}, {up}, {down})"}, _if_tie(type, half))
            return Atom(f"if({nearest} >= 0D AND {above} OR {nearest} <= 0D AND {below}, {away}, {nearest})")


def _if_tie(type: Type, half: str) -> str:
    """Return the neighbour ``m.next`` if the exact result is the midpoint, otherwise the nearest number.

    The comparison is exact: the difference is zero or the error, or else larger than any error.
    """
    distance = "m.next - n.nearest"
    if isinstance(concrete(type), FP32):
        distance = "CAST(m.next AS DOUBLE) - CAST(n.nearest AS DOUBLE)"
    return Atom(f"if(n.rest - ({distance}) * {half} = negative(n.error), m.next, n.nearest)")


def _unless_infinite(rest: str, nearest: str, *operands: str) -> str:
    """Return ``rest``; but zero if an operand isn't finite, and a value towards zero if finite ones overflow."""
    finite = " AND ".join(f"abs({operand}) < {_INFINITY}" for operand in operands)
    return (
        f"CASE WHEN NOT ({finite}) THEN 0D WHEN abs({nearest}) = {_INFINITY} THEN negative({nearest}) ELSE {rest} END"
    )


def _doubles(x: str, y: str) -> dict[str, str]:
    return {"x": f"CAST({x} AS DOUBLE)", "y": f"CAST({y} AS DOUBLE)"}


def _scaled(x: str, magnitude: str = "") -> str:
    """A DOUBLE times the square of its scale."""
    large, small = f"{_HALF_SCALE**-2!r}D", f"{_HALF_SCALE**2!r}D"
    return _by_magnitude(magnitude or x, f"{x} * {large}", f"{x} * {small}", x)


def _scale(x: str) -> str:
    """Return a power of two whose square scales a DOUBLE between 2**-474 and 2**424, where its digits are safe."""
    return _by_magnitude(x, f"{1 / _HALF_SCALE!r}D", f"{_HALF_SCALE!r}D", "1D")


def _by_magnitude(x: str, large: str, small: str, otherwise: str) -> str:
    is_large, is_small = f"abs({x}) > {_LARGE!r}D", f"abs({x}) < {1 / _LARGE!r}D"
    return f"CASE WHEN {is_large} THEN {large} WHEN {is_small} THEN {small} ELSE {otherwise} END"


def exact_product(a: str, b: str) -> str:
    """Return a struct of the product ``p`` of two DOUBLEs and its exact rounding error, ``error``."""
    halves = {"a": "f.a", "b": "f.b", "p": "f.a * f.b", "c": _first_half("f.a"), "d": _first_half("f.b")}
    error = "((t.c * t.d - t.p) + t.c * (t.b - t.d) + (t.a - t.c) * t.d) + (t.a - t.c) * (t.b - t.d)"
    product = let("t", halves, f"named_struct('p', t.p, 'error', {error})")
    return let("f", {"a": a, "b": b}, product)


def _first_half(x: str) -> str:
    """The first 26 digits of a DOUBLE."""
    shifted = f"{2.0**27 + 1!r}D * {x}"
    return f"{shifted} - ({shifted} - {x})"
