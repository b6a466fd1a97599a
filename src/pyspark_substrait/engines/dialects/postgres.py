"""SQL for PostgreSQL.

Texts are compared by code points with COLLATE "C", whatever the collation of the database. Casts from numbers round
there, so the fraction is cut off first. A floating-point number becomes a decimal by way of its text, which has all of
its digits. There is no integer of 8 bits: such values are SMALLINT, and nothing is computed with them.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.engines.dialects.decimals import product_digits, sum_digits
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.elementary import (
    as_double,
    elementary,
    logarithms,
    quotient_of_floats,
    statistics,
)
from pyspark_substrait.engines.dialects.literals import Literals
from pyspark_substrait.engines.dialects.neighbours import neighbour, nth_value
from pyspark_substrait.engines.dialects.standard import (
    ALL_STARTS,
    ALL_VALUES,
    DATAFUSION,
    EVEN,
    FLOATS,
    INTEGERS,
    SPARK_ARITHMETIC,
    STANDARD,
    decimal_type,
    extracts,
    in_zone,
    index_in,
    shifted,
    two,
)
from pyspark_substrait.engines.dialects.texts import concatenated, like, shortened, string_agg, substring
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

__all__ = ["POSTGRES"]

_BASE: Final = "extension:io.substrait:functions_"
_DOUBLE: Final = "DOUBLE PRECISION"
_WIDE: Final = INTEGERS[1:]


def types(type: Type) -> str | None:
    """Return PostgreSQL's type."""
    match concrete(type):
        case Boolean():
            return "BOOLEAN"
        case I8() | I16():
            return "SMALLINT"
        case I32():
            return "INTEGER"
        case I64():
            return "BIGINT"
        case FP32():
            return "REAL"
        case FP64():
            return _DOUBLE
        case String() | VarChar():
            return "TEXT"
        case Binary():
            return "BYTEA"
        case Date():
            return "DATE"
        case UUID():
            return "UUID"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTime(precision=precision) if precision <= 6:
            return "TIME"
        case PrecisionTimestamp(precision=precision) if precision <= 6:
            return "TIMESTAMP"
        case PrecisionTimestampTZ(precision=precision) if precision <= 6:
            return "TIMESTAMPTZ"
        case List(type=element):
            inner = types(element)
            return None if inner is None else f"{inner}[]"
        case IntervalYear():
            return "INTERVAL"
        case IntervalDay(precision=precision) if precision <= 6:
            return "INTERVAL"
        case _:
            return None


def _bytes(value: bytes) -> exp.Expression:
    return exp.Cast(this=exp.Literal.string(f"\\x{value.hex()}"), to=exp.DataType.build("BYTEA", dialect="postgres"))


def _filled(template: str, *values: exp.Expression) -> exp.Expression:
    return filled(template, values, "postgres")


#: the most that can be added to any integer of 8 bits without an overflow of SMALLINT
_ROOM: Final = f"CAST({2**15 - 2**7} AS SMALLINT)"


def _byte(value: exp.Expression) -> exp.Expression:
    """Return a SMALLINT as an integer of 8 bits, which overflows on the way if it is none."""
    return _filled(f"{{0}} + {_ROOM} - {_ROOM} - {_ROOM} + {_ROOM}", value)


