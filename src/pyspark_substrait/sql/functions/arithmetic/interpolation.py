"""The number at a fraction of the way between two others, rounded once.

It is ``(a * (n - k) + b * k) / n`` for the numbers ``a`` and ``b``, a literal number ``n`` of parts, and ``k`` of them.
All texts are atoms that may be repeated.
"""

from __future__ import annotations

from pyspark_substrait.model.types import FP32, FP64, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.arithmetic.float_rounding import AWAY, EVEN, exact_product, let
from pyspark_substrait.sql.functions.arithmetic.neighbours import next_down, next_up
from pyspark_substrait.sql.functions.common_expressions import bound, infinity

__all__ = ["between_decimals", "between_floats", "between_integers", "rounded"]


def rounded(dividend: str, divisor: str, rounding: str) -> str:
    """The quotient of two integers as a BIGINT, rounded; the divisor is positive."""
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


def between_integers(a: str, b: str, part: str, n: int, rounding: str) -> str:
    """Interpolate between two integers, as a BIGINT."""
    low, high = (f"CAST({value} AS DECIMAL(19, 0))" for value in (a, b))
    weights = f"CAST({n}L - {part} AS DECIMAL(18, 0))", f"CAST({part} AS DECIMAL(18, 0))"
    total = f"CAST({low} * {weights[0]} + {high} * {weights[1]} AS DECIMAL(38, 0))"
    return rounded(total, f"{n}BD", rounding)


# decimals ------------------------------------------------------------------------------------------------------------

#: a decimal as an integer is split here, so that products with a number of parts stay below 38 digits
_CUT = 10**19


def between_decimals(a: str, b: str, part: str, n: int, precision: int, scale: int, rounding: str) -> str:
    """Interpolate between two decimals of one type, whatever its precision."""
    type = f"DECIMAL({precision}, {scale})"
    # as integers: without the point, as a product with a power of ten would cost digits
    a, b = (f"CAST(replace(CAST({value} AS STRING), '.', '') AS DECIMAL(38, 0))" for value in (a, b))
    given = {
        "a": a,
        "b": b,
        "k": f"CAST({part} AS DECIMAL(10, 0))",
        "j": f"CAST({n}L - {part} AS DECIMAL(10, 0))",
    }
    upper, lower = (f"{_digits('v.a', half)} * v.j + {_digits('v.b', half)} * v.k" for half in ("upper", "lower"))
    # long division by n with two digits of the base 10**19; the remainder isn't negative
    first = {"upper": upper, "lower": lower}
    second = {
        "quotient": _quotient("t.upper", n),
        "total": f"CAST(pmod(t.upper, {n}BD) * {_CUT}BD + t.lower AS DECIMAL(38, 0))",
    }
    third = {
        "floor": f"CAST(u.quotient * {_CUT}BD + {_quotient('u.total', n)} AS DECIMAL(38, 0))",
        "rest": f"CAST(pmod(u.total, {n}BD) AS DECIMAL(10, 0))",
    }
    twice = "w.rest * 2BD"
    up = {
        "CEILING": "w.rest > 0BD",
        "FLOOR": "false",
        "TRUNCATE": "w.floor < 0BD AND w.rest > 0BD",
        AWAY: f"{twice} > {n}BD OR {twice} = {n}BD AND w.floor >= 0BD",
        EVEN: f"{twice} > {n}BD OR {twice} = {n}BD AND w.floor % 2BD <> 0BD",
    }[rounding]
    digits = f"CAST(CAST(w.floor + if({up}, 1BD, 0BD) AS DECIMAL(38, 0)) AS STRING)"
    value = f"CAST(concat({digits}, 'E-{scale}') AS {type})"
    return let("v", given, let("t", first, let("u", second, let("w", third, value))))


def _digits(x: str, half: str) -> str:
    """The lower 19 digits of an integer, or the upper ones; both have its sign."""
    lower = f"CAST({x} % {_CUT}BD AS DECIMAL(19, 0))"
    return lower if half == "lower" else f"CAST(({x} - {lower}) / {_CUT}BD AS DECIMAL(19, 0))"


def _quotient(x: str, n: int) -> str:
    """Return the quotient of an integer, rounded down, if it has no more than 30 digits."""
    return f"CAST(({x} - pmod({x}, {n}BD)) / {n}BD AS DECIMAL(30, 0))"


# floating-point numbers ----------------------------------------------------------------------------------------------


