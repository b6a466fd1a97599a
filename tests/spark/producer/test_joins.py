"""Joins, there and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait import to_substrait
from pyspark_substrait.documents import Plan
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

QUERIES = (
    "SELECT * FROM t JOIN u ON t.i = u.k",
    "SELECT * FROM t LEFT JOIN u ON t.i = u.k",
    "SELECT * FROM t RIGHT JOIN u ON t.i = u.k",
    "SELECT * FROM t FULL JOIN u ON t.i = u.k",
    "SELECT * FROM t LEFT SEMI JOIN u ON t.i = u.k",
    "SELECT * FROM t LEFT ANTI JOIN u ON t.i = u.k",
    "SELECT * FROM t CROSS JOIN u",
    "SELECT * FROM t, u",
    "SELECT * FROM t, u WHERE t.i = u.k AND t.s <> u.x",
    "SELECT * FROM t JOIN u",
    "SELECT * FROM t LEFT JOIN u ON true",
    "SELECT * FROM t LEFT JOIN e ON true",
    "SELECT * FROM t FULL JOIN e ON t.i = e.i",
    "SELECT * FROM e FULL JOIN t ON false",
    "SELECT * FROM t LEFT JOIN u ON t.i = u.k AND u.v > 10",
    "SELECT * FROM t LEFT JOIN u ON t.i < u.k",
    "SELECT * FROM t FULL JOIN u ON t.i = u.k AND t.d > 1",
    "SELECT * FROM t JOIN u ON t.i <=> u.v",
    "SELECT * FROM t JOIN w ON t.i <=> w.i AND t.s <=> w.s",
    "SELECT * FROM t JOIN w ON t.i = w.i OR t.s = w.s",
    "SELECT * FROM t LEFT SEMI JOIN u ON t.i > u.k",
    "SELECT * FROM t LEFT ANTI JOIN u ON t.i > u.k OR t.i IS NULL",
    "SELECT * FROM t LEFT SEMI JOIN e ON true",
    "SELECT * FROM t LEFT ANTI JOIN e ON true",
    "SELECT * FROM t JOIN w USING (i)",
    "SELECT * FROM t LEFT JOIN w USING (i)",
    "SELECT * FROM t RIGHT JOIN w USING (i)",
    "SELECT * FROM t FULL JOIN w USING (i)",
    "SELECT * FROM t FULL JOIN w USING (i, s)",
    "SELECT i, t.i, w.i FROM t FULL JOIN w USING (i)",
    "SELECT * FROM t LEFT SEMI JOIN w USING (i)",
    "SELECT * FROM t NATURAL JOIN w",
    "SELECT * FROM t NATURAL LEFT JOIN w",
    "SELECT * FROM t NATURAL RIGHT JOIN w",
    "SELECT * FROM t NATURAL FULL JOIN w",
    "SELECT * FROM t NATURAL JOIN u",
    "SELECT a.name, b.name FROM emp a JOIN emp b ON a.boss = b.id",
    "SELECT a.name, b.name, c.name FROM emp a LEFT JOIN emp b ON a.boss = b.id LEFT JOIN emp c ON b.boss = c.id",
    "SELECT * FROM emp JOIN dept ON emp.dept = dept.id JOIN t ON t.i = dept.id",
    "SELECT * FROM (emp JOIN dept ON emp.dept = dept.id) RIGHT JOIN t ON t.i = dept.id",
    "SELECT * FROM emp JOIN (dept LEFT JOIN t ON t.i = dept.id) ON emp.dept = dept.id",
    "SELECT /*+ BROADCAST(u) */ * FROM t JOIN u ON t.i = u.k",
    "SELECT /*+ MERGE(t), SHUFFLE_HASH(u) */ * FROM t LEFT JOIN u ON t.i = u.k",
    "SELECT /*+ SHUFFLE_REPLICATE_NL(t) */ * FROM t JOIN u ON t.i = u.k",
    "SELECT /*+ REPARTITION(3, i) */ * FROM t",
    "SELECT * FROM t JOIN u ON t.i IN (1, 2) AND u.k = 1",
    pytest.param(
        "SELECT * FROM t JOIN u ON t.i = u.k AND EXISTS (SELECT 1 FROM w WHERE w.s = u.x)",
        marks=pytest.mark.since("4.0", "Spark itself fails with an internal error"),
    ),
    "SELECT * FROM t LEFT JOIN u ON t.i = u.k AND t.s IN (SELECT s FROM w)",
    "SELECT * FROM t LEFT JOIN u ON t.i = u.k AND u.x NOT IN (SELECT s FROM w WHERE s IS NOT NULL)",
    "SELECT * FROM t JOIN u ON t.i = u.k AND t.i < (SELECT max(i) FROM w)",
    "SELECT t.*, q.n FROM t JOIN (SELECT k, count(*) AS n FROM u GROUP BY k) q ON t.i = q.k",
    "SELECT count(*) FROM t a, t b, t c WHERE a.i = b.i AND b.i = c.i",
    "SELECT * FROM w a JOIN w b ON a.z = b.z",
    "SELECT u.v, t.i, u.v FROM u JOIN t ON u.k = t.i",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_joins(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


FRAMES: Mapping[str, Callable[[DataFrame, DataFrame, DataFrame], DataFrame]] = {
    **{
        f"by a condition, {how}": lambda t, u, w, how=how: t.join(u, t.i == u.k, how)  # type: ignore[misc]
        for how in ("inner", "left", "right", "outer", "left_semi", "left_anti", "cross")
    },
    **{
        f"by a name, {how}": lambda t, u, w, how=how: t.join(w, "i", how)  # type: ignore[misc]
        for how in ("inner", "left", "right", "outer", "left_semi", "left_anti")
    },
    "by several names": lambda t, u, w: t.join(w, ["i", "s"], "outer"),
    "by several conditions": lambda t, u, w: t.join(w, [t.i == w.i, t.s < w.s], "left"),
    "of a frame with itself": lambda t, u, w: t.alias("a").join(t.alias("b"), "i").select("i", "a.s", "b.s"),
    "of a frame with itself, by columns": lambda t, u, w: t.join(t.filter("i > 1").withColumnRenamed("s", "r"), "i"),
    "cross": lambda t, u, w: t.crossJoin(u).select("s", "x"),
    "with a hint": lambda t, u, w: t.join(u.hint("broadcast"), t.i == u.k),
    "with a hint on both": lambda t, u, w: t.hint("merge").join(u.hint("shuffle_hash"), t.i == u.k, "left"),
    "columns of one side": lambda t, u, w: t.join(w, t.i == w.i, "left").select(w.s, t.s, w["*"]).drop(w.z),
    "dropped key": lambda t, u, w: t.join(w, t.i == w.i).drop(w.i),
    "chain": lambda t, u, w: t.join(u, t.i == u.k, "left").join(w, "i", "left").filter("x IS NOT NULL"),
    "repartitioned": lambda t, u, w: t.repartition(3, "i").join(u.coalesce(1), t.i == u.k).sortWithinPartitions("i"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_joins_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame], name: str) -> None:
    frame = FRAMES[name](tables["t"], tables["u"], tables["w"])
    assert_round_trip(spark, frame)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s FROM t WHERE i IN (SELECT k FROM u) OR d > 2",
        "SELECT s FROM t WHERE i NOT IN (SELECT k FROM u) OR d > 2",
        "SELECT s, EXISTS (SELECT 1 FROM u WHERE k = t.i) FROM t",
        "SELECT s, (SELECT max(v) FROM u WHERE k = t.i) FROM t",
        "SELECT s FROM t WHERE i NOT IN (SELECT k FROM u)",
        "SELECT s, (SELECT max(v) FROM u) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE x = t.s)",
    ],
)
def test_the_optimised_plan_has_joins_for_subqueries(
    spark: SparkSession, tables: Mapping[str, DataFrame], query: str
) -> None:
    assert_round_trip(spark, query, optimized=True)


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_joins_as_of(spark: SparkSession, how: str, direction: str) -> None:
    left = spark.sql("SELECT * FROM VALUES (1, 'a'), (5, 'b'), (10, 'a'), (NULL, 'a') AS l (at, g)")
    right = spark.sql("SELECT * FROM VALUES (1, 'a', 1), (2, 'b', 2), (3, 'a', 3), (8, 'a', 8) AS r (at, g, n)")
    join = getattr(left, "_joinAsOf")  # noqa: B009
    for frame in (
        join(right, left.at, right.at, on="g", how=how, direction=direction),
        join(right, left.at, right.at, how=how, direction=direction, allowExactMatches=False),
        join(right, left.at, right.at, how=how, direction=direction, tolerance=_two(spark)),
    ):
        assert_round_trip(spark, frame)


def _two(spark: SparkSession) -> object:
    from pyspark.sql import functions

    return functions.lit(2)


def test_an_inner_join_without_a_condition_is_a_cross_product(
    spark: SparkSession, tables: Mapping[str, DataFrame]
) -> None:
    plan = to_substrait(spark.sql("SELECT * FROM t JOIN u"), tables=tuple(tables))
    assert isinstance(plan, Plan)
    assert '"cross"' in plan.to_json()
