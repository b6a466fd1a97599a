"""Division and remainder of integers and floating-point numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pyspark_substrait.model.types import I64, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom, atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import EVEN, ROUNDINGS, rounded_quotient
from pyspark_substrait.sql.functions.catalyst import CatalystForms, ansi, legacy, try_
from pyspark_substrait.sql.functions.common_expressions import (
    any_null,
    constant,
    infinity,
    largest,
    narrowed,
    raised,
    smallest,
)
from pyspark_substrait.sql.functions.table import Call, row

__all__ = ["ROWS"]

_INTEGER = tuple(f"{type.short_name}_{type.short_name}" for type in INTEGERS)
_FLOAT = ("fp32_fp32", "fp64_fp64")
_NO_ERROR = ("SATURATE", "SILENT")
_ALL = ("ERROR", *_NO_ERROR)
_UNSTATED: tuple[str, ...] = ()


def integer_division(by_zero_null: bool, saturate: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        divisor = f"nullif({y}, {constant(0, call.output)})" if by_zero_null else y
        quotient = f"{x} div {divisor}"
        if not isinstance(concrete(call.output), I64):
            quotient = Atom(f"CAST({quotient} AS {spark_type(call.output)})")
        if not saturate:
            return quotient
        overflows = f"{x} = {smallest(call.output)} AND {y} = {constant(-1, call.output)}"
        return Atom(f"if({overflows}, {largest(call.output)}, {quotient})")

    return body


def plain_quotient(call: Call) -> str:
    """The quotient of Spark's ``/``, which fails for zero divisors of any kind."""
    return narrowed(f"{call.sql(0)} / {call.sql(1)}", call.output)


def float_division(call: Call) -> str:
    """Return the quotient of two floating-point numbers under stated options.

    The domain takes precedence: a NaN divided by zero is a matter of ``on_domain_error``.
    """
    x, y, type = call.sql(0), call.sql(1), call.output
    both_infinite = f"abs({x}) = {infinity(type)} AND abs({y}) = {infinity(type)}"
    outside = {
        "NAN": constant(math.nan, type),
        "NULL": "NULL",
        "ERROR": raised(call, "NaN has no quotient, and two infinities have none"),
    }[call.options.get("on_domain_error", "NAN")]
    same_sign = " = ".join(f"startswith(CAST({operand} AS STRING), '-')" for operand in (x, y))
    by_zero = {
        "ERROR": raised(call, "division by zero"),
        "NULL": "NULL",
        # exactly as the extension defines it, and not as IEEE 754 does, where only 0 / 0 is NaN
        "IEEE": f"if(abs({x}) = {infinity(type)}, {x}, {constant(math.nan, type)})",
        # the signs of the zeros count, as in a limit; so 0 / 0 has one, too
        "LIMIT": f"if({same_sign}, {infinity(type)}, {constant(-math.inf, type)})",
    }[call.options.get("on_division_by_zero", "ERROR")]
    quotient = rounded_quotient(x, y, type, call.options.get("rounding", EVEN))
    return (
        f"CASE WHEN {any_null(x, y)} THEN NULL WHEN isnan({x}) OR isnan({y}) OR {both_infinite} THEN {outside} "
        f"WHEN {y} = {constant(0, type)} THEN {by_zero} ELSE {quotient} END"
    )


def modulus(zero_null: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        return remainder_or_null(call, x, y) if zero_null else f"{x} % {y}"

    return body


def remainder_or_null(call: Call, x: str, y: str, zero: str | None = None) -> str:
    """Return the remainder of two operands, null by zero, which is ``zero``; by default a zero of the result's type."""
    if call.has("try_mod"):
        return Atom(f"try_mod({x}, {y})")
    return f"{x} % nullif({y}, {constant(0, call.output) if zero is None else zero})"


def floor_modulus(zero_null: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        rest = atom(remainder_or_null(call, x, y)) if zero_null else f"({x} % {y})"
        zero = constant(0, call.output)
        return f"CASE WHEN {rest} <> {zero} AND ({rest} < {zero}) <> ({y} < {zero}) THEN {rest} + {y} ELSE {rest} END"

    return body


#: the remainders that Spark has
_REMAINDERS: Mapping[tuple[str, str], CatalystForms] = {
    ("TRUNCATE", "ERROR"): ansi("Remainder"),
    ("TRUNCATE", "NULL"): (try_("Remainder"), legacy("Remainder")),
}

ROWS = (
    *(
        row(
            "divide",
            integer_division(by_zero == "NULL", saturate),
            signatures=_INTEGER,
            overflow=_NO_ERROR if saturate else "ERROR",
            on_division_by_zero=by_zero,
            # nothing but the zero divisor is outside the domain
            on_domain_error=("NULL", "ERROR") if by_zero == "NULL" else ("ERROR", "NULL"),
            catalyst=ansi("IntegralDivide") if by_zero == "ERROR" and not saturate else (),
        )
        for saturate in (False, True)
        for by_zero in ("ERROR", "NULL")
    ),
    row(
        "divide",
        plain_quotient,
        signatures=_FLOAT,
        rounding=EVEN,
        on_division_by_zero=_UNSTATED,
        on_domain_error=_UNSTATED,
    ),
    row(
        "divide",
        float_division,
        signatures=_FLOAT,
        rounding=ROUNDINGS,
        on_division_by_zero=("ERROR", "NULL", "IEEE", "LIMIT"),
        on_domain_error=("NAN", "NULL", "ERROR"),
    ),
    *(
        row(
            "modulus",
            of_kind(domain == "NULL"),
            division_type=kind,
            on_domain_error=domain,
            overflow=_ALL,  # no remainder overflows
            catalyst=_REMAINDERS.get((kind, domain), ()),
        )
        for kind, of_kind in (("TRUNCATE", modulus), ("FLOOR", floor_modulus))
        for domain in ("ERROR", "NULL")
    ),
)
