"""Arithmetic of integers and floating-point numbers (``functions_arithmetic.yaml``).

Integer overflow: the native operators raise an error, which is ERROR and what an unstated option gets. SILENT leaves
the result open, so it takes the form of SATURATE. Floating-point operations round ties to even, as IEEE 754 does by
default; ``float_rounding`` has the other directions.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import FP64, I64, Type, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic import aggregates as arithmetic_aggregates
from pyspark_substrait.sql.functions.arithmetic import divisions
from pyspark_substrait.sql.functions.arithmetic import windows as arithmetic_windows
from pyspark_substrait.sql.functions.arithmetic.float_rounding import (
    DIRECTED,
    EVEN,
    ROUNDINGS,
    let,
    rounded_product,
    rounded_root,
    rounded_root_of_integer,
    rounded_sum,
)
from pyspark_substrait.sql.functions.catalyst import ansi
from pyspark_substrait.sql.functions.common_expressions import (
    any_null,
    as_int,
    bound,
    constant,
    largest,
    raised,
    smallest,
)
from pyspark_substrait.sql.functions.elementary import rows as elementary
from pyspark_substrait.sql.functions.elementary.rows import through_double
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE", "saturating", "two"]

_INTEGER = tuple(type.short_name for type in INTEGERS)
_FLOAT = ("fp32", "fp64")
_NO_ERROR = ("SATURATE", "SILENT")
_UNSTATED: tuple[str, ...] = ()


def two(types: tuple[str, ...]) -> tuple[str, ...]:
    """The signatures of two arguments of the same type."""
    return tuple(f"{type}_{type}" for type in types)


def saturating(function: str, positive: str) -> Callable[[Call], str]:
    """Return an operation that gives the nearest number of the type on overflow.

    Args:
        function: Spark's function that gives null on overflow.
        positive: the condition on ``{x}`` and ``{y}`` that a result out of range exceeds the upper bound.
    """

    def body(call: Call) -> str:
        x, y = call.sql(0), call.sql(1)
        upper = positive.format(x=x, y=y, zero=constant(0, call.output))
        limit = f"CASE WHEN {upper} THEN {largest(call.output)} ELSE {smallest(call.output)} END"
        # null operands give null by themselves, so the limit must not replace them
        return Atom(f"if({any_null(x, y)}, NULL, coalesce({function}({x}, {y}), {limit}))")

    return body


def unless_smallest(text: str) -> Callable[[Call], str]:
    """Return ``text`` of ``{x}``, except the largest number for the smallest, whose negative doesn't fit."""

    def body(call: Call) -> str:
        x = call.sql(0)
        return Atom(f"if({x} = {smallest(call.output)}, {largest(call.output)}, {text.format(x=x)})")

    return body


# powers and shifts ---------------------------------------------------------------------------------------------------


def integer_power(saturate: bool) -> Callable[[Call], str]:
    """Return the exact power of two integers; 0 to the power of 0 is 1.

    A negative exponent is an error if the power isn't an integer: for all bases except 1 and -1.
    """

    def body(call: Call) -> str:
        low, high = smallest(call.output), largest(call.output)
        factors = "array_repeat(CAST(p.x AS DECIMAL(19, 0)), CAST(p.y AS INT))"
        exact = f"aggregate({factors}, CAST(1 AS DECIMAL(38, 0)), (r, e) -> CAST(r * e AS DECIMAL(38, 0)))"
        beyond = raised(call, "overflow")
        if saturate:
            beyond = f"if(p.x < 0L AND p.y % 2L <> 0L, {low}, {high})"
        inside = f"CASE WHEN r BETWEEN {low} AND {high} THEN CAST(r AS BIGINT) ELSE {beyond} END"
        cases = (
            ("p.x = 1L OR p.y = 0L", "1L"),
            ("p.x = -1L", "if(p.y % 2L = 0L, 1L, -1L)"),
            ("p.y < 0L", raised(call, "the exponent is negative")),
            ("p.x = 0L", "0L"),
            # a power close to the range is computed exactly
            ("p.y > 64L OR abs(pow(CAST(p.x AS DOUBLE), CAST(p.y AS DOUBLE))) > 1E19D", beyond),
        )
        choice = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
        text = f"CASE WHEN p.x IS NULL OR p.y IS NULL THEN NULL {choice} ELSE {bound(exact, 'r', inside)} END"
        return let("p", {"x": call.sql(0), "y": call.sql(1)}, text)

    return body


def shifted(function: str, beyond: str) -> Callable[[Call], str]:
    """Return a shift; by as many bits as the number has, or more, only the vacant bits are left.

    A negative number of bits is an error: Spark would take it modulo the number of bits, as it would one that is too
    large.

    Args:
        function: Spark's function.
        beyond: the value left of ``{x}``, whose last bit is number ``{last}``, when all of its bits are shifted out.
    """

    def body(call: Call) -> str:
        x, count, literal = call.sql(0), call.sql(1), call.operands[1].literal
        bits = INTEGERS[concrete(call.output).__class__]
        inside, nothing = f"{function}({x}, {count})", beyond.format(x=x, last=bits - 1)
        if isinstance(literal, int) and literal >= 0:
            return inside if literal < bits else nothing
        negative = raised(call, "the number of bits is negative")
        no_shift = f"{count} < 0 AND {x} IS NOT NULL"
        return f"CASE WHEN {count} >= {bits} THEN {nothing} WHEN {no_shift} THEN {negative} ELSE {inside} END"

    return body