def _sum_of_bytes(call: Call) -> exp.Expression:
    return _byte(call.filled("{0} + {1}"))


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    if made.null:
        return None
    match made.source, made.target:
        case ((I16() | I32() | I64()), I8()):
            return _byte(made.value if isinstance(made.source, I16) else _filled("CAST({0} AS SMALLINT)", made.value))
        case Boolean(), I8():
            return made.plain(_filled("CAST({0} AS INTEGER)", made.value))
        case _, I8():
            return None
        case ((I8() | I16() | I32() | I64()), (I16() | I32() | I64() | Decimal() | FP32() | FP64())):
            return made.plain()
        case Boolean(), (I16() | I32() | I64() | FP32() | FP64() | Decimal()):
            return made.plain(_filled("CAST({0} AS INTEGER)", made.value))
        case ((I8() | I16() | I32() | I64() | FP32() | FP64()), Boolean()):
            return _filled("{0} <> 0", made.value)
        case (FP32(), FP64()) | (Decimal(), (Decimal() | FP32() | FP64())):
            return made.plain()
        case ((Decimal() | FP32() | FP64()), (I16() | I32() | I64())):
            return made.plain(_filled("TRUNC({0})", made.value))
        case ((FP32() | FP64()), Decimal()):
            double = made.value if isinstance(made.source, FP64) else _filled(f"CAST({{0}} AS {_DOUBLE})", made.value)
            # PostgreSQL's decimals may be NaN: another text is an error
            return made.plain(_filled("REPLACE(CAST({0} AS TEXT), 'NaN', 'not a number')", double))
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case ((I8() | I16() | I32() | I64() | Decimal() | Boolean() | UUID()), String()):
            return made.plain()
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), Date()):
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


# decimals ------------------------------------------------------------------------------------------------------------


