"""Dates, times and timestamps as counts, for rounding: conversion to BIGINT, and moving by a distance.

A count is of days for a date, else of microseconds, or of the type's own units if those are finer: since 1970-01-01
or since midnight. The count of an instant is that of its local time in a zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.model.types import Date, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.types import FINEST, spark_type, units_per_second
from pyspark_substrait.sql.fragment import Atom, Name
from pyspark_substrait.sql.functions.common_expressions import bound, raised
from pyspark_substrait.sql.functions.datetimes import zones
from pyspark_substrait.sql.functions.table import Call, Operand

__all__ = ["Values", "once"]

_Temporal: TypeAlias = Date | PrecisionTime | PrecisionTimestamp | PrecisionTimestampTZ

_SECONDS: Final = {"WEEK": 604_800, "DAY": 86_400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_PARTS: Final = {"MILLISECOND": 1000, "MICROSECOND": 1_000_000}


def once(value: str, name: str, text: Callable[[str], str]) -> str:
    """Return ``text`` of a value that it uses several times: the value is bound to a name, unless it is cheap."""
    return text(value) if isinstance(value, Atom) and value.cheap else bound(value, name, text(Name(name)))


class Values:
    """The values that a call computes with.

    Args:
        call: the call, whose result has the type of the values.
        zone: the zone whose local time is used, as text; None if there is none, or it is UTC.
    """

    def __init__(self, call: Call, zone: str | None) -> None:
        type = concrete(call.output)
        assert isinstance(type, Date | PrecisionTime | PrecisionTimestamp | PrecisionTimestampTZ)
        self.call = call
        self.zone = zone
        self.type: _Temporal = type
        self._second = 0 if isinstance(type, Date) else units_per_second(max(FINEST, type.precision))

    @property
    def ticks(self) -> Mapping[str, int]:
        """The units of fixed length, with their lengths."""
        if isinstance(self.type, Date):
            return {"WEEK": 7, "DAY": 1}
        whole = {unit: seconds * self._second for unit, seconds in _SECONDS.items()}
        return whole | {unit: self._second // parts for unit, parts in _PARTS.items()}

    @property
    def day(self) -> int:
        """The length of a day."""
        return self.ticks["DAY"]

    @property
    def resolution(self) -> int:
        """The distance between two neighbouring values of the type."""
        return 1 if isinstance(self.type, Date) else units_per_second(max(0, FINEST - self.type.precision))

    @property
    def _fine(self) -> int:
        """The number of units of the carrier in a microsecond: more than one only if the carrier is itself a count."""
        return max(1, self._second // 1_000_000)

    def constant(self, operand: Operand) -> int | None:
        """The count of an argument that is a constant; None if it isn't."""
        known = operand.literal
        return known * self.resolution if isinstance(known, int) and self.zone is None else None

    def count(self, sql: str) -> str:
        """Return the count of a value; the value is repeated only in a zone with units finer than microseconds."""
        if self.zone is not None:
            return self._shown(self._instant(sql))
        match self.type:
            case Date():
                return f"CAST(unix_date({sql}) AS BIGINT)"
            case _ if self._fine > 1:
                return sql
            case PrecisionTimestamp():
                return zones.micros_of(sql)
            case PrecisionTimestampTZ():
                return f"unix_micros({sql})"
            case PrecisionTime():
                return f"time_to_micros({sql})"

    def date(self, count: str) -> str:
        """Return the DATE of a count; the count appears twice."""
        days = count if self.day == 1 else temporal.floored(count, self.day)
        return f"date_from_unix_date(CAST({days} AS INT))"

    def clock(self, count: str) -> str:
        """Return the distance of a count from midnight."""
        return f"pmod({count}, {self.day}L)"

    def moved(self, sql: str, distance: Callable[[str], str]) -> str:
        """Return a value moved by a distance, a whole number of any type that is computed from the value's count."""
        if self.zone is not None:
            return once(self._instant(sql), "i", lambda i: self._from_instant(self._kept(i, distance)))
        if isinstance(self.type, PrecisionTimestamp) and self._fine == 1:
            return once(sql, "x", lambda x: f"({x} + {temporal.interval_of_micros(distance(self.count(x)))})")
        return once(sql, "x", lambda x: self._from_count(_sum(self.count(x), distance(self.count(x)))))

    def _from_count(self, count: str) -> str:
        match self.type:
            case Date():
                return f"date_from_unix_date(CAST({count} AS INT))"
            case PrecisionTime() if self._fine > 1:
                failed = raised(self.call, "the result isn't a time of one day")
                return once(
                    count, "t", lambda t: f"CASE WHEN {t} < 0L OR {t} >= {self.day}L THEN {failed} ELSE {t} END"
                )
            case PrecisionTime():
                return f"CAST(time_from_micros({count}) AS {spark_type(self.type)})"
            case _:
                return self._from_instant(count)

    # instants, as counts of the local time --------------------------------------------------------------------------

    def _instant(self, sql: str) -> str:
        return sql if self._fine > 1 else f"unix_micros({sql})"

    def _from_instant(self, count: str) -> str:
        return count if self._fine > 1 else f"timestamp_micros({count})"

    def _kept(self, i: str, distance: Callable[[str], str]) -> str:
        """Return the instant at a distance from ``i`` in local time; with the same offset, if possible."""
        # n: the local time at i; p: the local time of the result
        moved = f"p - (n - {i})"
        elsewhere = bound(self._shifted("p", "to_utc_timestamp"), "t", f"if(p < n AND t > {i}, {moved}, t)")
        text = f"CASE WHEN {self._shown(moved)} = p THEN {moved} ELSE {elsewhere} END"
        return bound(self._shown(i), "n", bound(_sum("n", distance("n")), "p", text))

    def _shown(self, instant: str) -> str:
        """Return the local time of an instant in the zone."""
        return self._shifted(instant, "from_utc_timestamp")

    def _shifted(self, count: str, function: str) -> str:
        if self._fine == 1:
            return f"unix_micros({function}(timestamp_micros({count}), {self.zone}))"
        micros = temporal.floored(f"({count})", self._fine)
        shifted = f"{count} + (unix_micros({function}(timestamp_micros(f), {self.zone})) - f) * {self._fine}L"
        return f"({bound(micros, 'f', shifted)})"


def _sum(count: str, distance: str) -> str:
    return f"CAST({count} + {distance} AS BIGINT)"
