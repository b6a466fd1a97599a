"""DataFusion's functions that differ from the specification's of the same name (``functions_datafusion.yaml``).

Their meaning was determined by running DataFusion 55; ``tests/spark/test_datafusion_functions.py`` compares the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    UNSIGNED_INTEGERS,
    Decimal,
    String,
    Type,
    UserDefined,
    concrete,
)
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.decimals.digits import WHOLE, as_decimal, decimal_of, shifted
from pyspark_substrait.sql.functions.engines.rust_regexps import icu_pattern, icu_replacement
from pyspark_substrait.sql.functions.fragments import (
    any_null,
    as_double,
    bound,
    constant,
    infinity,
    narrowed,
    raised,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, Operand, Table, row

__all__ = ["TABLE"]


def as_specified(extension: str, **options: str) -> Callable[[Call], str]:
    """The body of the specification's function of the same name, with these option values."""

    def body(call: Call) -> str:
        table = functions.table(extension if ":" in extension else f"extension:io.substrait:{extension}")
        assert table is not None
        return table.text(call, tuple((name, (value,)) for name, value in options.items()))

    return body


#: powers of ten up to this one are exact in both types, or rounded once
_MOST_PLACES = 10


def is_float(type: Type) -> bool:
    return isinstance(concrete(type), FP32 | FP64)


#: a null, which stands for no other escape character
_NULL = re.compile(r"\(?(?:NULL|CAST\(NULL AS STRING\))\)?")

# strings -------------------------------------------------------------------------------------------------------------

#: between two words: after the last character that isn't a letter or digit
_GAP = string_literal(r"(?<=[^\p{IsAlphabetic}\p{N}])(?=[\p{IsAlphabetic}\p{N}])")


def initcap(call: Call) -> str:
    """Capitalize words, each character by itself: there is no final sigma."""
    lower = "lower(translate(substring(w, 2), 'Σ', 'σ'))"
    return f"array_join(transform(split({call.sql(0)}, {_GAP}), w -> concat(upper(left(w, 1)), {lower})), '')"


def part(name: str) -> Callable[[Call], str]:
    """``left`` or ``right``."""

    def body(call: Call) -> str:
        text, count = call.sql(0), call.sql(1)
        known = call.operands[1].literal
        if isinstance(known, int) and 0 <= known < 1 << 31:
            return f"{name}({text}, {known})"
        length = f"char_length({text})"
        kept = f"CASE WHEN {count} < -{length} THEN 0 WHEN {count} < 0 THEN {length} + {count} WHEN {count} > {length}"
        return f"{name}({text}, CAST({kept} THEN {length} ELSE {count} END AS INT))"

    return body


def substring(call: Call) -> str:
    text, start = call.sql(0), call.sql(1)
    length = f"char_length({text})"
    first = f"CAST(CASE WHEN {start} < 1 THEN 1 WHEN {start} > {length} THEN {length} + 1 ELSE {start} END AS INT)"
    if len(call.operands) == 2:
        return f"substring({text}, {first})"
    count = call.sql(2)
    # a sum of a number below 1 and one above 0 can't overflow
    taken = f"if({start} < 1, {start} - 1 + {count}, {count})"
    bounded = f"CAST(CASE WHEN {taken} < 0 THEN 0 WHEN {taken} > {length} THEN {length} ELSE {taken} END AS INT)"
    found = f"substring({text}, {first}, {bounded})"
    known = call.operands[2].literal
    if isinstance(known, int) and known >= 0:
        return found
    negative = raised(call, "negative count not allowed")
    return f"if({count} < 0 AND {text} IS NOT NULL AND {start} IS NOT NULL, {negative}, {found})"


def like(call: Call) -> str:
    """Return the specification's ``like`` with the backslash as the escape character."""
    if len(call.operands) > 2 and call.operands[2].literal != "\\" and not _NULL.fullmatch(call.sql(2)):
        raise UnsupportedPlanError("DataFusion has no other escape character in LIKE than the backslash")
    escape = Operand(string_literal("\\"), String(), "\\")
    operands, names = (*call.operands[:2], escape), (*call.names[:2], "escape")
    return as_specified("functions_string", case_sensitivity="CASE_SENSITIVE")(
        replace(call, operands=operands, names=names)
    )


