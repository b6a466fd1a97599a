"""Casts between dates, times, timestamps and intervals. The rules are in ``casts``.

In casts between precisions, a timestamp or time is a count of units of ``10**-max(6, precision)`` seconds.
"""

from __future__ import annotations

from typing import TypeAlias

from pyspark_substrait.model.types import (
    Date,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
)
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.conversion import Conversion
from pyspark_substrait.sql.compiler.types import FINEST, spark_type, units_per_second
from pyspark_substrait.sql.fragment import Atom

__all__ = ["coarser", "compound", "moment", "of_count", "span", "tenth"]

_Moment: TypeAlias = PrecisionTimestamp | PrecisionTimestampTZ | PrecisionTime
_SECONDS_OF_DAY = 86_400


# dates, times and timestamps -----------------------------------------------------------------------------------------


def moment(conversion: Conversion, sql: str) -> str:
    """The cast of a date, time or timestamp into another."""
    match conversion.source, conversion.target:
        case Date(), PrecisionTimestamp(precision=precision) if precision <= FINEST:
            return Atom(f"CAST({sql} AS TIMESTAMP_NTZ)")
        case Date(), PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            return temporal.instant_of_date(sql)
        case Date(), PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return conversion.times(f"CAST(unix_date({sql}) AS BIGINT)", _SECONDS_OF_DAY * units_per_second(precision))
        case PrecisionTimestamp(precision=precision), Date() if precision <= FINEST:
            return Atom(f"CAST({sql} AS DATE)")
        case PrecisionTimestampTZ(precision=precision), Date() if precision <= FINEST:
            return temporal.date_of_instant(sql)
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision), Date():
            days = temporal.floored(sql, _SECONDS_OF_DAY * units_per_second(precision))
            return Atom(f"date_from_unix_date(CAST({days} AS INT))")
        case PrecisionTimestamp(precision=fine), PrecisionTimestamp(precision=coarse) if fine <= FINEST >= coarse:
            return sql if fine <= coarse else coarser(conversion, sql, coarse)
        case (
            (PrecisionTime(precision=fine) | PrecisionTimestamp(precision=fine)),
            PrecisionTime(precision=coarse),
        ) if fine <= FINEST >= coarse:
            return Atom(f"CAST({sql} AS TIME({coarse}))")
        case (PrecisionTime() as source, PrecisionTime() as target):
            return of_count(conversion, _count(source, sql), _scale(source), target)
        case (
            ((PrecisionTimestamp() | PrecisionTimestampTZ()) as source),
            ((PrecisionTimestamp() | PrecisionTimestampTZ()) as target),
        ):
            return of_count(conversion, _count(source, sql), _scale(source), target)
        case (((PrecisionTimestamp() | PrecisionTimestampTZ()) as source), PrecisionTime() as target):
            scale = _scale(source)
            clock = Atom(f"pmod({_count(source, sql)}, {_SECONDS_OF_DAY * units_per_second(scale)}L)")
            return of_count(conversion, clock, scale, target)
        case _:
            raise conversion.no_cast()


def coarser(conversion: Conversion, sql: str, precision: int) -> str:
    """Return a TIMESTAMP_NTZ truncated to ``precision`` digits."""
    if precision == FINEST:
        return sql
    step = units_per_second(FINEST - precision)
    return conversion.bound("t", sql, lambda t: temporal.coarser_local(t, step))


def of_count(conversion: Conversion, sql: str, scale: int, target: _Moment) -> str:
    """A BIGINT of units of ``10**-scale`` seconds (six digits or more) as a time or timestamp, rounded down."""
    precision = target.precision
    count = sql
    if scale > precision:
        count = conversion.bound("n", sql, lambda n: temporal.floored(n, units_per_second(scale - precision)))
        if precision < FINEST:
            count = Atom(f"({count} * {units_per_second(FINEST - precision)}L)")
    elif scale < precision and isinstance(target, PrecisionTime):
        count = Atom(f"({sql} * {units_per_second(precision - scale)}L)")  # a day of the finest units is a BIGINT
    elif scale < precision:
        count = conversion.times(sql, units_per_second(precision - scale))
    if precision > FINEST:
        return count
    match target:
        case PrecisionTimestamp():
            return temporal.local_of_micros(count)
        case PrecisionTimestampTZ():
            return Atom(f"timestamp_micros({count})")
        case PrecisionTime():
            return Atom(f"CAST(time_from_micros({count}) AS {spark_type(target)})")


