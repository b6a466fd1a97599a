"""Dates, times and timestamps in the types that Spark computes with, whatever carries them.

Values with more than six fractional digits are a count in a BIGINT. Spark's functions get the time without its last
digits (:func:`plain`); those are appended to the result again (:func:`whole`). Texts are atoms.
"""

from __future__ import annotations

from pyspark_substrait.model.types import PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, Type, concrete
from pyspark_substrait.sql.compiler.temporal import floored, local_of_micros
from pyspark_substrait.sql.compiler.types import FINEST, units_per_second

__all__ = ["plain", "precision_of", "rest", "whole"]


def precision_of(type: Type) -> int | None:
    """The fractional digits of a time or timestamp whose carrier is a count; None for a type that Spark has."""
    match concrete(type):
        case (
            PrecisionTimestamp(precision=precision)
            | PrecisionTimestampTZ(precision=precision)
            | PrecisionTime(precision=precision)
        ) if precision > FINEST:
            return precision
        case _:
            return None


def plain(type: Type, sql: str, *, has_time: bool = True) -> str:
    """Return a value of the type as a DATE, TIME, TIMESTAMP_NTZ or TIMESTAMP, rounded down to microseconds.

    If Spark ``has_time`` not, a time is one of the first day of 1970.

    A count appears twice in the text, that of a time once.
    """
    precision = precision_of(type)
    if precision is None:
        return sql
    step = units_per_second(precision - FINEST)
    match concrete(type):
        case PrecisionTimestamp():
            return local_of_micros(floored(sql, step))
        case PrecisionTimestampTZ():
            return f"timestamp_micros({floored(sql, step)})"
        case _ if not has_time:
            return local_of_micros(f"({sql} DIV {step}L)")
        case _:
            return f"time_from_micros({sql} DIV {step}L)"


def rest(type: Type, sql: str) -> str:
    """Return the part of a count that :func:`plain` drops: its units since the last microsecond, as a BIGINT."""
    precision = precision_of(type)
    assert precision is not None
    return f"pmod({sql}, {units_per_second(precision - FINEST)}L)"


def whole(number: str, units: int, rest: str) -> str:
    """Return ``number * units + rest`` as a BIGINT; it fails only if the result is too large, not an intermediate."""
    return f"CAST(CAST({number} AS DECIMAL(20, 0)) * {units}BD + {rest} AS BIGINT)"
