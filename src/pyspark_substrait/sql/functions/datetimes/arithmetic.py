"""``add`` and ``subtract`` of a date or timestamp and an interval, and the conversions with a time zone argument.

A month added to the end of a month gives the end of the shorter month. Days are 24 hours. Months are added to an
instant on the calendar of the zone; the result keeps the instant's offset to UTC, if clocks of the zone show that time
with it (so that adding no month changes nothing); else the rules of ``zones`` for gaps and overlaps apply.

Any result that Spark or the carrier can hold is returned, also outside of the years 1 to 9999; others are errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark_substrait.model.types import Type
from pyspark_substrait.sql.compiler.temporal import floored
from pyspark_substrait.sql.compiler.types import FINEST, units_per_second
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.catalyst import CatalystForms, ansi, in_zone
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.datetimes import moments, zones
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, row

__all__ = ["ROWS"]

_SECONDS_OF_DAY: Final = 86_400


def _months(operator: str) -> Callable[[Call], str]:
    """Return a timestamp plus or minus months."""

    def body(call: Call) -> str:
        value, months = call.sql(0), call.sql(1)
        precision = moments.precision_of(call.type(0))
        if precision is None:
            return f"{value} {operator} {months}"
        day = _SECONDS_OF_DAY * units_per_second(precision)
        date = f"date_from_unix_date(CAST({floored(value, day)} AS INT))"
        return moments.whole(f"unix_date({date} {operator} {months})", day, f"pmod({value}, {day}L)")

    return body


def _months_in_zone(operator: str) -> Callable[[Call], str]:
    """Return an instant plus or minus months, on the calendar of a zone."""

    def body(call: Call) -> str:
        value, months, zone = moments.plain(call.type(0), call.sql(0)), call.sql(1), zones.zone(call)

        def shifted(shown: str) -> str:
            """Return the instant plus or minus the months, given its local time."""
            wanted = f"({shown} {operator} {months})"
            same_offset = f"timestamp_micros(unix_micros({value}) + {zones.micros_between(shown, wanted)})"

            def checked(instant: str) -> str:
                kept = f"{zones.local(instant, zone)} = {wanted}"
                return f"CASE WHEN {kept} THEN {instant} ELSE {zones.instant(wanted, zone)} END"

            return bound(same_offset, "instant", checked("instant"))

        return _with_rest(call, bound(zones.local(value, zone), "shown", shifted("shown")))

    return body


def _with_rest(call: Call, instant: str) -> str:
    """Return a TIMESTAMP as the result, with the digits of the first argument that Spark doesn't compute with.

    A count is the same for an instant and for its local time in UTC.
    """
    precision = moments.precision_of(call.type(0))
    if precision is None:
        return instant
    rest = moments.rest(call.type(0), call.sql(0))
    return moments.whole(f"unix_micros({instant})", units_per_second(precision - FINEST), rest)


def _days(operator: str) -> Callable[[Call], str]:
    """Return a date, timestamp or instant plus or minus days, hours and so on."""

    def body(call: Call) -> str:
        value, interval = call.sql(0), call.sql(1)
        match call.function.signature:
            case "pts_iday" if not _is_count(call.output):
                return f"{value} {operator} {interval}"
            case "ptstz_iday" if not _is_count(call.output):
                # Spark would add days on the calendar of the session's zone
                return Atom(f"timestamp_micros(unix_micros({value}) {operator} {zones.micros_of_interval(interval)})")
            case "date_iday" if not _is_count(call.output):
                # Spark would add whole days to a date as days, and the rest as a timestamp with zone
                return f"CAST({value} AS TIMESTAMP_NTZ) {operator} {interval}"
            case "date_iday":
                day = _SECONDS_OF_DAY * units_per_second(moments.precision_of(call.output) or FINEST)
                return Atom(
                    f"CAST(CAST(unix_date({value}) AS DECIMAL(20, 0)) * {day}BD {operator} {interval} AS BIGINT)"
                )
            case _:
                return Atom(f"CAST({value} {operator} {interval} AS BIGINT)")

    return body


def _is_count(type: Type) -> bool:
    return moments.precision_of(type) is not None


def _local_timestamp(call: Call) -> str:
    precision = moments.precision_of(call.type(0))
    value, zone = moments.plain(call.type(0), call.sql(0)), zones.zone(call)
    return zones.local(value, zone) if precision is None else _with_rest(call, zones.shown(value, zone))


def _assume_timezone(call: Call) -> str:
    return _with_rest(call, zones.instant(moments.plain(call.type(0), call.sql(0)), zones.zone(call)))


def _midnight(call: Call) -> str:
    """Return the instant of midnight on the date in the zone; in a gap, by the rules of ``zones``."""
    instant = zones.instant(f"CAST({call.sql(0)} AS TIMESTAMP_NTZ)", zones.zone(call))
    precision = moments.precision_of(call.output)
    return instant if precision is None else f"unix_seconds({instant}) * {units_per_second(precision)}L"


def _shifts(
    name: str,
    operator: str,
    date: CatalystForms = (),
    timestamp: CatalystForms = (),
    instant: CatalystForms = (),
) -> tuple[Row, ...]:
    """Return the rows of an operator, and the equivalent Catalyst expressions with months."""
    return (
        row(name, f"{{x}} {operator} {{y}}", signatures=("date_iyear",), catalyst=date),
        row(name, _months(operator), signatures=("pts_iyear",), foreign=Foreign.MOVED, catalyst=timestamp),
        row(
            name,
            _months_in_zone(operator),
            signatures=("ptstz_iyear_str",),
            foreign=Foreign.MOVED,
            catalyst=instant,
        ),
        row(name, _days(operator), signatures=("pts_iday", "ptstz_iday", "date_iday"), foreign=Foreign.MOVED),
    )


ROWS: Final = (
    *_shifts(
        "add",
        "+",
        date="DateAddYMInterval",
        timestamp="TimestampAddYMInterval",
        instant=in_zone("TimestampAddYMInterval"),
    ),
    *_shifts("subtract", "-"),
    # the interval may become longer than those that a plan can contain, up to the limits of the carrier
    row("multiply", "{y} * {x}", foreign=Foreign.MOVED),
    row("add_intervals", "{x} + {y}", foreign=Foreign.MOVED, catalyst=ansi("Add")),
    row("local_timestamp", _local_timestamp, foreign=Foreign.MOVED),
    row("assume_timezone", _assume_timezone, signatures=("pts_str",), foreign=Foreign.MOVED),
    row("assume_timezone", _midnight, signatures=("date_str_i8",), foreign=Foreign.MOVED),
)
