"""Dates, times, timestamps and intervals: functions that the function tables can't express."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    ContextVariable,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    I8,
    I32,
    I64,
    Date,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    concrete,
    with_nullability,
)
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.expressions import arithmetic, expression, expressions, zones
from pyspark_substrait.spark.producer.expressions.literals import day_time
from pyspark_substrait.spark.producer.expressions.strings import as_i64, text
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS", "OWN"]

OWN: Final = "extension:pyspark_substrait:functions_spark_datetime"
STANDARD: Final = "functions_datetime"
_DAY: Final = 86_400_000_000
_MOST_DAYS: Final = 3_650_000
_INSTANT: Final = PrecisionTimestampTZ(precision=6)
_LOCAL: Final = PrecisionTimestamp(precision=6)


def micros_of(value: DayTime) -> int:
    """Return the microseconds of an interval."""
    return value.units(6, 6)


def interval_of_micros(micros: int) -> Literal:
    """Return an interval of microseconds as a literal."""
    return Literal(type=IntervalDay(precision=6), value=day_time(micros))


def _is(value: Expression, kind: type[Type]) -> bool:
    return isinstance(concrete(value.type), kind)


def _called(scope: Scope, name: str, *arguments: Expression, urn: str = OWN) -> Expression:
    return scope.production.call(urn, name, arguments)


def local(value: Expression, zone: Literal, scope: Scope) -> Expression:
    """Convert an instant to the local time of a zone; a local time is returned unchanged."""
    return _called(scope, "local_timestamp", value, zone, urn=STANDARD) if _is(value, PrecisionTimestampTZ) else value


# replaced by others --------------------------------------------------------------------------------------------------


def replaced(node: Node, scope: Scope) -> Expression:
    """Translate the expression that Spark itself replaces the node by; nullable if the node is."""
    value = expression(plan_of(node.java.replacement()), scope)
    if value.type.nullable or not node.java.nullable():
        return value
    return Cast(type=with_nullability(value.type, True), input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def tried(node: Node, scope: Scope) -> Expression | None:
    """``TryEval`` of functions that have a variant that returns null for an error."""
    inner = node.children[0]
    name = {"ToTime": "try_to_time", "MakeTimestampNTZ": "try_make_timestamp"}.get(inner.name)
    return None if name is None else _called(scope, name, *expressions(inner.children, scope))


# days and months -----------------------------------------------------------------------------------------------------


def days_added(node: Node, scope: Scope) -> Expression | None:
    """``DateAdd`` and ``DateSub`` of a constant number of days: the addition of an interval."""
    date, days = node.children[0], _known_days(node.children[1])
    if days is None or abs(days) > _MOST_DAYS:
        return None
    value = expression(date, scope)
    name = "add" if node.name == "DateAdd" else "subtract"
    added = scope.production.call(STANDARD, name, (value, interval_of_micros(days * _DAY)))
    return Cast(type=Date(nullable=added.type.nullable), input=added, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _known_days(node: Node) -> int | None:
    """Return the number of days of an expression, if it is constant."""
    match node.name:
        case "Literal" if node.value("value") is not None:
            number = int(node.value("value"))
            return int(number / _DAY) if "interval" in str(node.value("dataType")) else number
        case "ExtractANSIIntervalDays":
            return _known_days(node.children[0])
        case "UnaryMinus":
            found = _known_days(node.children[0])
            return None if found is None else -found
        case _:
            return None


def add_months(node: Node, scope: Scope) -> Expression:
    """``AddMonths``: the addition of an interval."""
    date, months = expressions(node.children, scope)
    match months:
        case Literal(value=int() as number) if abs(number) <= 120_000:
            interval: Expression = Literal(type=IntervalYear(nullable=months.type.nullable), value=number)
        case _:
            interval = _times(months, Literal(type=IntervalYear(), value=1), scope)
    return _called(scope, "add", date, interval, urn=STANDARD)


def _times(number: Expression, interval: Expression, scope: Scope) -> Expression:
    """Multiply an interval by an integer."""
    match number, interval:
        case Literal(value=int() as count), Literal(value=DayTime() as days):
            return interval_of_micros(count * micros_of(days))
        case Literal(value=int() as count), Literal(value=int() as months) if abs(count * months) <= 120_000:
            return Literal(type=IntervalYear(), value=count * months)
        case _:
            return _called(scope, "multiply", number, interval, urn=STANDARD)


def negated(node: Node, scope: Scope) -> Expression | None:
    """``UnaryMinus``; of an interval, the multiplication by -1."""
    if not _is_interval(node.children[0]):
        return arithmetic.FORMS["UnaryMinus"](node, scope)
    return _negative(expression(node.children[0], scope), scope)


_OF_INTERVALS: Final = frozenset(
    {"SubtractDates", "SubtractTimestamps", "SubtractTimes", "MakeDTInterval", "MakeYMInterval", "ScalarSubquery"}
)


def _is_interval(node: Node) -> bool:
    """Whether an expression is an interval; the JVM is only called if intervals occur in it."""
    if "dataType" in node.fields:
        return str(node.value("dataType")).startswith("interval ")
    if not any(one.name in _OF_INTERVALS or "interval" in str(one.value("dataType")) for one in node.walk()):
        return False
    return str(node.java.dataType().catalogString()).startswith("interval ")


def _negative(value: Expression, scope: Scope) -> Expression:
    return _times(Literal(type=I32(), value=-1), value, scope)


def subtracted(node: Node, scope: Scope) -> Expression | None:
    """``Subtract`` of intervals: the addition of the negated one."""
    if not _is_interval(node.children[1]) or node.mode != "ANSI":
        return None
    one, other = expressions(node.children, scope)
    return _called(scope, "add_intervals", one, _negative(other, scope), urn=STANDARD)


def multiplied(node: Node, scope: Scope) -> Expression | None:
    """``MultiplyDTInterval`` and ``MultiplyYMInterval`` by an integer."""
    interval, number = expressions(node.children, scope)
    if str(concrete(number.type)) not in ("i8", "i16", "i32", "i64"):
        return None
    return _times(number, interval, scope)


def interval_added(node: Node, scope: Scope) -> Expression:
    """``TimestampAddInterval``, before Spark 4.1 ``TimeAdd``: full days are calendar days."""
    value, interval = expressions(node.children, scope)
    if not _is(interval, IntervalDay):
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form: it adds an interval of months, days and time at once",
            hint="Add an INTERVAL of years and months, then one of days and time",
        )
    return _later(value, interval, zones.named(node), scope)


def _later(value: Expression, interval: Expression, zone: Literal, scope: Scope) -> Expression:
    match interval:
        case Literal(value=DayTime() as parts) if abs(micros_of(parts)) < _DAY:
            plain = True
        case _:
            plain = not _is(value, PrecisionTimestampTZ) or zones.is_fixed(str(zone.value))
    if plain:
        return _called(scope, "add", value, interval, urn=STANDARD)
    return _called(scope, "add", value, interval, zone)


#: the microseconds, or months, of a unit by its name
_MICROS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": _DAY,
    "DAYOFYEAR": _DAY,
    "WEEK": 7 * _DAY,
}
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def timestamp_add(node: Node, scope: Scope) -> Expression:
    """``TimestampAdd``: adds a number of units."""
    count, value = expressions(node.children, scope)
    unit, zone = str(node.value("unit")).upper(), zones.named(node)
    if unit in _MICROS:
        interval = _times(count, interval_of_micros(_MICROS[unit]), scope)
        if _MICROS[unit] < _DAY:
            return _called(scope, "add", value, interval, urn=STANDARD)
        return _later(value, interval, zone, scope)
    interval = _times(count, Literal(type=IntervalYear(), value=_MONTHS[unit]), scope)
    if _is(value, PrecisionTimestampTZ):
        return _called(scope, "add", value, interval, zone, urn=STANDARD)
    return _called(scope, "add", value, interval, urn=STANDARD)


def timestamp_diff(node: Node, scope: Scope) -> Expression:
    """``TimestampDiff``: the full units between the local times."""
    zone, unit = zones.named(node), str(node.value("unit")).upper()
    start, end = (local(value, zone, scope) for value in expressions(node.children, scope))
    name, size = ("micros_diff", _MICROS[unit]) if unit in _MICROS else ("months_diff", _MONTHS[unit])
    found = _called(scope, name, start, end)
    if size == 1:
        return found
    options = {"on_division_by_zero": "ERROR", "overflow": "ERROR", "on_domain_error": "ERROR"}
    divisor = Literal(type=I64(), value=size)
    return scope.production.call("functions_arithmetic", "divide", (found, divisor), options)


def timestamps_subtracted(node: Node, scope: Scope) -> Expression:
    """``SubtractTimestamps``: the difference of the local times."""
    _not_legacy(node)
    zone = zones.named(node)
    end, start = (local(value, zone, scope) for value in expressions(node.children, scope))
    return _called(scope, "subtract", end, start)


def dates_subtracted(node: Node, scope: Scope) -> None:
    """``SubtractDates``."""
    _not_legacy(node)


def _not_legacy(node: Node) -> None:
    if node.value("legacyInterval"):
        raise UnsupportedPlanError(
            f"`{written(node)}` is an interval of months, days and time at once, which has no Substrait form here",
            hint="Turn spark.sql.legacy.interval.enabled off",
        )


# rounding ------------------------------------------------------------------------------------------------------------

_UNITS: Final[Mapping[str, tuple[str, str, int]]] = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), ("YEAR", "YEAR", 1)),
    "QUARTER": ("MONTH", "YEAR", 3),
    **dict.fromkeys(("MONTH", "MM", "MON"), ("MONTH", "YEAR", 1)),
    "WEEK": ("WEEK", "MONDAY_WEEK", 1),
}
_FINER: Final[Mapping[str, tuple[str, str, int]]] = {
    **dict.fromkeys(("DAY", "DD"), ("DAY", "MONTH", 1)),
    "HOUR": ("HOUR", "DAY", 1),
    "MINUTE": ("MINUTE", "HOUR", 1),
    "SECOND": ("SECOND", "MINUTE", 1),
    "MILLISECOND": ("MILLISECOND", "SECOND", 1),
    "MICROSECOND": ("MICROSECOND", "MILLISECOND", 1),
}


def truncated(node: Node, scope: Scope) -> Expression:
    """``TruncTimestamp`` and ``TruncDate`` to a constant unit; null if there is no such unit."""
    instant = node.name == "TruncTimestamp"
    unit_node, value_node = node.children if instant else reversed(node.children)
    value = expression(value_node, scope)
    unit = expression(unit_node, scope)
    if not isinstance(unit, Literal):
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form: the unit is not a constant", hint="Write the unit as a literal"
        )
    known = {**_UNITS, **_FINER} if instant else _UNITS
    found = known.get(str(unit.value).upper()) if isinstance(unit.value, str) else None
    if found is None:
        return Literal(type=with_nullability(_INSTANT if instant else Date(), True), value=None)
    name, origin, multiple = found
    arguments = (
        value,
        EnumArgument("FLOOR"),
        EnumArgument(name),
        EnumArgument(origin),
        Literal(type=I64(), value=multiple),
    )
    return scope.production.call(STANDARD, "round_calendar", (*arguments, zones.named(node)) if instant else arguments)


# from parts, texts and numbers --------------------------------------------------------------------------------------


def make_timestamp(node: Node, scope: Scope) -> Expression:
    """``MakeTimestamp`` of either type, with a zone or without."""
    parts = expressions(node.children, scope)
    trying = "try_" if node.mode == "LEGACY" else ""
    if node.value("dataType") == "timestamp_ntz":
        return _called(scope, f"{trying}make_timestamp", *parts[:6])
    zone = parts[6:] or (zones.named(node),)
    return _called(scope, f"{trying}make_timestamp_tz", *parts[:6], *zone)


def make_timestamp_of_date(node: Node, scope: Scope) -> Expression:
    """``MakeTimestampFromDateTime``."""
    parts = expressions(node.children, scope)
    if len(parts) < 2:
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: it has a date and no time")
    return _called(scope, "make_timestamp_tz", *(parts if len(parts) == 3 else (*parts, zones.named(node))))


def parsed(node: Node, scope: Scope) -> Expression:
    """``GetTimestamp``: parses a text by a pattern; other arguments are refused."""
    value, pattern = expressions(node.children, scope)
    trying = "try_" if node.mode == "LEGACY" else ""
    wanted = _LOCAL if node.value("dataType") == "timestamp_ntz" else _INSTANT
    if not _is(value, String):
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: its argument is not a string")
    _pattern(pattern, node, scope)
    if wanted is _LOCAL:
        return _called(scope, f"{trying}parse_local_timestamp", value, pattern)
    return _called(scope, f"{trying}parse_timestamp", value, pattern, zones.named(node))


def _pattern(pattern: Expression, node: Node, scope: Scope) -> None:
    """Check that a pattern is a constant with the meaning that it has since Spark 3."""
    if not isinstance(pattern, Literal) or pattern.value is None:
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form: its pattern is not a constant",
            hint="Write the pattern as a literal",
        )
    if scope.production.reads_older_patterns:
        raise UnsupportedPlanError(
            f"the pattern of `{written(node)}` has the meaning of Spark 2, for which there is no function",
            hint="Set spark.sql.legacy.timeParserPolicy to CORRECTED",
        )


def formatted(node: Node, scope: Scope) -> Expression:
    """``DateFormatClass`` and ``FromUnixTime``; the text may contain the session's name of the time zone."""
    value, pattern = expressions(node.children, scope)
    if _is(value, PrecisionTime):
        return _called(scope, "date_format", value, pattern)
    _pattern(pattern, node, scope)
    name = "date_format" if node.name == "DateFormatClass" else "from_unixtime"
    return _called(scope, name, value, pattern, text(str(node.value("timeZoneId"))))


