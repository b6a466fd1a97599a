"""SQL for BigQuery, from its documentation: no text of it was run.

All its integers have 64 bits, so results of fewer bits are checked against their range. Its decimals have 9 places
(NUMERIC) or 38 (BIGNUMERIC) whatever the plan says: results are rounded and checked. Its comparisons with NaN are
false, and it sorts NaN as the smallest number: comparisons are written out, and the negatives are sorted backwards.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.decimals import product_digits, sum_digits
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Dialect, Row, functions, row
from pyspark_substrait.engines.dialects.elementary import comparison_of_floats, quotient_of_floats, statistics
from pyspark_substrait.engines.dialects.integers import bits, in_range
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
    like_with_backslash,
    shortened,
)
from pyspark_substrait.engines.dialects.tree import filled, number
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
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["BIGQUERY"]

_BASE: Final = "extension:io.substrait:functions_"
_MICROS: Final = 6
#: digits before and behind the point of NUMERIC, and the most behind that of BIGNUMERIC
_WHOLE, _PLACES, _MOST_PLACES = 29, 9, 38


def _decimal(whole: int, scale: int) -> str:
    """Return the type of decimals with some numbers of digits before and behind the point."""
    return "NUMERIC" if scale <= _PLACES and whole <= _WHOLE else "BIGNUMERIC"


def types(type: Type) -> str | None:
    """Return BigQuery's type."""
    match concrete(type):
        case Boolean():
            return "BOOL"
        case I8() | I16() | I32() | I64():
            return "INT64"
        case FP64():
            return "FLOAT64"
        case String() | VarChar():
            return "STRING"
        case Binary():
            return "BYTES"
        case Date():
            return "DATE"
        case Decimal(precision=precision, scale=scale):
            return _decimal(precision - scale, scale)
        case PrecisionTime(precision=precision) if precision <= _MICROS:
            return "TIME"
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return "DATETIME"
        case PrecisionTimestampTZ(precision=precision) if precision <= _MICROS:
            return "TIMESTAMP"
        case _:  # intervals are constants only, and floating-point numbers have 64 bits
            return None


def _filled(template: str, *values: exp.Expression) -> exp.Expression:
    return filled(template, values, "bigquery")


_CONSTANTS: Final = Literals(
    sqlglot="bigquery",
    types=types,
    integer=I64,
    any_integer=True,
    decimals=False,
    bytes=lambda value: exp.Anonymous(this="FROM_HEX", expressions=[exp.Literal.string(value.hex())]),
    double=with_exponent,
)


def literal(node: Literal, plain: bool) -> exp.Expression | None:
    """Return a constant that isn't null, or None if it has no form."""
    match concrete(node.type), node.value:
        case IntervalYear(), int(months):
            return exp.Interval(this=number(months), unit=exp.var("MONTH"))
        case IntervalDay(precision=precision), DayTime() as length if precision <= _MICROS:
            return exp.Interval(this=number(length.units(precision, _MICROS)), unit=exp.var("MICROSECOND"))
        case _:
            return _CONSTANTS(node, plain)


# casts, integers and decimals ----------------------------------------------------------------------------------------


_ERROR: Final = "ERROR('out of range')"


def _checked(value: str, type: Type) -> str:
    """Return the template of an integer, or an error; the engine has an error for those of more than 64 bits."""
    return value if bits(type) == 64 else in_range(value, type, _ERROR)