def between_floats(a: str, b: str, part: str, n: int, type: Type, rounding: str) -> str:
    """Interpolate between two floating-point numbers of one type.

    A first value is refined by its error until it is next to the exact one; then the exact sign of the remaining error
    decides. Values that aren't finite are computed as usual.
    """
    single, sql = isinstance(concrete(type), FP32), spark_type(type)
    given = {"a": f"CAST({a} AS DOUBLE)", "b": f"CAST({b} AS DOUBLE)", "k": f"CAST({part} AS DOUBLE)"}
    # all numbers times this scale are far from overflow, and their digits from underflow
    scale = f"if(greatest(abs(v.a), abs(v.b)) > {_LARGE!r}D, {_LARGE**-2!r}D, {_LARGE**2!r}D)"
    scaled = {
        "h": "u.h",
        "k": "v.k",
        "j": f"{float(n)!r}D - v.k",
        "a": _scaled("v.a"),
        "b": _scaled("v.b"),
        "first": f"v.a * (({float(n)!r}D - v.k) / {float(n)!r}D) + v.b * (v.k / {float(n)!r}D)",
    }

    def left_over(*numbers: str) -> str:
        """Return the distance of the exact number above the mean of others: a multiple with the right sign."""
        times = float(len(numbers))
        terms = [(f"{times!r}D * w.j", "w.a"), (f"{times!r}D * w.k", "w.b")]
        return exact_sum(*terms, *((f"{-float(n)!r}D", f"{number} * w.h") for number in numbers))

    better = f"aggregate(array(1, 2), w.first, (c, i) -> c + {left_over('c')} / {float(n)!r}D / w.h)"
    near, next = ("CAST(m.near AS DOUBLE)", "CAST(o.next AS DOUBLE)") if single else ("m.near", "o.next")
    up, down = next_up("m.near", type), next_down("m.near", type)
    lower, higher = "l.rest < 0D", "l.rest > 0D"
    if rounding in (EVEN, AWAY):
        # the midpoint of two neighbours rounds to the even one
        tie = f"if(abs({next}) > abs({near}), o.next, m.near)"
        if rounding == EVEN:
            middle = f"if(abs({near}) > 1D, {near} * 0.5D + {next} * 0.5D, ({near} + {next}) * 0.5D)"
            even = f"CAST(({near} + {next}) * 0.5D AS FLOAT)"
            tie = even if single else middle
        beyond = f"CASE WHEN d.side = 0D THEN {tie} WHEN (d.side > 0D) = ({higher}) THEN o.next ELSE m.near END"
        nearer = let("o", {"next": f"if({higher}, {up}, {down})"}, let("d", {"side": left_over(near, next)}, beyond))
        value = f"if(l.rest = 0D, m.near, {nearer})"
    else:
        value = {
            "CEILING": f"if({higher}, {up}, m.near)",
            "FLOOR": f"if({lower}, {down}, m.near)",
            "TRUNCATE": f"CASE WHEN m.near > 0D AND {lower} THEN {down} WHEN m.near < 0D AND {higher} THEN {up} "
            "ELSE m.near END",
        }[rounding]
    value = let("m", {"near": f"CAST({better} AS {sql})"}, let("l", {"rest": left_over(near)}, value))
    infinite = f"NOT (abs(w.a) < {_INFINITY} AND abs(w.b) < {_INFINITY})"
    value = f"CASE WHEN w.a = w.b THEN CAST(v.a AS {sql}) WHEN {infinite} THEN CAST(w.first AS {sql}) ELSE {value} END"
    return let("v", given, let("u", {"h": scale}, let("w", scaled, value)))


_LARGE, _INFINITY = 2.0**300, infinity(FP64())


def _scaled(x: str) -> str:
    """Return a number times the scale; next to a very large one, only the sign of a very small one matters."""
    sticky = f"u.h < 1D AND {x} <> 0D AND abs({x}) < {1 / _LARGE!r}D"
    return f"if({sticky}, sign({x}) * {_LARGE**-3!r}D, {x} * u.h)"


def exact_sum(*products: tuple[str, str]) -> str:
    """Return a sum of products of DOUBLEs, with the right sign and all but the last digit.

    The products and their errors are added to a list of numbers whose sum is exact and whose digits don't overlap, the
    smallest first: each number passes through the list and leaves the error of its sum with each element (J. R.
    Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997, figure 6).
    """
    factors = ", ".join(f"named_struct('a', {a}, 'b', {b})" for a, b in products)
    both = bound(exact_product("g.a", "g.b"), "q", "array(q.p, q.error)")
    empty = "CAST(array() AS ARRAY<DOUBLE>)"
    total = "(s.q + e)"
    error = f"if(abs(s.q) < abs(e), s.q - ({total} - e), e - ({total} - s.q))"
    step = f"(s, e) -> named_struct('q', {total}, 'h', concat(s.h, array({error})))"
    grown = f"aggregate(h, named_struct('q', x, 'h', {empty}), {step}, s -> concat(s.h, array(s.q)))"
    parts = f"aggregate(flatten(transform(array({factors}), g -> {both})), {empty}, (h, x) -> {grown})"
    return f"aggregate({parts}, 0D, (s, x) -> s + x)"
