"""SQL for DataFusion.

Its integers wrap around on overflow, so they are computed as decimals or wider integers and cast, which is an error for
a number that doesn't fit. It compares floating-point numbers by their bits; zero is added, so that 0.0 and -0.0 are
equal, and each NaN becomes the one that is the largest number: infinity less infinity has another sign. Its LIKE has
the backslash as escape character, whatever is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.elementary import quotient_of_floats, statistics
from pyspark_substrait.engines.dialects.literals import Literals
from pyspark_substrait.engines.dialects.neighbours import neighbour
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
    shifted,
    two,
)
from pyspark_substrait.engines.dialects.texts import concatenated, like_with_backslash, shortened, substring
from pyspark_substrait.engines.dialects.tree import filled
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["DATAFUSION_SQL"]

_BASE: Final = "extension:io.substrait:functions_"
_DIGITS: Final = 38
_MICROS: Final = 6
#: digits of the decimals of a sum; one of 10**10 of them has no more than 38
_SUMMED: Final = 28


def types(type: Type) -> str | None:
    """Return DataFusion's type."""
    match concrete(type):
        case Boolean():
            return "BOOLEAN"
        case I8():
            return "TINYINT"
        case I16():
            return "SMALLINT"
        case I32():
            return "INT"
        case I64():
            return "BIGINT"
        case FP32():
            return "REAL"
        case FP64():
            return "DOUBLE"
        case String() | VarChar():
            return "VARCHAR"
        case Binary():
            return "BYTEA"
        case Date():
            return "DATE"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return f"TIMESTAMP({_MICROS})"
        case _:  # a day is more than 25 hours to its intervals: they are constants only
            return None


_CONSTANTS: Final = Literals(
    sqlglot="",
    types=types,
    integer=I64,
    decimals=False,
    bytes=lambda value: exp.Anonymous(  # sqlglot writes a hexadecimal constant as an integer
        this="DECODE", expressions=[exp.Literal.string(value.hex()), exp.Literal.string("hex")]
    ),
)


def literal(node: Literal, plain: bool) -> exp.Expression | None:
    """Return a constant that isn't null, or None if it has no form."""
    match concrete(node.type), node.value:
        case IntervalYear(), int(months):
            return filled(f"CAST('{months} months' AS INTERVAL)", [], "")
        case IntervalDay(precision=precision), DayTime() as length if precision <= _MICROS:
            return filled(f"CAST('{length.units(precision, _MICROS)} microseconds' AS INTERVAL)", [], "")
        case _:
            return _CONSTANTS(node, plain)


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    match made.source, made.target:
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64() | Decimal() | FP32() | FP64())):
            return made.plain()
        case Boolean(), (I8() | I16() | I32() | I64()):
            return made.plain()
        case ((I8() | I16() | I32() | I64()), Boolean()):
            return filled("{0} <> 0", [made.value], "")
        case (FP32(), FP64()) | (Decimal(), Decimal()):
            return made.plain()
        case ((FP32() | FP64()), (I8() | I16() | I32() | I64())):
            return made.plain(filled("TRUNC({0})", [made.value], ""))
        case Decimal(), (FP32() | FP64()):
            return made.plain(filled("CAST({0} AS VARCHAR)", [made.value], ""))
        case FP64(), Decimal() if not made.null:  # a text with an exponent is an error, and would be null
            return made.plain(filled("CAST({0} AS VARCHAR)", [made.value], ""))
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case ((I8() | I16() | I32() | I64() | Decimal() | Boolean()), String()):
            return made.plain()
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), Date()):
            return made.plain()
        case PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine) if coarse <= fine:
            return made.value
        case _:
            return None


