"""ROLLUP, CUBE and GROUPING SETS out of Spark: one aggregate with several groupings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark.sql.functions as F
import pytest

from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Aggregate, Expand, Relation
from tests.spark.producer.aggregate_data import views
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from pyspark_substrait.documents import Plan

__all__ = ["views"]

QUERIES = (
    "SELECT k, g, count(*) FROM t GROUP BY ROLLUP(k, g)",
    "SELECT k, g, sum(b), avg(m) FROM t GROUP BY CUBE(k, g)",
    "SELECT k, g, t, count(*), grouping_id() FROM t GROUP BY CUBE(k, g, t)",
    "SELECT k, g, count(*) FROM t GROUP BY GROUPING SETS ((k, g), (g), ())",
    "SELECT k, g, count(*) FROM t GROUP BY GROUPING SETS ((k), (g))",
    "SELECT k, g, count(*) FROM t GROUP BY k, g GROUPING SETS ((k, g), (k))",
    "SELECT k, g, count(*) FROM t GROUP BY k, g WITH ROLLUP",
    "SELECT k, g, count(*) FROM t GROUP BY k, g WITH CUBE",
    "SELECT k, g, t, count(*) FROM t GROUP BY k, ROLLUP(g, t)",
    "SELECT k, g, t, count(*) FROM t GROUP BY ROLLUP(k), CUBE(g, t)",
    "SELECT k, g, t, count(*) FROM t GROUP BY ROLLUP((k, g), t)",
    "SELECT k, count(*) FROM t GROUP BY GROUPING SETS ((k), (k))",
    "SELECT k, count(*), grouping(k) FROM t GROUP BY GROUPING SETS ((k), (k), (), ())",
    "SELECT k, g, sum(b) FROM t GROUP BY k, g GROUPING SETS ((k))",
    "SELECT k, g, sum(b), grouping_id() FROM t GROUP BY k, g GROUPING SETS ((g), ())",
    "SELECT count(*) FROM t GROUP BY GROUPING SETS (())",
    "SELECT count(*), sum(b) FROM e GROUP BY GROUPING SETS (())",
    "SELECT k, count(*) FROM e GROUP BY ROLLUP(k)",
    "SELECT k, g, count(*) FROM e GROUP BY GROUPING SETS ((k), (k, g), (), ())",
    "SELECT k, g FROM t GROUP BY ROLLUP(k, g)",
    "SELECT k FROM e GROUP BY CUBE(k)",
    "SELECT grouping(k), grouping(g), grouping_id(k, g), grouping_id(), k, g FROM t GROUP BY CUBE(k, g)",
    "SELECT grouping_id(k, g), count(*) FROM t GROUP BY GROUPING SETS ((k, g), (g))",
    "SELECT k, CASE WHEN grouping(k) = 1 THEN 'all' ELSE CAST(k AS STRING) END, count(*) FROM t GROUP BY ROLLUP(k)",
    "SELECT k, g, count(*) FROM t GROUP BY ROLLUP(k, g) HAVING grouping(g) = 0",
    "SELECT k, g, sum(b) FROM t GROUP BY CUBE(k, g) HAVING grouping_id() = 3 OR sum(b) > 5",
    "SELECT k + 1, sum(b) FROM t GROUP BY ROLLUP(k + 1)",
    "SELECT k + 1 AS n, g, sum(k + 1), count(k) FROM t GROUP BY CUBE(k + 1, g)",
    "SELECT k, sum(k), count(k), max(g), min(m) FROM t GROUP BY ROLLUP(k)",
    "SELECT k, g, count(DISTINCT k), count(DISTINCT s), sum(DISTINCT b) FROM t GROUP BY ROLLUP(k, g)",
    "SELECT k, g, count(*) FILTER (WHERE k = 1), sum(b) FILTER (WHERE grouped) FROM "
    "(SELECT *, b > 5 AS grouped FROM t) GROUP BY CUBE(k, g)",
    "SELECT k, k AS again, sum(b) + count(*), 'x' FROM t GROUP BY ROLLUP(k)",
    "SELECT d, f, count(*) FROM t GROUP BY CUBE(d, f)",
    "SELECT m, dt, count(*) FROM t GROUP BY ROLLUP(m, dt)",
    "SELECT s, count(*) FROM t GROUP BY ROLLUP(s)",
    "SELECT 'x' AS x, k, count(*) FROM t GROUP BY ROLLUP('x', k)",
    "SELECT k, k, count(*) FROM t GROUP BY ROLLUP(k, k)",
    "SELECT total, count(*) FROM (SELECT k, sum(b) AS total FROM t GROUP BY ROLLUP(k)) GROUP BY total",
    "SELECT * FROM (SELECT k, sum(b) AS total FROM t GROUP BY ROLLUP(k)) JOIN t USING (k)",
    "SELECT k, rank() OVER (PARTITION BY grouping(k) ORDER BY sum(b)) AS place, sum(b) FROM t GROUP BY ROLLUP(k)",
    "SELECT k, sum(b) FROM t GROUP BY ROLLUP(k) HAVING sum(b) > (SELECT min(b) FROM t)",
)
ORDERED = (
    "SELECT k, g, count(*) AS c FROM t GROUP BY ROLLUP(k, g) ORDER BY grouping(k), grouping(g), k, g",
    "SELECT k, g, sum(b) FROM t GROUP BY CUBE(k, g) ORDER BY grouping_id(), k NULLS LAST, g DESC",
    "SELECT k + 1 AS n, sum(b) FROM t GROUP BY ROLLUP(k + 1) ORDER BY n, sum(b)",
)


@pytest.mark.parametrize("query", QUERIES)
def test_grouping_sets(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    plan = assert_round_trip(spark, query, tables=views, tolerance=1e-13)
    assert not any(isinstance(node, Expand) for node in _relations(plan))


@pytest.mark.parametrize("query", ORDERED)
def test_order_by_the_grouping(spark: SparkSession, views: dict[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=views, ordered=True)


def test_dataframes(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    t = spark.table("t")
    for frame in (
        t.rollup("k", "g").agg(F.grouping_id(), F.grouping("k"), F.sum("b")),
        t.cube("k", "g", "t").count(),
        t.cube(F.col("k") % 2).agg(F.max("m")),
    ):
        assert_round_trip(spark, frame, tables=views)


@pytest.mark.since("4.0", "pyspark has no groupingSets()")
def test_grouping_sets_of_a_dataframe(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    frame = spark.table("t").groupingSets([["k", "g"], ["k"], []], "k", "g").agg(F.sum("b"))
    assert_round_trip(spark, frame, tables=views)


def test_it_is_one_aggregate(spark: SparkSession, views: dict[str, DataFrame]) -> None:
    query = "SELECT k, g, count(*), grouping_id() FROM t GROUP BY GROUPING SETS ((k, g), (k), (g), ())"
    plan = assert_round_trip(spark, query, tables=views)
    (made,) = (node for node in _relations(plan) if isinstance(node, Aggregate))
    assert [grouping.expression_references for grouping in made.groupings] == [(0, 1), (0,), (1,), ()]


def _relations(plan: Plan) -> Iterator[Relation]:
    def below(node: Relation) -> Iterator[Relation]:
        yield node
        for input in node.inputs:
            yield from below(input)

    for tree in plan.relations:
        yield from below(tree.input if isinstance(tree, RelRoot) else tree)
