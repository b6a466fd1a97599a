"""Functions in standard SQL, for every dialect that means the same by it. A dialect's own rows take their place."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Dialect, Row, row
from pyspark_substrait.engines.dialects.tree import all_of, any_of, operand, repeated
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    Binary,
    Boolean,
    Decimal,
    List,
    Map,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    concrete,
)

__all__ = [
    "ALL_STARTS",
    "ALL_VALUES",
    "DATAFUSION",
    "EVEN",
    "EXTREMES",
    "FLOATS",
    "INTEGERS",
    "SPARK_AGGREGATE",
    "SPARK_ARITHMETIC",
    "SPARK_COLLECTION",
    "SPARK_DATETIME",
    "SPARK_STATISTICS",
    "SPARK_WINDOW",
    "STANDARD",
    "comparable",
    "decimal_type",
    "extracts",
    "extreme_of_single_values",
    "extreme_of_values",
    "has_equality",
    "in_order",
    "in_zone",
    "index_in",
    "is_float",
    "shifted",
    "two",
]

_BASE: Final = "extension:io.substrait:functions_"
DATAFUSION: Final = engines.DATAFUSION.urn
INTEGERS: Final = ("i8", "i16", "i32", "i64")
FLOATS: Final = ("fp32", "fp64")
EVEN: Final = "TIE_TO_EVEN"
#: the values of ``overflow``, for a function that has none
ALL_VALUES: Final = ("ERROR", "SATURATE", "SILENT")
#: the extension of Spark's arithmetic, in which quotients of decimals are rounded to more digits
SPARK_ARITHMETIC: Final = "extension:pyspark_substrait:functions_spark_arithmetic"
#: the extensions of Spark's aggregates, of its functions of lists, and of those of dates and times
SPARK_AGGREGATE: Final = "extension:pyspark_substrait:functions_spark_aggregate"
SPARK_COLLECTION: Final = "extension:pyspark_substrait:functions_spark_collection"
SPARK_DATETIME: Final = "extension:pyspark_substrait:functions_spark_datetime"
#: the extension of Spark's window functions, which may ignore nulls
SPARK_WINDOW: Final = "extension:pyspark_substrait:functions_spark_window"
#: the extension of Spark's extremes, which include values that the specification's have not
SPARK_STATISTICS: Final = "extension:pyspark_substrait:functions_spark_statistics"
#: the values of ``negative_start``, for a start that isn't negative
ALL_STARTS: Final = ("WRAP_FROM_END", "LEFT_OF_BEGINNING", "ERROR")


def two(types: Sequence[str]) -> tuple[str, ...]:
    """Return the signatures of two arguments of the same type."""
    return tuple(f"{type}_{type}" for type in types)


def has_equality(type: Type, dialect: Dialect) -> bool:
    """Whether it is a list or a struct whose values are equal there as here."""
    match concrete(type):
        case List(type=element):
            parts: tuple[Type, ...] = (element,)
        case Struct(types=parts):
            pass
        case _:
            return False
    return dialect.nested_equality and not any(
        isinstance(concrete(part), List | Struct | Map | UserDefined) and not has_equality(part, dialect)
        for part in parts
    )


def comparable(type: Type, call: Call, *, order: bool = True) -> None:
    """Refuse values that engines compare in other ways.

    Raises:
        UnsupportedPlanError: values of the type aren't compared there as here.
    """
    if not order and has_equality(type, call.dialect):
        return
    if isinstance(concrete(type), Struct | List | Map | UserDefined):
        raise UnsupportedPlanError(
            f"{call.function.name} of {type}: {call.dialect.engine} may compare such values in another way",
            code=Code.TARGET_FUNCTION,
        )


def in_order(value: exp.Expression, type: Type, call: Call, *, order: bool = True) -> exp.Expression:
    """Return a value as it is compared; ``order`` says whether more than its equality counts."""
    if order and call.dialect.nested_order is not None and has_equality(type, call.dialect):
        return call.dialect.filled(call.dialect.nested_order(type), value)
    comparable(type, call, order=order)
    match concrete(type):
        case FP32() | FP64():
            return call.dialect.filled(call.dialect.float_equality, value)
        case String() | VarChar() if order:
            return call.dialect.filled(call.dialect.text_order, value)
        case _:
            return value


def _values(call: Call, *, order: bool = True) -> list[exp.Expression]:
    return [
        in_order(value, call.type(place), call, order=order)
        for place, value in enumerate(call.operands)
        if isinstance(value, exp.Expression)
    ]


def _comparison(operator: type[exp.Binary], *, order: bool = True) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        left, right = _values(call, order=order)
        return call.dialect.compared(operator, left, right, call.type(0))

    return body


def _by_equality(negated: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        made = call.dialect.filled(call.dialect.equality, *_values(call, order=False))
        return exp.Not(this=exp.Paren(this=made)) if negated else made

    return body


def _between(call: Call) -> exp.Expression:
    value, low, high = _values(call)
    if call.dialect.compares_floats and is_float(call.type(0)):
        least = call.dialect.compared(exp.GTE, value, low, call.type(0))
        return all_of(least, call.dialect.compared(exp.LTE, repeated(value), high, call.type(0)))
    return exp.Between(this=operand(value), low=operand(low), high=operand(high))


def _connected(connect: Callable[..., exp.Expression], of_none: exp.Expression) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        values = [value for value in call.operands if isinstance(value, exp.Expression)]
        if len(values) < 2:
            return values[0] if values else of_none.copy()
        return connect(*values)

    return body


def _nullif(call: Call) -> exp.Expression:
    left, right = _values(call, order=False)
    if (left, right) == call.operands and not (call.dialect.compares_floats and is_float(call.type(0))):
        return call.filled("NULLIF({0}, {1})")
    condition = call.dialect.compared(exp.EQ, left, right, call.type(0))
    value = call.operands[0]
    assert isinstance(value, exp.Expression)
    return exp.Case(ifs=[exp.If(this=condition, true=exp.null())], default=repeated(value))


def _extreme(name: str) -> Callable[[Call], exp.Expression]:
    """Return the body of ``min`` or ``max``."""

    def body(call: Call) -> exp.Expression:
        comparable(call.type(0), call)
        (value,) = _values(call)
        return exp.Anonymous(this=name, expressions=[value])

    return body


def _extreme_of(name: str, *, skipping: bool) -> Callable[[Call], exp.Expression]:
    """Return the body of ``least`` or ``greatest``: of the values that aren't null, or null if one is."""

    def body(call: Call) -> exp.Expression:
        comparable(call.type(0), call)
        values = _values(call)
        made = exp.Anonymous(this=name, expressions=values)
        unknown = [
            exp.Is(this=operand(repeated(value)), expression=exp.null())
            for place, value in enumerate(values)
            if call.type(place).nullable
        ]
        if skipping or not unknown:
            return made
        condition = unknown[0] if len(unknown) == 1 else any_of(*unknown)
        return exp.Case(ifs=[exp.If(this=condition, true=exp.null())], default=made)

    return body