def unix_timestamp(node: Node, scope: Scope) -> Expression:
    """``UnixTimestamp`` and ``ToUnixTimestamp``: the seconds of a text by a pattern, of a date or of a timestamp."""
    value, pattern = expressions(node.children, scope)
    zone = zones.named(node)
    if _is(value, String):
        _pattern(pattern, node, scope)
        name = "try_parse_timestamp" if node.mode == "LEGACY" else "parse_timestamp"
        value = _called(scope, name, value, pattern, zone)
    elif _is(value, Date):
        precision = Literal(type=I8(), value=6)
        value = _called(scope, "assume_timezone", value, zone, precision, urn=STANDARD)
    elif not _is(value, PrecisionTimestampTZ):
        value = _called(scope, "timestamp_micros", _called(scope, "unix_micros", value))
    return _called(scope, "unix_timestamp", value)


def unix_seconds(node: Node, scope: Scope) -> Expression:
    """``UnixSeconds``: the specification's Unix time, which is the same in all zones."""
    value = expression(node.children[0], scope)
    zone = () if isinstance(concrete(value.type), PrecisionTimestamp) else (text("UTC"),)
    return scope.production.call(STANDARD, "extract", (EnumArgument("UNIX_TIME"), value, *zone))


def of_count(name: str) -> Callable[[Node, Scope], Expression]:
    """Return the form of a function that converts a count of units, of any integer type, to an instant."""

    def form(node: Node, scope: Scope) -> Expression:
        return _called(scope, name, as_i64(expression(node.children[0], scope)))

    return form


