"""Lateral joins, there and back."""

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
    "SELECT * FROM t, LATERAL (SELECT x FROM u WHERE k = i)",
    "SELECT * FROM t, LATERAL (SELECT k, x FROM u WHERE k = t.i) AS q",
    "SELECT * FROM t JOIN LATERAL (SELECT x FROM u WHERE k = i) q ON q.x = t.s",
    "SELECT * FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE k = i) q ON true",
    "SELECT * FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE k = i) q ON i > 1",
    "SELECT * FROM t CROSS JOIN LATERAL (SELECT max(v) AS m FROM u WHERE k = i)",
    "SELECT * FROM t CROSS JOIN LATERAL (SELECT count(*) AS c FROM u WHERE k = i)",
    "SELECT * FROM t LEFT JOIN LATERAL (SELECT count(*) AS c FROM u WHERE k = i) q ON q.c > 1",
    "SELECT * FROM t, LATERAL (SELECT i + 1 AS n, upper(s) AS b)",
    "SELECT * FROM t, LATERAL (SELECT i + 1 AS n), LATERAL (SELECT n * 2 AS m)",
    "SELECT * FROM t, LATERAL (SELECT k FROM u WHERE k = i) q, LATERAL (SELECT v FROM u b WHERE b.k = q.k) r",
    "SELECT * FROM t, LATERAL (SELECT k, v FROM u WHERE k = i ORDER BY v DESC NULLS LAST LIMIT 1)",
    "SELECT * FROM t, LATERAL (SELECT k FROM u WHERE k = i UNION ALL SELECT w.i FROM w WHERE w.i = t.i)",
    "SELECT * FROM t, LATERAL (SELECT * FROM u) q",
    "SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM u) q ON t.i = q.k",
    "SELECT * FROM t, LATERAL (SELECT DISTINCT x FROM u WHERE k = i)",
    "SELECT * FROM t, LATERAL (SELECT k, count(*) AS c FROM u WHERE x = s GROUP BY k)",
    "SELECT name, peers FROM emp, LATERAL (SELECT count(*) AS peers FROM emp o WHERE o.dept = emp.dept)",
    "SELECT d.name, e.name FROM dept d LEFT JOIN LATERAL "
    "(SELECT name FROM emp WHERE dept = d.id ORDER BY pay DESC, id LIMIT 1) e",
    "SELECT * FROM t, LATERAL (SELECT (SELECT max(v) FROM u WHERE k = q.n) AS m FROM (SELECT t.i AS n) q)",
    "SELECT * FROM t, LATERAL (SELECT * FROM u WHERE k = i AND k IN (SELECT w.i FROM w WHERE w.s = u.x))",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM w, LATERAL (SELECT k FROM u WHERE k = w.i) q WHERE q.k = t.i)",
    "SELECT i, (SELECT max(q.v) FROM w, LATERAL (SELECT v FROM u WHERE k = w.i) q WHERE w.i = t.i) FROM t",
    "SELECT * FROM (SELECT i, s FROM t WHERE i > 1) a, LATERAL (SELECT a.i * k AS p FROM u WHERE k > a.i)",
    "SELECT a.i, q.p FROM t a JOIN w b ON a.i = b.i, LATERAL (SELECT a.i + b.z AS p) q",
    "SELECT * FROM t, LATERAL (SELECT struct(i, s) AS r)",
    "SELECT name, c FROM emp, LATERAL explode(sequence(1, dept)) AS q (c)",
    "SELECT name, c FROM emp LEFT JOIN LATERAL explode(sequence(1, dept)) AS q (c) ON true",
    "SELECT count(*) FROM t, LATERAL (SELECT 1 FROM u WHERE k = i)",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_lateral_joins(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


@pytest.mark.since("4.0", "pyspark has no lateralJoin()")
def test_lateral_joins_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    from pyspark.sql import functions

    u = tables["u"]
    inner = u.where(u.k == functions.col("i").outer()).select("x")
    assert_round_trip(spark, tables["t"].lateralJoin(inner))
    assert_round_trip(spark, tables["t"].lateralJoin(inner, functions.col("x") == functions.col("s"), "left"))


def test_the_right_side_refers_by_an_anchor(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    plan = assert_round_trip(spark, QUERIES[0], tables=tables)
    assert '"relReference": 1' in plan.to_json()
    assert '"relAnchor": 1' in plan.to_json()


def test_without_a_correlation_it_is_a_join(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    plan = assert_round_trip(spark, "SELECT * FROM t, LATERAL (SELECT * FROM u) q", tables=tables)
    assert "lateral" not in plan.to_json()
