"""The functions of functions_datetime, but for formats, rounding and arithmetic in a time zone."""

from __future__ import annotations

import calendar
import datetime
import zoneinfo
from typing import Final

from pyspark_substrait.model.types import (
    Date,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    concrete,
)
from tests.reference.errors import Failure, NotCovered
from tests.reference.functions.registry import Call, scalar
from tests.reference.values import SECONDS_A_DAY, Value

__all__ = ["months_later", "shifted"]

_HERE: Final = "functions_datetime"
_EPOCH: Final = datetime.date(1970, 1, 1)


def _per_day(type: Type) -> int:
    """The units of a day in a type with a precision; 1 of a date."""
    match concrete(type):
        case Date():
            return 1
        case (
            PrecisionTimestamp(precision=precision)
            | PrecisionTimestampTZ(precision=precision)
            | PrecisionTime(precision=precision)
            | IntervalDay(precision=precision)
        ):
            return SECONDS_A_DAY * int(10**precision)
        case other:
            raise NotCovered(f"a time of type {other}")


def _day(days: int) -> datetime.date:
    try:
        return _EPOCH + datetime.timedelta(days=days)
    except OverflowError:
        raise NotCovered(f"a date {days} days from 1970") from None


def months_later(days: int, months: int) -> int | None:
    """The same day of another month; None if that month has no such day."""
    start = _day(days)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise NotCovered(f"the year {year}")
    if start.day > calendar.monthrange(year, month + 1)[1]:
        return None
    return (datetime.date(year, month + 1, start.day) - _EPOCH).days


