"""Arithmetic of integers and floating-point numbers (``functions_arithmetic.yaml``).

Integer overflow: the native operators raise an error, which is ERROR and what an unstated option gets. SILENT leaves
the result open, so it takes the form of SATURATE. Floating-point operations round ties to even, as IEEE 754 does by
default; the other directions are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import FP64, I64, concrete
from pyspark_substrait.sparksql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sparksql.functions import arithmetic_aggregates, arithmetic_windows
from pyspark_substrait.sparksql.functions.fragments import (
    any_null,
    as_double,
    as_int,
    constant,
    infinity,
    largest,
    narrowed,
    raised,
    smallest,
)
from pyspark_substrait.sparksql.functions.table import Call, Table, row

__all__ = ["TABLE", "saturating", "two"]

_INTEGER = tuple(type.short_name for type in INTEGERS)
_FLOAT = ("fp32", "fp64")
_NO_ERROR = ("SATURATE", "SILENT")
_EVEN = "TIE_TO_EVEN"


def two(types: tuple[str, ...]) -> tuple[str, ...]:
    """The signatures of two arguments of the same type."""
    return tuple(f"{type}_{type}" for type in types)


def saturating(function: str, positive: str) -> Callable[[Call], str]:
    """An operation that gives the nearest number of the type on overflow.

    Args:
        function: Spark's function that gives null on overflow.
        positive: the condition on ``{x}`` and ``{y}`` that a result beyond the bounds is beyond the upper one.
    """

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        upper = positive.format(x=x, y=y, zero=constant(0, call.output))
        bound = f"CASE WHEN {upper} THEN {largest(call.output)} ELSE {smallest(call.output)} END"
        # null operands give null by themselves, so the bound must not stand in for them
        return f"if({any_null(x, y)}, NULL, coalesce({function}({x}, {y}), {bound}))"

    return body


def unless_smallest(text: str) -> Callable[[Call], str]:
    """``text`` of ``{x}``, but the largest number for the smallest, whose negative doesn't fit."""

    def body(call: Call) -> str:
        x = call.sql(0)
        return f"if({x} = {smallest(call.output)}, {largest(call.output)}, {text.format(x=x)})"

    return body


# division ------------------------------------------------------------------------------------------------------------


