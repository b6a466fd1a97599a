"""``strptime_date``, ``strptime_time`` and ``strptime_timestamp``: text as dates, times and timestamps.

Parts that a format lacks are those of 1900-01-01 00:00:00. A part that a format has in several forms is taken from the
first of these that is complete:

- the seconds since 1970 (``%s``); then only a fraction of the second is used additionally
- the day: month and day, day of the year, week of the year and weekday, ISO year and week and weekday
- the year: ``%Y``, or ``%C`` and ``%y``; ``%y`` alone is from 1969 to 2068
- the hour: ``%H``, or ``%I`` and ``%p``
- the zone: ``%z``, ``%Z``, the argument, UTC
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Date, PrecisionTime, PrecisionTimestampTZ, String, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import FINEST, spark_type, units_per_second
from pyspark_substrait.sql.fragment import Constant, atom
from pyspark_substrait.sql.functions.common_expressions import bound, raised
from pyspark_substrait.sql.functions.datetimes import zones
from pyspark_substrait.sql.functions.table import Call, Foreign, Operand, row
from pyspark_substrait.sql.functions.time_formats.conversions import MONTHS, WEEKDAYS
from pyspark_substrait.sql.functions.time_formats.matching import Matching, flattened

__all__ = ["ROWS"]

_SECONDS_OF_DAY = 86_400


def _parsed(value: Callable[[Call, Matching], str]) -> Callable[[Call], str]:
    """Return the body of a function whose result is ``value`` for a text that fits the format."""

    def body(call: Call) -> str:
        format = call.operands[1].literal
        if isinstance(format, str):
            found = Matching(flattened(call.function, format))
            failure = raised(call, f"the text doesn't have the form {format!r}")
            return found.over(call.sql(0), value(call, found), failure)
        if call.operands[1].is_null:
            return Constant(f"CAST(NULL AS {spark_type(call.output)})", None)
        raise UnsupportedPlanError(
            f"{call.function.name}: the format is not a literal",
            hint="What Spark runs is made of the format, so that it must be known before there are any values",
        )

    return body


# functions -----------------------------------------------------------------------------------------------------------


def _date(call: Call, found: Matching) -> str:
    if "s" not in found:
        return _day(call, found)
    days = temporal.floored(f"CAST({found.text('s')} AS BIGINT)", _SECONDS_OF_DAY)
    return f"date_from_unix_date(CAST({days} AS INT))"


def _time(call: Call, found: Matching) -> str:
    type = concrete(call.output)
    assert isinstance(type, PrecisionTime)
    seconds = f"pmod(CAST({found.text('s')} AS BIGINT), {_SECONDS_OF_DAY}L)" if "s" in found else _clock(found)
    units = _units(found, seconds, type.precision)
    if type.precision <= FINEST:
        return f"CAST(time_from_micros({units}) AS {spark_type(type)})"
    if "s" in found or "S" not in found:
        return units
    # a leap second at the end of the day is a time of the next day
    return f"if({seconds} >= {_SECONDS_OF_DAY}, {raised(call, 'the time is not before 24:00:00')}, {units})"


def _timestamp(call: Call, found: Matching) -> str:
    type = concrete(call.output)
    assert isinstance(type, PrecisionTimestampTZ)
    zone = zones.zone(call) if "timezone" in call.names else None
    if zone is not None and {"z", "Z"} & found.values:
        raise UnsupportedPlanError(
            f"{call.function.name}: the format {call.operands[1].literal!r} has a time zone, and one is given besides",
            hint="The specification says that this is an error, and that the first one is used; leave one of them out",
        )
    if "s" not in found:
        seconds = _instant(call, found, zone)
    else:
        seconds = f"CAST({found.text('s')} AS BIGINT)"
        if zone is not None:
            # less than a day isn't a day: it adds nothing, but a null gives null, and an invalid zone fails
            seconds += f" + unix_seconds({_at_home('0L', zone)}) DIV {_SECONDS_OF_DAY}L"
    units = _units(found, seconds, type.precision)
    return f"timestamp_micros({units})" if type.precision <= FINEST else units


# values --------------------------------------------------------------------------------------------------------------


def _instant(call: Call, found: Matching, zone: str | None) -> str:
    """Return the seconds since 1970-01-01 in UTC."""
    local = f"CAST(unix_date({_day(call, found)}) AS BIGINT) * {_SECONDS_OF_DAY}L + {_clock(found)}"
    if "z" in found:
        return f"{local} - {_offset(found.text('z'))}"
    if zone is None and "Z" in found:
        zone = zones.zone(replace(call, operands=(Operand(atom(found.text("Z")), String()),), names=("timezone",)))
    if zone is None:
        return local
    return f"unix_seconds({_at_home(local, zone)})"


def _at_home(sql: str, zone: str) -> str:
    """Return the TIMESTAMP whose local time in a zone is this many seconds after 1970-01-01."""
    return f"to_utc_timestamp(timestamp_seconds({sql}), {zone})"


def _offset(sql: str) -> str:
    """The seconds that an offset like +0130, +01:30, +01 or Z is ahead of UTC."""
    digits = f"rpad(replace({sql}, ':', ''), 5, '0')"
    hours, minutes = (f"CAST(substring({digits}, {start}, 2) AS BIGINT)" for start in (2, 4))
    return f"({hours} * 3600L + {minutes} * 60L) * if(startswith({sql}, '-'), -1L, 1L)"


def _units(found: Matching, seconds: str, precision: int) -> str:
    """Seconds and the fraction, cut to ``precision`` digits, in microseconds or the unit of the carrier."""
    scale = max(FINEST, precision)
    units = f"({seconds}) * {units_per_second(scale)}L"
    if "f" not in found or precision == 0:
        return units
    return f"{units} + CAST(rpad(left({found.text('f')}, {precision}), {scale}, '0') AS BIGINT)"


def _clock(found: Matching) -> str:
    """The seconds since midnight, as a BIGINT."""
    terms = []
    if "H" in found:
        terms.append(f"{found.number('H')} * 3600L")
    elif "I" in found:
        terms.append(f"{found.number('I')} % 12 * 3600L")
        if "p" in found:
            terms.append(f"if(lower({found.text('p')}) = 'pm', 43200L, 0L)")
    if "M" in found:
        terms.append(f"{found.number('M')} * 60L")
    if "S" in found:
        terms.append(f"CAST({found.text('S')} AS BIGINT)")
    return " + ".join(terms) or "0L"


def _day(call: Call, found: Matching) -> str:
    """The DATE."""
    if {"b", "m"} & found.values and "d" in found:
        return f"make_date({_year(found)}, {_month(found)}, {found.number('d')})"
    if "j" in found:
        return _within(call, f"make_date({_year(found)}, 1, 1)", f"{found.number('j')} - 1", "YEAR")
    if {"a", "u", "w"} & found.values:
        for week, first in (("U", 0), ("W", 1)):
            if week in found and {"Y", "y", "C"} & found.values:
                # to the first such weekday, then this many weeks
                before = f"pmod({8 + first} - dayofweek(first), 7)"
                days = f"{before} + ({found.number(week)} - 1) * 7 + {_weekday(found, first)}"
                return _within(call, f"make_date({_year(found)}, 1, 1)", days, "YEAR")
        if "V" in found and {"G", "g"} & found.values:
            year = found.number("G") if "G" in found else _of_century(found.number("g"))
            days = f"({found.number('V')} - 1) * 7 + {_weekday(found, 1)} - weekday(first)"
            return _within(call, f"make_date({year}, 1, 4)", days, "YEAROFWEEK")
    lost = sorted({"U", "W", "V", "G", "g"} & found.values)
    if lost:
        raise UnsupportedPlanError(
            f"{call.function.name}: %{lost[0]} of the format {call.operands[1].literal!r} does not say a day",
            hint="A week is a day together with its year and a weekday: %Y with %U or %W, %G with %V",
        )
    return f"make_date({_year(found)}, {_month(found)}, {found.number('d') if 'd' in found else '1'})"


def _within(call: Call, start: str, days: str, unit: str) -> str:
    """Return the date some days after ``first``, which must be in the same year."""
    failed = raised(replace(call, output=Date()), "there is no such day in the year")
    same = f"extract({unit} FROM day) = extract({unit} FROM first)"
    shifted = bound(f"date_add(first, CAST({days} AS INT))", "day", f"if({same}, day, {failed})")
    return bound(start, "first", shifted)


def _year(found: Matching) -> str:
    if "Y" in found:
        return found.number("Y")
    if "C" in found:
        return f"{found.number('C')} * 100" + (f" + {found.number('y')}" if "y" in found else "")
    return _of_century(found.number("y")) if "y" in found else "1900"


def _month(found: Matching) -> str:
    if "b" in found:
        return _place(found.text("b"), MONTHS, 1)
    return found.number("m") if "m" in found else "1"


def _of_century(sql: str) -> str:
    """A year of two digits from 1969 to 2068."""
    return f"pmod({sql} - 69, 100) + 1969"


def _weekday(found: Matching, first: int) -> str:
    """Return the days since the start of the week, on a Sunday (0) or Monday (1)."""
    if "a" in found:
        sunday = _place(found.text("a"), WEEKDAYS, 0)
    else:
        sunday = found.number("w") if "w" in found else found.number("u")
    return f"pmod({sunday} - {first}, 7)"


def _place(sql: str, names: tuple[str, ...], first: int) -> str:
    """Return the position of a text among names, in any case and possibly only their first three letters."""
    letters = string_literal("".join(name[:3].lower() for name in names))
    return f"CAST(locate(lower(left({sql}, 3)), {letters}) DIV 3 + {first} AS INT)"


# they also return carriers that are counts of units
ROWS = (
    row("strptime_date", _parsed(_date)),
    row("strptime_time", _parsed(_time), foreign=Foreign.MOVED),
    row("strptime_timestamp", _parsed(_timestamp), foreign=Foreign.MOVED),
)