def _checked(operator: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on integers, which is an error on overflow."""

    def body(call: Call) -> exp.Expression:
        wide = "DECIMAL(19, 0)" if isinstance(concrete(call.output), I64) else "BIGINT"
        return call.filled(f"CAST(CAST({{0}} AS {wide}) {operator} CAST({{1}} AS {wide}) AS {{output}})")

    return body


def _exact(template: str) -> Callable[[Call], exp.Expression]:
    return lambda call: call.filled(f"CAST({template} AS {{output}})")


def _decimals(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on decimals.

    In 38 digits DataFusion wraps around or is wrong by a digit, so results that may have more are computed in 76, and
    are an error unless they fit.
    """

    def body(call: Call) -> exp.Expression:
        left, right = decimal_type(call.type(0)), decimal_type(call.type(1))
        if call.function.name == "multiply":
            digits = left.precision + right.precision
        else:
            whole = max(left.precision - left.scale, right.precision - right.scale)
            digits = whole + max(left.scale, right.scale) + 1
        if digits <= _DIGITS:
            return call.filled(f"CAST({template} AS {{output}})")
        wide = [f"CAST({{{number}}} AS DECIMAL(39, {type.scale}))" for number, type in enumerate((left, right))]
        return call.filled(f"CAST({template.format(*wide)} AS {{output}})")

    return body


def _sum(call: Call) -> exp.Expression:
    type = decimal_type(call.type(0))
    if type.precision <= _SUMMED:
        return call.filled("CAST(agg(SUM({0})) AS {output})")
    return call.filled(f"CAST(agg(SUM(CAST({{0}} AS DECIMAL(76, {type.scale})))) AS {{output}})")


def _average(call: Call) -> exp.Expression:
    """Return an average of decimals, rounded half away from zero; see :func:`_quotient` for the digits of the sum.

    DataFusion names aggregates without the casts in them, and has an error for two of one name: zero is added, so that
    these are not those of the same column without a cast.
    """
    type, output = decimal_type(call.type(0)), decimal_type(call.output)
    scale = max(output.scale + 1 - 4, type.scale)
    return call.filled(
        f"CAST(agg(SUM(CAST({{0}} AS DECIMAL(76, {scale})) + 0)) / "
        "CAST(NULLIF(agg(COUNT({0} + 0)), 0) AS DECIMAL(20, 0)) AS {output})"
    )


def _quotient(call: Call) -> exp.Expression:
    """Return a quotient of decimals, rounded half away from zero.

    DataFusion cuts one off four digits behind those of the dividend: it gets so many that one more is left.
    """
    dividend, divisor, output = (decimal_type(type) for type in (call.type(0), call.type(1), call.output))
    scale = max(output.scale + 1 - 4, dividend.scale)
    fits = dividend.precision - dividend.scale + scale + 4 + divisor.scale <= _DIGITS
    return call.filled(f"CAST(CAST({{0}} AS DECIMAL({_DIGITS if fits else 76}, {scale})) / {{1}} AS {{output}})")


#: the sums of days, whose type has no hours in DataFusion
_DAYS: Final = ("date_iyear", "date_iday")
#: a text that is no number, which is an error when a record has it
_BY_ZERO: Final = "CAST('division by zero: ' || CAST({1} AS VARCHAR) AS {output})"
_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}arithmetic": [
        row("add", _checked("+"), signatures=two(INTEGERS), overflow="ERROR"),
        row("subtract", _checked("-"), signatures=two(INTEGERS), overflow="ERROR"),
        row("multiply", _checked("*"), signatures=two(INTEGERS), overflow="ERROR"),
        row("add", "{0} + {1}", signatures=two(FLOATS), rounding=EVEN),
        row("subtract", "{0} - {1}", signatures=two(FLOATS), rounding=EVEN),
        row("multiply", "{0} * {1}", signatures=two(FLOATS), rounding=EVEN),
        row(
            "divide",
            "{0} / {1}",
            signatures=two(FLOATS),
            rounding=EVEN,
            on_division_by_zero=(),
            on_domain_error="NAN",
        ),
        *quotient_of_floats("ISNAN({0})", _BY_ZERO, zero="ABS({1}) = 0.0"),
        row(
            "modulus",
            "{0} % {1}",
            signatures=two(INTEGERS),
            division_type="TRUNCATE",
            overflow=ALL_VALUES,
            on_domain_error="ERROR",
        ),
        row("negate", "-{0}", signatures=FLOATS),
        row("abs", "ABS({0})", signatures=FLOATS),
        row("shift_right", shifted("{0} >> {1}")),
        row("bitwise_and", "{0} & {1}"),
        row("bitwise_or", "{0} | {1}"),
        row("sum", "SUM({0})", signatures=("i8", "i16", "i32"), overflow="ERROR"),
        row("sum", "CAST(agg(SUM(CAST({0} AS DECIMAL(28, 0)))) AS BIGINT)", signatures=("i64",), overflow="ERROR"),
        row("sum", "SUM({0})", signatures=FLOATS, overflow=()),
        row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
        *statistics({"std_dev": "STDDEV", "variance": "VAR"}, "DOUBLE"),
        row("ntile", "CAST(agg(NTILE({0})) AS {output})"),
        *(row(name, f"CAST(agg({name.upper()}()) AS {{output}})") for name in ("row_number", "rank", "dense_rank")),
        row("lead", neighbour("LEAD")),
        row("lag", neighbour("LAG")),
    ],
    f"{_BASE}arithmetic_decimal": [
        row("add", _decimals("{0} + {1}"), overflow="ERROR"),
        row("subtract", _decimals("{0} - {1}"), overflow="ERROR"),
        row("multiply", _decimals("{0} * {1}"), overflow="ERROR"),
        row("divide", _quotient, overflow="ERROR"),
        row("negate", "-{0}"),
        row("abs", "ABS({0})"),
        row("sum", _sum, overflow="ERROR"),
        row("avg", _average, overflow=ALL_VALUES),
    ],
    f"{_BASE}rounding": [row("ceil", "CEIL({0})"), row("floor", "FLOOR({0})")],
    f"{_BASE}comparison": [row("is_nan", "ISNAN({0})")],
    f"{_BASE}string": [
        row("like", like_with_backslash, case_sensitivity="CASE_SENSITIVE", plain=True),
        row("concat", concatenated, null_handling="ACCEPT_NULLS"),
        row("concat", "CONCAT({*})", null_handling="IGNORE_NULLS"),
        row("substring", substring("SUBSTR"), negative_start="LEFT_OF_BEGINNING", plain=True),
        row("substring", substring("SUBSTR"), negative_start=ALL_STARTS, least={1: 1}, plain=True),
        row("starts_with", "STARTS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
        row("ends_with", "ENDS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
        row("contains", "CONTAINS({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
        row("strpos", "CAST(STRPOS({0}, {1}) AS BIGINT)", case_sensitivity="CASE_SENSITIVE"),
        row("replace", "REPLACE({0}, {1}, {2})", case_sensitivity="CASE_SENSITIVE"),
        row("char_length", "CAST(CHAR_LENGTH({0}) AS BIGINT)"),
        row("octet_length", "CAST(OCTET_LENGTH({0}) AS BIGINT)"),
        row("bit_length", "CAST(BIT_LENGTH({0}) AS BIGINT)"),
        row("reverse", "REVERSE({0})"),
        row("lower", "LOWER({0})", char_set="UTF8"),
        row("upper", "UPPER({0})", char_set="UTF8"),
        row("repeat", "REPEAT({0}, {1})"),
    ],
    f"{_BASE}datetime": [
        *extracts("CAST(EXTRACT({part} FROM {{0}}) AS BIGINT)"),
        *(
            row(name, f"CAST(CAST({{0}} AS TIMESTAMP({_MICROS})) {operator} {{1}} AS {{output}})", signatures=_DAYS)
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
        *(
            row(name, f"{{0}} {operator} {{1}}", signatures=("pts_iyear", "pts_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
    ],
    SPARK_ARITHMETIC: [
        row("divide", _quotient, signatures=("dec_dec",)),
        row("shift_right", shifted("{0} >> {1}")),
    ],
    DATAFUSION: [
        row("divide", _exact("{0} / {1}"), signatures=("dec_dec",)),
        row("divide", "{0} / {1}", signatures=two(FLOATS)),
        row("sum", "CAST(agg(SUM({0})) AS {output})", signatures=("dec",)),
        row("sum", "SUM({0})", signatures=(*INTEGERS, *FLOATS)),
        row("avg", "CAST(agg(AVG({0})) AS {output})", signatures=("dec",)),
        row("avg", "AVG({0})", signatures=(*INTEGERS, *FLOATS)),
        row("like", like_with_backslash, plain=True),
        row("substring", substring("SUBSTR"), plain=True),
    ],
}
DATAFUSION_SQL: Final = Dialect(
    name="datafusion",
    engine="DataFusion 55",
    sqlglot="",
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=literal,
    cast=cast,
    float_equality="NANVL({0} + 0.0, CAST('NaN' AS DOUBLE))",
    equality="({0} IS NOT DISTINCT FROM {1})",  # without brackets, it takes in an AND that follows
    grouping_sets=False,
    case_sensitive=True,
    multiplicities=False,
    laterals=False,
    single_rows=False,
    exact_frames=False,
    unknown_in=False,
    keeps_conditions=False,
    keeps_offsets=False,
    null_keys=False,
)
