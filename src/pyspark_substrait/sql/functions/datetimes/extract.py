"""``extract`` and ``extract_boolean``: parts of dates, times and timestamps.

The week of a date belongs to the year of one of its days: for MONDAY_WEEK and SUNDAY_WEEK its first day, for the ISO
week its Thursday, for the US week its Wednesday. So the days before the first Monday of a year are in week 52 or 53 of
the year before, and all weeks are from 1 to 53 (or from 0 to 52), which are the ranges that the specification states.

For an instant, the local time in the zone is used. UNIX_TIME and the fractions of a second are the same in all zones,
but the zone must be valid.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import I32
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.temporal import floored
from pyspark_substrait.sql.compiler.types import units_per_second
from pyspark_substrait.sql.fragment import Atom, filled
from pyspark_substrait.sql.functions.catalyst import CatalystForm, CatalystForms, catalyst, in_zone
from pyspark_substrait.sql.functions.common_expressions import any_null, bound, raised
from pyspark_substrait.sql.functions.datetimes import moments, zone_rules, zones
from pyspark_substrait.sql.functions.table import Body, Call, Foreign, Row, row

__all__ = ["ROWS"]

_DATE: Final = ("req_date", "req_pts", "req_ptstz_str")
_TIME: Final = ("req_pts", "req_ptstz_str", "req_pt")
_INDEXED: Final = ("req_req_date", "req_req_pts", "req_req_ptstz_str")

_MICROS_OF_SECOND: Final = "CAST(extract(SECOND FROM {x}) % 1 * 1000000 AS BIGINT)"
_MONDAY: Final = "trunc(CAST({x} AS DATE), 'WEEK')"
# of the week that begins on Sunday
_ITS_MONDAY: Final = "trunc(date_add(CAST({x} AS DATE), 1), 'WEEK')"
_ITS_WEDNESDAY: Final = f"date_add({_ITS_MONDAY}, 2)"

#: components of a local date
_OF_DATES: Final = {
    "YEAR": "CAST(year({x}) AS BIGINT)",
    "ISO_YEAR": "CAST(extract(YEAROFWEEK FROM {x}) AS BIGINT)",
    "US_YEAR": f"CAST(year({_ITS_WEDNESDAY}) AS BIGINT)",
}
#: components of a local time
_OF_TIMES: Final = {
    "HOUR": "CAST(hour({x}) AS BIGINT)",
    "MINUTE": "CAST(minute({x}) AS BIGINT)",
    "SECOND": "CAST(second({x}) AS BIGINT)",
    "MILLISECOND": f"{_MICROS_OF_SECOND} div 1000L",
    "MICROSECOND": f"{_MICROS_OF_SECOND} % 1000L",
    "SUBSECOND": _MICROS_OF_SECOND,
}
#: components that are counted from one, with an indexing
_FROM_ONE: Final = {
    "QUARTER": "quarter({x})",
    "MONTH": "month({x})",
    "DAY": "day({x})",
    "DAY_OF_YEAR": "dayofyear({x})",
    "MONDAY_DAY_OF_WEEK": "weekday({x}) + 1",
    "SUNDAY_DAY_OF_WEEK": "dayofweek({x})",
    "MONDAY_WEEK": f"(dayofyear({_MONDAY}) + 6) div 7",
    "SUNDAY_WEEK": f"(dayofyear(date_sub({_ITS_MONDAY}, 1)) + 6) div 7",
    "ISO_WEEK": "weekofyear({x})",
    "US_WEEK": f"(dayofyear({_ITS_WEDNESDAY}) + 6) div 7",
}
_LEAP_YEAR: Final = "day(last_day(make_date(year({x}), 2, 1))) = 29"


def _of_time(name: str) -> tuple[CatalystForm, ...]:
    """The Catalyst expressions of a component of instants, timestamps and times."""
    return in_zone(name, returns=I32()), catalyst(name, returns=I32()), catalyst(f"{name}sOfTime", returns=I32())


#: the equivalent Catalyst expressions of a component, by it and the signatures or the indexing of its row
_CATALYST: Final[dict[tuple[str, tuple[str, ...]], CatalystForms]] = {
    ("YEAR", _DATE): catalyst("Year", returns=I32()),
    ("ISO_YEAR", _DATE): catalyst("YearOfWeek", returns=I32()),
    ("HOUR", _TIME): _of_time("Hour"),
    ("MINUTE", _TIME): _of_time("Minute"),
    ("SECOND", _TIME): _of_time("Second"),
}
_INDEXED_CATALYST: Final[dict[tuple[str, str], CatalystForms]] = {
    ("QUARTER", "ONE"): catalyst("Quarter", returns=I32()),
    ("MONTH", "ONE"): catalyst("Month", returns=I32()),
    ("DAY", "ONE"): catalyst("DayOfMonth", returns=I32()),
    ("DAY_OF_YEAR", "ONE"): catalyst("DayOfYear", returns=I32()),
    ("SUNDAY_DAY_OF_WEEK", "ONE"): catalyst("DayOfWeek", returns=I32()),
    ("MONDAY_DAY_OF_WEEK", "ZERO"): catalyst("WeekDay", returns=I32()),
    ("ISO_WEEK", "ONE"): catalyst("WeekOfYear", returns=I32()),
}


def _local(call: Call) -> str:
    """Return the argument as a DATE, TIME or TIMESTAMP_NTZ: for an instant, its local time in the zone."""
    value = _plain(call)
    return zones.local(value, zones.zone(call)) if "timezone" in call.names else value


def _plain(call: Call) -> str:
    position = call.names.index("x")
    return moments.plain(call.type(position), call.sql(position), has_time=call.has("time_from_micros"))


def _of_local(template: str) -> Callable[[Call], str]:
    return lambda call: filled(template, x=_local(call))


def _nothing(call: Call) -> str:
    """Return zero as a BIGINT, null if an argument is null, an error if the zone is invalid."""
    if "timezone" not in call.names:
        return Atom(f"if({call.sql(call.names.index('x'))} IS NULL, NULL, 0L)")
    return f"unix_micros({zones.shown(_plain(call), zones.zone(call))}) % 1L"


def _unix_time(call: Call) -> str:
    position = call.names.index("x")
    precision = moments.precision_of(call.type(position))
    if "timezone" in call.names:
        return f"unix_seconds({_plain(call)}) + {_nothing(call)}"
    if precision is None:
        return floored(zones.micros_of(call.sql(position)), 1_000_000)
    return floored(call.sql(position), units_per_second(precision))


def _behind_micros(digits: int) -> Callable[[Call], str]:
    """Return the nanoseconds (nine digits) or picoseconds (twelve) since the last full unit 1000 times as long."""

    def body(call: Call) -> str:
        position = call.names.index("x")
        precision = moments.precision_of(call.type(position))
        if precision is None or precision <= digits - 3:
            return _nothing(call)
        rest = f"pmod({call.sql(position)}, {units_per_second(precision - digits + 3)}L)"
        if precision < digits:
            rest = f"{rest} * {units_per_second(digits - precision)}L"
        elif precision > digits:
            rest = f"{rest} div {units_per_second(precision - digits)}L"
        return f"{rest} + {_nothing(call)}" if "timezone" in call.names else rest

    return body


def _offset(call: Call, zone: str) -> str:
    """Return the offset of the zone in seconds; before standard time zones, it isn't a multiple of a minute."""
    value = _plain(call)
    return Atom(f"(unix_seconds({zones.shown(value, zone)}) - unix_seconds({value}))")


