"""Arithmetic of decimals (``functions_arithmetic_decimal.yaml``).

Spark derives the types of ``+ - * %`` as the specification does. Excess fractional digits are rounded half away from
zero, which the specification leaves open. Quotients and remainders, sums and averages, and bits have their own modules
(``decimals``).

``overflow``: ERROR is also the default. SILENT leaves the result open, so it takes the form of SATURATE. A division by
zero isn't an overflow, and always an error.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.catalyst import ansi
from pyspark_substrait.sql.functions.common_expressions import (
    any_null,
    as_double,
    constant,
    infinity,
    largest,
    raised,
    smallest,
)
from pyspark_substrait.sql.functions.decimals.bits import bitwise
from pyspark_substrait.sql.functions.decimals.digits import decimal_of, is_negative, is_zero, negated
from pyspark_substrait.sql.functions.decimals.quotients import divide, modulus, saturating_divide
from pyspark_substrait.sql.functions.decimals.totals import (
    average,
    final_average,
    merged_average,
    or_zero,
    partial_average,
    saturating_total,
    total,
)
from pyspark_substrait.sql.functions.table import Call, Row, Table, in_steps, row

__all__ = ["TABLE"]

_NO_ERROR = ("SATURATE", "SILENT")
_ALL = ("ERROR", "SATURATE", "SILENT")


def negate(call: Call) -> str:
    return negated(call.sql(0), call.type(0))


def absolute(call: Call) -> str:
    x = call.sql(0)
    negative = negated(x, call.type(0))
    # Spark's abs rounds where its unary minus does
    return (
        Atom(f"abs({x})")
        if negative == f"negative({x})"
        else Atom(f"if({is_negative(x, call.type(0))}, {negative}, {x})")
    )


def saturating(function: str, positive: str) -> Callable[[Call], str]:
    """Return an operation that gives the nearest number of its type on overflow.

    Args:
        function: Spark's function that gives null on overflow.
        positive: the condition on ``{x}`` and ``{y}`` that an overflow exceeds the upper bound.
    """

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        bounds = f"if({positive.format(x=x, y=y)}, {largest(call.output)}, {smallest(call.output)})"
        return Atom(f"if({any_null(x, y)}, NULL, coalesce({function}({x}, {y}), {bounds}))")

    return body


def square_root(call: Call) -> str:
    failed = raised(call, "the argument is negative")
    return Atom(f"if({is_negative(call.sql(0), call.type(0))}, {failed}, sqrt({as_double(call, 0)}))")


def factorial(call: Call) -> str:
    n = call.sql(0)
    values = ", ".join(f"{math.factorial(i)}BD" for i in range(34))
    negative, large = raised(call, "the argument is negative"), raised(call, "overflow")
    value = f"CAST(element_at(array({values}), CAST({n} AS INT) + 1) AS {spark_type(call.output)})"
    # the code that Spark generates for element_at mistakes a null for an index
    empty = f"WHEN {n} IS NULL THEN NULL"
    return f"CASE {empty} WHEN {n} < 0 THEN {negative} WHEN {n} > 33 THEN {large} ELSE {value} END"


# powers --------------------------------------------------------------------------------------------------------------

#: the digits of an exponent that a DOUBLE keeps
_DOUBLE_DIGITS = 15


def power(complex_number: str, overflow: str) -> Callable[[Call], str]:
    """Return a power, computed with DOUBLE numbers.

    A negative number has real powers for whole exponents only; they are negative for odd ones. Zero to a negative
    power is infinite without an overflow.
    """

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        base = as_double(call, 0)
        value: str = Atom(f"pow({base}, {as_double(call, 1)})")
        exponent = decimal_of(call.type(1))
        below_zero = is_negative(x, call.type(0))
        cases = []
        if exponent.precision > _DOUBLE_DIGITS:
            value = f"if({below_zero} AND {y} % 2BD <> 0, -1D, 1D) * pow(abs({base}), {as_double(call, 1)})"
        if exponent.scale and (complex_number == "ERROR" or exponent.precision > _DOUBLE_DIGITS):
            no_number = constant(math.nan, call.output)
            outcome = raised(call, "the result is a complex number") if complex_number == "ERROR" else no_number
            cases.append(f"WHEN {below_zero} AND NOT {is_zero(f'{y} % 1BD', exponent)} THEN {outcome}")
        if overflow != "SILENT":
            top, bottom = (constant(sign * sys.float_info.max, call.output) for sign in (1, -1))
            outcome = raised(call, "overflow") if overflow == "ERROR" else f"if({value} < 0, {bottom}, {top})"
            cases.append(
                f"WHEN abs({value}) = {infinity(call.output)} AND NOT {is_zero(x, call.type(0))} THEN {outcome}"
            )
        return f"CASE {' '.join(cases)} ELSE {value} END" if cases else value

    return body


def _powers() -> tuple[Row, ...]:
    """Return the rows of ``power``; by default, a complex result is NaN and an overflow is infinity."""
    return tuple(
        row("power", power(complex_number, overflow), complex_number_result=complex_number, overflow=overflow)
        for complex_number in ("NAN", "ERROR")
        for overflow in ("SILENT", "ERROR", "SATURATE")
    )


# the sum and the difference of finite numbers are far from zero where they overflow
_POSITIVE_SUM = "CAST({x} AS DOUBLE) + CAST({y} AS DOUBLE) > 0"
_POSITIVE_DIFFERENCE = "CAST({x} AS DOUBLE) > CAST({y} AS DOUBLE)"


def _sums() -> tuple[Row, ...]:
    made = []
    for name, native, saturated in (
        ("sum", total, saturating_total),
        ("sum0", or_zero(total), or_zero(saturating_total)),
    ):
        made.append(
            row(
                name,
                native,
                steps=in_steps(native),
                overflow="ERROR",
                catalyst=ansi("Sum") if name == "sum" else (),
            )
        )
        # a sum that doesn't fit an intermediate value is an error: a bound there would make the result wrong
        made.append(row(name, saturated, steps=in_steps(native, native, saturated), overflow=_NO_ERROR))
    return tuple(made)


TABLE = Table(
    "extension:io.substrait:functions_arithmetic_decimal",
    (
        row("add", "{x} + {y}", overflow="ERROR", catalyst=ansi("Add")),
        row("add", saturating("try_add", _POSITIVE_SUM), overflow=_NO_ERROR),
        row("subtract", "{x} - {y}", overflow="ERROR", catalyst=ansi("Subtract")),
        row("subtract", saturating("try_subtract", _POSITIVE_DIFFERENCE), overflow=_NO_ERROR),
        row("multiply", "{x} * {y}", overflow="ERROR", catalyst=ansi("Multiply")),
        row("multiply", saturating("try_multiply", "({x} < 0) = ({y} < 0)"), overflow=_NO_ERROR),
        row("divide", divide, overflow="ERROR"),
        row("divide", saturating_divide, overflow=_NO_ERROR),
        row("modulus", modulus, overflow=_ALL, catalyst=ansi("Remainder")),
        row("negate", negate),
        row("abs", absolute),
        row("bitwise_and", bitwise("&")),
        row("bitwise_or", bitwise("|")),
        row("bitwise_xor", bitwise("^")),
        row("sqrt", square_root),
        row("factorial", factorial),
        *_powers(),
        *_sums(),
        # an average is never larger than its largest argument
        row("avg", average, steps=in_steps(partial_average, merged_average, final_average), overflow=_ALL),
        row("min", "[min({x})]", steps=in_steps("[min({0})]"), catalyst="Min"),
        row("max", "[max({x})]", steps=in_steps("[max({0})]"), catalyst="Max"),
    ),
)
