"""Dates, times, instants and intervals to integers and back, as Spark SQL text that is independent of time zones.

Many of Spark's conversions use the session's time zone: casts between TIMESTAMP and TIMESTAMP_NTZ, DATE or STRING,
the difference of two TIMESTAMPs, ``timestampdiff``. These don't. A count of microseconds is a BIGINT, from
1970-01-01 00:00:00 (in UTC for an instant). Operands are atoms, and so are the texts.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.sql.fragment import Atom

__all__ = [
    "MICROS_OF_DAY",
    "coarser_interval",
    "coarser_local",
    "date_of_instant",
    "floored",
    "fraction_of_interval",
    "instant_of_date",
    "instant_of_local",
    "interval_of_micros",
    "local_of_instant",
    "local_of_micros",
    "micros_of_interval",
    "micros_of_local",
    "months_of_interval",
    "seconds_of_interval",
    "seconds_of_local",
]

MICROS_OF_DAY: Final = 86_400_000_000

_EPOCH: Final = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def interval_of_micros(sql: str) -> str:
    """A BIGINT as an INTERVAL DAY TO SECOND."""
    return Atom(f"(INTERVAL '0.000001' SECOND * {sql})")


def seconds_of_interval(sql: str) -> str:
    """The whole seconds of an INTERVAL DAY TO SECOND, cut towards zero, as a BIGINT."""
    return Atom(f"CAST(CAST({sql} AS INTERVAL SECOND) AS BIGINT)")


def fraction_of_interval(sql: str) -> str:
    """The microseconds of an INTERVAL DAY TO SECOND beyond its whole seconds, with its sign, as a BIGINT."""
    # Spark gives an interval's seconds as an integer, or with a fraction as a decimal, which takes five times as long
    return seconds_of_interval(f"(({sql} - INTERVAL '1' SECOND * {seconds_of_interval(sql)}) * 1000000)")


def micros_of_interval(sql: str) -> str:
    """An INTERVAL DAY TO SECOND as a BIGINT; the operand appears three times."""
    return Atom(f"({seconds_of_interval(sql)} * 1000000L + {fraction_of_interval(sql)})")


def months_of_interval(sql: str) -> str:
    """An INTERVAL YEAR TO MONTH as an INT."""
    return Atom(f"CAST(CAST({sql} AS INTERVAL MONTH) AS INT)")


def local_of_micros(sql: str) -> str:
    """A BIGINT as a TIMESTAMP_NTZ."""
    return Atom(f"({_EPOCH} + {interval_of_micros(sql)})")


def micros_of_local(sql: str) -> str:
    """A TIMESTAMP_NTZ as a BIGINT; the operand appears three times."""
    return micros_of_interval(f"({sql} - {_EPOCH})")


def seconds_of_local(sql: str) -> str:
    """The seconds since 1970-01-01 of a TIMESTAMP_NTZ that has no fraction, as a BIGINT."""
    return seconds_of_interval(f"({sql} - {_EPOCH})")


def coarser_local(sql: str, step: int) -> str:
    """A TIMESTAMP_NTZ rounded down to a multiple of ``step`` microseconds, a divisor of a second."""
    rest = f"pmod({fraction_of_interval(f'({sql} - {_EPOCH})')}, {step}L)"
    return Atom(f"({sql} - {interval_of_micros(rest)})")


def coarser_interval(sql: str, step: int) -> str:
    """An INTERVAL DAY TO SECOND truncated to a multiple of ``step`` microseconds, a divisor of a second."""
    return Atom(f"({sql} - {interval_of_micros(f'({fraction_of_interval(sql)} % {step}L)')})")


def local_of_instant(sql: str) -> str:
    """A TIMESTAMP as the TIMESTAMP_NTZ of its time in UTC."""
    return local_of_micros(f"unix_micros({sql})")


def instant_of_local(sql: str) -> str:
    """A TIMESTAMP_NTZ in UTC as a TIMESTAMP; the operand appears three times."""
    return Atom(f"timestamp_micros({micros_of_local(sql)})")


def date_of_instant(sql: str) -> str:
    """The DATE of a TIMESTAMP in UTC."""
    return Atom(f"CAST({local_of_instant(sql)} AS DATE)")


def instant_of_date(sql: str) -> str:
    """The TIMESTAMP of the start of a DATE in UTC."""
    return Atom(f"timestamp_micros(CAST(unix_date({sql}) AS BIGINT) * {MICROS_OF_DAY}L)")


def floored(sql: str, divisor: int) -> str:
    """A BIGINT divided by a divisor, rounded down; the operand appears twice."""
    return Atom(f"({sql} DIV {divisor}L - CAST({sql} % {divisor}L < 0L AS BIGINT))")
