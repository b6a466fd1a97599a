"""Arithmetic with Spark's semantics (``functions_spark_arithmetic.yaml``).

Spark's behavior with ANSI mode off is expressed so that nothing raises in a session with ANSI mode on.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.types import FP64, I64, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import UNKNOWN, Atom, filled
from pyspark_substrait.sql.functions.arithmetic.divisions import remainder_or_null
from pyspark_substrait.sql.functions.builtins_since import builtin_since
from pyspark_substrait.sql.functions.catalyst import ansi, legacy, try_
from pyspark_substrait.sql.functions.common_expressions import constant, largest, smallest
from pyspark_substrait.sql.functions.table import Call, Row, Table, row
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["TABLE"]

_INTEGER = tuple(type.short_name for type in INTEGERS)
_PAIRS = tuple(f"{name}_{name}" for name in _INTEGER)
_FLOATS = ("fp32_fp32", "fp64_fp64")
_DECIMALS = ("dec_dec",)
_CHECKED_SINCE = SparkVersion(4, 3)


def _wrapped(exact: str, call: Call) -> str:
    """A whole number, which is a decimal, modulo the bits of the result's type."""
    bits = INTEGERS[concrete(call.output).__class__]
    half, all = f"{1 << bits - 1}BD", f"{1 << bits}BD"
    return Atom(f"CAST(pmod({exact} + {half}, {all}) - {half} AS {spark_type(call.output)})")


def wrapping(function: str, operator: str) -> Callable[[Call], str]:
    """Return a sum, difference or product: computed in a wider type, of which the lowest bits are kept."""

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        if isinstance(concrete(call.output), I64):
            exact = f"CAST({x} AS DECIMAL(19, 0)) {operator} CAST({y} AS DECIMAL(19, 0))"
            parts = [f"{function}({x}, {y})", _wrapped(f"({exact})", call)]
            # never null, which Spark can't infer
            return Atom(f"coalesce({', '.join(parts if call.output.nullable else [*parts, '0L'])})")
        rest = 64 - INTEGERS[concrete(call.output).__class__]
        wide = f"CAST({x} AS BIGINT) {operator} CAST({y} AS BIGINT)"
        return Atom(f"CAST(shiftright(shiftleft({wide}, {rest}), {rest}) AS {spark_type(call.output)})")

    return body