def integer_division(by_zero_null: bool, saturate: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        divisor = f"nullif({y}, {constant(0, call.output)})" if by_zero_null else y
        quotient = f"{x} div {divisor}"
        if not isinstance(concrete(call.output), I64):
            quotient = f"CAST({quotient} AS {spark_type(call.output)})"
        if not saturate:
            return quotient
        overflows = f"{x} = {smallest(call.output)} AND {y} = {constant(-1, call.output)}"
        return f"if({overflows}, {largest(call.output)}, {quotient})"

    return body


def float_division(by_zero: str, domain_null: bool) -> Callable[[Call], str]:
    """Division of floating-point numbers; Spark's ``/`` fails for zero divisors of any kind.

    Args:
        by_zero: what ``x / 0`` is: ERROR, NULL or IEEE.
        domain_null: whether a NaN operand, or two infinite ones, give null instead of NaN.
    """

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        zero = constant(0, call.output)
        cases = []
        if domain_null:
            bound = infinity(call.output)
            cases.append(f"WHEN isnan({x}) OR isnan({y}) OR abs({x}) = {bound} AND abs({y}) = {bound} THEN NULL")
        if by_zero == "NULL":
            text = narrowed(f"{x} / nullif({y}, {zero})", call.output)
        else:
            text = narrowed(f"{x} / {y}", call.output)
        return f"CASE {' '.join(cases)} ELSE {text} END" if cases else text

    return body


def floor_modulus(zero_null: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        rest = f"try_mod({x}, {y})" if zero_null else f"({x} % {y})"
        zero = constant(0, call.output)
        return f"CASE WHEN {rest} <> {zero} AND ({rest} < {zero}) <> ({y} < {zero}) THEN {rest} + {y} ELSE {rest} END"

    return body


# functions of one number ---------------------------------------------------------------------------------------------


def through_double(name: str) -> Callable[[Call], str]:
    """A function that Spark has for DOUBLE only."""

    def body(call: Call) -> str:
        operands = ", ".join(as_double(call, position) for position in range(len(call.operands)))
        return narrowed(f"{name}({operands})", call.output)

    return body


def in_domain(name: str, outside: str) -> Callable[[Call], str]:
    """As :func:`through_double`, but an error where the condition ``outside`` on ``{x}`` is true."""

    def body(call: Call) -> str:
        x = as_double(call, 0)
        failed = raised(call, "the argument is outside the domain")
        return f"if({outside.format(x=x)}, {failed}, {through_double(name)(call)})"

    return body


def sign(call: Call) -> str:
    double = isinstance(concrete(call.output), FP64)
    return f"sign({call.sql(0)})" if double else f"CAST(sign({call.sql(0)}) AS {spark_type(call.output)})"


def factorial(on_overflow: Callable[[Call], str]) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        n, limit = call.sql(0), 20 if isinstance(concrete(call.output), I64) else 12
        value = f"factorial({as_int(call, 0)})"
        if limit == 12:
            value = f"CAST({value} AS INT)"
        negative = raised(call, "the argument is negative")
        return f"CASE WHEN {n} < 0 THEN {negative} WHEN {n} > {limit} THEN {on_overflow(call)} ELSE {value} END"

    return body


def overflow(call: Call) -> str:
    return raised(call, "overflow")


def largest_output(call: Call) -> str:
    return largest(call.output)


_ANY_DOMAIN = ("NULL", "ERROR")  # integers have no values outside the domain but the zero divisor

_BINARY = (
    row("add", "{0} + {1}", signatures=two(_INTEGER), overflow="ERROR"),
    row("add", saturating("try_add", "{x} > {zero}"), signatures=two(_INTEGER), overflow=_NO_ERROR),
    row("add", "{0} + {1}", signatures=two(_FLOAT), rounding=_EVEN),
    row("subtract", "{x} - {y}", signatures=two(_INTEGER), overflow="ERROR"),
    row("subtract", saturating("try_subtract", "{x} >= {zero}"), signatures=two(_INTEGER), overflow=_NO_ERROR),
    row("subtract", "{x} - {y}", signatures=two(_FLOAT), rounding=_EVEN),
    row("multiply", "{x} * {y}", signatures=two(_INTEGER), overflow="ERROR"),
    row(
        "multiply",
        saturating("try_multiply", "({x} < {zero}) = ({y} < {zero})"),
        signatures=two(_INTEGER),
        overflow=_NO_ERROR,
    ),
    row("multiply", "{x} * {y}", signatures=two(_FLOAT), rounding=_EVEN),
    *(
        row(
            "divide",
            integer_division(by_zero == "NULL", saturate),
            signatures=two(_INTEGER),
            overflow=_NO_ERROR if saturate else "ERROR",
            on_division_by_zero=by_zero,
            on_domain_error=_ANY_DOMAIN,
        )
        for saturate in (False, True)
        for by_zero in ("ERROR", "NULL")
    ),
    *(
        row(
            "divide",
            float_division(by_zero, domain == "NULL"),
            signatures=two(_FLOAT),
            rounding=_EVEN,
            on_division_by_zero=by_zero,
            on_domain_error=domain,
        )
        for domain in ("NAN", "NULL")
        for by_zero in ("ERROR", "NULL")
    ),
    row(
        "modulus",
        "{x} % {y}",
        division_type="TRUNCATE",
        on_domain_error="ERROR",
        overflow=("ERROR", "SATURATE", "SILENT"),  # no remainder overflows
    ),
    row(
        "modulus",
        "try_mod({x}, {y})",
        division_type="TRUNCATE",
        on_domain_error="NULL",
        overflow=("ERROR", "SATURATE", "SILENT"),
    ),
    row(
        "modulus",
        floor_modulus(False),
        division_type="FLOOR",
        on_domain_error="ERROR",
        overflow=("ERROR", "SATURATE", "SILENT"),
    ),
    row(
        "modulus",
        floor_modulus(True),
        division_type="FLOOR",
        on_domain_error="NULL",
        overflow=("ERROR", "SATURATE", "SILENT"),
    ),
    row("power", through_double("pow"), signatures=two(_FLOAT)),
)

_UNARY = (
    row("negate", "negative({x})", signatures=_INTEGER, overflow="ERROR"),
    row("negate", unless_smallest("negative({x})"), signatures=_INTEGER, overflow=_NO_ERROR),
    row("negate", "negative({x})", signatures=_FLOAT),
    row("abs", "abs({x})", signatures=_INTEGER, overflow="ERROR"),
    row("abs", unless_smallest("abs({x})"), signatures=_INTEGER, overflow=_NO_ERROR),
    row("abs", "abs({x})", signatures=_FLOAT),
    row("sign", sign),
    row("sqrt", through_double("sqrt"), rounding=_EVEN, on_domain_error="NAN"),
    row("sqrt", in_domain("sqrt", "{x} < 0"), rounding=_EVEN, on_domain_error="ERROR"),
    *(
        row(name, through_double(name), rounding=_EVEN)
        for name in (
            "exp",
            "cos",
            "sin",
            "tan",
            "cosh",
            "sinh",
            "tanh",
            "atan",
            "asinh",
            "radians",
            "degrees",
        )
    ),
    *(
        made
        for name, outside in (
            ("acos", "abs({x}) > 1"),
            ("asin", "abs({x}) > 1"),
            ("acosh", "{x} < 1"),
            ("atanh", "abs({x}) > 1"),
        )
        for made in (
            row(name, through_double(name), rounding=_EVEN, on_domain_error="NAN"),
            row(name, in_domain(name, outside), rounding=_EVEN, on_domain_error="ERROR"),
        )
    ),
    row("atan2", through_double("atan2"), rounding=_EVEN, on_domain_error="NAN"),
    row("factorial", factorial(overflow), overflow="ERROR"),
    row("factorial", factorial(largest_output), overflow=_NO_ERROR),
    row("bitwise_not", "~{0}"),
    row("bitwise_and", "{0} & {1}"),
    row("bitwise_or", "{0} | {1}"),
    row("bitwise_xor", "{0} ^ {1}"),
    row("shift_left", "shiftleft({0}, {1})"),
    row("shift_right", "shiftright({0}, {1})"),
    row("shift_right_unsigned", "shiftrightunsigned({0}, {1})"),
)

TABLE = Table(
    "extension:io.substrait:functions_arithmetic",
    (*_BINARY, *_UNARY, *arithmetic_aggregates.ROWS, *arithmetic_windows.ROWS),
)
