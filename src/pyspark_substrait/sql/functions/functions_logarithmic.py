"""Logarithms (``functions_logarithmic.yaml``). Spark's own are null for zero and for negative numbers.

TIE_TO_EVEN is Spark's own function, whose results are within two units of the last place; so is TIE_AWAY_FROM_ZERO,
because no logarithm is a midpoint between two numbers. The other directions are exact (``elementary.rounding``).

``on_log_zero`` determines the logarithm of zero, whatever the base. A base that isn't positive, or is 1, is outside the
domain, like a negative number. A NaN is not: its logarithm is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from pyspark_substrait.model.types import FP32, FP64, Decimal, Type, concrete
from pyspark_substrait.sql.functions.common_expressions import any_null, as_double, bound, infinity, narrowed, raised
from pyspark_substrait.sql.functions.common_expressions import constant as literal
from pyspark_substrait.sql.functions.elementary import formulas
from pyspark_substrait.sql.functions.elementary.machine import Number, Value, constant, machine
from pyspark_substrait.sql.functions.elementary.numbers import beside_one, is_power, number
from pyspark_substrait.sql.functions.elementary.rounding import DIRECTIONS, NEAREST, rounded
from pyspark_substrait.sql.functions.elementary.rows import failed
from pyspark_substrait.sql.functions.table import Call, Row, Table, row

__all__ = ["TABLE"]

_INFINITY = "double('infinity')"


def _instead(call: Call, at_zero: str, outside: str) -> tuple[str, str]:
    """Return the results for zero and outside the domain, by the values of the options."""
    results = {
        "NAN": literal(float("nan"), call.output),
        "NULL": "NULL",
        "ERROR": raised(call, "an argument is outside the domain"),
        "MINUS_INFINITY": f"(-{infinity(call.output)})",
    }
    return results[at_zero], results[outside]


def _is_float(type: Type) -> bool:
    return isinstance(concrete(type), (FP32, FP64))


def _small_decimal(type: Type) -> bool:
    """Whether the type is a decimal without a digit before the point, which Spark can't compare with integers."""
    type = concrete(type)
    return isinstance(type, Decimal) and type.precision == type.scale


def _zero(type: Type) -> str:
    return literal(0, type) if _small_decimal(type) else "0"


def _near_one(x: str) -> str:
    return f"abs({x} - 1D) < 0.1D"


def logarithm(name: str, rounding: str, at_zero: str, outside: str) -> Callable[[Call], str]:
    """A logarithm of one number.

    Args:
        name: the name of the function, and of Spark's.
        rounding: the direction, or one of ``NEAREST`` for the nearest number.
        at_zero: the value of ``on_log_zero``.
        outside: the value of ``on_domain_error``.
    """

    def body(call: Call) -> str:
        x, type = call.sql(0), call.type(0)
        on_zero, on_outside = _instead(call, at_zero, outside)
        zero = "-1" if name == "log1p" else _zero(type)
        value = narrowed(f"{name}({as_double(call, 0)})", call.output)
        if rounding not in NEAREST:
            value = directed(name, rounding, call)
        elif isinstance(concrete(type), Decimal):
            # near the point where a logarithm is 0 or infinite, a DOUBLE loses too much precision
            near = f"{as_double(call, 0)} < -0.5D" if name == "log1p" else _near_one(as_double(call, 0))
            value = f"if({near}, {directed(name, rounding, call)}, {value})"
        if name == "log1p" and _small_decimal(type):
            return value  # all values are between -1 and 1
        # NaN is larger than every number, and its logarithm is NaN
        return f"CASE WHEN {x} = {zero} THEN {on_zero} WHEN {x} < {zero} THEN {on_outside} ELSE {value} END"

    return body


def _source(call: Call, position: int) -> str:
    """Return an argument in the form that :func:`number` takes: a DOUBLE for floating-point types."""
    return as_double(call, position) if _is_float(call.type(position)) else call.sql(position)


def _natural(x: str, type: Type) -> Number:
    """The natural logarithm of a number, by its name."""
    return formulas.logarithm(number(x, type), beside_one(x, type, -1))


