"""The frames of windows out of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import BoundsType, WindowFunction
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Project
from tests.spark.producer.aggregate_data import views
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["views"]

FRAMES = (
    "ORDER BY k, b",
    "ORDER BY k",
    "PARTITION BY g",
    "PARTITION BY g ORDER BY k, b ROWS UNBOUNDED PRECEDING",
    "ORDER BY k, b ROWS 1 PRECEDING",
    "ORDER BY k, b ROWS CURRENT ROW",
    "ORDER BY k, b ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ORDER BY k, b ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ORDER BY k, b ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ORDER BY k, b ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY k, b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ORDER BY k, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "ORDER BY k, b ROWS BETWEEN 1 + 1 PRECEDING AND CURRENT ROW",
    "ORDER BY k, b ROWS BETWEEN 0 PRECEDING AND 2147483647 FOLLOWING",
    "ORDER BY k DESC, b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ORDER BY k RANGE UNBOUNDED PRECEDING",
    "ORDER BY k RANGE CURRENT ROW",
    "ORDER BY k, g RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ORDER BY k DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ORDER BY k NULLS LAST RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
    "ORDER BY k DESC NULLS FIRST RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "ORDER BY b RANGE BETWEEN 10 PRECEDING AND 5 FOLLOWING",
    "ORDER BY b RANGE BETWEEN 5 + 5 PRECEDING AND 10L FOLLOWING",
    "ORDER BY y % 10Y RANGE BETWEEN 2Y PRECEDING AND CURRENT ROW",
    "ORDER BY h RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY m RANGE BETWEEN 1.25 PRECEDING AND 2.50 FOLLOWING",
    "ORDER BY m RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ORDER BY f RANGE BETWEEN CAST(0.5 AS FLOAT) PRECEDING AND CURRENT ROW",
    "ORDER BY d RANGE BETWEEN 2.5D PRECEDING AND 1D FOLLOWING",
    "ORDER BY dt RANGE BETWEEN 1 PRECEDING AND 40 FOLLOWING",
    "ORDER BY dt RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 2 DAY FOLLOWING",
    "ORDER BY dt RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW",
    "ORDER BY dt DESC RANGE BETWEEN INTERVAL '1-2' YEAR TO MONTH PRECEDING AND CURRENT ROW",
    "ORDER BY ts RANGE BETWEEN INTERVAL 12 HOUR PRECEDING AND INTERVAL 1 HOUR FOLLOWING",
    "ORDER BY ts RANGE BETWEEN INTERVAL '1 12:00:00' DAY TO SECOND PRECEDING AND CURRENT ROW",
    "ORDER BY ts RANGE BETWEEN INTERVAL 2 MONTH PRECEDING AND CURRENT ROW",
    "ORDER BY tz RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '1' SECOND FOLLOWING",
    "ORDER BY tz RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' DAY PRECEDING",
    "ORDER BY k * 2 RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
)


@pytest.mark.parametrize("frame", FRAMES)
def test_frames(spark: SparkSession, views: dict[str, DataFrame], frame: str) -> None:
    calls = ("count(*)", "sum(b)", "min(k)")
    query = ", ".join(f"{call} OVER ({frame})" for call in calls)
    assert_round_trip(spark, f"SELECT k, b, {query} FROM t", tables=views)


@pytest.mark.parametrize(
    "frame", ["ORDER BY k, b ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "ORDER BY b RANGE 5 PRECEDING"]
)
def test_positions_in_frames(spark: SparkSession, views: dict[str, DataFrame], frame: str) -> None:
    calls = ("first(b)", "last(b)", "nth_value(b, 2)", "first_value(b) IGNORE NULLS", "last_value(b) IGNORE NULLS")
    query = ", ".join(f"{call} OVER ({frame})" for call in calls)
    assert_round_trip(spark, f"SELECT k, b, {query} FROM t", tables=views)


@pytest.mark.parametrize(
    ("frame", "type"),
    [
        ("ORDER BY k", BoundsType.RANGE),
        ("PARTITION BY k", BoundsType.ROWS),
        ("ORDER BY k ROWS 1 PRECEDING", BoundsType.ROWS),
    ],
)
def test_default_frames_are_written_out(
    spark: SparkSession, views: dict[str, DataFrame], frame: str, type: BoundsType
) -> None:
    plan = assert_round_trip(spark, f"SELECT sum(k) OVER ({frame}) FROM t", tables=views)
    root = plan.relations[-1]
    assert isinstance(root, RelRoot)
    found = [root.input]
    while found[-1].inputs:
        found.append(found[-1].inputs[0])
    windows = [
        expression
        for node in found
        if isinstance(node, Project)
        for expression in node.expressions
        if isinstance(expression, WindowFunction)
    ]
    assert [window.bounds_type for window in windows] == [type]


def test_days_of_a_zone_with_summer_time_are_refused(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        with pytest.raises(UnsupportedPlanError, match="Europe/Berlin"):
            ps.to_substrait(spark.sql("SELECT count(*) OVER (ORDER BY tz RANGE INTERVAL '1' DAY PRECEDING) FROM t"))
        ps.to_substrait(spark.sql("SELECT count(*) OVER (ORDER BY tz RANGE INTERVAL '1' HOUR PRECEDING) FROM t"))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
