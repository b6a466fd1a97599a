"""Subqueries of every kind, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

QUERIES = (
    # scalar
    "SELECT i, (SELECT max(v) FROM u) FROM t",
    "SELECT i, (SELECT max(v) FROM u WHERE k = i) FROM t",
    "SELECT i, (SELECT count(*) FROM u WHERE k = i) FROM t",
    "SELECT i, (SELECT count(*) + 1 FROM u WHERE k = i AND x = s) FROM t",
    "SELECT i, (SELECT sum(v) FROM u WHERE k < t.i) FROM t",
    "SELECT i, (SELECT 1) FROM t",
    "SELECT (SELECT max(i) FROM t) + (SELECT min(k) FROM u) AS both",
    "SELECT i, (SELECT i FROM e) FROM t",
    "SELECT s FROM t WHERE i = (SELECT max(i) FROM t)",
    "SELECT s FROM t WHERE i = (SELECT max(k) FROM u WHERE x = t.s)",
    "SELECT s FROM t WHERE d > (SELECT avg(d) FROM t AS o WHERE o.i = t.i)",
    "SELECT name FROM emp o WHERE pay = (SELECT max(pay) FROM emp WHERE dept = o.dept)",
    "SELECT name, (SELECT name FROM emp b WHERE b.id = emp.boss) AS boss FROM emp",
    "SELECT name, (SELECT d.name FROM dept d WHERE d.id = emp.dept LIMIT 1) FROM emp",
    "SELECT name, (SELECT max(pay) FROM emp o WHERE o.dept <=> emp.dept) FROM emp",
    "SELECT CASE WHEN i > (SELECT avg(k) FROM u) THEN 'high' ELSE (SELECT min(x) FROM u WHERE k = t.i) END FROM t",
    "SELECT coalesce((SELECT v FROM u WHERE k = t.i AND x = t.s), 0) FROM t",
    "SELECT (SELECT struct(max(k), min(k)) FROM u) FROM t",
    "SELECT (SELECT struct(max(k) AS a, min(k) AS b) FROM u).a FROM t",
    "SELECT i, (SELECT count(*) FROM u WHERE u.k = t.i HAVING count(*) > 1) FROM t",
    "SELECT i, (SELECT max(k) FROM (SELECT k FROM u WHERE x = t.s)) FROM t",
    "SELECT i, (SELECT sum(n) FROM (SELECT k AS n FROM u WHERE k = i UNION ALL SELECT v FROM u WHERE k = i)) FROM t",
    "SELECT i, (SELECT count(DISTINCT x) FROM u WHERE k = i) FROM t",
    "SELECT i, count(*), (SELECT max(k) FROM u) FROM t GROUP BY i",
    "SELECT i, sum((SELECT max(k) FROM u WHERE k = i)) FROM t GROUP BY i",
    "SELECT i, (SELECT max(v) FROM u WHERE k = i) AS m FROM t GROUP BY i, 2",
    "SELECT max((SELECT count(*) FROM u WHERE k = i)) FROM t",
    "SELECT i, count(*) FROM t GROUP BY i HAVING count(*) > (SELECT count(*) FROM u WHERE k = i)",
    "SELECT i, count(*) AS c FROM t GROUP BY i HAVING c < (SELECT max(k) FROM u)",
    "SELECT i FROM t ORDER BY (SELECT max(k) FROM u) - i DESC, i",
    "SELECT i, (SELECT max(k) FROM u WHERE k <= t.i + 1) AS m FROM t ORDER BY m NULLS LAST, i",
    # EXISTS
    "SELECT i FROM t WHERE EXISTS (SELECT * FROM u WHERE k = i)",
    "SELECT i FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE k = i)",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u)",
    "SELECT i FROM t WHERE NOT EXISTS (SELECT 1 FROM e)",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = i AND v > d)",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k > i) OR s = 'c'",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = i OR x = s)",
    "SELECT i, EXISTS (SELECT 1 FROM u WHERE k = i) FROM t",
    "SELECT i, NOT EXISTS (SELECT 1 FROM u WHERE k = i) AS none FROM t",
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM u WHERE k = i) THEN 1 ELSE 0 END FROM t",
    "SELECT i FROM t WHERE EXISTS (SELECT k, count(*) FROM u WHERE x = s GROUP BY k)",
    pytest.param(
        "SELECT i FROM t WHERE EXISTS (SELECT max(k) FROM u WHERE x = s)",
        marks=pytest.mark.since("4.0", "Spark's own answer is false where nothing matches"),
    ),
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = i LIMIT 1)",
    "SELECT i FROM t WHERE EXISTS (SELECT k FROM u WHERE k = i UNION SELECT i FROM w WHERE w.i = t.i)",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u JOIN w ON u.k = w.i WHERE w.s = t.s)",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u LEFT JOIN w ON u.k = w.i WHERE u.k = t.i AND w.s IS NULL)",
    "SELECT i, count(*) FROM t GROUP BY i HAVING EXISTS (SELECT 1 FROM u WHERE k = max(t.i))",
    "SELECT name FROM emp WHERE EXISTS (SELECT 1 FROM emp o WHERE o.boss = emp.id AND o.pay < emp.pay)",
    "SELECT name FROM emp WHERE NOT EXISTS (SELECT 1 FROM emp o WHERE o.dept = emp.dept AND o.pay > emp.pay)",
    # IN
    "SELECT i FROM t WHERE i IN (SELECT k FROM u)",
    "SELECT i FROM t WHERE i NOT IN (SELECT k FROM u)",
    "SELECT k FROM u WHERE k NOT IN (SELECT i FROM t)",
    "SELECT k FROM u WHERE k NOT IN (SELECT i FROM t WHERE i IS NOT NULL)",
    "SELECT k FROM u WHERE k NOT IN (SELECT i FROM e)",
    "SELECT i FROM t WHERE i IN (SELECT v FROM u)",
    "SELECT i FROM t WHERE (i, s) IN (SELECT k, x FROM u)",
    "SELECT i FROM t WHERE (i, s) NOT IN (SELECT k, x FROM u)",
    "SELECT i FROM t WHERE (i, s) NOT IN (SELECT k, x FROM u WHERE x IS NOT NULL)",
    "SELECT i FROM t WHERE (i + 1, s) IN (SELECT k, x FROM u)",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u WHERE x = s)",
    "SELECT i FROM t WHERE i NOT IN (SELECT k FROM u WHERE x = s)",
    "SELECT i FROM t WHERE i IN (SELECT max(k) FROM u GROUP BY x)",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u ORDER BY k LIMIT 2)",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u UNION SELECT 3)",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u EXCEPT SELECT 1)",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u) OR s IN (SELECT x FROM u)",
    "SELECT i FROM t WHERE i NOT IN (SELECT k FROM u) OR s NOT IN (SELECT x FROM u WHERE x <> 'a')",
    "SELECT i FROM t WHERE NOT (i IN (SELECT k FROM u) AND d > 1)",
    "SELECT i FROM t WHERE NOT (i NOT IN (SELECT k FROM u) OR d > 1)",
    "SELECT i FROM t WHERE i NOT IN (SELECT k FROM u) AND d > (SELECT min(d) FROM t)",
    "SELECT i FROM t WHERE CASE WHEN i IN (SELECT k FROM u) THEN d > 1 ELSE s = 'c' END",
    "SELECT i FROM t GROUP BY i HAVING max(d) IN (SELECT d FROM t WHERE i = 3)",
    # IN where its null shows, which is false in Spark
    "SELECT i, i IN (SELECT k FROM u) FROM t",
    "SELECT i, i NOT IN (SELECT k FROM u) FROM t",
    "SELECT k, k IN (SELECT i FROM t), k NOT IN (SELECT i FROM t) FROM u",
    "SELECT i, NOT (i IN (SELECT k FROM u) AND d > 1) FROM t",
    "SELECT i, NOT (NOT i IN (SELECT k FROM u)), NOT (d > 1 OR i IN (SELECT k FROM u)) FROM t",
    "SELECT i, (i, s) IN (SELECT k, x FROM u), (i, s) NOT IN (SELECT k, x FROM u) FROM t",
    "SELECT i, i IN (SELECT k FROM u) OR d > 1, i IN (SELECT k FROM u) AND d > 1 FROM t",
    "SELECT i, (i IN (SELECT k FROM u)) IS NULL FROM t",
    "SELECT i FROM t WHERE (i IN (SELECT k FROM u)) IS NULL",
    "SELECT i FROM t WHERE (i IN (SELECT k FROM u)) = false",
    "SELECT i, CASE WHEN i NOT IN (SELECT k FROM u) THEN 'out' ELSE 'in or null' END FROM t",
    "SELECT i, if(i IN (SELECT k FROM u), 1, 0) FROM t",
    "SELECT i, coalesce(i IN (SELECT k FROM u), true) FROM t",
    "SELECT i IN (SELECT k FROM u) AS is_in, count(*) FROM t GROUP BY 1",
    pytest.param(
        "SELECT count_if(i IN (SELECT k FROM u)) FROM t",
        marks=pytest.mark.since("4.0", "Spark itself counts every row"),
    ),
    # one in another
    "SELECT i FROM t WHERE i IN (SELECT k FROM u WHERE x IN (SELECT s FROM w))",
    "SELECT i FROM t WHERE i IN (SELECT k FROM u WHERE x IN (SELECT s FROM w WHERE w.i = u.k))",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = i AND NOT EXISTS (SELECT 1 FROM w WHERE w.s = u.x))",
    "SELECT i, (SELECT max(k) FROM u WHERE k < (SELECT max(w.i) FROM w WHERE w.s = u.x)) FROM t",
    "SELECT i, (SELECT count(*) FROM u WHERE k = t.i AND v > (SELECT avg(v) FROM u)) FROM t",
    "SELECT i FROM t WHERE d > (SELECT avg(d) FROM t o WHERE o.i IN (SELECT k FROM u WHERE u.x = o.s))",
    "SELECT (SELECT (SELECT (SELECT max(k) FROM u)))",
    "SELECT q.m FROM (SELECT (SELECT max(k) FROM u WHERE k = t.i) AS m FROM t) q WHERE q.m IN (SELECT i FROM w)",
    # of rows made on the spot
    "SELECT i, (SELECT max(c) FROM VALUES (1), (2) AS l (c) WHERE c <= t.i) FROM t",
    "SELECT i FROM t WHERE i IN (SELECT c FROM VALUES (1), (3) AS l (c))",
    "SELECT i, (SELECT t.i + 1) FROM t",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_subqueries(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables, ordered="ORDER BY i" in query)


@pytest.mark.since("4.0", "pyspark has no outer(), exists() and scalar()")
def test_subqueries_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    from pyspark.sql import functions

    t, u = tables["t"], tables["u"]
    of_row = u.where(u.k == functions.col("i").outer())
    assert_round_trip(spark, t.where(of_row.exists()))
    assert_round_trip(spark, t.select("i", of_row.select(functions.max("v")).scalar().alias("m")))


@pytest.mark.since("4.1", "pyspark's isin() takes no DataFrame")
def test_membership_in_a_frame(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    from pyspark.sql import functions

    assert_round_trip(spark, tables["t"].where(functions.col("i").isin(tables["u"].select("k"))))


def test_outer_references_count_the_subqueries(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    plan = assert_round_trip(spark, "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k = i)", tables=tables)
    assert '"stepsOut": 1' in plan.to_json()
    assert '"setPredicate"' in plan.to_json()
