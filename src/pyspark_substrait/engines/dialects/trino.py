"""SQL for Trino.

Its comparisons with NaN are false, but it sorts and groups by NaN as the largest number: comparisons are written out.
Quotients of decimals have the scale of the operands there, so the dividend gets the digits that the quotient needs.
Casts round to integers, so the fraction is cut off first. Its intervals have milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.engines.dialects.decimals import decimal_result, sum_type
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.elementary import (
    comparison_of_floats,
    elementary,
    logarithms,
    quotient_of_floats,
    statistics,
)
from pyspark_substrait.engines.dialects.literals import Literals, with_exponent
from pyspark_substrait.engines.dialects.neighbours import neighbour, nth_value
from pyspark_substrait.engines.dialects.standard import (
    ALL_STARTS,
    ALL_VALUES,
    DATAFUSION,
    EVEN,
    EXTREMES,
    FLOATS,
    INTEGERS,
    SPARK_ARITHMETIC,
    SPARK_STATISTICS,
    STANDARD,
    extracts,
    extreme_of_single_values,
    extreme_of_values,
    in_zone,
    index_in,
    shifted,
    two,
)
from pyspark_substrait.engines.dialects.texts import (
    ascii_letters,
    bounded_substring,
    concatenated,
    like,
    replaced,
    shortened,
)
from pyspark_substrait.engines.dialects.tree import filled
from pyspark_substrait.engines.dialects.trino_decimals import average, product, quotient
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["TRINO"]

_BASE: Final = "extension:io.substrait:functions_"
_MILLIS: Final = 3
_MICROS: Final = 6


def types(type: Type) -> str | None:
    """Return Trino's type."""
    match concrete(type):
        case Boolean():
            return "BOOLEAN"
        case I8():
            return "TINYINT"
        case I16():
            return "SMALLINT"
        case I32():
            return "INTEGER"
        case I64():
            return "BIGINT"
        case FP32():
            return "REAL"
        case FP64():
            return "DOUBLE"
        case String() | VarChar():
            return "VARCHAR"
        case Binary():
            return "VARBINARY"
        case Date():
            return "DATE"
        case UUID():
            return "UUID"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTime(precision=precision) if precision <= _MICROS:
            return f"TIME({precision})"
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return f"TIMESTAMP({precision})"
        case PrecisionTimestampTZ(precision=precision) if precision <= _MICROS:
            return f"TIMESTAMP({precision}) WITH TIME ZONE"
        case List(type=element):
            inner = types(element)
            return None if inner is None else f"ARRAY({inner})"
        case IntervalYear():
            return "INTERVAL YEAR TO MONTH"
        case IntervalDay(precision=precision) if precision <= _MICROS:
            return "INTERVAL DAY TO SECOND"
        case _:
            return None


# constants -----------------------------------------------------------------------------------------------------------


_CONSTANTS: Final = Literals(
    sqlglot="trino",
    types=types,
    integer=I32,
    whole_digits=18,
    double=with_exponent,
    bytes=lambda value: exp.HexString(this=value.hex()),
)


def literal(node: Literal, plain: bool) -> exp.Expression | None:
    """Return a constant that isn't null, or None if it has no form."""
    match concrete(node.type), node.value:
        case IntervalYear(), int(months):
            return _filled(f"INTERVAL '{months}' MONTH")
        case IntervalDay(precision=precision), DayTime() as length:
            millis = length.units(precision, 3)
            if length.subseconds * 1000 % 10**precision:
                return None
            whole, rest = divmod(abs(millis), 86_400_000)
            clock = f"{rest // 3_600_000:02}:{rest // 60_000 % 60:02}:{rest // 1000 % 60:02}.{rest % 1000:03}"
            return _filled(f"INTERVAL '{'-' if millis < 0 else ''}{whole} {clock}' DAY TO SECOND")
        case _:
            return _CONSTANTS(node, plain)


def _filled(template: str, *values: exp.Expression) -> exp.Expression:
    return filled(template, values, "trino")


# casts ---------------------------------------------------------------------------------------------------------------

