"""Every aggregate of the standard extensions runs over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.definitions import EnumArgument as EnumParameter
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import AggregateFunction, EnumArgument, Expression
from pyspark_substrait.model.literals import DayTime
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    with_nullability,
)
from tests.spark.plans import INT, col, group, lit, long, plan, project, rows, sort, text, values
from tests.spark.windowing import CURRENT, RANGE, ROWS, UNBOUNDED, after, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.sweep
def test_every_aggregate_runs_over_windows(spark: SparkSession) -> None:
    """Over the window of one record it gives what it gives for the group of that record."""
    nullable: dict[Any, Type] = {type.__class__: with_nullability(type, True) for type in SAMPLES}
    records = [(0, *SAMPLES.values()), (1, *(None for _ in SAMPLES))]
    input = values([INT, *nullable.values()], [(row[0], *map(lit, nullable.values(), row[1:])) for row in records])
    columns: dict[Any, Expression] = {type: col(input, place) for place, type in enumerate(nullable, start=1)}
    window: dict[str, Any] = {"partitions": [col(input, 0)], "sorts": [sort(col(input, 0))]}
    frames = ((ROWS, CURRENT, after(long(1))), (RANGE, UNBOUNDED, CURRENT))
    calls, measures = [], []
    for _, name, overloads in Registry.default().functions():
        for overload in overloads:
            if overload.kind != "aggregate" or "unsigned" in overload.urn:
                continue
            arguments = [_sample(argument, columns) for argument in overload.arguments]
            try:
                measure = aggregate_(name, *arguments, urn=overload.urn)
                ps.to_sql(plan(group(input, [], [measure])))
            except UnsupportedPlanError:
                continue
            measures.append(measure)
            calls += [over(name, *arguments, urn=overload.urn, bounds=bounds, **window) for bounds in frames]
    assert len(measures) > 50
    alone = sorted(rows(spark, group(input, [col(input, 0)], measures)))
    found = sorted(rows(spark, project(input, col(input, 0), *calls)))
    for one, row in zip(alone, found, strict=True):
        for place, (measure, value) in enumerate(zip(measures, one[1:], strict=True)):
            got = row[1 + 2 * place : 3 + 2 * place]
            assert all(other == value for other in got), (measure.function, value, got)


SAMPLES: dict[Type, Any] = {
    I8(): 3,
    I16(): 3,
    I32(): 3,
    I64(): 3,
    FP32(): 1.5,
    FP64(): 1.5,
    Decimal(precision=10, scale=2): "1.25",
    Boolean(): True,
    String(): "a",
    Date(): 19000,
    PrecisionTime(precision=6): 1000,
    PrecisionTimestamp(precision=6): 10**15,
    PrecisionTimestampTZ(precision=6): 10**15,
    IntervalDay(precision=6): DayTime(1, 2, 3),
    IntervalYear(): 14,
}


def _sample(argument: Any, columns: dict[Any, Expression]) -> Any:
    """An argument for a parameter of an aggregate."""
    if isinstance(argument, EnumParameter):
        return EnumArgument(argument.options[0])
    if argument.name == "separator":
        return text(",")
    if argument.name == "n":
        return long(2)
    return columns[_NAMES.get(argument.type.lower().partition("<")[0], I64)]


_NAMES = {
    "i8": I8,
    "i16": I16,
    "i32": I32,
    "fp32": FP32,
    "fp64": FP64,
    "decimal": Decimal,
    "boolean": Boolean,
    "string": String,
    "date": Date,
    "precision_time": PrecisionTime,
    "precision_timestamp": PrecisionTimestamp,
    "precision_timestamp_tz": PrecisionTimestampTZ,
    "interval_day": IntervalDay,
    "interval_year": IntervalYear,
}


def aggregate_(name: str, *arguments: Any, urn: str) -> AggregateFunction:
    """The measure that a call over a window is otherwise."""
    call_ = over(name, *arguments, urn=urn)
    return AggregateFunction(
        function=call_.function, arguments=arguments, output_type=call_.output_type, derived_type=call_.derived_type
    )
