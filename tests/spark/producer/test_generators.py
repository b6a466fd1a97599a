"""Generators: explode, posexplode, inline, stack and json_tuple, in SELECT, as lateral views and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.nested_views import assert_nested_round_trip, nested_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

views = nested_views

QUERIES = (
    "SELECT explode(a) FROM t",
    "SELECT id, explode(a) AS e FROM t",
    "SELECT id, explode_outer(a) AS e, t FROM t",
    "SELECT explode_outer(an) FROM t",
    "SELECT id, explode(m) FROM t",
    "SELECT id, explode_outer(mn) AS (kk, vv) FROM t",
    "SELECT id, posexplode(a) FROM t",
    "SELECT posexplode_outer(an) AS (p, q), id FROM t",
    "SELECT posexplode(m) FROM t",
    "SELECT posexplode_outer(mn) FROM t",
    "SELECT id, inline(q) FROM t",
    "SELECT id, inline_outer(q) AS (x, y) FROM t",
    "SELECT inline(array(struct(id, t), struct(0 AS id, NULL AS t))) FROM t",
    "SELECT id, inline(arrays_zip(a, b)) FROM t",
    "SELECT stack(2, id, t, 0, 'x') FROM t",
    "SELECT id, stack(2, id, t, 0) AS (x, y) FROM t",
    "SELECT stack(3, id, NULL, 5) AS v FROM t",
    "SELECT stack(1, a, an) FROM t",
    "SELECT stack(2, a, an) AS l FROM t",
    "SELECT json_tuple('{\"a\": 1, \"b\": {\"c\": 2}}', 'a', 'b', 'z') FROM t",
    "SELECT id, json_tuple(concat('{\"a\": \"', t, '\"}'), 'a') AS x FROM t",
    "SELECT explode(transform(b, x -> x + id)) AS e, id FROM t",
    "SELECT explode(array(struct(1, 2))) AS s FROM t",
    "SELECT explode(n) AS e FROM t",
    "SELECT e, explode(e) AS f FROM (SELECT explode(n) AS e FROM t)",
    "SELECT e.k FROM (SELECT explode(q) AS e FROM t)",
    "SELECT e - 1, id FROM (SELECT id, explode(a) AS e FROM t) WHERE e > 1",
    "SELECT id, e FROM t LATERAL VIEW explode(a) x AS e",
    "SELECT id, e FROM t LATERAL VIEW OUTER explode(an) x AS e WHERE id > 1",
    "SELECT id, e, p, f FROM t LATERAL VIEW explode(a) x AS e LATERAL VIEW posexplode(b) y AS p, f",
    "SELECT id, f FROM t LATERAL VIEW explode(n) x AS e LATERAL VIEW OUTER explode(e) y AS f",
    "SELECT * FROM t LATERAL VIEW OUTER explode(m) x AS kk, vv",
    "SELECT x.e, count(*) AS c, sum(id) FROM t LATERAL VIEW explode(a) x AS e GROUP BY x.e",
    "SELECT e FROM t LATERAL VIEW explode(a) x AS e ORDER BY e NULLS LAST LIMIT 3",
    "SELECT DISTINCT e FROM t LATERAL VIEW explode(a) x AS e",
    "SELECT * FROM explode(array(1, 2, NULL))",
    "SELECT * FROM explode(map('a', 1, 'b', 2)) AS m (k, v)",
    "SELECT * FROM posexplode(array('x', 'y'))",
    "SELECT * FROM inline(array(struct(1 AS p, 'q' AS r), struct(2 AS p, NULL AS r)))",
    "SELECT * FROM stack(2, 1, 'x', 2, 'y') AS s (i, j)",
    "SELECT * FROM json_tuple('{\"a\": 1}', 'a', 'b')",
    "SELECT * FROM explode_outer(CAST(NULL AS ARRAY<INT>))",
    "SELECT id, e FROM t, LATERAL explode(a) AS x (e)",
    "SELECT t.id, col FROM t, LATERAL explode_outer(an)",
    "SELECT id, e FROM t JOIN LATERAL explode(an) AS x (e) ON e > id",
    "SELECT id, p + 1, ww FROM t, LATERAL (SELECT p, e AS ww FROM posexplode(b) AS x (p, e))",
    "SELECT id, p, e FROM t CROSS JOIN LATERAL posexplode(b) AS x (p, e) WHERE e > id",
    "SELECT t.id, x.s FROM t, LATERAL (SELECT sum(e) AS s FROM explode(t.b) AS y (e)) AS x",
    "SELECT id, (SELECT sum(e) FROM explode(t.b) AS x (e)) AS s FROM t",
    pytest.param(
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM explode(t.a) AS x (e) WHERE e = 3)",
        marks=pytest.mark.since("4.0", "Spark itself fails with an internal error"),
    ),
    pytest.param(
        "SELECT id FROM t WHERE 5 IN (SELECT e FROM explode(t.b) AS x (e))",
        marks=pytest.mark.since("4.0", "Spark itself fails with an internal error"),
    ),
    "SELECT id, (SELECT count(*) FROM t AS u LATERAL VIEW explode(u.b) x AS e WHERE e > z.id) AS c FROM t AS z",
    "SELECT id, (SELECT max(e) FROM (SELECT explode(t.b) AS e)) AS c FROM t",
    "SELECT x.e, y.e FROM (SELECT explode(b) AS e FROM t) AS x JOIN (SELECT explode(a) AS e FROM t) AS y ON x.e = y.e",
    "SELECT explode(a) AS e FROM t UNION ALL SELECT explode(b) FROM t",
    "WITH c AS (SELECT id, explode(b) AS e FROM t) SELECT x.e FROM c AS x JOIN c AS y ON x.e = y.e AND x.id <> y.id",
    "SELECT sum(e) OVER (PARTITION BY id ORDER BY e) FROM (SELECT id, explode(b) AS e FROM t)",
    "SELECT explode(sequence(1, id)) AS i, id FROM t",
    "SELECT explode(split('a,b', ',')) AS w FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    nested_views(spark)
    assert_nested_round_trip(spark, query)


def test_generators_by_the_data_frame_api(spark: SparkSession) -> None:
    nested_views(spark)
    frame = spark.table("t")
    for made in (
        frame.select("id", F.explode("a")),
        frame.select(F.posexplode_outer("an").alias("p", "e"), "id"),
        frame.withColumn("e", F.explode("b")).filter("e > id").groupBy("e").count(),
        frame.select(F.inline("q"), "id"),
        frame.select(F.explode(F.map_entries("m")).alias("e")).select("e.key", "e.value"),
    ):
        assert_nested_round_trip(spark, made)


@pytest.mark.since("4.0", "pyspark has no lateralJoin()")
def test_a_lateral_join_by_the_data_frame_api(spark: SparkSession) -> None:
    nested_views(spark)
    made = spark.table("t").lateralJoin(spark.tvf.explode(F.col("b").outer()))
    assert_nested_round_trip(spark, made.select("id", "col"))


def test_a_left_lateral_join_keeps_what_nothing_is_made_of(spark: SparkSession) -> None:
    """Spark 4.3 itself loses these records."""
    tables = nested_views(spark)
    frame = spark.sql("SELECT id, e FROM t LEFT JOIN LATERAL explode(CASE WHEN id = 1 THEN b END) AS x (e)")
    back = ps.from_substrait(ps.to_substrait(frame, tables=("t",)), spark, tables=tables)
    assert sorted(map(tuple, back.collect()), key=repr) == [(1, 1), (1, 5), (2, None), (3, None)]


@pytest.mark.since("4.0", "no VARIANT")
def test_another_generator_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match=r"generator|type"):
        ps.to_substrait(spark.sql("SELECT * FROM variant_explode(parse_json('[1, 2]'))"))


def test_the_plan_is_shown_saved_as_json_and_written_as_sql(spark: SparkSession) -> None:
    nested_views(spark)
    plan = ps.to_substrait(spark.sql("SELECT id, explode_outer(a) AS e FROM t"), tables=("t",))
    assert "Generate[explode outer(a" in ps.explain(plan)
    back = ps.load(plan.to_json())
    assert back == ps.load(plan.to_bytes())
    assert "LATERAL VIEW OUTER explode(" in ps.to_sql(back)


@pytest.mark.parametrize("optimized", (False, True))
def test_generators_over_data_in_memory(spark: SparkSession, optimized: bool) -> None:
    """Of an optimised plan, the columns that nobody needs any more are left out below the generated ones."""
    nested_views(spark)
    for query in ("SELECT explode(a) FROM t", "SELECT t, e FROM t LATERAL VIEW OUTER posexplode(an) x AS p, e"):
        assert_nested_round_trip(spark, query, tables={}, optimized=optimized)
