"""SQL for Snowflake, from its documentation: no text of it was run.

Its integers are decimals of 38 digits, so results are checked against the range of their type. Quotients of decimals
are rounded there at a place that depends on the operands: they are computed with whole numbers, and rounded once.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.elementary import statistics
from pyspark_substrait.engines.dialects.integers import bits, in_range
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
    extreme_of_values,
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
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
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
    PrecisionTime,
    PrecisionTimestamp,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["SNOWFLAKE"]

_BASE: Final = "extension:io.substrait:functions_"
_MICROS: Final = 6
#: the most places that a product of two decimals keeps, if it needs more than either of them has
_PLACES: Final = 12


def types(type: Type) -> str | None:
    """Return Snowflake's type."""
    match concrete(type):
        case Boolean():
            return "BOOLEAN"
        case I8() | I16() | I32() | I64():
            return "BIGINT"
        case FP64():
            return "DOUBLE"
        case String() | VarChar():
            return "VARCHAR"
        case Binary():
            return "BINARY"
        case Date():
            return "DATE"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTime(precision=precision) if precision <= _MICROS:
            return f"TIME({precision})"
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return f"TIMESTAMP_NTZ({precision})"
        case _:  # intervals are constants only, and floating-point numbers have 64 bits
            return None


def _filled(template: str, *values: exp.Expression) -> exp.Expression:
    return filled(template, values, "snowflake")


_CONSTANTS: Final = Literals(
    sqlglot="snowflake",
    types=types,
    integer=I64,
    any_integer=True,
    infinite=False,
    bytes=lambda value: exp.Anonymous(
        this="TO_BINARY", expressions=[exp.Literal.string(value.hex()), exp.Literal.string("HEX")]
    ),
)


def literal(node: Literal, plain: bool) -> exp.Expression | None:
    """Return a constant that isn't null, or None if it has no form."""
    match concrete(node.type), node.value:
        case IntervalYear(), int(months):
            return exp.Interval(this=exp.Literal.string(f"{months} months"))
        case IntervalDay(precision=precision), DayTime(days, seconds, fraction) if precision <= _MICROS:
            micros = fraction * 10 ** (_MICROS - precision)
            return exp.Interval(this=exp.Literal.string(f"{days} days, {seconds} seconds, {micros} microseconds"))
        case _:
            return _CONSTANTS(node, plain)


# casts and integers --------------------------------------------------------------------------------------------------


def _checked(value: str, type: Type) -> str:
    """Return the template of an integer, or of a text that is no number, which is an error."""
    return in_range(value, type, f"CAST('out of range: ' || CAST({value} AS VARCHAR) AS BIGINT)")