def regexp_replace(call: Call) -> str:
    text, pattern, replacement = call.operands[:3]
    flags = call.operands[3].literal if len(call.operands) > 3 else ""
    if not isinstance(pattern.literal, str) or not isinstance(replacement.literal, str):
        raise UnsupportedPlanError("DataFusion's regexp_replace with a pattern or a replacement that isn't a literal")
    if flags not in ("", "g"):
        raise UnsupportedPlanError("DataFusion's regexp_replace with other flags than g")
    found, instead = icu_pattern(pattern.literal), icu_replacement(replacement.literal)
    occurrence = 0 if flags else 1
    operands = (
        text,
        Operand(string_literal(found), String(), found),
        Operand(string_literal(instead), String(), instead),
        Operand("1L", I64(), 1),
        Operand(f"{occurrence}L", I64(), occurrence),
    )
    names = ("input", "pattern", "replacement", "position", "occurrence")
    options = {"case_sensitivity": "CASE_SENSITIVE", "multiline": "MULTILINE_DISABLED", "dotall": "DOTALL_DISABLED"}
    return as_specified("functions_string", **options)(replace(call, operands=operands, names=names))


# comparisons ---------------------------------------------------------------------------------------------------------


def extreme(name: str) -> Callable[[Call], str]:
    """``greatest`` or ``least``, which ignore nulls in Spark, too; for Spark, both zeros are equal."""

    def body(call: Call) -> str:
        operands = [operand.sql for operand in call.operands]
        if len(operands) == 1:
            return operands[0]
        found = f"{name}({', '.join(operands)})"
        if not is_float(call.output):
            return found
        # a sum of zeros is -0.0 if all of them are
        zero, sign = constant(-0.0, call.output), "" if name == "greatest" else "-"
        zeros = [f"if({one} = {constant(0, call.output)}, {sign}{one}, {zero})" for one in operands]
        fields = {"found": found, "zero": f"{sign}({' + '.join(zeros)})"}
        return let("v", fields, f"if(v.found = {constant(0, call.output)}, v.zero, v.found)")

    return body


def nullif(call: Call) -> str:
    x, y = call.sql(0), call.sql(1)
    equal = f"{x} = {y}"
    if is_float(call.type(0)):
        equal += f" AND CAST({x} AS STRING) = CAST({y} AS STRING)"
    return f"if({equal}, NULL, {x})"


# numbers -------------------------------------------------------------------------------------------------------------


def same_sign(x: str, y: str) -> str:
    """The condition that two numbers, zeros among them, have the same sign."""
    return " = ".join(f"startswith(CAST({operand} AS STRING), '-')" for operand in (x, y))


def quotient(x: str, y: str, type: Type) -> str:
    """The quotient of two floating-point numbers by IEEE 754."""
    zero, infinite = constant(0, type), infinity(type)
    by_zero = f"if({same_sign(x, y)}, {infinite}, {constant(-math.inf, type)})"
    nothing = f"WHEN {x} = {zero} OR isnan({x}) THEN {constant(math.nan, type)}"
    usual = f"{x} / {y}" if isinstance(concrete(type), FP64) else f"CAST({x} / {y} AS {spark_type(type)})"
    return f"CASE WHEN {any_null(x, y)} THEN NULL WHEN {y} <> {zero} THEN {usual} {nothing} ELSE {by_zero} END"


def divide(call: Call) -> str:
    if is_float(call.output):
        return quotient(call.sql(0), call.sql(1), call.output)
    if isinstance(concrete(call.output), Decimal):
        left, right, output = decimal_of(call.type(0)), decimal_of(call.type(1)), decimal_of(call.output)
        whole = Decimal(precision=38, scale=0)
        dividend = shifted(call.sql(0), output.scale + right.scale, whole)
        assert output.scale >= left.scale
        return cut_quotient(dividend, shifted(call.sql(1), right.scale, whole), call.output)
    if isinstance(concrete(call.output), UserDefined):
        return as_specified(UNSIGNED_INTEGERS, on_division_by_zero="ERROR")(call)
    return as_specified("functions_arithmetic", overflow="ERROR")(call)


def cut_quotient(dividend: str, divisor: str, output: Type) -> str:
    """Return the quotient of two whole decimals, as the digits of another decimal, truncated.

    Both have 38 digits at most; a result that needs more is an error, in DataFusion as well.
    """
    exact = f"CAST((v.x - v.x % v.y) / v.y AS {WHOLE})"
    return let("v", {"x": dividend, "y": divisor}, as_decimal(exact, output))


def atan2(call: Call) -> str:
    """Return ``atan2`` with signed zeros: Spark's own treats -0.0 as 0.0."""
    y, x = (as_double(call, position) for position in (0, 1))
    half_turn = f"if(v.x < 0D OR CAST(v.x AS STRING) = '-0.0', {math.pi!r}D, 0D)"
    signed = f"if(CAST(v.y AS STRING) = '-0.0', -{half_turn}, {half_turn})"
    known = "v.y IS NULL OR v.x IS NULL OR v.y <> 0D OR isnan(v.x)"
    return narrowed(let("v", {"y": y, "x": x}, f"if({known}, atan2(v.y, v.x), {signed})"), call.output)