def _timezone_offset(call: Call) -> str:
    return _offset(call, zones.zone(call))


def _daylight(call: Call) -> str:
    """Return whether the local time differs from the zone's standard time, which the statement contains.

    It is the flag of the time zone database. By that, Ireland and Morocco have daylight saving time when their clocks
    are behind those of the rest of the year.
    """
    position = call.names.index("timezone")
    zone, known = call.sql(position), call.operands[position].literal
    if not isinstance(known, str):
        return _daylight_of_column(call, zone)
    zone = zones.zone(call)
    found = zone_rules.eras(known)
    if found is None:
        raise UnsupportedPlanError(
            f"the time zone database of this machine has no rules of {known!r} for daylight saving time",
            hint="Is that a zone? The package tzdata brings the database",
        )
    if len(found) == 1:
        return f"{_nothing(call)} <> 0L"
    ends = f"array({', '.join(f'{end}L' for end in _ends(found))})"
    standards = f"array({', '.join('NULL' if era.standard is None else str(era.standard) for era in found)})"
    value = call.sql(call.names.index("x"))
    return Atom(f"if({value} IS NULL, NULL, {_differs(call, zone, ends, standards)})")


def _daylight_of_column(call: Call, zone: str) -> str:
    """Return :func:`_daylight` with the rules of all zones in the statement: about 170 thousand characters."""
    found = {name: eras for name in zone_rules.names() if (eras := zone_rules.eras(name)) is not None}
    if not found:
        raise UnsupportedPlanError(
            "this machine has no time zone database with rules for daylight saving time",
            hint="Install the package tzdata",
        )
    rules = {name: [_ends(eras), [era.standard for era in eras]] for name, eras in found.items()}
    text = string_literal(json.dumps(rules, separators=(",", ":")))
    looked_up = f"from_json({text}, 'MAP<STRING, ARRAY<ARRAY<BIGINT>>>')[{zone}]"
    unknown = raised(call, "the time zone database has no rules of the zone")
    value = call.sql(call.names.index("x"))

    def checked(rules: str) -> str:
        differs = _differs(call, zones.zone(call), f"{rules}[0]", f"{rules}[1]")
        return f"CASE WHEN {any_null(value, zone)} THEN NULL WHEN {rules} IS NULL THEN {unknown} ELSE {differs} END"

    return bound(looked_up, "rules", checked("rules"))