def unless_smallest(function: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        return Atom(f"if({call.sql(0)} = {smallest(call.output)}, {call.sql(0)}, {function}({call.sql(0)}))")

    return body


def wrapping_divide(call: Call) -> str:
    x, y = call.sql(0), call.sql(1)
    return Atom(f"if({x} = {smallest(call.output)} AND {y} = -1L, {x}, {x} div nullif({y}, 0L))")


def of_nonzero(template: str) -> Callable[[Call], str]:
    """Return ``template`` of ``{x}`` and ``{y}``, null if ``{y}`` is zero."""

    def body(call: Call) -> str:
        x, y, type = call.sql(0), call.sql(1), call.type(1)
        return filled(template, x=x, y=f"nullif({y}, {constant(0, type)})")

    return body


def saturating(function: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x = call.sql(0)
        above = f"WHEN {x} >= {constant(2.0**63, FP64())} THEN {largest(call.output)}"
        below = f"WHEN {x} <= {constant(-(2.0**63), FP64())} THEN {smallest(call.output)}"
        return f"CASE WHEN isnan({x}) THEN 0L {above} {below} ELSE {function}({x}) END"

    return body


def checked(function: str) -> Callable[[Call], str]:
    """Return a rounding that raises where a BIGINT has no room, for versions where Spark's gives the nearest there."""

    def body(call: Call) -> str:
        x = call.sql(0)
        whole = f"WHEN abs({x}) >= {constant(2.0**53, FP64())} THEN CAST({x} AS BIGINT)"
        return f"CASE WHEN isnan({x}) THEN 0L {whole} ELSE {function}({x}) END"

    return body


def wrapping_round(function: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        places = call.operands[1].literal
        if call.operands[1].sql.value is UNKNOWN:
            raise InvalidPlanError("the number of places must be a literal", path="arguments[1]")
        if not isinstance(places, int):
            return Atom(f"CAST(NULL AS {spark_type(call.output)})")
        # beyond 20 places before the point nothing is left
        exact = f"{function}(CAST({call.sql(0)} AS DECIMAL(19, 0)), {max(min(places, 0), -20)})"
        return _wrapped(exact, call)

    return body


def _try_and_wrapping() -> tuple[Row, ...]:
    rows = []
    for name, operator, node in (("add", "+", "Add"), ("subtract", "-", "Subtract"), ("multiply", "*", "Multiply")):
        native = f"try_{name}({{x}}, {{y}})"
        rows += [
            row(f"try_{name}", native, signatures=_PAIRS, catalyst=try_(node)),
            row(f"try_{name}", native, signatures=_DECIMALS, catalyst=[try_(node), legacy(node)]),
            row(f"wrapping_{name}", wrapping(f"try_{name}", operator), catalyst=legacy(node)),
        ]
    return tuple(rows)


_DIVISIONS = (
    row("wrapping_divide", wrapping_divide, catalyst=legacy("IntegralDivide")),
    # those of doubles, and of decimals by the specification's function, are the producer's choice
    row("divide", "{x} / {y}", signatures=_DECIMALS),
    row("divide", "{x} / {y}", signatures=("fp64_fp64",)),
    row("try_divide", "try_divide({x}, {y})", catalyst=[try_("Divide"), legacy("Divide")]),
    row("integral_divide", "{x} div {y}", catalyst=ansi("IntegralDivide")),
    row("try_integral_divide", of_nonzero("{x} div {y}")),
    row("modulus", "{x} % {y}", catalyst=ansi("Remainder")),
    row(
        "try_modulus",
        "try_mod({x}, {y})",
        catalyst=[try_("Remainder"), legacy("Remainder")],
        since=builtin_since("try_mod"),
        before=lambda call: remainder_or_null(call, call.sql(0), call.sql(1)),
    ),
    row("pmod", "pmod({x}, {y})", catalyst=ansi("Pmod")),
    row("try_pmod", of_nonzero("pmod({x}, {y})"), catalyst=[try_("Pmod"), legacy("Pmod")]),
)

_FUNCTIONS = (
    row("wrapping_negate", unless_smallest("negative"), catalyst=legacy("UnaryMinus")),
    row("wrapping_abs", unless_smallest("abs"), catalyst=legacy("Abs")),
    row("negate", "negative({x})"),
    row("abs", "abs({x})"),
    row("shift_left", "shiftleft({x}, {y})", catalyst="ShiftLeft"),
    row("shift_right", "shiftright({x}, {y})", catalyst="ShiftRight"),
    row("shift_right_unsigned", "shiftrightunsigned({x}, {y})", catalyst="ShiftRightUnsigned"),
    row("bit_count", "bit_count({x})", catalyst="BitwiseCount"),
    row("bit_get", "bit_get({x}, {position})", catalyst="BitwiseGet"),
    row("cbrt", "cbrt({x})", catalyst="Cbrt"),
    row("expm1", "expm1({x})", catalyst="Expm1"),
    row("rint", "rint({x})", catalyst="Rint"),
    row("cot", "cot({x})", catalyst="Cot"),
    row("sec", "sec({x})", catalyst="Sec"),
    row("csc", "csc({x})", catalyst="Csc"),
    row("hypot", "hypot({x}, {y})", catalyst="Hypot"),
    row("log", "log({base}, {x})", catalyst="Logarithm"),
    row("factorial", "factorial({n})", catalyst="Factorial"),
    row("ceil", "ceil({x})", catalyst=ansi("Ceil"), since=_CHECKED_SINCE, before=checked("ceil")),
    row("floor", "floor({x})", catalyst=ansi("Floor"), since=_CHECKED_SINCE, before=checked("floor")),
    row("saturating_ceil", saturating("ceil"), catalyst=legacy("Ceil")),
    row("saturating_floor", saturating("floor"), catalyst=legacy("Floor")),
    row("round", "round({x}, {places})", catalyst="Round"),
    row("bround", "bround({x}, {places})", catalyst="BRound"),
    row("wrapping_round", wrapping_round("round"), catalyst=legacy("Round")),
    row("wrapping_bround", wrapping_round("bround"), catalyst=legacy("BRound")),
    row("width_bucket", "width_bucket({value}, {min}, {max}, {buckets})", catalyst="WidthBucket"),
)

TABLE = Table(
    "extension:pyspark_substrait:functions_spark_arithmetic", (*_try_and_wrapping(), *_DIVISIONS, *_FUNCTIONS)
)
