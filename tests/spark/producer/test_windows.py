"""Window functions out of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark.sql.functions as F
import pytest
from pyspark.sql import Window

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.aggregate_data import views
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

__all__ = ["views"]

# an order with no two records in the same place: k, b
QUERIES = (
    "SELECT k, b, row_number() OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, row_number() OVER (PARTITION BY k ORDER BY b DESC NULLS LAST) AS r FROM t",
    "SELECT k, rank() OVER (ORDER BY k), dense_rank() OVER (ORDER BY k DESC) FROM t",
    "SELECT g, m, rank() OVER (PARTITION BY g ORDER BY m, b) FROM t",
    "SELECT k, percent_rank() OVER (ORDER BY k), cume_dist() OVER (ORDER BY k NULLS LAST) FROM t",
    "SELECT k, percent_rank() OVER (PARTITION BY g ORDER BY k), cume_dist() OVER (PARTITION BY g ORDER BY k) FROM t",
    "SELECT k, b, ntile(3) OVER (ORDER BY k, b), ntile(1 + 1) OVER (PARTITION BY g ORDER BY k, b) FROM t",
    "SELECT k, b, ntile(100) OVER (ORDER BY k, b), ntile() OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(b) OVER (ORDER BY k, b), lead(b) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(b, 2) OVER (ORDER BY k, b), lead(s, 3) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(b, -1) OVER (ORDER BY k, b), lead(b, 0) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(s, 1, 'q') OVER (PARTITION BY k ORDER BY b), lead(b, 1, -1) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lead(b, 1, b) OVER (ORDER BY k, b), lag(k + 1, 1, k * 2) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(b) IGNORE NULLS OVER (ORDER BY k, b), lead(t, 2, true) IGNORE NULLS OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, lag(d, 1, 0) RESPECT NULLS OVER (ORDER BY k, b) FROM t",
    "SELECT k, first_value(b) OVER (PARTITION BY k ORDER BY b), last_value(b) OVER (PARTITION BY k ORDER BY b) FROM t",
    "SELECT k, b, first(b) OVER (ORDER BY k, b), last(b, true) OVER (ORDER BY k, b) FROM t",
    "SELECT k, b, first_value(s) IGNORE NULLS OVER (ORDER BY k, b), last_value(b) IGNORE NULLS OVER "
    "(ORDER BY k, b ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) FROM t",
    "SELECT k, b, nth_value(b, 2) OVER (ORDER BY k, b), nth_value(b, 2) IGNORE NULLS OVER (ORDER BY k, b) FROM t",
    "SELECT k, nth_value(b, 1 + 1) OVER (PARTITION BY g ORDER BY k, b ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
    "SELECT k, b, any_value(1) OVER (PARTITION BY k) FROM t",
    "SELECT k, count(*) OVER (), count(b) OVER (PARTITION BY k), count(k, b) OVER (PARTITION BY g) FROM t",
    "SELECT k, sum(b) OVER (PARTITION BY k), sum(k) OVER (), sum(m) OVER (PARTITION BY g), sum(y) OVER () FROM t",
    "SELECT k, avg(b) OVER (PARTITION BY k), avg(m) OVER (PARTITION BY g), avg(k) OVER (), avg(w) OVER () FROM t",
    "SELECT k, min(b) OVER (PARTITION BY k), max(m) OVER (), min(dt) OVER (PARTITION BY g), max(s) OVER () FROM t",
    "SELECT k, stddev(b) OVER (PARTITION BY g), var_pop(k) OVER (), corr(k, b) OVER () FROM t",
    "SELECT k, bool_and(t) OVER (PARTITION BY g), bool_or(t) OVER (), count_if(t) OVER (PARTITION BY k) FROM t",
    "SELECT k, approx_count_distinct(s) OVER (), median(k) OVER (PARTITION BY g), try_sum(m) OVER () FROM t",
    "SELECT k, count(*) FILTER (WHERE b > 5) OVER (PARTITION BY k), sum(b) FILTER (WHERE t) OVER (ORDER BY b) FROM t",
    "SELECT k, max(s) OVER (ORDER BY k, b), max(s) FILTER (WHERE k > 1) OVER (), listagg(s) OVER (ORDER BY s) FROM t",
    "SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY b) OVER (PARTITION BY g), percentile(b, 0.3) OVER () FROM t",
    "SELECT k, collect_list(b) OVER (ORDER BY k, b), max_by(k, b) OVER (PARTITION BY g) FROM t",
    "SELECT k, avg(m) FILTER (WHERE k = 1) OVER (), count(k, b) FILTER (WHERE t) OVER (), "
    "stddev(b) FILTER (WHERE k < 3) OVER () FROM t",
    "SELECT k, b, sum(b) OVER (ORDER BY k, b) AS running, count(*) OVER (ORDER BY k) FROM t",
    "SELECT sum(b) OVER w, rank() OVER v FROM t WINDOW w AS (PARTITION BY k), v AS (ORDER BY k, b)",
    "SELECT k, sum(b), sum(sum(b)) OVER (ORDER BY k), rank() OVER (ORDER BY sum(b) DESC) FROM t GROUP BY k",
    "SELECT k, sum(b) * 100 / sum(sum(b)) OVER () FROM t GROUP BY k",
    "SELECT k, sum(b) OVER (PARTITION BY k) + 1, b - lag(b) OVER (ORDER BY k, b) FROM t",
    "SELECT k, avg(sum(m)) OVER (PARTITION BY g), count(*) FROM t GROUP BY k, g",
    "SELECT * FROM (SELECT k, b, row_number() OVER (PARTITION BY k ORDER BY b) AS r FROM t) WHERE r = 1",
    "SELECT k, b FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY b) = 1",
    "SELECT k, b, rank() OVER (ORDER BY b) AS r FROM t QUALIFY r <= 2 AND b IS NOT NULL",
    "SELECT k, sum(b) AS x FROM t GROUP BY k QUALIFY rank() OVER (ORDER BY x DESC) <= 2",
    "SELECT r, count(*) FROM (SELECT dense_rank() OVER (ORDER BY k) AS r FROM t) GROUP BY r",
    "SELECT max(lag_b) FROM (SELECT lag(b) OVER (ORDER BY k, b) AS lag_b FROM t)",
    "SELECT count(f) FROM (SELECT first_value(b) OVER (ORDER BY k DESC, b) AS f FROM t)",
    "SELECT a.k, a.r, c.r FROM (SELECT k, b, row_number() OVER (ORDER BY k, b) AS r FROM t) a "
    "JOIN (SELECT k, b, row_number() OVER (ORDER BY k, b) AS r FROM t) c ON a.r = c.r + 1",
    "SELECT k, row_number() OVER (PARTITION BY k + 1, g ORDER BY b + 1, s DESC NULLS FIRST) FROM t",
    "SELECT k, CASE WHEN row_number() OVER (ORDER BY k, b) > 2 THEN 'late' ELSE 'early' END FROM t",
    "SELECT k, sum(lag_b) OVER (PARTITION BY g) FROM (SELECT k, g, lag(b) OVER (ORDER BY k, b) AS lag_b FROM t)",
    "SELECT row_number() OVER (ORDER BY d, k, b), rank() OVER (ORDER BY f), rank() OVER (ORDER BY s) FROM t",
    "SELECT k, count(*) OVER (PARTITION BY d), count(*) OVER (PARTITION BY f), count(*) OVER (PARTITION BY bin) FROM t",
    "SELECT k, sum(b) OVER (PARTITION BY k), row_number() OVER (ORDER BY k), max(m) OVER () FROM e",
    "SELECT sum(b) OVER (PARTITION BY 1), count(*) OVER (ORDER BY 'x') FROM t",
)
ORDERED = (
    "SELECT k, b, row_number() OVER (ORDER BY b DESC, k) AS r FROM t ORDER BY r",
    "SELECT k, b, rank() OVER (ORDER BY k) AS r FROM t ORDER BY r DESC, b",
    "SELECT k, rank() OVER (ORDER BY sum(b)) AS r FROM t GROUP BY k ORDER BY r, k",
)


@pytest.mark.parametrize("query", QUERIES)
def test_windows(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=views, tolerance=1e-13)


@pytest.mark.parametrize("query", ORDERED)
def test_order_by_windows(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=views, ordered=True)


def test_dataframes(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    t, by = spark.table("t"), Window.partitionBy("g").orderBy("k", "b")
    for frame in (
        t.withColumn("r", F.row_number().over(by)).where("r = 1"),
        t.select("k", F.lag("b", 2, 7).over(by), F.lead("s").over(by)),
        t.select(F.sum("b").over(by.rowsBetween(-1, Window.currentRow)), F.max("m").over(Window.partitionBy("k"))),
        t.select("k", F.sum("k").over(Window.orderBy("b").rangeBetween(-10, 10))),
        t.select("k", F.collect_list("k").over(by)),
        t.select("k", F.nth_value("b", 2, True).over(by), F.first("b", ignorenulls=True).over(by)),
        t.groupBy("k").agg(F.sum("b").alias("x")).withColumn("y", F.rank().over(Window.orderBy(F.desc("x")))),
    ):
        assert_round_trip(spark, frame, tables=views)


@pytest.mark.since("4.2", "Spark itself takes no filter over a window")
def test_what_has_no_form_over_a_window(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    with pytest.raises(UnsupportedPlanError, match="no filter"):
        ps.to_substrait(spark.sql("SELECT first(b) FILTER (WHERE t) OVER (ORDER BY k, b) FROM t"))
