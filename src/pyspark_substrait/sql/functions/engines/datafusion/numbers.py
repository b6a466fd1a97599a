"""DataFusion's functions of numbers, and those that choose a value."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, I8, I16, I32, Decimal, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import (
    any_null,
    as_double,
    bound,
    constant,
    infinity,
    narrowed,
    raised,
)
from pyspark_substrait.sql.functions.decimals.digits import decimal_of
from pyspark_substrait.sql.functions.decimals.digits import shifted as shifted_digits
from pyspark_substrait.sql.functions.engines.datafusion.calls import as_specified
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]

#: powers of ten up to this one are exact in both types, or rounded once
_MOST_PLACES = 10


def _is_float(type: Type) -> bool:
    return isinstance(concrete(type), FP32 | FP64)


# rounding ------------------------------------------------------------------------------------------------------------


def _at_place(call: Call, whole: str) -> str:
    """Multiply a floating-point number by a power of ten, make it ``whole``, which is of ``v``, and divide it again."""
    type = spark_type(call.output)
    name = call.function.name
    places = call.operands[1].literal if len(call.operands) > 1 else 0
    if isinstance(places, int) and -_MOST_PLACES <= places <= _MOST_PLACES:
        factor = constant(10.0**places, call.output)
    elif isinstance(places, int):
        raise UnsupportedPlanError(f"DataFusion's {name} of floating-point numbers to more than {_MOST_PLACES} places")
    else:
        # negative powers of ten aren't numbers of fp32
        least = 0 if type == "FLOAT" else -_MOST_PLACES
        powers = ", ".join(constant(10.0**place, call.output) for place in range(least, _MOST_PLACES + 1))
        beyond = raised(call, f"less than {least} or more than {_MOST_PLACES} places")
        known = f"array({powers})[CAST({call.sql(1)} - {least} AS INT)]"
        factor = Atom(f"if({call.sql(1)} BETWEEN {least} AND {_MOST_PLACES}, {known}, {beyond})")
        factor = Atom(f"if({call.sql(1)} IS NULL, NULL, {factor})")
    scaled = call.sql(0) if places == 0 else f"{call.sql(0)} * {factor}"
    text = bound(f"CAST({scaled} AS DOUBLE)", "v", whole)
    if places == 0:
        return text if type == "DOUBLE" else Atom(f"CAST({text} AS {type})")
    return Atom(f"CAST(CAST({text} AS {type}) / {factor} AS {type})")


def rounded(call: Call) -> str:
    """Round as ``round(x * 10**s) / 10**s`` in the arithmetic of the type."""
    if _is_float(call.output):
        # rint rounds ties to even
        return _at_place(call, "if(abs(v - rint(v)) = 0.5D, if(v < 0D, v - 0.5D, v + 0.5D), rint(v))")
    is_decimal = isinstance(concrete(call.output), Decimal)
    if len(call.operands) == 1:
        return Atom(f"CAST(round({call.sql(0)}, 0) AS {spark_type(call.output)})") if is_decimal else call.sql(0)
    extension = "functions_rounding_decimal" if is_decimal else "functions_rounding"
    return as_specified(extension, rounding="TIE_AWAY_FROM_ZERO")(call)


#: a positive number without its fraction
_WHOLE = "if(rint({x}) > {x}, rint({x}) - 1D, rint({x}))"
_CUT = f"CASE WHEN rint(v) = v THEN v WHEN v < 0D THEN negative({_WHOLE.format(x='abs(v)')}) ELSE {_WHOLE} END"


def truncated(call: Call) -> str:
    """Cut off as ``trunc(x * 10**s) / 10**s`` in the arithmetic of the type."""
    if _is_float(call.output):
        cut = _CUT.format(x="v")
        # only without places, a zero has no sign
        return _at_place(call, cut if len(call.operands) > 1 else cut.replace("CASE", "CASE WHEN v = 0D THEN 0D"))
    places = call.operands[1].literal if len(call.operands) > 1 else 0
    if not isinstance(places, int):
        raise UnsupportedPlanError("DataFusion's trunc of decimals to places that aren't a literal")
    x, places = call.sql(0), max(min(places, 38), -38)
    return Atom(f"CAST(if({x} < 0, ceil({x}, {places}), floor({x}, {places})) AS {spark_type(call.output)})")


# elementary functions ------------------------------------------------------------------------------------------------


def of_double(template: str) -> Callable[[Call], str]:
    """Return the body of a function that is computed in DOUBLE."""
    return lambda call: narrowed(Atom(template.format(as_double(call, 0))), call.output)


def power(call: Call) -> str:
    """Return a power as IEEE 754 has it: for Java, 1 to the power of NaN and infinities is no number."""
    zero = raised(call, "zero to a negative power")
    cases = f"WHEN v.y IS NULL THEN NULL WHEN v.x = 1D THEN 1D WHEN v.x = 0D AND v.y < 0D THEN {zero}"
    cases += f" WHEN v.x = -1D AND abs(v.y) = {infinity(FP64())} THEN 1D"
    return let("v", {"x": as_double(call, 0), "y": as_double(call, 1)}, f"CASE {cases} ELSE power(v.x, v.y) END")


def square_root(call: Call) -> str:
    x = as_double(call, 0)
    return narrowed(Atom(f"if({x} < 0D, {raised(call, 'of a negative number')}, sqrt({x}))"), call.output)


def modulus(call: Call) -> str:
    """Return the remainder of IEEE 754's division cut off: that by zero is no number."""
    x, y = call.sql(0), call.sql(1)
    nothing = constant(math.nan, call.output)
    return f"CASE WHEN {any_null(x, y)} THEN NULL WHEN {y} = 0 THEN {nothing} ELSE {x} % {y} END"


