"""DataFusion's intervals and durations: sums, means, and how they move timestamps.

An interval_day is a duration there; the days of an interval_compound are 24 hours here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import IntervalDay, Type, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.casts_temporal import compound
from pyspark_substrait.sql.compiler.types import FINEST, spark_type, units_per_second
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import any_null, bound
from pyspark_substrait.sql.functions.engines.datafusion.counts import (
    DAY,
    NANOS,
    NANOS_OF_DAY,
    interval_nanos,
    of_count,
    units_of,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]

#: DataFusion's month, where an interval is a number of seconds
_DAYS_OF_MONTH: Final = 30


def _precision(type: Type) -> int:
    return getattr(concrete(type), "precision", 0)


def _units(type: Type, sql: str) -> str:
    """An interval_day in microseconds, or in finer units if it has them."""
    return sql if _precision(type) > FINEST else bound(Atom(sql), "d", temporal.micros_of_interval("d"))


def _of_units(units: str, type: Type) -> str:
    """The interval_day of as many microseconds, or finer units."""
    if _precision(type) > FINEST:
        return Atom(f"CAST({units} AS DECIMAL(38, 0))")
    return temporal.interval_of_micros(Atom(f"CAST({units} AS BIGINT)"))


# arithmetic ----------------------------------------------------------------------------------------------------------


def combined(operator: str) -> Callable[[Call], str]:
    """Return the sum or the difference of two intervals, part by part."""

    def body(call: Call) -> str:
        if isinstance(concrete(call.output), IntervalDay):
            units = (_units(call.type(position), call.sql(position)) for position in (0, 1))
            return _of_units(f" {operator} ".join(units), call.output)
        fields = {"x": call.sql(0), "y": call.sql(1)}
        days = f"v.x.f1 {operator} v.y.f1"
        if _precision(call.output) > FINEST:
            days = f"CAST({days} AS DECIMAL(38, 0))"
        whole = compound(f"v.x.f0 {operator} v.y.f0", days)
        return let("v", fields, f"if({any_null('v.x', 'v.y')}, CAST(NULL AS {spark_type(call.output)}), {whole})")

    return body


def negated(call: Call) -> str:
    if isinstance(concrete(call.output), IntervalDay):
        return Atom(f"(-{call.sql(0)})")
    days = "CAST(-x.f1 AS DECIMAL(38, 0))" if _precision(call.output) > FINEST else "-x.f1"
    return bound(call.sql(0), "x", f"if(x IS NULL, CAST(NULL AS {spark_type(call.output)}), {compound('-x.f0', days)})")


def moved(call: Call) -> str:
    """Return a duration and a timestamp with the same units added up."""
    duration, type = call.type(0), call.type(1)
    count = f"CAST({_units(duration, call.sql(0))} AS BIGINT)"
    return of_count(Atom(f"({units_of(type, call.sql(1))} + {count})"), call.output)


# aggregates ----------------------------------------------------------------------------------------------------------


def total(call: Call) -> str:
    if isinstance(concrete(call.output), IntervalDay):
        sum = call.aggregate("sum", call.sql(0))
        return Atom(f"CAST({sum} AS DECIMAL(38, 0))") if _precision(call.output) > FINEST else sum
    if call.distinct:
        raise UnsupportedPlanError("DataFusion's sum of distinct intervals")
    months, days = (call.aggregate("sum", f"{call.sql(0)}.{field}") for field in ("f0", "f1"))
    if _precision(call.output) > FINEST:
        days = f"CAST({days} AS DECIMAL(38, 0))"
    count = call.aggregate("count", f"{call.sql(0)}.f0")
    return Atom(f"if({count} = 0L, CAST(NULL AS {spark_type(call.output)}), {compound(months, days)})")


def average(call: Call) -> str:
    """Return the mean of durations, cut to their units."""
    coarser = max(FINEST - _precision(call.output), 0)
    units = f"CAST({_units(call.output, call.aggregate('sum', call.sql(0)))} AS DECIMAL(38, 0))"
    count = f"CAST(nullif({call.aggregate('count', call.sql(0))}, 0L) AS DECIMAL(38, 0))"
    mean = f"({units} DIV ({count} * {10**coarser}BD))"
    return _of_units(f"{mean} * {10**coarser}L" if coarser else mean, call.output)


# conversions ---------------------------------------------------------------------------------------------------------


def duration(call: Call) -> str:
    """Return the duration of a number of its units."""
    finer = max(FINEST - _precision(call.output), 0)
    return _of_units(f"{call.sql(0)} * {10**finer}L" if finer else call.sql(0), call.output)


def epoch(call: Call) -> str:
    """Return the seconds of an interval, with months of 30 days."""
    months = temporal.months_of_interval(f"{call.sql(0)}.f0")
    nanos = interval_nanos(call, 0)
    day = f"{NANOS_OF_DAY}BD"
    days = f"CAST({months} * {_DAYS_OF_MONTH}L + {nanos} DIV {day} AS DOUBLE) * {DAY}D"
    return Atom(f"({days} + CAST({nanos} % {day} AS DOUBLE) / {units_per_second(NANOS)}D)")


_INTERVALS: Final = ("icompound_icompound", "iday_iday")

ROWS = (
    row("add", combined("+"), signatures=_INTERVALS, foreign=Foreign.MOVED),
    row("subtract", combined("-"), signatures=_INTERVALS, foreign=Foreign.MOVED),
    row("negate", negated, signatures=("icompound", "iday"), foreign=Foreign.MOVED),
    row("add", moved, signatures=("iday_pts", "iday_ptstz"), foreign=Foreign.MOVED),
    row("sum", total, signatures=("icompound", "iday"), foreign=Foreign.MOVED),
    row("avg", average, signatures=("iday",), foreign=Foreign.MOVED),
    row("epoch", epoch, signatures=("icompound",), foreign=Foreign.MOVED),
    *(row(f"to_duration_{unit}", duration, foreign=Foreign.MOVED) for unit in ("seconds", "millis", "micros", "nanos")),
)
