"""Pivots and their reverse out of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark.sql.functions as F
import pytest

from tests.spark.producer.aggregate_data import views
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

__all__ = ["views"]

QUERIES = (
    "SELECT * FROM (SELECT k, g, m FROM t) PIVOT (sum(m) FOR g IN ('x', 'y'))",
    "SELECT * FROM (SELECT k, g, m, b FROM t) PIVOT (sum(m) AS a, max(b) FOR g IN ('x', 'y' AS yy, NULL))",
    "SELECT * FROM (SELECT k, g, m, b FROM t) PIVOT (sum(m) AS a, max(b) AS b FOR g IN ('x' AS one, 'no' AS none))",
    "SELECT * FROM (SELECT g, b FROM t) PIVOT (max(b) FOR g IN ('x', 'y', 'z'))",
    "SELECT * FROM (SELECT g, b FROM e) PIVOT (sum(b) FOR g IN ('x', 'y'))",
    "SELECT * FROM (SELECT k, g, b FROM e) PIVOT (sum(b), count(b) FOR g IN ('x', 'y'))",
    "SELECT * FROM (SELECT k, g, b FROM t) PIVOT (max(b) FOR k IN (1, 2))",
    "SELECT * FROM (SELECT k, g, s, b FROM t) PIVOT (max(b) FOR (k, g) IN ((1, 'x') AS p, (2, 'y')))",
    "SELECT * FROM (SELECT k, s, b FROM t) PIVOT (count(DISTINCT s) FOR k IN (1 AS one, 2 AS two, 7))",
    "SELECT * FROM (SELECT g, b, dt FROM t) PIVOT (sum(b) FOR dt IN (DATE'2020-01-01', DATE'2020-03-01' AS march))",
    "SELECT * FROM (SELECT g, b, m FROM t) PIVOT (sum(b) FOR m IN (1.25, 7))",
    "SELECT * FROM (SELECT g, k, t FROM t) PIVOT (sum(k) FOR t IN (true, false))",
    "SELECT x + 1, y FROM (SELECT k, g, b FROM t) PIVOT (sum(b) FOR g IN ('x', 'y'))",
    "SELECT k, x FROM (SELECT k, g, b FROM t) PIVOT (sum(b) FOR g IN ('x', 'y')) WHERE y IS NOT NULL",
    "SELECT * FROM (SELECT k, g, b FROM t) PIVOT (avg(b), count(*) FOR g IN ('x', 'y'))",
    "SELECT * FROM (SELECT k, g, b FROM t) UNPIVOT (v FOR n IN (k, b))",
    "SELECT * FROM (SELECT k, g, b FROM t) UNPIVOT INCLUDE NULLS (v FOR n IN (k AS kk, b))",
    "SELECT * FROM (SELECT k, g, b FROM t) UNPIVOT EXCLUDE NULLS (v FOR n IN (k, b AS bb)) AS u WHERE v > 1",
    pytest.param(
        "SELECT * FROM (SELECT k, g, b, s FROM t) UNPIVOT ((v, w) FOR n IN ((k, g) AS one, (b, s) AS two))",
        marks=pytest.mark.since("4.2", "Spark itself casts the text to a number, and fails"),
    ),
    "SELECT * FROM (SELECT k, b FROM e) UNPIVOT (v FOR n IN (k, b))",
    "SELECT n, sum(v), count(*) FROM (SELECT k, g, b FROM t) UNPIVOT INCLUDE NULLS (v FOR n IN (k, b)) GROUP BY n",
    "SELECT * FROM (SELECT k FROM t) UNPIVOT INCLUDE NULLS (v FOR n IN (k))",
    "SELECT * FROM (SELECT d, f, g FROM t) UNPIVOT (v FOR n IN (d, f))",
    "SELECT * FROM (SELECT m, w, g FROM t) UNPIVOT (v FOR n IN (m, w))",
)


@pytest.mark.parametrize("query", QUERIES)
def test_pivots(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=views, tolerance=1e-13)


@pytest.mark.parametrize("column", ["g", "k", "b", "dt", "ts", "tz", "m", "d", "t", "f", "y", "s"])
def test_pivots_by_the_values_there_are(spark: SparkSession, views: dict[str, DataFrame], column: str) -> None:
    assert_round_trip(spark, spark.table("t").groupBy("g").pivot(column).agg(F.sum("b")), tables=views)


def test_dataframes(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    t = spark.table("t")
    for frame in (
        t.groupBy().pivot("g").agg(F.sum("b"), F.avg("m")),
        t.groupBy("k").pivot("g", ["x", "y"]).agg(F.max("b"), F.count(F.lit(1))),
        t.groupBy("k").pivot("g", ["x", "y"]).count(),
        t.groupBy(F.col("k") + 1, "t").pivot("g").agg(F.sum("b")),
        t.groupBy("k").pivot("g").agg(F.sum("b") + 1, F.max("b") - F.min("b")),
        t.groupBy("k").pivot("g", []).agg(F.sum("b")),
        t.select("k", "g", "b").unpivot(["g"], ["k", "b"], "n", "v"),
        t.select("k", "b").melt([], ["k", "b"], "n", "v"),
        t.select("k", "b").unpivot("b", None, "n", "v"),
    ):
        assert_round_trip(spark, frame, tables=views, tolerance=1e-13)