#: digits of a decimal that a floating-point number keeps, and whose quotient by a power of ten is rounded once
_EXACT_DIGITS: Final = 15


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    match made.source, made.target:
        case ((I8() | I16() | I32() | I64() | Boolean()), (I8() | I16() | I32() | I64() | Decimal() | FP32() | FP64())):
            return made.plain()
        case ((I8() | I16() | I32() | I64() | FP32() | FP64()), Boolean()):
            return _filled("{0} <> 0", made.value)
        case (FP32(), FP64()) | (Decimal(), Decimal()):
            return made.plain()
        case ((Decimal() | FP32() | FP64()), (I8() | I16() | I32() | I64())):
            return made.plain(_filled("TRUNCATE({0})", made.value))
        case Decimal(precision=precision), FP64() if precision <= _EXACT_DIGITS:
            return made.plain()
        case Decimal(), (FP32() | FP64()):
            return made.plain(_filled("CAST({0} AS VARCHAR)", made.value))
        case FP64(), Decimal():
            return made.plain()  # by the digits of its text
        case FP32(), Decimal():
            return made.plain(_filled("CAST({0} AS DOUBLE)", made.value))
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case ((I8() | I16() | I32() | I64() | Decimal() | Boolean() | UUID()), String()):
            return made.plain()
        case String(), (I8() | I16() | I32() | I64()):
            other = "NULL" if made.null else "'not an integer: ' || {0}"
            text = f"CASE WHEN REGEXP_LIKE({{0}}, '\\A *[-+]?[0-9]+ *\\z') THEN {{0}} ELSE {other} END"
            return made.plain(_filled(text, made.value))
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), Date()):
            return made.plain()
        case (
            (PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine))
            | (PrecisionTimestampTZ(precision=coarse), PrecisionTimestampTZ(precision=fine))
            | (PrecisionTime(precision=coarse), PrecisionTime(precision=fine))
        ) if coarse <= fine:
            return made.plain()
        case IntervalDay(precision=coarse), IntervalDay(precision=fine) if coarse <= fine:
            return made.value
        case _:
            return None


# numbers -------------------------------------------------------------------------------------------------------------