def precise(node: Node, scope: Scope) -> Expression:
    """``PreciseTimestampConversion``: between timestamps and their microseconds, as time windows use it."""
    value = expression(node.children[0], scope)
    match node.value("toType"):
        case "long":
            return _called(scope, "unix_micros", value)
        case "timestamp":
            return _called(scope, "timestamp_micros", value)
        case _:
            return _called(scope, "local_timestamp_micros", value)


# now -----------------------------------------------------------------------------------------------------------------


def now(node: Node, scope: Scope) -> Expression:
    """``CurrentTimestamp`` and ``Now``."""
    return ExecutionContextVariable(variable=ContextVariable.CURRENT_TIMESTAMP, type=_INSTANT)


def today(node: Node, scope: Scope) -> Expression:
    """``CurrentDate``."""
    return ExecutionContextVariable(variable=ContextVariable.CURRENT_DATE, type=Date())


def local_now(node: Node, scope: Scope) -> Expression:
    """``LocalTimestamp``: the current local time in the zone."""
    return local(now(node, scope), zones.named(node), scope)


def time_now(node: Node, scope: Scope) -> Expression:
    """``CurrentTime``: the current local time of the day in the zone, truncated to the precision."""
    match expression(node.children[0], scope):
        case Literal(value=int() as precision):
            type = PrecisionTime(precision=precision)
            return Cast(type=type, input=local_now(node, scope), failure_behavior=FailureBehavior.THROW_EXCEPTION)
        case _:
            raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: its precision is not a constant")


