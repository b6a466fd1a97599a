"""SQL for DuckDB.

Its quotients of decimals are floating-point numbers, as are its averages: quotients are computed with the digits as
HUGEINT here, which raises an error for numbers of more than 38 digits. Its casts round to integers, and read numbers
and times from more texts than the specification has; these are written out or refused.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.engines.dialects.decimals import decimal_result, sum_type
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.duckdb_collections import ELEMENT, LISTS, SPARK_LISTS, nested_order
from pyspark_substrait.engines.dialects.duckdb_decimals import average, decimal_sum, product, quotient
from pyspark_substrait.engines.dialects.duckdb_types import INTEGERS as INTEGER_TYPES
from pyspark_substrait.engines.dialects.duckdb_types import named_type, types
from pyspark_substrait.engines.dialects.elementary import elementary, logarithms, quotient_of_floats, statistics
from pyspark_substrait.engines.dialects.literals import Literals, with_exponent
from pyspark_substrait.engines.dialects.moments import start_of_unit
from pyspark_substrait.engines.dialects.neighbours import neighbour, nth_value
from pyspark_substrait.engines.dialects.standard import (
    ALL_STARTS,
    ALL_VALUES,
    DATAFUSION,
    EVEN,
    FLOATS,
    INTEGERS,
    SPARK_AGGREGATE,
    SPARK_ARITHMETIC,
    SPARK_COLLECTION,
    SPARK_DATETIME,
    SPARK_STATISTICS,
    SPARK_WINDOW,
    STANDARD,
    comparable,
    extracts,
    extreme_of_single_values,
    has_equality,
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
    shortened,
    string_agg,
)
from pyspark_substrait.engines.dialects.tree import filled
from pyspark_substrait.model.expressions import ContextVariable
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    VarChar,
    concrete,
)

__all__ = ["DUCKDB"]

_BASE: Final = "extension:io.substrait:functions_"


def _bytes(value: bytes) -> exp.Expression:
    text = exp.Literal.string("".join(f"\\x{byte:02X}" for byte in value))
    return exp.Cast(this=text, to=exp.DataType.build("BLOB", dialect="duckdb"))


# casts ---------------------------------------------------------------------------------------------------------------

#: digits of a decimal that a floating-point number keeps, and whose quotient by a power of ten is rounded once
_EXACT_DIGITS: Final = 15
_MOST_DIGITS: Final = 38
#: what is left out around texts of numbers and booleans
_BLANKS: Final = r"[\x00-\x20\x7F]*"
#: without a flag for the case: it would also take the long s for one
_TRUE: Final = "[tT]([rR][uU][eE])?|[yY]([eE][sS])?|1"
_FALSE: Final = "[fF]([aA][lL][sS][eE])?|[nN][oO]?|0"


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    source, target = made.source, made.target
    match source, target:
        case ((I8() | I16() | I32() | I64() | Boolean()), (I8() | I16() | I32() | I64() | Decimal() | FP32() | FP64())):
            return made.plain()
        case ((I8() | I16() | I32() | I64() | FP32() | FP64()), Boolean()):
            return made.plain()
        case FP32(), FP64():
            return made.plain()
        case Decimal(), Decimal():
            return made.plain()  # rounds half away from zero
        case ((Decimal() | FP32() | FP64()), (I8() | I16() | I32() | I64())):
            return made.plain(filled("TRUNC({0})", [made.value], "duckdb"))
        case Decimal(precision=precision), FP64():
            return made.plain() if precision <= _EXACT_DIGITS else made.plain(_text(made.value))
        case Decimal(), FP32():
            return made.plain(_text(made.value))
        case ((FP32() | FP64()), Decimal(precision=precision, scale=scale)) if precision == scale:
            return None  # 1e-07 would not fit, having a digit before the point
        case FP64(), Decimal():
            return made.plain(_text(made.value))  # by the digits of its text
        case FP32(), Decimal():
            return made.plain(_text(filled("CAST({0} AS DOUBLE)", [made.value], "duckdb")))
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case Decimal(precision=precision, scale=scale), String() if precision == scale:
            if precision == _MOST_DIGITS:
                return None
            # without a digit before the point, its text would have none either
            return made.plain(filled(f"CAST({{0}} AS DECIMAL({precision + 1}, {scale}))", [made.value], "duckdb"))
        case ((I8() | I16() | I32() | I64() | Decimal() | Boolean() | UUID()), String()):
            return made.plain()
        case String(), (I8() | I16() | I32() | I64()):
            other = "NULL" if made.null else "'not an integer: ' || {0}"
            is_number = f"REGEXP_FULL_MATCH({{0}}, '{_BLANKS}[-+]?[0-9]+{_BLANKS}')"
            text = f"CASE WHEN {is_number} THEN REGEXP_EXTRACT({{0}}, '[-+]?[0-9]+') ELSE {other} END"
            return made.plain(filled(text, [made.value], "duckdb"))
        case String(), Boolean():
            other = "NULL" if made.null else "CAST(error('not a boolean: ' || {0}) AS BOOLEAN)"
            arms = " ".join(
                f"WHEN REGEXP_FULL_MATCH({{0}}, '{_BLANKS}({words}){_BLANKS}') THEN {value}"
                for words, value in ((_TRUE, "TRUE"), (_FALSE, "FALSE"))
            )
            return filled(f"CASE {arms} WHEN {{0}} IS NULL THEN NULL ELSE {other} END", [made.value], "duckdb")
        case Date(), PrecisionTimestamp():
            return made.plain()
        case PrecisionTimestamp(), Date():
            return made.plain()
        case (
            (PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine))
            | (PrecisionTimestampTZ(precision=coarse), PrecisionTimestampTZ(precision=fine))
            | (PrecisionTime(precision=coarse), PrecisionTime(precision=fine))
            | (IntervalDay(precision=coarse), IntervalDay(precision=fine))
        ) if coarse <= fine:
            return made.value
        case _:
            return None


def _text(value: exp.Expression) -> exp.Expression:
    return filled("CAST({0} AS VARCHAR)", [value], "duckdb")


# numbers -------------------------------------------------------------------------------------------------------------


def _bits(call: Call) -> int:
    return INTEGER_TYPES[concrete(call.output).__class__][1]


def _saturating(operator: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation that gives the nearest number of its type on overflow."""

    def body(call: Call) -> exp.Expression:
        last = 2 ** (_bits(call) - 1) - 1
        wide = f"CAST({{0}} AS HUGEINT) {operator} CAST({{1}} AS HUGEINT)"
        bounded = f"LEAST(GREATEST({wide}, {-last - 1}), {last})"
        return call.filled(f"CASE WHEN {{0}} IS NULL OR {{1}} IS NULL THEN NULL ELSE CAST({bounded} AS {{output}}) END")

    return body