def _ends(found: tuple[zone_rules.Era, ...]) -> list[int]:
    """Return the last second of each era except the last era."""
    return [era.start - 1 for era in found if era.start is not None]


def _differs(call: Call, zone: str, ends: str, standards: str) -> str:
    """Return whether the local time differs from the standard time of the era; false if it has none."""
    second = f"unix_seconds({_plain(call)})"
    # the number of eras that are over by then: without a lambda, since the argument may contain a subquery
    over = f"CAST(array_position(sort_array(array_append({ends}, {second})), {second}) - 1 AS INT)"
    return Atom(f"coalesce({_offset(call, zone)} <> {standards}[{over}], false)")


def _extract() -> tuple[Row, ...]:
    bodies: list[tuple[str, tuple[str, ...], Body]] = [
        *((name, _DATE, _of_local(template)) for name, template in _OF_DATES.items()),
        *((name, _TIME, _of_local(template)) for name, template in _OF_TIMES.items()),
        ("NANOSECOND", ("req_pts", "req_ptstz_str"), _behind_micros(9)),
        ("PICOSECOND", ("req_ptstz_str",), _behind_micros(12)),
        ("UNIX_TIME", ("req_date",), "CAST(unix_date({x}) AS BIGINT) * 86400L"),
        ("UNIX_TIME", ("req_pts", "req_ptstz_str"), _unix_time),
        ("TIMEZONE_OFFSET", ("req_ptstz_str",), _timezone_offset),
    ]
    rows = [
        row(
            "extract",
            body,
            signatures=signatures,
            enums={"component": name},
            foreign=Foreign.MOVED,
            catalyst=_CATALYST.get((name, signatures), ()),
        )
        for name, signatures, body in bodies
    ]
    for name, number in _FROM_ONE.items():
        for indexing, template in (("ONE", number), ("ZERO", f"{number} - 1")):
            rows.append(
                row(
                    "extract",
                    _of_local(f"CAST({template} AS BIGINT)"),
                    signatures=_INDEXED,
                    enums={"component": name, "indexing": indexing},
                    foreign=Foreign.MOVED,
                    catalyst=_INDEXED_CATALYST.get((name, indexing), ()),
                )
            )
    return tuple(rows)


ROWS: Final = (
    *_extract(),
    row(
        "extract_boolean",
        _of_local(_LEAP_YEAR),
        signatures=_DATE,
        enums={"component": "IS_LEAP_YEAR"},
        foreign=Foreign.MOVED,
    ),
    row(
        "extract_boolean",
        _daylight,
        signatures=("req_ptstz_str",),
        enums={"component": "IS_DST"},
        foreign=Foreign.MOVED,
    ),
)