def _exact(template: str, natural: Callable[[Decimal, Decimal], tuple[int, int]]) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation that is exact; ``natural`` is the precision and scale that it needs."""

    def body(call: Call) -> exp.Expression:
        left, right, output = decimal_type(call.type(0)), decimal_type(call.type(1)), decimal_type(call.output)
        precision, scale = natural(left, right)
        fits = scale == output.scale and precision <= output.precision
        return call.filled(template if fits else f"CAST({template} AS {{output}})")

    return body


def _divided(dividend: exp.Expression, divisor: exp.Expression, output: Decimal, *, cut: bool) -> exp.Expression:
    """Return the quotient of two decimals; what has no place is cut off, or else rounded half away from zero."""
    places = output.scale if cut else output.scale + 1  # the cast rounds by the last one
    unit = f"{decimal.Decimal(1).scaleb(-places):f}"
    return _filled(f"CAST(DIV({{0}} * {10**places}, {{1}}) * {unit} AS {types(output)})", dividend, divisor)


def _quotient(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        x, y = (value for value in call.operands if isinstance(value, exp.Expression))
        return _divided(x, y, decimal_type(call.output), cut=cut)

    return body


def _average(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        (x,) = (value for value in call.operands if isinstance(value, exp.Expression))
        total = _filled("agg(SUM({0}))", x)
        count = _filled("CAST(agg(COUNT({0})) AS NUMERIC)", x.copy())
        return _divided(total, _filled("NULLIF({0}, 0)", count), decimal_type(call.output), cut=cut)

    return body


_NUMBERS: Final = [
    row("add", _sum_of_bytes, signatures=("i8_i8",), overflow="ERROR"),
    row("add", "{0} + {1}", signatures=two(_WIDE), overflow="ERROR"),
    row("subtract", "{0} - {1}", signatures=two(_WIDE), overflow="ERROR"),
    row("multiply", "{0} * {1}", signatures=two(_WIDE), overflow="ERROR"),
    row("add", "{0} + {1}", signatures=two(FLOATS), rounding=EVEN),
    row("subtract", "{0} - {1}", signatures=two(FLOATS), rounding=EVEN),
    row("multiply", "{0} * {1}", signatures=two(FLOATS), rounding=EVEN),
    row(
        "divide",
        "{0} / {1}",
        signatures=two(_WIDE),
        overflow="ERROR",
        on_division_by_zero="ERROR",
        on_domain_error="ERROR",
    ),
    row(
        "divide",
        "{0} / {1}",
        signatures=two(FLOATS),
        rounding=EVEN,
        on_division_by_zero="ERROR",
        on_domain_error="NAN",
    ),
    *quotient_of_floats("{0} = 'NaN'", "{0} / {1}"),
    row(
        "modulus",
        "{0} % {1}",
        signatures=two(_WIDE),
        division_type="TRUNCATE",
        overflow=ALL_VALUES,
        on_domain_error="ERROR",
    ),
    row("negate", "-{0}", signatures=(*_WIDE, *FLOATS), overflow="ERROR"),
    row("abs", "ABS({0})", signatures=(*_WIDE, *FLOATS), overflow="ERROR"),
    row("sign", "CAST(SIGN({0}) AS {output})", signatures=INTEGERS),
    row("power", as_double("POWER({x}, {y})", _DOUBLE), signatures=two(FLOATS)),
    row("shift_right", shifted("{0} >> {1}")),
    row("bitwise_not", "~{0}"),
    row("bitwise_and", "{0} & {1}"),
    row("bitwise_or", "{0} | {1}"),
    row("bitwise_xor", "{0} # {1}"),
    *elementary(_DOUBLE, ""),
    row("sum", "CAST(agg(SUM({0})) AS BIGINT)", signatures=INTEGERS, overflow="ERROR"),
    row("sum", f"SUM(CAST({{0}} AS {_DOUBLE}))", signatures=FLOATS, overflow=()),
    row("sum0", "COALESCE(CAST(agg(SUM({0})) AS BIGINT), 0)", signatures=INTEGERS, overflow="ERROR"),
    row("sum0", f"COALESCE(agg(SUM(CAST({{0}} AS {_DOUBLE}))), 0)", signatures=FLOATS, overflow=()),
    row(
        "avg",
        "CAST(DIV(CAST(agg(SUM({0})) AS NUMERIC), agg(COUNT({0}))) AS {output})",  # AVG has some digits only
        signatures=("i8", "i16", "i32"),
        overflow=ALL_VALUES,
    ),
    row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
    row("avg", f"CAST(agg(AVG(CAST({{0}} AS {_DOUBLE}))) AS REAL)", signatures=("fp32",), overflow=()),
    *statistics({"std_dev": "STDDEV", "variance": "VAR"}, _DOUBLE),
    row("corr", "CAST(agg(CORR({0}, {1})) AS {output})", rounding=EVEN),
    row("ntile", "CAST(agg(NTILE(CAST({0} AS INTEGER))) AS {output})"),
    row("nth_value", nth_value("CAST({1} AS INTEGER)")),
    row("lead", neighbour("LEAD", "CAST({1} AS INTEGER)")),
    row("lag", neighbour("LAG", "CAST({1} AS INTEGER)")),
]
_STRINGS: Final = [
    row("like", like(""), case_sensitivity="CASE_SENSITIVE", plain=True),
    row("concat", concatenated, null_handling="ACCEPT_NULLS"),
    row("concat", "CONCAT({*})", null_handling="IGNORE_NULLS"),
    row("substring", substring("SUBSTR", "CAST({} AS INTEGER)"), negative_start="LEFT_OF_BEGINNING", plain=True),
    row("substring", substring("SUBSTR", "CAST({} AS INTEGER)"), negative_start=ALL_STARTS, least={1: 1}, plain=True),
    row("starts_with", "STARTS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("ends_with", "RIGHT({0}, LENGTH({1})) = {1}", case_sensitivity="CASE_SENSITIVE"),
    row("contains", "STRPOS({0}, {1}) > 0", case_sensitivity="CASE_SENSITIVE"),
    row("strpos", "CAST(STRPOS({0}, {1}) AS BIGINT)", case_sensitivity="CASE_SENSITIVE"),
    row("replace", "REPLACE({0}, {1}, {2})", case_sensitivity="CASE_SENSITIVE"),
    row("char_length", "CAST(LENGTH({0}) AS BIGINT)"),
    row("octet_length", "CAST(OCTET_LENGTH({0}) AS BIGINT)"),
    row("bit_length", "CAST(BIT_LENGTH({0}) AS BIGINT)"),
    row("reverse", "REVERSE({0})"),
    row("lower", 'LOWER({0} COLLATE "und-x-icu")', char_set="UTF8"),
    row("upper", 'UPPER({0} COLLATE "und-x-icu")', char_set="UTF8"),
    row("repeat", "REPEAT({0}, CAST({1} AS INTEGER))"),
    row("string_agg", string_agg),
    row("concat_ws", "CONCAT_WS({*})"),
    row("trim", "BTRIM({0}, {1})"),
    row("ltrim", "LTRIM({0}, {1})"),
    row("rtrim", "RTRIM({0}, {1})"),
]
#: zones with a summer time, whose names PostgreSQL takes for the abbreviations of their winter times
_ABBREVIATIONS: Final = frozenset({"CET", "EET", "MET", "WET"})
_PART: Final = "CAST(EXTRACT({part} FROM {{0}}) AS BIGINT)"
_SECOND: Final = "CAST(FLOOR(EXTRACT(SECOND FROM {0})) AS BIGINT)"
_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}arithmetic": _NUMBERS,
    f"{_BASE}arithmetic_decimal": [
        row("add", _exact("{0} + {1}", sum_digits), overflow="ERROR"),
        row("subtract", _exact("{0} - {1}", sum_digits), overflow="ERROR"),
        row("multiply", _exact("{0} * {1}", product_digits), overflow="ERROR"),
        row("divide", _quotient(cut=False), overflow="ERROR"),
        row("negate", "-{0}"),
        row("abs", "ABS({0})"),
        row("sum", "CAST(agg(SUM({0})) AS {output})", overflow="ERROR"),
        row("avg", _average(cut=False), overflow=ALL_VALUES),
    ],
    f"{_BASE}logarithmic": logarithms(_DOUBLE, "", names=(("ln", "LN"), ("log10", "LOG10"))),
    f"{_BASE}rounding": [row("ceil", "CEIL({0})"), row("floor", "FLOOR({0})")],
    f"{_BASE}string": _STRINGS,
    f"{_BASE}datetime": [
        *extracts(_PART, second=_SECOND),
        *extracts(_PART, second=_SECOND, zones=True, without=_ABBREVIATIONS),
        row("local_timestamp", in_zone("{0} AT TIME ZONE {1}", without=_ABBREVIATIONS)),
        *(
            row(name, f"CAST({{0}} {operator} {{1}} AS {{output}})", signatures=("date_iyear", "date_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
        *(
            row(name, f"{{0}} {operator} {{1}}", signatures=("pts_iyear", "pts_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
    ],
    f"{_BASE}set": [row("index_in", index_in("ARRAY_POSITION({1}, {0})"), plain=True)],
    f"{_BASE}comparison": [
        row("is_nan", "{0} = 'NaN'"),
        row("is_finite", "ABS({0}) < 'Infinity'"),
        row("is_infinite", "ABS({0}) = 'Infinity'"),
    ],
    SPARK_ARITHMETIC: [
        row("divide", _quotient(cut=False), signatures=("dec_dec",)),
        row("shift_right", shifted("{0} >> {1}")),
    ],
    DATAFUSION: [
        row("divide", _quotient(cut=True), signatures=("dec_dec",)),
        row("sum", "CAST(agg(SUM({0})) AS {output})", signatures=("dec", *INTEGERS)),
        row("sum", f"SUM(CAST({{0}} AS {_DOUBLE}))", signatures=FLOATS),
        row("avg", _average(cut=True), signatures=("dec",)),
        row("avg", f"AVG(CAST({{0}} AS {_DOUBLE}))", signatures=(*INTEGERS, *FLOATS)),
        row("divide", "{0} / {1}", signatures=two(FLOATS)),
        row("like", like("\\"), plain=True),
        row("substring", substring("SUBSTR", "CAST({} AS INTEGER)"), plain=True),
    ],
}

POSTGRES: Final = Dialect(
    name="postgres",
    engine="PostgreSQL 15",
    sqlglot="postgres",
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=Literals(sqlglot="postgres", types=types, integer=I32, texts=False, bytes=_bytes),
    cast=cast,
    variables={ContextVariable.CURRENT_TIMESTAMP: "CURRENT_TIMESTAMP", ContextVariable.CURRENT_DATE: "CURRENT_DATE"},
    text_order='{0} COLLATE "C"',
    case_sensitive=True,
    longest_name=63,
)