def _in_range(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on integers, which is an error on overflow."""
    return lambda call: call.filled(_checked(template, call.output))


def _limit(type: Decimal) -> str:
    return f"CAST('1{'0' * (type.precision - type.scale)}' AS BIGNUMERIC)"


def _fitted(value: str, known: str, type: Decimal, *, scale: int, whole: int | None = None) -> str:
    """Return the template of a decimal as one of a type: rounded half away from zero, or an error if it is too large.

    Args:
        value: the template of the decimal, which is repeated if it may be too large.
        known: the engine's type of it.
        type: the type.
        scale: the most digits that it has behind the point.
        whole: those before the point; None if unknown.
    """
    if scale > type.scale:
        value = f"ROUND({value}, {type.scale})"
    if known != types(type):
        value = f"CAST({value} AS {types(type)})"
    if whole is not None and whole <= type.precision - type.scale:
        return value
    return f"CASE WHEN ABS({value}) >= {_limit(type)} THEN {_ERROR} ELSE {value} END"


def cast(made: Cast) -> exp.Expression | None:
    """Return a cast, if it has exactly the values that casts have here."""
    if made.null:
        return None
    match made.source, made.target:
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64())):
            fits = bits(made.source) <= bits(made.target)
            return made.value if fits else _filled(_checked("{0}", made.target), made.value)
        case ((I8() | I16() | I32() | I64()), FP64()) | (Boolean(), (I8() | I16() | I32() | I64())):
            return made.plain()
        case ((I8() | I16() | I32() | I64() | FP64()), Boolean()):
            return _filled("{0} <> 0", made.value)
        case ((I8() | I16() | I32() | I64()), Decimal() as target):
            return _filled(_fitted("CAST({0} AS NUMERIC)", "NUMERIC", target, scale=0, whole=19), made.value)
        case Decimal() as source, Decimal() as target:
            whole = source.precision - source.scale
            return _filled(
                _fitted("{0}", _decimal(whole, source.scale), target, scale=source.scale, whole=whole), made.value
            )
        case ((Decimal() | FP64()), (I8() | I16() | I32() | I64())):
            return _filled(_checked("CAST(TRUNC({0}) AS INT64)", made.target), made.value)
        case Decimal(), FP64():
            return made.plain()
        case ((String() | VarChar()), (String() | VarChar())):
            return shortened(made)
        case ((I8() | I16() | I32() | I64() | Boolean()), String()):
            return made.plain()
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), Date()):
            return made.plain()
        case (
            (PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine))
            | (PrecisionTimestampTZ(precision=coarse), PrecisionTimestampTZ(precision=fine))
            | (PrecisionTime(precision=coarse), PrecisionTime(precision=fine))
        ) if coarse <= fine:
            return made.value
        case _:
            return None


def _result(template: str, natural: Callable[[Decimal, Decimal], tuple[int, int]]) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on decimals; ``natural`` returns the precision and scale it needs."""

    def body(call: Call) -> exp.Expression:
        left, right, output = decimal_type(call.type(0)), decimal_type(call.type(1)), decimal_type(call.output)
        precision, scale = natural(left, right)
        whole = precision - scale
        if scale > _MOST_PLACES:
            raise UnsupportedPlanError(
                f"{call.function.key} of {left} and {right} has no exact form in BigQuery: decimals have "
                f"{_MOST_PLACES} places there",
                hint="Cast the arguments to decimals of fewer places",
                code=Code.TARGET_FUNCTION,
            )
        kind = _decimal(whole, scale)
        values = [
            f"{{{place}}}" if types(type) == kind else f"CAST({{{place}}} AS {kind})"
            for place, type in enumerate((left, right))
        ]
        return call.filled(_fitted(template.format(*values), kind, output, scale=scale, whole=whole))

    return body


def _divided(dividend: str, divisor: str, output: Decimal, *, cut: bool, whole: int | None = None) -> str:
    """Return the template of a quotient of two decimals, of which the digits without a place are cut off or rounded."""
    places = output.scale if cut else output.scale + 1
    if places > _MOST_PLACES:
        raise UnsupportedPlanError(
            f"a quotient with {output.scale} places has no exact form in BigQuery", code=Code.TARGET_FUNCTION
        )
    power, unit = f"CAST('1{'0' * places}' AS BIGNUMERIC)", f"{decimal.Decimal(1).scaleb(-places):f}"
    quotient = f"DIV(CAST({dividend} AS BIGNUMERIC) * {power}, CAST({divisor} AS BIGNUMERIC))"
    return _fitted(f"{quotient} * CAST('{unit}' AS BIGNUMERIC)", "BIGNUMERIC", output, scale=places, whole=whole)


def _quotient(*, cut: bool) -> Callable[[Call], exp.Expression]:
    return lambda call: call.filled(_divided("{0}", "{1}", decimal_type(call.output), cut=cut))


def _average(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        type, count = decimal_type(call.type(0)), "NULLIF(agg(COUNT({0})), 0)"
        whole = type.precision - type.scale
        return call.filled(_divided("agg(SUM({0}))", count, decimal_type(call.output), cut=cut, whole=whole))

    return body


def _total(call: Call) -> exp.Expression:
    type, output = decimal_type(call.type(0)), decimal_type(call.output)
    known = call.dialect.type_text(output)
    value = "{0}" if types(type) == known else f"CAST({{0}} AS {known})"
    return call.filled(_fitted(f"agg(SUM({value}))", known, output, scale=type.scale))


def _rounded(call: Call) -> exp.Expression:
    """Return a decimal rounded half away from zero to a constant number of places."""
    type, places = decimal_type(call.type(0)), call.literal(1)
    if not isinstance(places, int) or not 0 <= places <= _MOST_PLACES:
        raise UnsupportedPlanError(
            f"{call.function.key} to a number of places that is not a constant of 0 or more", code=Code.TARGET_FUNCTION
        )
    known, scale = call.dialect.type_text(type), min(places, type.scale)
    text = f"ROUND({{0}}, {places})" if scale < type.scale else "{0}"
    return call.filled(
        _fitted(text, known, decimal_type(call.output), scale=scale, whole=type.precision - type.scale + 1)
    )


# functions -----------------------------------------------------------------------------------------------------------


def _smallest(call: Call) -> exp.Expression:
    """Return the smallest number; NaN only if there is no other, where the engine has it if there is one."""
    return call.filled("COALESCE(agg(MIN(CASE WHEN NOT IS_NAN({0}) THEN {0} END)), agg(MIN({0})))")


_EXTREMES: Final = [row("min", _smallest, signatures=FLOATS), *EXTREMES]
_NUMBERS: Final = [
    *_EXTREMES,
    row("add", _in_range("{0} + {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    row("subtract", _in_range("{0} - {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    row("multiply", _in_range("{0} * {1}"), signatures=two(INTEGERS), overflow="ERROR"),
    *(
        row(name, f"{{0}} {operator} {{1}}", signatures=("fp64_fp64",), rounding=EVEN)
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
    row(
        "divide",
        _in_range("DIV({0}, {1})"),
        signatures=two(INTEGERS),
        overflow="ERROR",
        on_division_by_zero="ERROR",
        on_domain_error="ERROR",
    ),
    row(
        "divide",
        "IEEE_DIVIDE({0}, {1})",
        signatures=("fp64_fp64",),
        rounding=EVEN,
        on_division_by_zero=(),
        on_domain_error="NAN",
    ),
    *quotient_of_floats("IS_NAN({0})", "ERROR('division by zero')"),
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
    row("sign", "SIGN({0})", signatures=INTEGERS),
    row("sum", "SUM({0})", signatures=INTEGERS, overflow="ERROR"),
    row("sum", "SUM({0})", signatures=("fp64",), overflow=()),
    row("sum0", "COALESCE(agg(SUM({0})), 0)", signatures=INTEGERS, overflow="ERROR"),
    row("avg", "AVG({0})", signatures=("fp64",), overflow=()),
    *statistics({"std_dev": "STDDEV", "variance": "VAR"}, "FLOAT64"),
    row("ntile", "NTILE({0})"),
    row("nth_value", nth_value("{1}")),
    row("lead", neighbour("LEAD")),
    row("lag", neighbour("LAG")),
]
_SUBSTRING: Final = bounded_substring("SUBSTR", "ERROR('{}')")
_STRINGS: Final = [
    row("like", like_with_backslash, case_sensitivity="CASE_SENSITIVE", plain=True),
    row("concat", concatenated, null_handling="ACCEPT_NULLS"),
    row("substring", _SUBSTRING, negative_start="LEFT_OF_BEGINNING", plain=True),
    row("substring", _SUBSTRING, negative_start=ALL_STARTS, least={1: 1}, plain=True),
    row("starts_with", "STARTS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("ends_with", "ENDS_WITH({0}, {1})", case_sensitivity="CASE_SENSITIVE"),
    row("contains", "STRPOS({0}, {1}) > 0", case_sensitivity="CASE_SENSITIVE"),
    row("replace", "REPLACE({0}, {1}, {2})", case_sensitivity="CASE_SENSITIVE"),
    row("char_length", "CHAR_LENGTH({0})"),
    row("octet_length", "BYTE_LENGTH({0})"),
    row("bit_length", "BYTE_LENGTH({0}) * 8"),
    row("reverse", "REVERSE({0})"),
    row("trim", "LTRIM(RTRIM({0}, {1}), {1})"),
    row("ltrim", "LTRIM({0}, {1})"),
    row("rtrim", "RTRIM({0}, {1})"),
    *ascii_letters(),
]


def _extracts() -> list[Row]:
    """Return the rows of ``extract``; weeks begin on Sundays in the engine."""
    monday = "MOD(EXTRACT(DAYOFWEEK FROM {0}) + 5, 7)"
    names = {"DOY": "DAYOFYEAR", "WEEK": "ISOWEEK"}
    rows = extracts("EXTRACT({part} FROM {{0}})", sunday="EXTRACT(DAYOFWEEK FROM {0}) - 1", names=names)
    return [
        replace(item, body=monday if item.enums[1] == ("ZERO",) else f"{monday} + 1")
        if item.enums[0] == ("MONDAY_DAY_OF_WEEK",)
        else item
        for item in rows
    ]


_OWN: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}comparison": [
        row("is_nan", "IS_NAN({0})", signatures=("fp64",)),
        row("is_infinite", "IS_INF({0})", signatures=("fp64",)),
        row("is_finite", "NOT (IS_INF({0}) OR IS_NAN({0}))", signatures=("fp64",)),
        row("least", extreme_of_values("LEAST")),
        row("greatest", extreme_of_values("GREATEST")),
        row("least_skip_null", extreme_of_values("LEAST", skipping=True)),
        row("greatest_skip_null", extreme_of_values("GREATEST", skipping=True)),
    ],
    f"{_BASE}boolean": [row("bool_and", "LOGICAL_AND({0})"), row("bool_or", "LOGICAL_OR({0})")],
    f"{_BASE}arithmetic": _NUMBERS,
    f"{_BASE}arithmetic_decimal": [
        row("add", _result("{} + {}", sum_digits), overflow="ERROR"),
        row("subtract", _result("{} - {}", sum_digits), overflow="ERROR"),
        row("multiply", _result("{} * {}", product_digits), overflow="ERROR"),
        row("divide", _quotient(cut=False), overflow="ERROR"),
        row("negate", "-{0}"),
        row("abs", "ABS({0})"),
        row("sum", _total, overflow="ERROR"),
        row("avg", _average(cut=False), overflow=ALL_VALUES),
    ],
    f"{_BASE}rounding": [
        row("ceil", "CEIL({0})", signatures=("fp64",)),
        row("floor", "FLOOR({0})", signatures=("fp64",)),
    ],
    f"{_BASE}rounding_decimal": [row("round", _rounded, rounding="TIE_AWAY_FROM_ZERO")],
    f"{_BASE}string": _STRINGS,
    f"{_BASE}datetime": [
        *_extracts(),
        *(
            row(name, f"CAST({{0}} AS DATETIME) {operator} {{1}}", signatures=("date_iyear", "date_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
        *(
            row(name, f"{{0}} {operator} {{1}}", signatures=("pts_iyear", "pts_iday"))
            for name, operator in (("add", "+"), ("subtract", "-"))
        ),
    ],
    SPARK_ARITHMETIC: [
        row("divide", _quotient(cut=False), signatures=("dec_dec",)),
        row("round", _rounded, signatures=("dec_i32",)),
    ],
    DATAFUSION: [
        *_EXTREMES,
        row("divide", _quotient(cut=True), signatures=("dec_dec",)),
        row("sum", _total, signatures=("dec",)),
        row("sum", "SUM({0})", signatures=(*INTEGERS, "fp64")),
        row("avg", _average(cut=True), signatures=("dec",)),
        row("avg", "AVG(CAST({0} AS FLOAT64))", signatures=(*INTEGERS, *FLOATS)),
        row("divide", "IEEE_DIVIDE({0}, {1})", signatures=("fp64_fp64",)),
        row("like", like_with_backslash, plain=True),
        row("substring", _SUBSTRING, plain=True),
    ],
}

BIGQUERY: Final = Dialect(
    name="bigquery",
    engine="BigQuery",
    sqlglot="bigquery",
    was_run=False,
    functions=functions(_OWN, STANDARD),
    types=types,
    literal=literal,
    cast=cast,
    nan_in_order="smallest",
    compares_floats=comparison_of_floats("bigquery"),
    filters=False,
    laterals=False,
    values=False,
    multiplicities=False,
    exact_frames=False,
    grouping_sets=False,
)