def directed(name: str, rounding: str, call: Call) -> str:
    """A logarithm of a number inside the domain, rounded in a direction."""
    type = call.type(0)
    in_doubt = failed(call)
    cases: formulas.Cases = []
    match name:
        case "log1p" | "ln":
            y = beside_one("x", type, 1) if name == "log1p" else number("x", type)
            u = number("x", type) if name == "log1p" else beside_one("x", type, -1)
            distance = "x" if name == "log1p" else "(x - 1D)"
            general = formulas.logarithm(y, u)
            if _is_float(type):
                cases = formulas.logarithm_near_one(distance, u)
        case _:
            base = 2 if name == "log2" else 10
            general = _natural("x", type) * constant(1 / (formulas.LN_2 if base == 2 else formulas.LN_10))
            text = f"{base}D" if _is_float(type) else f"{base}BD"
            in_doubt = f"if({is_power('x', text, 'v.p.h', (type, type))}, 0D, {in_doubt})"
    text = rounded(machine([*cases, ("", Value(general))]), rounding, call.output, in_doubt)
    exact = "x IS NULL"
    if name == "log1p":
        exact += f" OR x = {_zero(type)}"
    elif not _small_decimal(type):
        exact += " OR x = 1"
    if _is_float(type):
        exact += f" OR isnan(x) OR x = {_INFINITY}"
    own = narrowed(f"{name}(CAST(x AS DOUBLE))", call.output)
    return bound(_source(call, 0), "x", f"if({exact}, {own}, {text})")


def with_base(rounding: str, at_zero: str, outside: str) -> Callable[[Call], str]:
    """``logb``; the arguments are those of :func:`logarithm`."""

    def body(call: Call) -> str:
        x, base = call.sql(0), call.sql(1)
        on_zero, on_outside = _instead(call, at_zero, outside)
        value = narrowed(f"log({as_double(call, 1)}, {as_double(call, 0)})", call.output)
        if rounding not in NEAREST:
            value = directed_with_base(rounding, call)
        elif isinstance(concrete(call.type(0)), Decimal):
            near = f"{_near_one(as_double(call, 0))} OR {_near_one(as_double(call, 1))}"
            value = f"if({near}, {directed_with_base(rounding, call)}, {value})"
        zero = _zero(call.type(0))
        domain = f"{x} < {zero} OR {base} <= {_zero(call.type(1))}"
        if not _small_decimal(call.type(1)):
            domain += f" OR {base} = 1"
        cases = f"WHEN {any_null(x, base)} THEN NULL WHEN {domain} THEN {on_outside} WHEN {x} = {zero} THEN {on_zero}"
        return f"CASE {cases} ELSE {value} END"

    return body


def directed_with_base(rounding: str, call: Call) -> str:
    """``logb`` of numbers inside the domain, rounded in a direction."""
    types = (call.type(0), call.type(1))
    value = Value(_natural("x.x", types[0]) / _natural("x.b", types[1]))
    in_doubt = f"if({is_power('x.x', 'x.b', 'v.p.h', types)}, 0D, {failed(call)})"
    text = rounded(machine([("", value)]), rounding, call.output, in_doubt)
    exact = "false" if _small_decimal(types[0]) else "x.x = 1"
    if _is_float(types[0]):
        exact += f" OR isnan(x.x) OR isnan(x.b) OR x.x = {_INFINITY} OR x.b = {_INFINITY}"
    own = narrowed("log(CAST(x.b AS DOUBLE), CAST(x.x AS DOUBLE))", call.output)
    operands = f"named_struct('x', {_source(call, 0)}, 'b', {_source(call, 1)})"
    return bound(operands, "x", f"if({exact}, {own}, {text})")


def _rows() -> tuple[Row, ...]:
    rows = []
    roundings = (NEAREST, *((direction,) for direction in DIRECTIONS))
    for rounding, outside, at_zero in product(roundings, ("NAN", "NULL", "ERROR"), ("MINUS_INFINITY", "NAN", "ERROR")):
        bodies = {name: logarithm(name, rounding[0], at_zero, outside) for name in ("ln", "log10", "log2", "log1p")}
        bodies["logb"] = with_base(rounding[0], at_zero, outside)
        for name, body in bodies.items():
            rows.append(row(name, body, rounding=rounding, on_domain_error=outside, on_log_zero=at_zero))
    return tuple(rows)


TABLE = Table("extension:io.substrait:functions_logarithmic", _rows())