def logarithm(call: Call) -> str:
    """Return a logarithm, to base 10 by default."""
    infinite, nothing = constant(-math.inf, FP64()), constant(math.nan, FP64())

    def natural(position: int) -> str:
        x = as_double(call, position)
        return f"CASE WHEN {x} > 0D THEN ln({x}) WHEN {x} = 0D THEN {infinite} WHEN {x} < 0D THEN {nothing} END"

    base = natural(1) if len(call.operands) > 1 else f"{math.log(10)!r}D"
    return narrowed(let("v", {"x": natural(0), "y": base}, quotient("v.x", "v.y", FP64())), call.output)


def rounded(call: Call) -> str:
    """Round as ``round(x * 10**s) / 10**s`` in the arithmetic of the type."""
    if not is_float(call.output):
        extension = "functions_rounding_decimal" if isinstance(concrete(call.output), Decimal) else "functions_rounding"
        return as_specified(extension, rounding="TIE_AWAY_FROM_ZERO")(call)
    type = spark_type(call.output)
    places = call.operands[1].literal if len(call.operands) > 1 else 0
    if not isinstance(places, int) or not -_MOST_PLACES <= places <= _MOST_PLACES:
        raise UnsupportedPlanError(
            f"DataFusion's round of floating-point numbers to places that aren't a literal up to {_MOST_PLACES}"
        )
    factor = constant(10.0**places, call.output)
    scaled = call.sql(0) if places == 0 else f"{call.sql(0)} * {factor}"
    # rint rounds ties to even
    whole = "if(abs(v - rint(v)) = 0.5D, if(v < 0D, v - 0.5D, v + 0.5D), rint(v))"
    text = bound(f"CAST({scaled} AS DOUBLE)", "v", whole)
    if places == 0:
        return text if type == "DOUBLE" else f"CAST({text} AS {type})"
    return f"CAST(CAST({text} AS {type}) / {factor} AS {type})"


# aggregates ----------------------------------------------------------------------------------------------------------


def total(call: Call) -> str:
    if isinstance(concrete(call.output), Decimal):
        # Spark's own sum has ten digits more than its argument, too
        return call.aggregate("sum", call.sql(0))
    if isinstance(concrete(call.output), UserDefined):
        digits = call.aggregate("sum", f"CAST({call.sql(0)} AS DECIMAL(20, 0))")
        return f"CAST({digits} % {1 << 64}BD AS DECIMAL(20, 0))"
    return call.aggregate("sum", as_double(call, 0) if is_float(call.output) else f"CAST({call.sql(0)} AS BIGINT)")


def average(call: Call) -> str:
    if is_float(call.output):
        return call.aggregate("avg", as_double(call, 0))
    output, whole = decimal_of(call.output), Decimal(precision=38, scale=0)
    digits = shifted(call.aggregate("sum", call.sql(0)), output.scale, whole)
    count = f"CAST(nullif({call.aggregate('count', call.sql(0))}, 0L) AS {WHOLE})"
    return cut_quotient(digits, count, output)


def correlation(call: Call) -> str:
    if call.distinct:
        raise UnsupportedPlanError("DataFusion's corr of different pairs")
    x, y = as_double(call, 0), as_double(call, 1)
    fixed = [f"{call.aggregate('var_pop', f'if({b} IS NULL, NULL, {a})')} = 0D" for a, b in ((x, y), (y, x))]
    return f"if({' OR '.join(fixed)}, NULL, {call.aggregate('corr', x, y)})"


TABLE = Table(
    "extension:pyspark_substrait:functions_datafusion",
    (
        row("concat", as_specified("functions_string", null_handling="IGNORE_NULLS")),
        row("greatest", extreme("greatest"), foreign=Foreign.ORDERED),
        row("least", extreme("least"), foreign=Foreign.ORDERED),
        row("initcap", initcap),
        row("left", part("left")),
        row("right", part("right")),
        row("substring", substring),
        row("like", like),
        row("nullif", nullif, foreign=Foreign.COMPARED),
        row("regexp_replace", regexp_replace),
        row("divide", divide, foreign=Foreign.MOVED),
        row("atan2", atan2),
        row("logb", logarithm),
        row("round", rounded),
        row("sum", total, foreign=Foreign.MOVED),
        row("avg", average, foreign=Foreign.MOVED),
        row("corr", correlation),
    ),
)