def extreme_of_values(name: str, *, skipping: bool = False) -> Callable[[Call], exp.Expression]:
    """Return the body of ``least`` or ``greatest``.

    Args:
        name: a function of two or more values, which is null if one of them is.
        skipping: whether nulls are left out.
    """

    def body(call: Call) -> exp.Expression:
        values = [f"{{{position}}}" for position in range(len(call.operands))]
        if len(values) < 2:
            return call.filled("{0}")
        comparable(call.type(0), call)
        if is_float(call.type(0)) and call.dialect.compares_floats:
            raise UnsupportedPlanError(
                f"{call.function.key} of {call.type(0)} has no exact form in {call.dialect.engine}, which orders NaN "
                "in another way",
                code=Code.TARGET_FUNCTION,
            )
        if skipping:  # any value that isn't null in place of nulls
            known = f"COALESCE({', '.join(values)})"
            values = [f"COALESCE({value}, {known})" for value in values]
        return call.filled(f"{name}({', '.join(values)})")

    return body


def extreme_of_single_values(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of Spark's ``max`` or ``min``, for texts by code points, and for booleans and bytes."""

    def body(call: Call) -> exp.Expression:
        if not isinstance(concrete(call.type(0)), String | Boolean | Binary):
            raise UnsupportedPlanError(
                f"{call.function.key} of {call.type(0)} has no form in {call.dialect.engine}",
                code=Code.TARGET_FUNCTION,
            )
        return call.filled(template)

    return body


def _count(call: Call) -> exp.Expression:
    """Return the number of values that aren't null; each record has one if it is a constant."""
    if call.distinct:
        (value,) = _values(call, order=False)
        return exp.Anonymous(this="COUNT", expressions=[value])
    return call.filled("COUNT(*)" if call.literal(0) is not None else "COUNT({0})")


def is_float(type: Type) -> bool:
    """Whether a type is one of the floating-point numbers."""
    return isinstance(concrete(type), FP32 | FP64)


def decimal_type(type: Type) -> Decimal:
    """Return a type that is a decimal."""
    found = concrete(type)
    assert isinstance(found, Decimal)
    return found


def index_in(position: str) -> Callable[[Call], exp.Expression]:
    """Return the body of ``index_in``; ``position`` is the template of the position from 1, null if there is none."""

    def body(call: Call) -> exp.Expression:
        in_order(exp.null(), call.type(0), call)
        if isinstance(concrete(call.type(0)), FP32 | FP64):
            raise UnsupportedPlanError(f"{call.function.key} of {call.type(0)}")
        found = f"CAST({position} AS BIGINT) - 1"
        known = call.literal(0) is not None
        return call.filled(found if known else f"CASE WHEN NOT {{0}} IS NULL THEN {found} END")

    return body


def shifted(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a shift to the right that keeps the sign; engines differ unless its width is a constant."""

    def body(call: Call) -> exp.Expression:
        width, bits = call.literal(1), 64 if isinstance(concrete(call.output), I64) else 32
        if not isinstance(width, int) or not 0 <= width < bits:
            raise UnsupportedPlanError(
                f"{call.function.key} by a number of bits that is not a constant from 0 to {bits - 1}",
                code=Code.TARGET_FUNCTION,
            )
        return call.filled(template)

    return body


def _rounded(call: Call) -> exp.Expression:
    """Return a decimal rounded half away from zero, as casts to fewer places are."""
    type, places = decimal_type(call.type(0)), call.literal(1)
    if not isinstance(places, int) or places < 0:
        raise UnsupportedPlanError(
            f"{call.function.key} to a number of places that is not a constant of 0 or more", code=Code.TARGET_FUNCTION
        )
    if places >= type.scale or places == decimal_type(call.output).scale:
        return call.filled("CAST({0} AS {output})")
    shorter = Decimal(precision=min(38, type.precision - type.scale + 1 + places), scale=places)
    return call.filled(f"CAST(CAST({{0}} AS {call.dialect.type_text(shorter)}) AS {{output}})")


_PARTS: Final = {
    "YEAR": "YEAR",
    "ISO_YEAR": "ISOYEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "DAY": "DAY",
    "DAY_OF_YEAR": "DOY",
    "ISO_WEEK": "WEEK",
    "MONDAY_DAY_OF_WEEK": "ISODOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
}


def in_zone(template: str, *, without: Set[str] = frozenset()) -> Callable[[Call], exp.Expression]:
    """Return the body of a function in a time zone, its last argument, which is the name of one, as a constant.

    Args:
        template: the value.
        without: names that mean other zones to the engine.
    """

    def body(call: Call) -> exp.Expression:
        zone = call.literal(len(call.operands) - 1)
        if zone not in zoneinfo.available_timezones():
            raise UnsupportedPlanError(
                f"{call.function.key} of a time zone that isn't a constant of the IANA database's names",
                hint="Give the name as a literal, like 'Europe/Berlin'",
                code=Code.TARGET_FUNCTION,
            )
        if zone in without:
            raise UnsupportedPlanError(
                f"{call.function.key} in the time zone {zone}, which {call.dialect.engine} takes for another one",
                hint="Give the name of a city, like 'Europe/Berlin'",
                code=Code.TARGET_FUNCTION,
            )
        return call.filled(template)

    return body


def extracts(
    template: str,
    *,
    second: str = "",
    sunday: str = "",
    names: Mapping[str, str] = MappingProxyType({}),
    zones: bool = False,
    without: Set[str] = frozenset(),
) -> list[Row]:
    """Return the rows of ``extract`` from dates, times and timestamps without a zone, or from those with one.

    Args:
        template: the value of a part, as BIGINT; ``{part}`` is its name.
        second: the template for the whole seconds; empty if it is the same.
        sunday: the template for the day of the week from 0, a Sunday; empty if it is the same.
        names: the dialect's names of parts that it has under others.
        zones: whether the rows are for timestamps with a zone, in which the parts are.
        without: names of zones that mean others to the engine.
    """
    moments: tuple[str, ...] = ("req_date", "req_pts")
    counted: tuple[str, ...] = ("req_req_date", "req_req_pts")
    times: tuple[str, ...] = ("req_pts", "req_pt")
    if zones:
        template = template.replace("{{0}}", "({{0}} AT TIME ZONE {{1}})")
        second, sunday = (text.replace("{0}", "({0} AT TIME ZONE {1})") for text in (second, sunday))
        moments, counted, times = ("req_ptstz_str",), ("req_req_ptstz_str",), ("req_ptstz_str",)
    rows = []
    for part, name in _PARTS.items():
        body = template.format(part=names.get(name, name))
        if part in ("YEAR", "ISO_YEAR"):
            rows.append(row("extract", body, enums={0: part}, signatures=moments))
        elif part in ("HOUR", "MINUTE"):
            rows.append(row("extract", body, enums={0: part}, signatures=times))
        else:
            rows.append(row("extract", body, enums={0: part, 1: "ONE"}, signatures=counted))
            rows.append(row("extract", f"{body} - 1", enums={0: part, 1: "ZERO"}, signatures=counted))
    sunday, seconds = sunday or template.format(part="DOW"), second or template.format(part="SECOND")
    rows.append(row("extract", f"{sunday} + 1", enums={0: "SUNDAY_DAY_OF_WEEK", 1: "ONE"}, signatures=counted))
    rows.append(row("extract", sunday, enums={0: "SUNDAY_DAY_OF_WEEK", 1: "ZERO"}, signatures=counted))
    rows.append(row("extract", seconds, enums={0: "SECOND"}, signatures=times))
    if zones:
        return [replace(item, body=in_zone(item.body, without=without)) for item in rows if isinstance(item.body, str)]
    return rows


_COMPARISON: Final = [
    row("equal", _comparison(exp.EQ, order=False), plain=True),
    row("not_equal", _comparison(exp.NEQ, order=False), plain=True),
    row("lt", _comparison(exp.LT), plain=True),
    row("lte", _comparison(exp.LTE), plain=True),
    row("gt", _comparison(exp.GT), plain=True),
    row("gte", _comparison(exp.GTE), plain=True),
    row("between", _between, plain=True),
    row("is_not_distinct_from", _by_equality(False), plain=True),
    row("is_distinct_from", _by_equality(True), plain=True),
    row("is_null", "{0} IS NULL"),
    row("is_not_null", "NOT {0} IS NULL"),
    row("is_true", "COALESCE({0}, FALSE)"),
    row("is_not_true", "NOT COALESCE({0}, FALSE)"),
    row("is_false", "NOT COALESCE({0}, TRUE)"),
    row("is_not_false", "COALESCE({0}, TRUE)"),
    row("coalesce", "COALESCE({*})"),
    row("least", _extreme_of("LEAST", skipping=False)),
    row("greatest", _extreme_of("GREATEST", skipping=False)),
    row("least_skip_null", _extreme_of("LEAST", skipping=True)),
    row("greatest_skip_null", _extreme_of("GREATEST", skipping=True)),
    row("nullif", _nullif),
]
_TIMES: Final = [
    row("lt", _comparison(exp.LT)),
    row("lte", _comparison(exp.LTE)),
    row("gt", _comparison(exp.GT)),
    row("gte", _comparison(exp.GTE)),
    row("min", _extreme("MIN")),
    row("max", _extreme("MAX")),
]
EXTREMES: Final = [row("min", _extreme("MIN")), row("max", _extreme("MAX"))]
_WINDOWS: Final = [
    row("row_number", "ROW_NUMBER()"),
    row("rank", "RANK()"),
    row("dense_rank", "DENSE_RANK()"),
    row("percent_rank", "PERCENT_RANK()"),
    row("cume_dist", "CUME_DIST()"),
    row("first_value", "FIRST_VALUE({0})"),
    row("last_value", "LAST_VALUE({0})"),
]

STANDARD: Final[Mapping[str, Sequence[Row]]] = {
    f"{_BASE}comparison": _COMPARISON,
    f"{_BASE}boolean": [
        row("and", _connected(all_of, exp.true())),
        row("or", _connected(any_of, exp.false())),
        row("and_not", "{0} AND NOT {1}"),
        row("xor", "{0} <> {1}"),
        row("not", "NOT {0}"),
        row("bool_and", "BOOL_AND({0})"),
        row("bool_or", "BOOL_OR({0})"),
    ],
    f"{_BASE}datetime": _TIMES,
    f"{_BASE}arithmetic": [*EXTREMES, *_WINDOWS],
    f"{_BASE}arithmetic_decimal": EXTREMES,
    f"{_BASE}rounding_decimal": [row("round", _rounded, rounding="TIE_AWAY_FROM_ZERO")],
    f"{_BASE}aggregate_generic": [
        row("count", _count, signatures=("any",), overflow=ALL_VALUES),
        row("count", "COUNT(*)", signatures=("",), overflow=ALL_VALUES),
    ],
    SPARK_ARITHMETIC: [row("round", _rounded, signatures=("dec_i32",))],
    DATAFUSION: EXTREMES,
}
