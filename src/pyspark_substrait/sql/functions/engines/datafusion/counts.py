"""DataFusion's dates, times, timestamps and intervals as numbers of seconds, or of parts of one."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Date, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, Type, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.types import FINEST, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.table import Call

__all__ = ["DAY", "NANOS", "NANOS_OF_DAY", "decimal_nanos", "digits_of", "interval_nanos", "of_count", "units_of"]

DAY: Final = 86_400
"""The seconds of a day."""

NANOS: Final = 9
"""The digits of DataFusion's finest seconds."""

NANOS_OF_DAY: Final = DAY * 10**NANOS


def digits_of(type: Type) -> int:
    """The digits of the seconds in which :func:`units_of` counts a time or timestamp: six or more."""
    return max(FINEST, getattr(concrete(type), "precision", 0))


def units_of(type: Type, sql: str) -> str:
    """A date, time or timestamp as a BIGINT of microseconds, or of finer units if it has them."""
    match concrete(type):
        case Date():
            return Atom(f"(CAST(unix_date({sql}) AS BIGINT) * {DAY * 10**FINEST}L)")
        case PrecisionTime(precision=precision):
            return Atom(f"time_to_micros({sql})") if precision <= FINEST else sql
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            return bound(sql, "t", temporal.micros_of_local("t"))
        case PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            return Atom(f"unix_micros({sql})")
        case _:
            return sql


def of_count(count: str, type: Type) -> str:
    """A count as a timestamp of the type; its units are those of the type."""
    match concrete(type):
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            local = temporal.local_of_micros(count)
            step = 10 ** (FINEST - precision)
            return local if step == 1 else bound(local, "t", temporal.coarser_local("t", step))
        case PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            return Atom(f"timestamp_micros({count})")
        case PrecisionTime(precision=precision) if precision <= FINEST:
            return Atom(f"CAST(time_from_micros({count}) AS {spark_type(type)})")
        case _:
            return count


def interval_nanos(call: Call, position: int) -> str:
    """The time of an interval_compound, with its days, as a DECIMAL(38, 0) of nanoseconds."""
    type = concrete(call.type(position))
    precision: int = getattr(type, "precision", 0)
    value = f"{call.sql(position)}.f1"
    if precision <= FINEST:
        micros = bound(Atom(value), "d", temporal.micros_of_interval("d"))
        return Atom(f"(CAST({micros} AS DECIMAL(25, 0)) * 1000BD)")
    if precision > NANOS:
        raise UnsupportedPlanError(f"{type} with a date or timestamp, whose precision DataFusion doesn't have")
    scale = 10 ** (NANOS - precision)
    return (
        Atom(f"CAST({value} AS DECIMAL(30, 0))")
        if scale == 1
        else Atom(f"(CAST({value} AS DECIMAL(30, 0)) * {scale}BD)")
    )


def decimal_nanos(type: Type, sql: str) -> str:
    """A time or timestamp as a DECIMAL of nanoseconds."""
    digits = digits_of(type)
    if digits > NANOS:
        raise UnsupportedPlanError(f"{type} in a function of DataFusion, which doesn't have this precision")
    return Atom(f"(CAST({units_of(type, sql)} AS DECIMAL(25, 0)) * {10 ** (NANOS - digits)}BD)")
