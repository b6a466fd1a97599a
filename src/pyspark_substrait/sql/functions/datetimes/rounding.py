"""``round_temporal`` and ``round_calendar``: dates, times and timestamps rounded to a multiple of a unit.

**The grid.** It has a point for every whole number ``k``: the origin and ``k * multiple`` units. The origin of
``round_temporal`` is an argument. That of ``round_calendar`` is the start of the unit, named by its argument
``origin``, in which the value lies: the first of January of its year, its full hour, the Monday of its week
(``MONDAY_WEEK``, ``ISO_WEEK``) or the Sunday (``SUNDAY_WEEK``, ``US_WEEK``; each pair differs only in how weeks are
numbered). Any unit goes with any origin, years may be counted from a full minute. The grid doesn't end with the unit
in which it starts: the first multiple of five hours at or after 23:00, counted from the start of the day, is
01:00 of the next day.

**Units.** A week has 7 days, a day 24 hours and so on. A year has 12 months. A number of months later is the same day
of another month, or that month's last day if it is shorter, counted from the origin: from 31 January, the grid of
months has 29 February and then 31 March.

**The choice.** A value that is a point of the grid doesn't change. Otherwise FLOOR is the last point before it and CEIL
the first one after it. The other two take the nearer of these; if they are equally far, ROUND_TIE_DOWN takes the
earlier and ROUND_TIE_UP the later one. Distances are measured in time.

**Zones.** In a zone, everything is computed with local times: the local times of the value and the origin are rounded
as if there were no zone, distances included, and the result is the instant with the resulting local time. Of two such
instants (clocks were put back) it is the one with the value's own offset from UTC, which is the nearer one, or else the
earlier. If there is none (clocks were put forward), the local time is moved forward by the length of the gap; but
backward, if it is a point before the value that would come after it otherwise.

**Errors.** The specification doesn't define them: a multiple below one, and a result that the type can't hold. That may
be beyond the end of the day for a time, beyond the years of a timestamp, or between two values of the type (a
multiple of 700 milliseconds as a timestamp of whole seconds).
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Date, PrecisionTimestamp, with_nullability
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.types import FINEST
from pyspark_substrait.sql.functions.common_expressions import any_null, raised
from pyspark_substrait.sql.functions.datetimes import zones
from pyspark_substrait.sql.functions.datetimes.rounding_grids import (
    MONTHS,
    Step,
    anchor,
    by_months,
    by_steps,
    elapsed,
    since,
)
from pyspark_substrait.sql.functions.datetimes.rounding_values import Values, once
from pyspark_substrait.sql.functions.table import Call, Foreign, Operand, Row, row

__all__ = ["ROWS"]

#: the interval of a unit: the unit in which it is written, how many of those it has, and how many are surely possible
_INTERVALS: Final = {
    "YEAR": ("MONTH", 12, 120_000),
    "MONTH": ("MONTH", 1, 120_000),
    "WEEK": ("DAY", 7, 3_650_000),
    "DAY": ("DAY", 1, 3_650_000),
    "HOUR": ("HOUR", 1, 3_650_000),
    "MINUTE": ("MINUTE", 1, 3_650_000),
    "SECOND": ("SECOND", 1, 3_650_000),
}
#: names of UTC, whose clocks need no zone rules
_UTC: Final = ("UTC", "Etc/UTC")


def rounded(call: Call) -> str:
    """The body of both functions: an error if the multiple isn't positive."""
    multiple = _argument(call, "multiple")
    if isinstance(multiple.literal, int) and multiple.literal > 0:
        return _zoned(call, multiple.literal)
    given = any_null(*(item.sql for item in call.operands if item.type is not None))
    failed = raised(call, "the multiple must be one or more")
    if isinstance(multiple.literal, int):
        return f"CASE WHEN {given} THEN NULL ELSE {failed} END"
    return f"CASE WHEN {given} THEN NULL WHEN {multiple.sql} < 1L THEN {failed} ELSE {_zoned(call, multiple.sql)} END"


def _zoned(call: Call, multiple: int | str) -> str:
    if "timezone" not in call.names or _argument(call, "timezone").literal in _UTC:
        return _rounded(call, Values(call, None), multiple)
    return once(zones.zone(call), "z", lambda zone: _rounded(call, Values(call, zone), multiple))


def _rounded(call: Call, values: Values, multiple: int | str) -> str:
    """Return the value, moved by its distance from the chosen point of the grid."""
    x, rounding, unit = call.sql(0), call.sql(1), call.sql(2)
    origin = _argument(call, "origin")
    if origin.type is None:
        day = anchor(values, unit, multiple, origin.sql)
        constant = None if day is None else day * values.day
    else:
        constant = values.constant(origin)
    bucket = _bucket(values, call, multiple, constant)
    if bucket is not None:
        return bucket

    def start(n: str) -> str:
        """Return the start of the grid for a count."""
        if constant is not None:
            return f"{constant}L"
        if origin.type is not None:
            return values.count(origin.sql)
        # a unit may start before the smallest possible value
        return f"(CAST({n} AS DECIMAL(20, 0)) - {elapsed(values, origin.sql, n)})"

    def distance(n: str) -> str:
        if unit in MONTHS:
            return by_months(values, rounding, unit, multiple, n, start)
        step = Step(multiple, values.ticks[unit])
        if constant is None and origin.type is None:
            return by_steps(values, rounding, step, elapsed(values, origin.sql, n))
        return by_steps(values, rounding, step, since(step, n, start(n) if constant is None else constant))

    return values.moved(x, distance)


def _bucket(values: Values, call: Call, multiple: int | str, origin: int | None) -> str | None:
    """Round down with Spark's function for it, which takes constants; None where it doesn't apply."""
    x, rounding, unit = call.sql(0), call.sql(1), call.sql(2)
    if (
        not call.has("time_bucket")
        or rounding != "FLOOR"
        or unit not in _INTERVALS
        or origin is None
        or isinstance(multiple, str)
    ):
        return None
    name, factor, most = _INTERVALS[unit]
    if multiple * factor > most:
        return None
    start = literal(Literal(type=with_nullability(values.type, False), value=origin // values.resolution))
    interval = f"INTERVAL '{multiple * factor}' {name}"
    match values.type:
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            return f"time_bucket({interval}, {x}, {start})"
        case Date() if unit in MONTHS:
            return f"CAST(time_bucket({interval}, CAST({x} AS TIMESTAMP_NTZ), CAST({start} AS TIMESTAMP_NTZ)) AS DATE)"
        case _:
            return None


def _argument(call: Call, name: str) -> Operand:
    return call.operands[call.names.index(name)]


ROWS: Final[tuple[Row, ...]] = (
    row("round_temporal", rounded, foreign=Foreign.MOVED),
    row("round_calendar", rounded, foreign=Foreign.MOVED),
)
