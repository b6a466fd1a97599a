"""Common table expressions, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait import UnsupportedPlanError, to_substrait
from pyspark_substrait.documents import Plan
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

QUERIES = (
    "WITH c AS (SELECT * FROM t) SELECT * FROM c",
    "WITH c AS (SELECT * FROM t) SELECT a.i, b.s FROM c a JOIN c b ON a.i = b.i",
    "WITH c AS (SELECT i, s FROM t WHERE i > 1) SELECT * FROM c UNION ALL SELECT * FROM c",
    "WITH c (n, m) AS (SELECT i, s FROM t) SELECT m, n FROM c WHERE n IN (SELECT n FROM c WHERE m = 'c')",
    "WITH c AS (SELECT i, count(*) AS n FROM t GROUP BY i) SELECT * FROM c WHERE n = (SELECT max(n) FROM c)",
    "WITH a AS (SELECT * FROM t), b AS (SELECT i FROM a WHERE i > 1) SELECT * FROM b, a WHERE b.i IN (SELECT i FROM a)",
    "WITH a AS (SELECT i FROM t), b AS (SELECT * FROM a UNION ALL SELECT * FROM a) SELECT * FROM b x, b y",
    "WITH a AS (SELECT i FROM t), b AS (SELECT i + 1 AS i FROM a), c AS (SELECT i + 1 AS i FROM b) SELECT * FROM c",
    "WITH a AS (SELECT i FROM t), b AS (SELECT i FROM a), c AS (SELECT i FROM b) "
    "SELECT * FROM c UNION ALL SELECT * FROM b UNION ALL SELECT * FROM a",
    "WITH a AS (WITH b AS (SELECT i FROM t) SELECT x.i FROM b x, b y WHERE x.i = y.i) SELECT * FROM a p, a q",
    "WITH a AS (SELECT 1 AS i) SELECT * FROM (WITH a AS (SELECT 2 AS i) SELECT * FROM a) q, a",
    "WITH t AS (SELECT k AS i FROM u) SELECT * FROM t",
    "WITH unused AS (SELECT * FROM t) SELECT * FROM u",
    "WITH a AS (SELECT 1 AS o) TABLE a",
    "SELECT * FROM u WHERE k IN (WITH c AS (SELECT i FROM t) SELECT i FROM c)",
    "SELECT * FROM u WHERE k IN (WITH c AS (SELECT i FROM t) SELECT c.i FROM c JOIN c d ON c.i = d.i)",
    "SELECT * FROM t WHERE i IN (WITH c AS (SELECT * FROM u WHERE x = t.s) SELECT a.k FROM c a JOIN c b ON a.k = b.k)",
    "SELECT i, (WITH c AS (SELECT v FROM u WHERE k = t.i) SELECT max(v) FROM c) FROM t",
    "SELECT i, (WITH c AS (SELECT v FROM u WHERE k = t.i), d AS (SELECT v + 1 AS v FROM c WHERE v < 100) "
    "SELECT sum(v) FROM (SELECT v FROM c UNION ALL SELECT v FROM d)) FROM t",
    "WITH c AS (SELECT k, v FROM u) SELECT i, (SELECT max(v) FROM c WHERE c.k = t.i) FROM t",
    "WITH c AS (SELECT k, v FROM u) SELECT i, (SELECT max(v) FROM c WHERE c.k = t.i), (SELECT min(v) FROM c) FROM t",
    "WITH c AS (SELECT k, v FROM u) SELECT i FROM t WHERE EXISTS (SELECT 1 FROM c WHERE k = i) "
    "AND NOT EXISTS (SELECT 1 FROM c WHERE k = i AND v > 15)",
    "WITH c AS (SELECT i, s FROM t) SELECT * FROM c LEFT JOIN LATERAL (SELECT max(s) AS m FROM c b WHERE b.i = c.i)",
    "WITH c AS (SELECT i, s FROM t ORDER BY i LIMIT 3) SELECT a.s FROM c a JOIN c b ON a.i <=> b.i",
    "WITH c AS (SELECT DISTINCT i FROM t) SELECT count(*), (SELECT count(*) FROM c WHERE i > 1) FROM c",
    "WITH c AS (SELECT i AS `a.b`, s AS `ü` FROM t) SELECT x.`a.b`, y.`ü` FROM c x, c y WHERE x.`a.b` = y.`a.b`",
    "WITH c AS (SELECT k, k AS j FROM u) SELECT x.j, y.k, x.k FROM c x JOIN c y ON x.k = y.j",
    "WITH c AS (SELECT struct(i, s) AS r FROM t) SELECT x.r.i, y.r FROM c x JOIN c y ON x.r.i = y.r.i",
    "WITH c AS (SELECT i FROM t) SELECT * FROM c EXCEPT ALL SELECT i FROM c WHERE i = 3",
    "WITH c AS (SELECT i FROM t) SELECT i FROM c ORDER BY i DESC NULLS LAST LIMIT 2",
    "WITH c AS (SELECT name, pay FROM emp), d AS (SELECT avg(pay) AS mean FROM c) "
    "SELECT name FROM c CROSS JOIN d WHERE pay > mean UNION SELECT name FROM c WHERE pay IS NULL",
    "WITH c AS (SELECT 1) SELECT * FROM c, c AS d, c AS f",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_common_table_expressions(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


@pytest.mark.parametrize(
    ("query", "trees"),
    [
        ("WITH c AS (SELECT * FROM t) SELECT * FROM c", 0),
        ("WITH c AS (SELECT * FROM t) SELECT * FROM c a, c b", 1),
        ("WITH a AS (SELECT i FROM t), b AS (SELECT x.i FROM a x, a y) SELECT * FROM b x, b y", 2),
        ("WITH a AS (SELECT i FROM t), b AS (SELECT i FROM a) SELECT * FROM b x, b y", 1),
    ],
)
def test_what_several_use_is_a_tree_of_its_own(
    spark: SparkSession, tables: Mapping[str, DataFrame], query: str, trees: int
) -> None:
    plan = to_substrait(spark.sql(query), tables=tuple(tables))
    assert isinstance(plan, Plan)
    assert len(plan.relations) == trees + 1


def test_a_shared_tree_is_computed_once(spark: SparkSession) -> None:
    frame = spark.sql(
        "WITH c AS (SELECT rand(5) AS r FROM range(3)) SELECT a.r = b.r AS same FROM c a JOIN c b USING (r)"
    )
    assert [row.same for row in frame.collect()] == [True] * 3
    assert_round_trip(spark, frame)


@pytest.mark.since("4.0", "no WITH RECURSIVE")
def test_recursion_is_refused(spark: SparkSession) -> None:
    frame = spark.sql("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r")
    with pytest.raises(UnsupportedPlanError, match="WITH RECURSIVE"):
        to_substrait(frame)