def _scale(type: _Moment) -> int:
    return max(FINEST, type.precision)


def _count(type: _Moment, sql: str) -> str:
    if type.precision > FINEST:
        return sql
    match type:
        case PrecisionTimestamp():
            return temporal.micros_of_local(sql)
        case PrecisionTimestampTZ():
            return Atom(f"unix_micros({sql})")
        case PrecisionTime():
            return Atom(f"time_to_micros({sql})")


# intervals -----------------------------------------------------------------------------------------------------------


def span(conversion: Conversion, sql: str) -> str:
    """The cast of an interval into another."""
    match conversion.source, conversion.target:
        case IntervalDay() as source, IntervalDay() as target:
            return _days(conversion, sql, source.precision, target.precision)
        case IntervalYear(), IntervalCompound(precision=precision):
            none = _none(precision)
            return Atom(f"if({sql} IS NULL, CAST(NULL AS {conversion.carrier}), {compound(sql, none)})")
        case IntervalDay(precision=fine), IntervalCompound(precision=coarse):
            days = _days(conversion, sql, fine, coarse)
            return conversion.bound(
                "p", days, lambda p: _unless_null(conversion, p, compound("INTERVAL '0-0' YEAR TO MONTH", p))
            )
        case IntervalCompound(precision=precision), IntervalYear():
            return conversion.unless(f"{sql}.f1 <> {_none(precision)}", f"{sql}.f0")
        case IntervalCompound(precision=fine), IntervalDay(precision=coarse):
            return conversion.unless(
                f"{sql}.f0 <> INTERVAL '0-0' YEAR TO MONTH", _days(conversion, f"{sql}.f1", fine, coarse)
            )
        case IntervalCompound(precision=fine), IntervalCompound(precision=coarse):
            days = _days(conversion, f"{sql}.f1", fine, coarse)
            return conversion.bound("p", days, lambda p: _unless_null(conversion, p, compound(f"{sql}.f0", p)))
        case _:
            raise conversion.no_cast()


def compound(months: str, days: str) -> str:
    """Return an interval_compound from its parts."""
    return Atom(f"named_struct('f0', {months}, 'f1', {days})")


def _unless_null(conversion: Conversion, operand: str, sql: str) -> str:
    return Atom(f"if({operand} IS NULL, CAST(NULL AS {conversion.carrier}), {sql})")


def _none(precision: int) -> str:
    """Return an interval_day of length zero."""
    return "INTERVAL '0 00:00:00' DAY TO SECOND" if precision <= FINEST else Atom("CAST(0BD AS DECIMAL(38, 0))")


def _days(conversion: Conversion, sql: str, fine: int, coarse: int) -> str:
    """Return an interval_day in another precision, truncated towards zero."""
    if fine == coarse or fine <= coarse <= FINEST:
        return sql
    if fine <= FINEST and coarse <= FINEST:
        return temporal.coarser_interval(sql, units_per_second(FINEST - coarse))
    if fine <= FINEST:
        count = Atom(f"CAST({temporal.micros_of_interval(sql)} AS DECIMAL(19, 0))")
        return Atom(f"CAST({count} * {units_per_second(coarse - FINEST)}BD AS DECIMAL(38, 0))")
    if fine < coarse:
        return Atom(f"CAST(CAST({sql} AS DECIMAL(31, 0)) * {units_per_second(coarse - fine)}BD AS DECIMAL(38, 0))")
    # 25 digits suffice for the longest interval that a BIGINT of microseconds holds, in the finest units
    narrow = conversion.spark(sql, "DECIMAL(25, 0)")
    step = units_per_second(fine - coarse)

    def cut(n: str) -> str:
        whole = f"({n} - {n} % {step}BD)"
        if coarse > FINEST:
            return Atom(f"CAST({whole} * {tenth(fine - coarse)} AS DECIMAL(38, 0))")
        return temporal.interval_of_micros(conversion.spark(f"{whole} * {tenth(fine - FINEST)}", "BIGINT"))

    return conversion.bound("n", narrow, cut)


def tenth(digits: int) -> str:
    """``10**-digits`` as a decimal."""
    return f"0.{1:0{digits}d}BD"