def common_divisor(call: Call) -> str:
    return Atom(f"abs({_divisor(call)})")


def _divisor(call: Call) -> str:
    """Return Euclid's algorithm; the number of its steps is five times that of the digits of the smaller number."""
    known = [len(str(abs(operand.literal))) for operand in call.operands if isinstance(operand.literal, int)]
    steps = 5 * min(known, default=19) + 1
    pair = "named_struct('x', {}, 'y', {})"
    step = f"if(p.y = 0L, p, {pair.format('p.y', 'p.x % p.y')})"
    start = pair.format(call.sql(0), call.sql(1))
    found = f"aggregate(sequence(1, {steps}), {start}, (p, i) -> {step}).x"
    return Atom(f"if({any_null(call.sql(0), call.sql(1))}, NULL, {found})")


def common_multiple(call: Call) -> str:
    product = "abs((v.x div abs(v.d)) * v.y)"
    fields = {"x": call.sql(0), "y": call.sql(1), "d": _divisor(call)}
    nothing = f"WHEN {any_null('v.x', 'v.y')} THEN NULL WHEN v.x = 0L OR v.y = 0L THEN 0L"
    return let("v", fields, f"CASE {nothing} ELSE {product} END")


_WHOLE_DECIMAL = "DECIMAL(38, 0)"


def _digits(call: Call) -> tuple[str, str]:
    """The digits of two decimals of the same type, as whole ones."""
    scale = decimal_of(call.output).scale
    whole = Decimal(precision=38, scale=0)
    x, y = (f"abs({shifted_digits(call.sql(position), scale, whole)})" for position in (0, 1))
    return x, y


def _divisor_of_digits(call: Call, x: str, y: str) -> str:
    pair = "named_struct('x', {}, 'y', {})"
    step = f"if(p.y = 0BD, p, {pair.format('p.y', f'CAST(p.x % p.y AS {_WHOLE_DECIMAL})')})"
    start = pair.format(f"CAST({x} AS {_WHOLE_DECIMAL})", f"CAST({y} AS {_WHOLE_DECIMAL})")
    return f"aggregate(sequence(1, {5 * 38 + 1}), {start}, (p, i) -> {step}).x"


def divisor_of_decimals(call: Call) -> str:
    type, (x, y) = decimal_of(call.output), _digits(call)
    return let("v", {"x": x, "y": y}, shifted_digits(_divisor_of_digits(call, "v.x", "v.y"), -type.scale, type))


def multiple_of_decimals(call: Call) -> str:
    type, (x, y) = decimal_of(call.output), _digits(call)
    divisor = _divisor_of_digits(call, "v.x", "v.y")
    exact = f"CAST(CAST((v.x - v.x % {{d}}) / {{d}} AS {_WHOLE_DECIMAL}) * v.y AS {_WHOLE_DECIMAL})".format(d="d")
    found = f"CASE WHEN v.x = 0 OR v.y = 0 THEN CAST(0 AS {_WHOLE_DECIMAL}) ELSE {bound(divisor, 'd', exact)} END"
    return let("v", {"x": x, "y": y}, shifted_digits(found, -type.scale, type))


_BITS: dict[type[Type], int] = {I8: 8, I16: 16, I32: 32}


def shifted(name: str) -> Callable[[Call], str]:
    """Return the body of a shift, by the number modulo the bits of the type."""

    def body(call: Call) -> str:
        x, count = call.sql(0), call.sql(1)
        bits = _BITS.get(type(concrete(call.output)), 64)
        if bits >= 32:
            return Atom(f"{name}({x}, CAST({count} & {bits - 1} AS INT))")
        found = f"{name}(CAST({x} AS INT), CAST({count} & {bits - 1} AS INT))"
        half = 1 << bits - 1
        return Atom(f"CAST((({found} & {2 * half - 1}) ^ {half}) - {half} AS {spark_type(call.output)})")

    return body


ROWS = (
    row("round", rounded),
    row("trunc", truncated),
    row("ceil", "CAST({0} AS DOUBLE)"),
    row("floor", "CAST({0} AS DOUBLE)"),
    row("signum", of_double("(signum({}) + 0D)")),
    row("cbrt", of_double("cbrt({})")),
    row("cot", of_double("cot({})")),
    row("pi", lambda _: Constant(f"{math.pi!r}D")),
    row("power", power),
    row("sqrt", square_root),
    row("modulus", modulus),
    row("gcd", common_divisor, signatures=("i64_i64",)),
    row("lcm", common_multiple, signatures=("i64_i64",)),
    row("gcd", divisor_of_decimals),
    row("lcm", multiple_of_decimals),
    row("bitwise_shift_left", shifted("shiftleft")),
    row("bitwise_shift_right", shifted("shiftright")),
    row("iszero", "({0} = 0)"),
    row("nanvl", "if(isnan({0}), {1}, {0})"),
    row("is_unknown", "({0} IS NULL)", foreign=Foreign.MOVED),
    row("is_not_unknown", "({0} IS NOT NULL)", foreign=Foreign.MOVED),
    row("nvl", "coalesce({0}, {1})", foreign=Foreign.MOVED),
    row("nvl2", "if({0} IS NOT NULL, {1}, {2})", foreign=Foreign.MOVED),
)