def _unless_smallest(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function that gives the largest number for the smallest, whose negative doesn't fit."""

    def body(call: Call) -> exp.Expression:
        last = 2 ** (_bits(call) - 1) - 1
        return call.filled(f"CASE WHEN {{0}} = {-last} - 1 THEN CAST({last} AS {{output}}) ELSE {template} END")

    return body


def _not_zero(call: Call, text: str, otherwise: str = "error('division by zero')") -> exp.Expression:
    """Return a template over a divisor, the second argument; it is checked, unless it is a constant."""
    divisor = call.literal(1)
    if isinstance(divisor, int | decimal.Decimal) and divisor != 0:
        return call.filled(text)
    return call.filled(f"CASE WHEN {{1}} = 0 AND NOT {{0}} IS NULL THEN {otherwise} ELSE {text} END")


def _divided(call: Call) -> exp.Expression:
    otherwise = "NULL" if call.options.get("on_division_by_zero") == "NULL" else "error('division by zero')"
    return _not_zero(call, "{0} // {1}", otherwise)


def _remainder(call: Call) -> exp.Expression:
    otherwise = "NULL" if call.options.get("on_domain_error") == "NULL" else "error('division by zero')"
    return _not_zero(call, "{0} % {1}", otherwise)


# averages -------------------------------------------------------------------------------------------------------------


def _average_of_integers(call: Call) -> exp.Expression:
    """Return the whole average of integers, cut off."""
    return call.filled("CAST(agg(SUM({0})) // NULLIF(agg(COUNT({0})), 0) AS {output})")


def _extreme_by(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of ``min_by`` or ``max_by``: the value beside the smallest or the largest one."""

    def body(call: Call) -> exp.Expression:
        comparable(call.type(1), call)
        return call.filled(template)

    return body


def _extreme(name: str) -> Callable[[Call], exp.Expression]:
    """Return the body of Spark's ``min`` or ``max``: of a list or a struct, the one beside the extreme in its order."""
    plain = extreme_of_single_values(f"{name}({{0}})")

    def body(call: Call) -> exp.Expression:
        if not has_equality(call.type(0), call.dialect):
            return plain(call)
        return call.filled(f"ARG_{name}({{0}}, {nested_order(call.type(0))})")

    return body


def _collected_set(call: Call) -> exp.Expression:
    """Return the different values that aren't null, in any order."""
    comparable(call.type(0), call, order=False)
    return call.filled("COALESCE(LIST_FILTER(agg(LIST(DISTINCT {0})), LAMBDA v: v IS NOT NULL), [])")


def _with_nulls_or_without() -> list[Row]:
    """Return the rows of window functions that may leave nulls out; unless they are told to, they don't."""
    rows = []
    for leaves_out, end in (("FALSE", ""), ("TRUE", " IGNORE NULLS")):
        for name in ("first_value", "last_value"):
            rows.append(row(name, f"{name.upper()}({{0}}{end})", ignore_nulls=leaves_out))
        rows.append(row("nth_value", nth_value(f"{{1}}{end}"), ignore_nulls=leaves_out))
        for name in ("lead", "lag"):
            rows.append(row(name, neighbour(name.upper(), least=1, end=end), ignore_nulls=leaves_out))
    return rows


# texts and times -----------------------------------------------------------------------------------------------------


_SUBSTRING: Final = bounded_substring("SUBSTRING", "error('{}')")
_TIMESTAMPS: Final = ("pts_iyear", "pts_iday")

_ARITHMETIC: Final = [
    row("add", "{0} + {1}", signatures=two(INTEGERS), overflow="ERROR"),
    row("add", _saturating("+"), signatures=two(INTEGERS), overflow=("SATURATE", "SILENT")),
    row("add", "{0} + {1}", signatures=two(FLOATS), rounding=EVEN),
    row("subtract", "{0} - {1}", signatures=two(INTEGERS), overflow="ERROR"),
    row("subtract", _saturating("-"), signatures=two(INTEGERS), overflow=("SATURATE", "SILENT")),
    row("subtract", "{0} - {1}", signatures=two(FLOATS), rounding=EVEN),
    row("multiply", "{0} * {1}", signatures=two(INTEGERS), overflow="ERROR"),
    row("multiply", _saturating("*"), signatures=two(INTEGERS), overflow=("SATURATE", "SILENT")),
    row("multiply", "{0} * {1}", signatures=two(FLOATS), rounding=EVEN),
    row(
        "divide",
        _divided,
        signatures=two(INTEGERS),
        overflow="ERROR",
        on_division_by_zero=("ERROR", "NULL"),
        on_domain_error="ERROR",
    ),
    row("divide", "{0} / {1}", signatures=two(FLOATS), rounding=EVEN, on_division_by_zero=(), on_domain_error="NAN"),
    *quotient_of_floats("ISNAN({0})", "error('division by zero')"),
    row(
        "modulus",
        _remainder,
        division_type="TRUNCATE",
        overflow=ALL_VALUES,
        on_domain_error=("ERROR", "NULL"),
        signatures=two(INTEGERS),
    ),
    row("negate", "CAST(-{0} AS {output})", signatures=INTEGERS, overflow="ERROR"),
    row("negate", _unless_smallest("CAST(-{0} AS {output})"), signatures=INTEGERS, overflow=("SATURATE", "SILENT")),
    row("abs", _unless_smallest("ABS({0})"), signatures=INTEGERS, overflow=("SATURATE", "SILENT")),
    row("negate", "-{0}", signatures=FLOATS),
    row("abs", "ABS({0})", signatures=INTEGERS, overflow="ERROR"),
    row("abs", "ABS({0})", signatures=FLOATS),
    row("sign", "CAST(SIGN({0}) AS {output})", signatures=INTEGERS),
    row("power", "pow({0}, {1})", signatures=("fp64_fp64",)),
    row("shift_right", shifted("{0} >> {1}")),
    row("bitwise_not", "~{0}"),
    row("bitwise_and", "{0} & {1}"),
    row("bitwise_or", "{0} | {1}"),
    row("bitwise_xor", "xor({0}, {1})"),
    *elementary("DOUBLE", "error('outside of the domain')"),
    row("sum", "CAST(agg(SUM({0})) AS BIGINT)", signatures=INTEGERS, overflow="ERROR"),
    row("sum", "SUM({0})", signatures=FLOATS, overflow=()),
    row("sum0", "COALESCE(CAST(agg(SUM({0})) AS BIGINT), 0)", signatures=INTEGERS, overflow="ERROR"),
    row("sum0", "COALESCE(agg(SUM({0})), 0e0)", signatures=FLOATS, overflow=()),
    row("avg", _average_of_integers, signatures=INTEGERS, overflow=ALL_VALUES),
    row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
    row("avg", "CAST(agg(AVG({0})) AS FLOAT)", signatures=("fp32",), overflow=()),
    *statistics({"std_dev": "STDDEV", "variance": "VAR"}, "DOUBLE"),
    row("median", "CAST(agg(MEDIAN({0})) AS {output})", enums={0: "EXACT"}, signatures=("req_fp64",), rounding=EVEN),
    row("ntile", "CAST(agg(NTILE({0})) AS {output})"),
    row("nth_value", nth_value("{1}")),
    row("lead", "LEAD({*})"),
    row("lag", "LAG({*})"),
]
_DECIMALS: Final = [
    row("add", decimal_result(sum_type, "{0} + {1}"), overflow="ERROR"),
    row("subtract", decimal_result(sum_type, "{0} - {1}"), overflow="ERROR"),
    row("multiply", product, overflow="ERROR"),
    row("divide", quotient(cut=False), overflow="ERROR"),
    row("negate", "-{0}"),
    row("abs", "ABS({0})"),
    row("sum", decimal_sum, overflow="ERROR"),
    row("avg", average(cut=False), overflow=ALL_VALUES),
]
_STRINGS: Final = [
    row("like", like("", written=False), case_sensitivity="CASE_SENSITIVE", plain=True),
    row("substring", _SUBSTRING, negative_start="LEFT_OF_BEGINNING", plain=True),
    row("substring", _SUBSTRING, negative_start=ALL_STARTS, least={1: 1}, plain=True),
    row("starts_with", "starts_with({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("ends_with", "suffix({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("contains", "contains({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("strpos", "strpos({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("replace", "REPLACE({0}, {1}, {2})", case_sensitivity="CASE_SENSITIVE"),
    row("concat", "CONCAT({*})", null_handling="IGNORE_NULLS"),
    row("char_length", "LENGTH({0})"),
    row("octet_length", "strlen({0})"),
    row("bit_length", "bit_length({0})"),
    *ascii_letters(),
    row("reverse", "ARRAY_TO_STRING(LIST_REVERSE(REGEXP_EXTRACT_ALL({0}, '(?s).')), '')"),
    row("repeat", "REPEAT({0}, {1})"),
    row("concat_ws", "CONCAT_WS({*})"),
    *(row(name, f"{name.upper()}({{0}}, {{1}})") for name in ("trim", "ltrim", "rtrim")),
    *(row(name, f"{name.upper()}({{0}}, CASE WHEN {{1}} < 0 THEN 0 ELSE {{1}} END)") for name in ("left", "right")),
    *(row(name, f"{name.upper()}({{0}}, {{1}}, {{2}})") for name in ("lpad", "rpad")),
    row("string_agg", string_agg),
]


_OWN: Final[Mapping[str, Sequence[Row]]] = {
    SPARK_STATISTICS: [
        row("max", _extreme("MAX")),
        row("min", _extreme("MIN")),
    ],
    f"{_BASE}set": [row("index_in", index_in("NULLIF(LIST_POSITION({1}, {0}), 0)"), plain=True)],
    f"{_BASE}comparison": [
        row("is_nan", "ISNAN({0})"),
        row("is_finite", "ISFINITE({0})"),
        row("is_infinite", "ISINF({0})"),
    ],
    f"{_BASE}arithmetic": _ARITHMETIC,
    f"{_BASE}arithmetic_decimal": _DECIMALS,
    f"{_BASE}logarithmic": logarithms("DOUBLE", "error('not a positive number')"),
    f"{_BASE}rounding": [
        row("ceil", "CEIL({0})"),
        row("floor", "FLOOR({0})"),
    ],
    f"{_BASE}string": [row("concat", concatenated, null_handling="ACCEPT_NULLS"), *_STRINGS],
    f"{_BASE}datetime": [
        *extracts("EXTRACT({part} FROM {{0}})"),
        *extracts("EXTRACT({part} FROM {{0}})", zones=True),
        start_of_unit("DATE_TRUNC('{part}', {0})"),
        row("local_timestamp", in_zone("{0} AT TIME ZONE {1}")),
        row("add", "{0} + {1}", signatures=_TIMESTAMPS),
        row("subtract", "{0} - {1}", signatures=_TIMESTAMPS),
        row("add", "CAST({0} + {1} AS {output})", signatures=("date_iyear", "date_iday")),
        row("subtract", "CAST({0} - {1} AS {output})", signatures=("date_iyear", "date_iday")),
    ],
    f"{_BASE}list": LISTS,
    SPARK_COLLECTION: SPARK_LISTS,
    f"{_BASE}aggregate_generic": [
        row("any_value", "ANY_VALUE({0})", ignore_nulls="TRUE"),
        row("any_value", "FIRST({0})", ignore_nulls="FALSE"),
    ],
    SPARK_AGGREGATE: [
        *(row(name, f"{name.upper()}({{0}})") for name in ("bit_and", "bit_or", "bit_xor")),
        row("min_by", _extreme_by("ARG_MIN_NULL({0}, {1})"), signatures=("any_any",)),
        row("max_by", _extreme_by("ARG_MAX_NULL({0}, {1})"), signatures=("any_any",)),
        row("first", "FIRST({0})", nulls="RESPECT"),
        row("last", "LAST({0})", nulls="RESPECT"),
        row("collect_set", _collected_set),
        row("collect_list", "COALESCE(LIST_FILTER(agg(LIST({0})), LAMBDA v: v IS NOT NULL), [])"),
    ],
    SPARK_WINDOW: _with_nulls_or_without(),
    SPARK_DATETIME: [row("make_date", "MAKE_DATE({0}, {1}, {2})")],
    SPARK_ARITHMETIC: [
        row("divide", quotient(cut=False), signatures=("dec_dec",)),
        row("shift_right", shifted("{0} >> {1}")),
    ],
    DATAFUSION: [
        row("divide", quotient(cut=True), signatures=("dec_dec",)),
        row("divide", "{0} / {1}", signatures=two(FLOATS)),
        row("sum", decimal_sum, signatures=("dec",)),
        row("sum", "CAST(agg(SUM({0})) AS BIGINT)", signatures=INTEGERS),
        row("sum", "CAST(agg(SUM({0})) AS DOUBLE)", signatures=FLOATS),
        row("avg", average(cut=True), signatures=("dec",)),
        row("avg", "AVG({0})", signatures=(*INTEGERS, *FLOATS)),
        row("like", like("\\"), plain=True),
        row("substring", _SUBSTRING, plain=True),
    ],
}

DUCKDB: Final = Dialect(
    name="duckdb",
    engine="DuckDB 2.0",
    sqlglot="duckdb",
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=Literals(sqlglot="duckdb", types=types, integer=I32, double=with_exponent, bytes=_bytes),
    cast=cast,
    named_type=named_type,
    list_element=ELEMENT,
    struct_field="STRUCT_EXTRACT_AT({0}, {1})",
    map_value="MAP_EXTRACT_VALUE({0}, {1})",
    nested_equality=True,
    nested_order=nested_order,
    unnests=True,
    lambdas=True,
    variables={ContextVariable.CURRENT_TIMESTAMP: "CURRENT_TIMESTAMP", ContextVariable.CURRENT_DATE: "CURRENT_DATE"},
)