def _in_range(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on integers, which is an error on overflow."""
    return lambda call: call.filled(_checked(template, call.output))


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    if made.null:
        return None
    match made.source, made.target:
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64())):
            fits = bits(made.source) <= bits(made.target)
            return made.value if fits else _filled(_checked("{0}", made.target), made.value)
        case ((I8() | I16() | I32() | I64() | Boolean()), (Decimal() | FP64())):
            return made.plain()
        case Boolean(), (I8() | I16() | I32() | I64()):
            return made.plain()
        case ((I8() | I16() | I32() | I64() | FP64()), Boolean()):
            return _filled("{0} <> 0", made.value)
        case Decimal(), Decimal():
            return made.plain()
        case ((Decimal() | FP64()), (I8() | I16() | I32() | I64())):
            return _filled(_checked("CAST(TRUNC({0}) AS BIGINT)", made.target), made.value)
        case Decimal(), FP64():
            return made.plain(_filled("CAST({0} AS VARCHAR)", made.value))
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case ((I8() | I16() | I32() | I64() | Decimal() | Boolean()), String()):
            return made.plain()
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), Date()):
            return made.plain()
        case (PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine)) | (
            PrecisionTime(precision=coarse),
            PrecisionTime(precision=fine),
        ) if coarse <= fine:
            return made.plain()
        case _:
            return None


# decimals ------------------------------------------------------------------------------------------------------------


def _product(call: Call) -> exp.Expression:
    left, right = decimal_type(call.type(0)), decimal_type(call.type(1))
    if left.scale + right.scale > max(left.scale, right.scale, _PLACES):
        raise UnsupportedPlanError(
            f"{call.function.key} of {left} and {right} has no exact form in Snowflake, which keeps {_PLACES} places",
            hint="Cast the arguments to decimals of fewer places",
            code=Code.TARGET_FUNCTION,
        )
    return call.filled("CAST({0} * {1} AS {output})")


def _divided(dividend: str, divisor: str, output: Decimal, *, cut: bool) -> str:
    """Return the template of a quotient of two decimals; what has no place is cut off, or rounded half away from zero.

    The remainder is subtracted first, so that the division leaves none.
    """
    places = output.scale if cut else output.scale + 1  # the cast rounds by the last one
    whole = f"{dividend} * {10**places}"
    unit = f"{decimal.Decimal(1).scaleb(-places):f}"
    return f"CAST(({whole} - MOD({whole}, {divisor})) / {divisor} * {unit} AS {{output}})"


def _quotient(*, cut: bool) -> Callable[[Call], exp.Expression]:
    return lambda call: call.filled(_divided("{0}", "{1}", decimal_type(call.output), cut=cut))


def _average(*, cut: bool) -> Callable[[Call], exp.Expression]:
    count = "NULLIF(agg(COUNT({0})), 0)"
    return lambda call: call.filled(_divided("agg(SUM({0}))", count, decimal_type(call.output), cut=cut))


# functions -----------------------------------------------------------------------------------------------------------


_WHOLE: Final = "({0} - MOD({0}, {1})) / {1}"
_NUMBERS: Final = [
    row("add", _in_range("{0} + {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    row("subtract", _in_range("{0} - {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    row("multiply", _in_range("{0} * {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    *(
        row(name, f"{{0}} {operator} {{1}}", signatures=("fp64_fp64",), rounding=EVEN)
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
    row(
        "divide",
        _in_range(f"CAST({_WHOLE} AS BIGINT)"),
        signatures=two(INTEGERS),
        overflow="ERROR",
        on_division_by_zero="ERROR",
        on_domain_error="ERROR",
    ),
    row(
        "modulus",
        "MOD({0}, {1})",
        signatures=two(INTEGERS),
        division_type="TRUNCATE",
        overflow=ALL_VALUES,
        on_domain_error="ERROR",
    ),
    row("negate", _in_range("-{0}"), signatures=INTEGERS, overflow="ERROR"),
    row("negate", "-{0}", signatures=("fp64",)),
    row("abs", _in_range("ABS({0})"), signatures=INTEGERS, overflow="ERROR"),
    row("abs", "ABS({0})", signatures=("fp64",)),
    row("sign", "CAST(SIGN({0}) AS {output})", signatures=INTEGERS),
    row("sum", _in_range("agg(SUM({0}))"), signatures=INTEGERS, overflow="ERROR"),
    row("sum", "SUM({0})", signatures=("fp64",), overflow=()),
    row("sum0", _in_range("COALESCE(agg(SUM({0})), 0)"), signatures=INTEGERS, overflow="ERROR"),
    row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
    *statistics({"std_dev": "STDDEV", "variance": "VAR"}, "DOUBLE"),
    row("ntile", "NTILE({0})"),
    row("nth_value", nth_value("{1}")),
    row("lead", neighbour("LEAD")),
    row("lag", neighbour("LAG")),
]


_SUBSTRING: Final = bounded_substring("SUBSTR", "CAST('{}: ' || CAST({{2}} AS VARCHAR) AS BIGINT)")
_STRINGS: Final = [
    row("like", like("", written=False), case_sensitivity="CASE_SENSITIVE", plain=True),
    row("concat", concatenated, null_handling="ACCEPT_NULLS"),
    row("substring", _SUBSTRING, negative_start="LEFT_OF_BEGINNING", plain=True),
    row("substring", _SUBSTRING, negative_start=ALL_STARTS, least={1: 1}, plain=True),
    row("starts_with", "STARTSWITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("ends_with", "ENDSWITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("contains", "CONTAINS({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("replace", replaced, case_sensitivity="CASE_SENSITIVE"),
    row("char_length", "LENGTH({0})"),
    row("octet_length", "OCTET_LENGTH({0})"),
    row("bit_length", "OCTET_LENGTH({0}) * 8"),
    row("reverse", "REVERSE({0})"),
    row("trim", "LTRIM(RTRIM({0}, {1}), {1})"),
    row("ltrim", "LTRIM({0}, {1})"),
    row("rtrim", "RTRIM({0}, {1})"),
    *ascii_letters(),
]
_PARTS: Final = {"ISOYEAR": "YEAROFWEEKISO", "DOY": "DAYOFYEAR", "WEEK": "WEEKISO", "ISODOW": "DAYOFWEEKISO"}
_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}comparison": [
        row("is_nan", "{0} = CAST('NaN' AS DOUBLE)", signatures=("fp64",)),
        row("least", extreme_of_values("LEAST")),
        row("greatest", extreme_of_values("GREATEST")),
        row("least_skip_null", extreme_of_values("LEAST", skipping=True)),
        row("greatest_skip_null", extreme_of_values("GREATEST", skipping=True)),
    ],
    f"{_BASE}boolean": [row("bool_and", "BOOLAND_AGG({0})"), row("bool_or", "BOOLOR_AGG({0})")],
    f"{_BASE}arithmetic": _NUMBERS,
    f"{_BASE}arithmetic_decimal": [
        row("add", "CAST({0} + {1} AS {output})", overflow="ERROR"),
        row("subtract", "CAST({0} - {1} AS {output})", overflow="ERROR"),
        row("multiply", _product, overflow="ERROR"),
        row("divide", _quotient(cut=False), overflow="ERROR"),
        row("negate", "-{0}"),
        row("abs", "ABS({0})"),
        row("sum", "CAST(agg(SUM({0})) AS {output})", overflow="ERROR"),
        row("avg", _average(cut=False), overflow=ALL_VALUES),
    ],
    f"{_BASE}rounding": [
        row("ceil", "CEIL({0})", signatures=("fp64",)),
        row("floor", "FLOOR({0})", signatures=("fp64",)),
    ],
    f"{_BASE}string": _STRINGS,
    f"{_BASE}datetime": [
        *extracts("EXTRACT({part} FROM {{0}})", sunday="MOD(EXTRACT(DAYOFWEEKISO FROM {0}), 7)", names=_PARTS),
        *(
            row(
                name,
                f"CAST(CAST({{0}} AS TIMESTAMP_NTZ({_MICROS})) {operator} {{1}} AS {{output}})",
                signatures=("date_iyear", "date_iday"),
            )
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
        *(
            row(name, f"{{0}} {operator} {{1}}", signatures=("pts_iyear", "pts_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
    ],
    SPARK_ARITHMETIC: [row("divide", _quotient(cut=False), signatures=("dec_dec",))],
    DATAFUSION: [
        row("divide", _quotient(cut=True), signatures=("dec_dec",)),
        row("sum", "CAST(agg(SUM({0})) AS {output})", signatures=("dec",)),
        row("sum", _in_range("agg(SUM({0}))"), signatures=INTEGERS),
        row("sum", "SUM({0})", signatures=("fp64",)),
        row("avg", _average(cut=True), signatures=("dec",)),
        row("avg", "AVG(CAST({0} AS DOUBLE))", signatures=(*INTEGERS, *FLOATS)),
        row("divide", "{0} / {1}", signatures=("fp64_fp64",)),
        row("like", like("\\"), plain=True),
        row("substring", _SUBSTRING, plain=True),
    ],
}

SNOWFLAKE: Final = Dialect(
    name="snowflake",
    engine="Snowflake",
    sqlglot="snowflake",
    was_run=False,
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=literal,
    cast=cast,
    case_sensitive=True,
    filters=False,
    laterals=False,
    multiplicities=False,
    exact_frames=False,
    grouping_sets=False,
)