def zone_converted(node: Node, scope: Scope) -> Expression | None:
    """``ConvertTimezone`` from the session's time zone: that of the session in which the query was made."""
    if node.children[0].name != "CurrentTimeZone":
        return None
    zone = text(scope.production.session.conf.get("spark.sql.session.timeZone"))
    return _called(scope, "convert_timezone", zone, *expressions(node.children[1:], scope))


def current_zone(node: Node, scope: Scope) -> Expression:
    """``CurrentTimeZone``."""
    return ExecutionContextVariable(variable=ContextVariable.CURRENT_TIMEZONE, type=String())


FORMS: Final = {
    "DateAdd": days_added,
    "DateSub": days_added,
    "AddMonths": add_months,
    "UnaryMinus": negated,
    "Subtract": subtracted,
    "MultiplyDTInterval": multiplied,
    "MultiplyYMInterval": multiplied,
    "TimestampAddInterval": interval_added,
    "TimeAdd": interval_added,
    "TimestampAdd": timestamp_add,
    "TimestampDiff": timestamp_diff,
    "SubtractTimestamps": timestamps_subtracted,
    "SubtractDates": dates_subtracted,
    "TruncTimestamp": truncated,
    "TruncDate": truncated,
    "MakeTimestamp": make_timestamp,
    "MakeTimestampFromDateTime": make_timestamp_of_date,
    "ParseToTimestamp": replaced,
    "ParseToDate": replaced,
    "TryEval": tried,
    "KnownNullable": lambda node, scope: expression(node.children[0], scope),
    "GetTimestamp": parsed,
    "DateFormatClass": formatted,
    "FromUnixTime": formatted,
    "UnixTimestamp": unix_timestamp,
    "ToUnixTimestamp": unix_timestamp,
    "UnixSeconds": unix_seconds,
    "MillisToTimestamp": of_count("timestamp_millis"),
    "MicrosToTimestamp": of_count("timestamp_micros"),
    "PreciseTimestampConversion": precise,
    "CurrentTimestamp": now,
    "Now": now,
    "CurrentDate": today,
    "LocalTimestamp": local_now,
    "ConvertTimezone": zone_converted,
    "CurrentTime": time_now,
    "CurrentTimeZone": current_zone,
}