_LARGEST: Final = "CASE WHEN agg(BOOL_OR(IS_NAN({0}))) THEN CAST(NAN() AS {output}) ELSE agg(MAX({0})) END"
_FLOAT_EXTREMES: Final = [row("max", _LARGEST, signatures=FLOATS), *EXTREMES]
_NUMBERS: Final = [
    *(
        row(name, f"{{0}} {operator} {{1}}", signatures=two(INTEGERS), overflow="ERROR")
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
    *(
        row(name, f"{{0}} {operator} {{1}}", signatures=two(FLOATS), rounding=EVEN)
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
    row(
        "divide",
        "{0} / {1}",
        signatures=two(INTEGERS),
        overflow="ERROR",
        on_division_by_zero="ERROR",
        on_domain_error="ERROR",
    ),
    row(
        "divide",
        "{0} / NULLIF({1}, 0)",
        signatures=two(INTEGERS),
        overflow="ERROR",
        on_division_by_zero="NULL",
        on_domain_error="ERROR",
    ),
    row("divide", "{0} / {1}", signatures=two(FLOATS), rounding=EVEN, on_division_by_zero=(), on_domain_error="NAN"),
    *quotient_of_floats("IS_NAN({0})", "FAIL('division by zero')"),
    row(
        "modulus",
        "{0} % {1}",
        signatures=two(INTEGERS),
        division_type="TRUNCATE",
        overflow=ALL_VALUES,
        on_domain_error="ERROR",
    ),
    row(
        "modulus",
        "{0} % NULLIF({1}, 0)",
        signatures=two(INTEGERS),
        division_type="TRUNCATE",
        overflow=ALL_VALUES,
        on_domain_error="NULL",
    ),
    row("negate", "-{0}", signatures=INTEGERS, overflow="ERROR"),
    row("negate", "-{0}", signatures=FLOATS),
    row("abs", "ABS({0})", signatures=INTEGERS, overflow="ERROR"),
    row("abs", "ABS({0})", signatures=FLOATS),
    row("sign", "SIGN({0})", signatures=INTEGERS),
    row("power", "POWER({0}, {1})", signatures=("fp64_fp64",)),
    row("shift_right", shifted("BITWISE_RIGHT_SHIFT_ARITHMETIC({0}, {1})")),
    row("bitwise_not", "CAST(BITWISE_NOT({0}) AS {output})"),
    *(
        row(f"bitwise_{name}", f"CAST(BITWISE_{name.upper()}({{0}}, {{1}}) AS {{output}})")
        for name in ("and", "or", "xor")
    ),
    *elementary("DOUBLE", "FAIL('outside of the domain')", without=("asinh", "acosh", "atanh")),
    row("sum", "SUM({0})", signatures=INTEGERS, overflow="ERROR"),
    row("sum", "SUM(CAST({0} AS DOUBLE))", signatures=FLOATS, overflow=()),
    row("sum0", "COALESCE(agg(SUM({0})), 0)", signatures=INTEGERS, overflow="ERROR"),
    row("sum0", "COALESCE(agg(SUM(CAST({0} AS DOUBLE))), 0e0)", signatures=FLOATS, overflow=()),
    row(
        "avg",
        "CAST(agg(SUM({0})) / NULLIF(agg(COUNT({0})), 0) AS {output})",
        signatures=("i8", "i16", "i32"),
        overflow=ALL_VALUES,
    ),
    row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
    row("avg", "CAST(agg(AVG(CAST({0} AS DOUBLE))) AS REAL)", signatures=("fp32",), overflow=()),
    *statistics({"std_dev": "STDDEV", "variance": "VAR"}, "DOUBLE"),
    row("ntile", "CAST(agg(NTILE({0})) AS {output})"),
    row("nth_value", nth_value("{1}")),
    row("lead", neighbour("LEAD")),
    row("lag", neighbour("LAG")),
]
_DECIMALS: Final = [
    row("add", decimal_result(sum_type, "{0} + {1}"), overflow="ERROR"),
    row("subtract", decimal_result(sum_type, "{0} - {1}"), overflow="ERROR"),
    row("multiply", product, overflow="ERROR"),
    row("divide", quotient(cut=False), overflow="ERROR"),
    row("negate", "-{0}"),
    row("abs", "ABS({0})"),
    row("sum", "CAST(agg(SUM({0})) AS {output})", overflow="ERROR"),
    row("avg", average(cut=False), overflow=ALL_VALUES),
]


# texts and times -----------------------------------------------------------------------------------------------------


def _known_texts(call: Call) -> exp.Expression:
    """Return texts one after another, without those that are null."""
    values = (f"COALESCE({{{place}}}, '')" for place in range(len(call.operands)))
    return call.filled(" || ".join(values))


def _joined(call: Call) -> exp.Expression:
    """Return texts one after another, with a separator."""
    return call.filled("CASE WHEN agg(COUNT({0})) > 0 THEN ARRAY_JOIN(agg(ARRAY_AGG({0})), {1}) END")


_SUBSTRING: Final = bounded_substring("SUBSTR", "FAIL('{}')")
_STRINGS: Final = [
    row("like", like("", written=False), case_sensitivity="CASE_SENSITIVE", plain=True),
    row("concat", concatenated, null_handling="ACCEPT_NULLS"),
    row("concat", _known_texts, null_handling="IGNORE_NULLS"),
    row("substring", _SUBSTRING, negative_start="LEFT_OF_BEGINNING", plain=True),
    row("substring", _SUBSTRING, negative_start=ALL_STARTS, least={1: 1}, plain=True),
    row("starts_with", "STARTS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("ends_with", "SUBSTR({0}, -LENGTH({1})) = {1}", case_sensitivity="CASE_SENSITIVE"),
    row("contains", "STRPOS({0}, {1}) > 0", case_sensitivity="CASE_SENSITIVE"),
    row("strpos", "STRPOS({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("replace", replaced, case_sensitivity="CASE_SENSITIVE"),
    row("char_length", "LENGTH({0})"),
    row("octet_length", "LENGTH(TO_UTF8({0}))"),
    row("bit_length", "LENGTH(TO_UTF8({0})) * 8"),
    *ascii_letters(),
    row("reverse", "REVERSE({0})"),
    row("concat_ws", "CONCAT_WS({*})"),
    row("trim", "LTRIM(RTRIM({0}, {1}), {1})"),
    row("ltrim", "LTRIM({0}, {1})"),
    row("rtrim", "RTRIM({0}, {1})"),
    row("left", "SUBSTR({0}, 1, CASE WHEN {1} < 0 THEN 0 ELSE {1} END)"),
    row("lpad", "LPAD({0}, {1}, {2})"),
    row("rpad", "RPAD({0}, {1}, {2})"),
    row("string_agg", _joined),
]
_PART: Final = "EXTRACT({part} FROM {{0}})"
_PARTS: Final = {"ISOYEAR": "YOW", "ISODOW": "DOW"}
_SUNDAY: Final = "EXTRACT(DOW FROM {0}) % 7"


def _after(operator: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a date and an interval, as a timestamp."""

    def body(call: Call) -> exp.Expression:
        return call.filled(f"CAST(CAST({{0}} AS TIMESTAMP({_MICROS})) {operator} {{1}} AS {{output}})")

    return body


_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}comparison": [
        row("is_nan", "IS_NAN({0})"),
        row("is_finite", "IS_FINITE({0})"),
        row("is_infinite", "IS_INFINITE({0})"),
        row("least", extreme_of_values("LEAST")),
        row("greatest", extreme_of_values("GREATEST")),
        row("least_skip_null", extreme_of_values("LEAST", skipping=True)),
        row("greatest_skip_null", extreme_of_values("GREATEST", skipping=True)),
    ],
    f"{_BASE}arithmetic": [*_FLOAT_EXTREMES, *_NUMBERS],
    f"{_BASE}arithmetic_decimal": _DECIMALS,
    f"{_BASE}logarithmic": logarithms("DOUBLE", "FAIL('not a positive number')"),
    f"{_BASE}rounding": [row("ceil", "CEIL({0})"), row("floor", "FLOOR({0})")],
    f"{_BASE}string": _STRINGS,
    f"{_BASE}datetime": [
        *extracts(_PART, sunday=_SUNDAY, names=_PARTS),
        *extracts(_PART, sunday=_SUNDAY, names=_PARTS, zones=True),
        row("local_timestamp", in_zone("CAST({0} AT TIME ZONE {1} AS {output})")),
        *(
            row(name, _after(operator), signatures=("date_iyear", "date_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
        *(
            row(name, f"{{0}} {operator} {{1}}", signatures=("pts_iyear", "pts_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
    ],
    f"{_BASE}set": [row("index_in", index_in("NULLIF(ARRAY_POSITION({1}, {0}), 0)"), plain=True)],
    f"{_BASE}aggregate_generic": [row("any_value", "ANY_VALUE({0})", ignore_nulls="TRUE")],
    SPARK_ARITHMETIC: [
        row("divide", quotient(cut=False), signatures=("dec_dec",)),
        row("shift_right", shifted("BITWISE_RIGHT_SHIFT_ARITHMETIC({0}, {1})")),
    ],
    SPARK_STATISTICS: [
        row("max", extreme_of_single_values("MAX({0})")),
        row("min", extreme_of_single_values("MIN({0})")),
    ],
    DATAFUSION: [
        *_FLOAT_EXTREMES,
        row("divide", quotient(cut=True), signatures=("dec_dec",)),
        row("avg", average(cut=True), signatures=("dec",)),
        row("sum", "CAST(agg(SUM({0})) AS {output})", signatures=("dec",)),
        row("sum", "SUM({0})", signatures=INTEGERS),
        row("sum", "SUM(CAST({0} AS DOUBLE))", signatures=FLOATS),
        row("avg", "AVG(CAST({0} AS DOUBLE))", signatures=(*INTEGERS, *FLOATS)),
        row("divide", "{0} / {1}", signatures=two(FLOATS)),
        row("like", like("\\"), plain=True),
        row("substring", _SUBSTRING, plain=True),
    ],
}

TRINO: Final = Dialect(
    name="trino",
    engine="Trino 476",
    sqlglot="trino",
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=literal,
    cast=cast,
    nan_in_order="beside nulls",
    names_view_columns=False,
    exact_frames=False,
    compares_floats=comparison_of_floats("trino"),
)
