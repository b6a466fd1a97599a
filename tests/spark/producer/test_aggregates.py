"""Aggregates out of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark.sql.functions as F
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.aggregate_data import views
from tests.spark.producer.round_trips import assert_round_trip, assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

__all__ = ["views"]

#: over records, over none, in groups
CALLS = (
    "count(*), count(1), count(b), count(k, b), count(DISTINCT b), count(DISTINCT k, s), count(NULL)",
    "count(DISTINCT d), count(DISTINCT f), count(DISTINCT array(k))",
    "count(DISTINCT struct(k, s)), count(DISTINCT 1), count(s, t, d), count(b + 1)",
    "sum(k), sum(b), sum(y), sum(h), sum(f), sum(d), sum(m), sum(w), sum(1), sum(DISTINCT k), sum(DISTINCT m)",
    "avg(k), avg(b), avg(y), avg(h), avg(f), avg(d), avg(m), avg(w), avg(DISTINCT k), avg(DISTINCT m)",
    "avg(CAST(m AS DECIMAL(28, 10))), avg(CAST(k AS DECIMAL(3, 0))), sum(CAST(m AS DECIMAL(38, 5)))",
    "min(k), min(b), min(y), min(h), min(f), min(d), min(m), min(w), min(dt), min(ts), min(tz)",
    "max(k), max(b), max(y), max(h), max(f), max(d), max(m), max(w), max(dt), max(ts), max(tz)",
    "bool_and(t), bool_or(t), every(t), any(t), some(t), bool_and(k > 1), bool_or(DISTINCT t)",
    "count_if(t), count_if(b > 5), count_if(NULL), count_if(DISTINCT t)",
    "stddev(b), stddev_samp(k), stddev_pop(k), variance(k), var_samp(b), var_pop(m), std(f)",
    pytest.param(
        "corr(k, b), corr(f, m), corr(k, k)", marks=pytest.mark.since("4.3", "an error where all values are equal")
    ),
    "approx_count_distinct(s), approx_count_distinct(k), approx_count_distinct(d)",
    "median(k), median(b), median(m), median(f), median(y)",
    "mode(k) IS NULL, mode(k + 0L) IS NULL, mode(1)",
    "try_sum(m), try_avg(b), try_avg(m), try_avg(d), try_sum(d)",
    "sum(b) FILTER (WHERE t), count(*) FILTER (WHERE k = 1), avg(m) FILTER (WHERE b > 5 OR t IS NULL)",
    "count(DISTINCT s) FILTER (WHERE b > 5), sum(DISTINCT k) FILTER (WHERE m > 0), min(b) FILTER (WHERE false)",
    "sum(b + k), sum(CASE WHEN t THEN b ELSE 0 END), max(b - k), avg(m * 2), sum(m * k)",
    "sum(b) + count(*), sum(b) + 1, sum(k) > 3 AND count(b) > 1, CASE WHEN count(*) > 0 THEN sum(k) END",
    "max(b) - min(b), sum(m) - min(m), sum(k) + sum(k), CAST(sum(k) AS STRING)",
    "min(dt - INTERVAL '1' DAY), max(INTERVAL '1' YEAR) > INTERVAL '1' MONTH, 'x', 1 + 1",
    "min(s), max(t), min(bin), max(struct(k, s)), min(array(k)), max(s) FILTER (WHERE k = 1)",
    "sum(INTERVAL '1' DAY * k) > INTERVAL '2' DAY, avg(INTERVAL '1' YEAR * k) > INTERVAL '1-1' YEAR TO MONTH",
    "avg(CAST(w AS DECIMAL(38, 10))), avg(CAST(m AS DECIMAL(30, 5))), try_avg(CAST(w AS DECIMAL(38, 10)))",
    "try_sum(b), try_sum(y), max_by(b, k), min_by(k, m), covar_pop(k, b), skewness(b), bit_or(k)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY b DESC), mode() WITHIN GROUP (ORDER BY k)",
    "listagg(s, ',') WITHIN GROUP (ORDER BY s, b), percentile(k, 0.3)",
    "any_value(1), any_value(k) IS NULL, any_value(k, true) IS NULL, any_value(CAST(NULL AS DATE))",
)
PLACES = ("FROM t", "FROM e", "FROM t GROUP BY k")

QUERIES = (
    "SELECT k, count(*) FROM t GROUP BY k",
    "SELECT k, k AS again, count(*), k + 1 FROM t GROUP BY k",
    "SELECT k + 1, count(*), (k + 1) * 2 FROM t GROUP BY k + 1",
    "SELECT count(*), k FROM t GROUP BY 2",
    "SELECT k * 2 AS twice, count(*) FROM t GROUP BY twice",
    "SELECT k, g, count(*) FROM t GROUP BY ALL",
    "SELECT k, g FROM t GROUP BY k, g",
    "SELECT DISTINCT k, t FROM t",
    "SELECT k FROM t GROUP BY k, k",
    "SELECT k FROM t GROUP BY k, g",
    "SELECT 'x' AS x, count(*) FROM t GROUP BY 'x'",
    "SELECT d, count(*) FROM t GROUP BY d",
    "SELECT f, max(k) FROM t GROUP BY f",
    "SELECT m, w, count(*) FROM t GROUP BY m, w",
    "SELECT s, count(*) FROM t GROUP BY s",
    "SELECT bin, count(*) FROM t GROUP BY bin",
    "SELECT dt, ts, tz, count(*) FROM t GROUP BY dt, ts, tz",
    "SELECT count(*) FROM (SELECT struct(k, s) AS st FROM t) GROUP BY st",
    "SELECT st.k, count(*) FROM (SELECT struct(k, s) AS st FROM t) GROUP BY st.k",
    "SELECT k, sum(b) FROM t GROUP BY k HAVING sum(b) > 5",
    "SELECT k FROM t GROUP BY k HAVING count(*) > 1",
    "SELECT k, sum(b) AS total FROM t GROUP BY k HAVING total > 5 AND k IS NOT NULL",
    "SELECT sum(b) FROM t HAVING count(*) > 100",
    "SELECT 1 FROM t HAVING true",
    "SELECT 1 FROM e HAVING true",
    "SELECT k, sum(b) FROM t GROUP BY k ORDER BY sum(b) DESC NULLS LAST, k",
    "SELECT k FROM t GROUP BY k ORDER BY count(*), k",
    "SELECT max(total) FROM (SELECT k, sum(b) AS total FROM t GROUP BY k)",
    "SELECT count(*) FROM (SELECT DISTINCT k FROM t)",
    "SELECT a.k, count(*) FROM t a JOIN t c ON a.k = c.k GROUP BY a.k",
    "SELECT a.k, c.k, sum(c.b) FROM t a LEFT JOIN t c ON a.b = c.b GROUP BY a.k, c.k",
    "SELECT k, (SELECT max(b) FROM t) AS top FROM t GROUP BY k",
    "SELECT k, sum(b) FROM t WHERE b > (SELECT avg(b) FROM t WHERE k < 3) GROUP BY k",
    "SELECT k FROM t o GROUP BY k HAVING EXISTS (SELECT 1 FROM t i WHERE i.k > o.k)",
    "SELECT k, sum(b) FROM t o GROUP BY k HAVING sum(b) > (SELECT avg(b) FROM t i WHERE i.k = o.k)",
    "SELECT sum(CAST(s AS INT)) FROM t WHERE false",
    "SELECT sum(try_cast(s AS INT)), count(try_cast(s AS INT)) FROM t",
    "SELECT k, sum(b), try_sum(m), sum(m) FROM t GROUP BY k",
    "SELECT g, min(b) AS b FROM t GROUP BY g",
    "SELECT upper_s, count(*) FROM (SELECT s AS upper_s FROM t) GROUP BY upper_s",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("calls", CALLS)
def test_aggregate_functions(spark: SparkSession, views: dict[str, DataFrame], calls: str, place: str) -> None:
    assert_round_trip(spark, f"SELECT {calls} {place}", tables=views, tolerance=1e-13)


@pytest.mark.parametrize("query", QUERIES)
def test_groups(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=views, tolerance=1e-13)


def test_dataframes(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    t = spark.table("t")
    for frame in (
        t.groupBy("k").agg(F.sum("b"), F.avg("m").alias("mean"), F.count_distinct("s", "t")),
        t.groupBy("k", F.col("b") + 1).count(),
        t.agg({"b": "max", "k": "avg"}),
        t.select("k", "g").distinct(),
        t.groupBy().sum("k", "b"),
        t.groupBy("g").agg(F.expr("count(*) FILTER (WHERE b > 5)"), F.sum_distinct("k")),
    ):
        assert_round_trip(spark, frame, tables=views, tolerance=1e-13)


def test_modes_of_overflow(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    huge = "SELECT sum(x) FROM VALUES (9223372036854775807L), (1L) AS t (x)"
    plan = ps.to_substrait(spark.sql(huge))
    with pytest.raises(Exception, match=r"(?i)overflow"):
        ps.from_substrait(plan, spark).collect()
    assert_round_trip(spark, "SELECT sum(x) FROM VALUES (9223372036854775807L), (-1L) AS t (x)")


LEGACY = (
    "SELECT sum(x), avg(x) FROM VALUES (9223372036854775807L), (1L) AS v (x)",
    "SELECT sum(x), sum(DISTINCT x) FROM VALUES (-9223372036854775808L), (-1L), (-9223372036854775808L) AS v (x)",
    "SELECT sum(x), avg(x) FROM VALUES (99999999999999999999999999999999999999BD), (1BD) AS v (x)",
    "SELECT sum(m), avg(m), sum(CAST(w AS DECIMAL(38, 10))), sum(f), avg(k), stddev(k), median(b) FROM t",
    "SELECT k, sum(b) OVER (ORDER BY k, b), avg(m) OVER (PARTITION BY g) FROM t",
    "SELECT k, g, sum(k), sum(b) FROM t GROUP BY ROLLUP(k, g)",
)


@pytest.mark.parametrize("query", LEGACY)
def test_plans_made_without_ansi_mode(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    before = str(spark.conf.get("spark.sql.ansi.enabled"))
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frame = spark.sql(query)
        expected, plan = rows(frame), ps.to_substrait(frame, tables=tuple(views))
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert_same(rows(ps.from_substrait(plan, spark, tables=views)), expected, tolerance=1e-13)


def test_time_windows(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    assert_round_trip(spark, "SELECT window(ts, '1 day').start, count(*) FROM t GROUP BY 1", tables=views)
    assert_round_trip(spark, "SELECT sum(b) FROM t GROUP BY window(ts, '2 day', '1 day')", tables=views)
    with pytest.raises(UnsupportedPlanError, match="session_window"):
        ps.to_substrait(spark.table("t").groupBy(F.session_window("ts", "1 hour")).count())


def test_products(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    for view in ("t", "e"):
        assert_round_trip(spark, spark.table(view).agg(F.product("k"), F.product("m")), tables=views, tolerance=1e-13)


def test_statistics_of_one_record_are_refused_where_they_are_nan(
    spark: SparkSession, views: dict[str, DataFrame]
) -> None:
    spark.conf.set("spark.sql.legacy.statisticalAggregate", "true")
    try:
        with pytest.raises(UnsupportedPlanError, match="statisticalAggregate"):
            ps.to_substrait(spark.sql("SELECT stddev(b) FROM t"))
    finally:
        spark.conf.unset("spark.sql.legacy.statisticalAggregate")


def test_sums_and_averages_of_short_decimals_out_of_an_optimized_plan(spark: SparkSession) -> None:
    """Spark's optimizer computes them of whole numbers, and makes decimals of these; the plan says what is meant."""
    table = "(VALUES (1, 1.25), (1, 2.50), (2, NULL), (2, 0.01), (3, NULL)) AS t (k, x)"
    d = "CAST(x AS DECIMAL(7, 2))"
    grouped = f"""
        SELECT k, sum({d}), avg({d}), sum({d}) FILTER (WHERE x > 2), sum(DISTINCT {d})
        FROM {table} GROUP BY k
    """
    windows = f"""
        SELECT k, x, sum({d}) OVER (PARTITION BY k), avg({d}) OVER (PARTITION BY k ORDER BY x NULLS FIRST),
          sum(sum({d})) OVER (ORDER BY k) FROM {table} GROUP BY k, x
    """
    subquery = f"SELECT k FROM {table} WHERE x > (SELECT avg({d}) * 1.2 FROM {table})"
    longer = f"""
        SELECT k, avg(CAST({d} AS DECIMAL(11, 2))) > 1.5, sum(CAST({d} AS DECIMAL(8, 2))) + 1, avg({d}) < 2.25
        FROM {table} GROUP BY k
    """
    both = {"sum", "avg"}
    for query, wanted in ((grouped, both), (windows, both), (subquery, {"avg"}), (longer, both)):
        optimized = spark.sql(query)._jdf.queryExecution().optimizedPlan().toString()
        assert "UnscaledValue" in optimized, "the rule has a name for each of them"
        plan = assert_round_trip(spark, query, optimized=True)
        text = ps.explain(plan)
        assert all(f"{name}(" in text for name in wanted) and "fp64" not in text