def shifted(value: int, type: Type, by: int, interval: Type, result: Type) -> int | None:
    """A date or timestamp, and so much later; None if no day is the result."""
    per_day = _per_day(type)
    days, rest = divmod(value, per_day)
    match concrete(interval):
        case IntervalYear():
            later = months_later(days, by)
            return None if later is None else later * per_day + rest
        case IntervalDay(precision=precision):
            wanted = _per_day(result)
            units = by * wanted
            if units % (SECONDS_A_DAY * 10**precision):
                raise NotCovered("an interval of more digits than the timestamp")
            return int(days * wanted + rest * wanted // per_day + units // (SECONDS_A_DAY * 10**precision))
        case other:
            raise NotCovered(f"an interval of type {other}")


def _added(call: Call, value: int, by: int) -> int:
    type, interval = call.types[0], call.types[1]
    assert type is not None and interval is not None
    if len(call.types) > 2:
        raise call.uncovered("months in a time zone")
    made = shifted(value, type, by, interval, call.type)
    if made is None:
        raise call.open("a day that the month doesn't have")
    return made


@scalar(_HERE, "add")
def _add(call: Call, value: int, interval: int, *zone: str) -> int:
    return _added(call, value, interval)


@scalar(_HERE, "subtract")
def _subtract(call: Call, value: int, interval: int, *zone: str) -> int:
    return _added(call, value, -interval)


@scalar(_HERE, "add_intervals")
def _add_intervals(call: Call, left: int, right: int) -> int:
    return left + right


@scalar(_HERE, "multiply")
def _multiply(call: Call, left: int, right: int) -> int:
    return left * right


# time zones ----------------------------------------------------------------------------------------------------------


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise Failure(f"the time zone {name!r}") from None


def _offset(seconds: int, name: str) -> int:
    """The seconds by which a zone is ahead of UTC at an instant."""
    zone = _zone(name)
    _day(seconds // SECONDS_A_DAY)
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    found = moment.astimezone(zone).utcoffset()
    assert found is not None
    return int(found.total_seconds())


@scalar(_HERE, "local_timestamp")
def _local_timestamp(call: Call, value: int, zone: str) -> int:
    type = call.types[0]
    assert type is not None
    second = _per_day(type) // SECONDS_A_DAY
    return value + _offset(value // second, zone) * second


@scalar(_HERE, "assume_timezone")
def _assume_timezone(call: Call, value: int, zone: str, *precision: int) -> int:
    type = call.types[0]
    assert type is not None
    wanted = _per_day(call.type)
    days, rest = divmod(value, _per_day(type))
    local = days * wanted + rest * wanted // _per_day(type)
    second = wanted // SECONDS_A_DAY
    # the instants whose local time this is: one, but where clocks are changed
    near = {_offset(local // second + hours * 3600, zone) for hours in (-24, 0, 24)}
    found = [local - offset * second for offset in near if _offset(local // second - offset, zone) == offset]
    if len(found) != 1:
        raise call.open("a local time that there is twice or never")
    return found[0]


# components ----------------------------------------------------------------------------------------------------------


def _local(call: Call, arguments: tuple[Value, ...]) -> tuple[int, int, int]:
    """Of the time in the last arguments: days since 1970, units since midnight, and units of a second."""
    position = next(at for at, type in enumerate(call.types) if type is not None)
    type, value = call.types[position], arguments[position]
    assert type is not None
    if isinstance(concrete(type), Date):
        return value, 0, 1
    per_day = _per_day(type)
    second = per_day // SECONDS_A_DAY
    if isinstance(concrete(type), PrecisionTimestampTZ):
        value += _offset(value // second, arguments[position + 1]) * second
    return (*divmod(value, per_day), second)


def _week(day: datetime.date, first: int) -> int:
    """The number of the week that begins on a day (0 is Monday), from the first such day of the year."""
    return (day.timetuple().tm_yday - 1 - (day.weekday() - first) % 7) // 7 + 1


def _epidemiological(day: datetime.date) -> tuple[int, int]:
    """Year and week of the US, whose weeks begin on Sundays and belong to the year that has most of their days."""
    iso = (day + datetime.timedelta(days=1)).isocalendar()
    return iso.year, iso.week


@scalar(_HERE, "extract")
def _extract(call: Call, component: str, *arguments: Value) -> int:
    given = (component, *arguments)
    days, units, second = _local(call, given)
    seconds, fraction = divmod(units, second)
    micros, rest = divmod(fraction * 10**6, second)
    match component.upper():
        case "HOUR":
            return seconds // 3600
        case "MINUTE":
            return seconds // 60 % 60
        case "SECOND":
            return seconds % 60
        case "MILLISECOND":
            return fraction * 10**3 // second
        case "MICROSECOND":
            return micros % 1000
        case "NANOSECOND":
            return fraction * 10**9 // second % 1000
        case "PICOSECOND":
            return fraction * 10**12 // second % 1000
        case "SUBSECOND" if not rest:
            return micros
        case "UNIX_TIME" | "TIMEZONE_OFFSET":
            return _instant(call, given, component.upper())
    day = _day(days)
    match component.upper():
        case "YEAR":
            return day.year
        case "ISO_YEAR":
            return day.isocalendar().year
        case "US_YEAR":
            return _epidemiological(day)[0]
        case _:
            return _counted(call, component.upper(), day) - int(arguments[0] == "ZERO")


def _counted(call: Call, component: str, day: datetime.date) -> int:
    """A component that is counted from 1, or from 0."""
    match component:
        case "QUARTER":
            return (day.month - 1) // 3 + 1
        case "MONTH":
            return day.month
        case "DAY":
            return day.day
        case "DAY_OF_YEAR":
            return day.timetuple().tm_yday
        case "MONDAY_DAY_OF_WEEK":
            return day.isoweekday()
        case "SUNDAY_DAY_OF_WEEK":
            return day.isoweekday() % 7 + 1
        case "ISO_WEEK":
            return day.isocalendar().week
        case "US_WEEK":
            return _epidemiological(day)[1]
        case "MONDAY_WEEK" | "SUNDAY_WEEK":
            week = _week(day, 0 if component == "MONDAY_WEEK" else 6)
            if week < 1:
                raise call.open("a day before the first week")
            return week
        case _:
            raise call.uncovered(component)


def _instant(call: Call, given: tuple[Value, ...], component: str) -> int:
    position = next(at for at, type in enumerate(call.types) if type is not None)
    type, value = call.types[position], given[position]
    assert type is not None
    per_day = _per_day(type)
    if isinstance(concrete(type), PrecisionTimestampTZ):
        seconds = value * SECONDS_A_DAY // per_day
        return _offset(seconds, given[position + 1]) if component == "TIMEZONE_OFFSET" else seconds
    return int(value * SECONDS_A_DAY // per_day)


@scalar(_HERE, "extract_boolean")
def _extract_boolean(call: Call, component: str, *arguments: Value) -> bool:
    given = (component, *arguments)
    if component.upper() != "IS_LEAP_YEAR":
        raise call.uncovered(component)
    return calendar.isleap(_day(_local(call, given)[0]).year)