# functions of one number ---------------------------------------------------------------------------------------------


def root(call: Call) -> str:
    """A square root under stated options."""
    x, rounding = call.sql(0), call.options.get("rounding", EVEN)
    if isinstance(concrete(call.type(0)), I64):
        text = rounded_root_of_integer(x, rounding)
    else:
        text = rounded_root(x, call.output, rounding)
    if call.options.get("on_domain_error") != "ERROR":
        return text
    return Atom(f"if({x} < 0, {raised(call, 'the argument is negative')}, {text})")


def sign(call: Call) -> str:
    double = isinstance(concrete(call.output), FP64)
    return Atom(f"sign({call.sql(0)})") if double else Atom(f"CAST(sign({call.sql(0)}) AS {spark_type(call.output)})")


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


def in_direction(rounded: Callable[[str, str, Type, str], str], second: str = "{y}") -> Callable[[Call], str]:
    """An operation on two floating-point numbers in the stated rounding; ``second`` is the second one."""

    def body(call: Call) -> str:
        return rounded(call.sql(0), second.format(y=call.sql(1)), call.output, call.options["rounding"])

    return body


_BINARY = (
    row("add", "{0} + {1}", signatures=two(_INTEGER), overflow="ERROR", catalyst=ansi("Add")),
    row("add", saturating("try_add", "{x} > {zero}"), signatures=two(_INTEGER), overflow=_NO_ERROR),
    row("add", "{0} + {1}", signatures=two(_FLOAT), rounding=EVEN, catalyst="Add"),
    row("add", in_direction(rounded_sum), signatures=two(_FLOAT), rounding=DIRECTED),
    row("subtract", "{x} - {y}", signatures=two(_INTEGER), overflow="ERROR", catalyst=ansi("Subtract")),
    row("subtract", saturating("try_subtract", "{x} >= {zero}"), signatures=two(_INTEGER), overflow=_NO_ERROR),
    row("subtract", "{x} - {y}", signatures=two(_FLOAT), rounding=EVEN, catalyst="Subtract"),
    row("subtract", in_direction(rounded_sum, "negative({y})"), signatures=two(_FLOAT), rounding=DIRECTED),
    row("multiply", "{x} * {y}", signatures=two(_INTEGER), overflow="ERROR", catalyst=ansi("Multiply")),
    row(
        "multiply",
        saturating("try_multiply", "({x} < {zero}) = ({y} < {zero})"),
        signatures=two(_INTEGER),
        overflow=_NO_ERROR,
    ),
    row("multiply", "{x} * {y}", signatures=two(_FLOAT), rounding=EVEN, catalyst="Multiply"),
    row("multiply", in_direction(rounded_product), signatures=two(_FLOAT), rounding=DIRECTED),
    *divisions.ROWS,
    row("power", integer_power(False), signatures=("i64_i64",), overflow="ERROR"),
    row("power", integer_power(True), signatures=("i64_i64",), overflow=_NO_ERROR),
    row("power", through_double("pow"), signatures=two(_FLOAT), catalyst="Pow"),
)

_UNARY = (
    row("negate", "negative({x})", signatures=_INTEGER, overflow="ERROR", catalyst=ansi("UnaryMinus")),
    row("negate", unless_smallest("negative({x})"), signatures=_INTEGER, overflow=_NO_ERROR),
    row("negate", "negative({x})", signatures=_FLOAT, catalyst="UnaryMinus"),
    row("abs", "abs({x})", signatures=_INTEGER, overflow="ERROR", catalyst=ansi("Abs")),
    row("abs", unless_smallest("abs({x})"), signatures=_INTEGER, overflow=_NO_ERROR),
    row("abs", "abs({x})", signatures=_FLOAT, catalyst="Abs"),
    row("sign", sign, catalyst="Signum"),
    row("sqrt", through_double("sqrt"), rounding=_UNSTATED, on_domain_error=_UNSTATED),
    row("sqrt", root, rounding=ROUNDINGS, on_domain_error=("NAN", "ERROR"), catalyst="Sqrt"),
    row("factorial", factorial(overflow), overflow="ERROR"),
    row("factorial", factorial(largest_output), overflow=_NO_ERROR),
    row("bitwise_not", "~{0}", catalyst="BitwiseNot"),
    row("bitwise_and", "{0} & {1}", catalyst="BitwiseAnd"),
    row("bitwise_or", "{0} | {1}", catalyst="BitwiseOr"),
    row("bitwise_xor", "{0} ^ {1}", catalyst="BitwiseXor"),
    row("shift_left", shifted("shiftleft", "({x} & 0)")),
    row("shift_right", shifted("shiftright", "shiftright({x}, {last})")),
    row("shift_right_unsigned", shifted("shiftrightunsigned", "({x} & 0)")),
)

TABLE = Table(
    "extension:io.substrait:functions_arithmetic",
    (*_BINARY, *_UNARY, *elementary.ROWS, *arithmetic_aggregates.ROWS, *arithmetic_windows.ROWS),
)
