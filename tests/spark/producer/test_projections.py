"""Projections, there and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait import to_substrait
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERIES = (
    "SELECT * FROM t",
    "SELECT t.* FROM t",
    "SELECT i, i, i FROM t",
    "SELECT s, i FROM t",
    "SELECT *, * FROM t",
    "SELECT *, i + 1 AS j FROM t",
    "SELECT * EXCEPT (d) FROM t",
    "SELECT t.* EXCEPT (i, s) FROM t",
    "SELECT i AS `a b`, s AS `c.d`, d AS `e``f` FROM t",
    "SELECT i AS `größe`, s AS `名前`, d AS `😀` FROM t",
    "SELECT i AS a, d AS a FROM t",
    "SELECT 1",
    "SELECT 1 AS a, 'x' AS b, CAST(NULL AS DATE) AS c",
    "SELECT 1 FROM t",
    "SELECT i a, a + 1 AS b, b * 2 AS c FROM t",
    "SELECT i AS j FROM t WHERE i > 1",
    "SELECT (i), (s) FROM (SELECT * FROM (SELECT * FROM t))",
    "SELECT i + 1 AS n FROM (SELECT i - 1 AS i FROM (SELECT i * 2 AS i FROM t))",
    "SELECT r.i, r.s, r FROM (SELECT struct(i, s) AS r FROM t)",
    "SELECT r.* FROM (SELECT struct(i, s) AS r FROM t)",
    "SELECT r.q.i FROM (SELECT struct(struct(i, s) AS q, d) AS r FROM t)",
    "SELECT x.`a.b` FROM (SELECT struct(i AS `a.b`) AS x FROM t)",
    "SELECT i = 1 AND s = 'a', i = 1 OR s = 'a', NOT i = 1 FROM t",
    "SELECT i <=> 1, i IS NULL, i IS NOT NULL FROM t",
)

FRAMES: Mapping[str, Callable[[DataFrame, DataFrame, DataFrame], DataFrame]] = {
    "no columns": lambda t, u, w: t.select(),
    "duplicate names": lambda t, u, w: t.select("i", "s", "i"),
    "toDF": lambda t, u, w: t.toDF("a", "b", "c"),
    "selectExpr": lambda t, u, w: t.selectExpr("i AS n", "s", "*"),
    "withColumn": lambda t, u, w: t.withColumn("j", t.i + 1),
    "withColumn of a column there is": lambda t, u, w: t.withColumn("i", t.i + 1),
    "withColumn in a chain": lambda t, u, w: t.withColumn("a", t.i + 1).withColumn("b", t.i + 2).withColumn("a", t.d),
    "withColumns": lambda t, u, w: t.withColumns({"a": t.i + 1, "s": t.d}),
    "withColumnRenamed": lambda t, u, w: t.withColumnRenamed("i", "j").withColumnRenamed("nothing", "x"),
    "withColumnsRenamed": lambda t, u, w: t.withColumnsRenamed({"i": "s", "s": "i"}),
    "drop": lambda t, u, w: t.drop("i").drop("nothing"),
    "drop of all": lambda t, u, w: t.drop("i", "d", "s"),
    "alias": lambda t, u, w: t.alias("q").select("q.i", "q.*"),
    "colRegex": lambda t, u, w: t.select(t.colRegex("`[is]`")),
    "filter, select": lambda t, u, w: t.filter(t.i > 1).select(t.s),
    "where on what is dropped": lambda t, u, w: t.select("s").where(t.i > 1),
    "transform": lambda t, u, w: t.transform(lambda frame: frame.select("i").distinct()),
    "metadata": lambda t, u, w: t.withMetadata("i", {"unit": "m"}),
    "na": lambda t, u, w: t.na.fill({"i": 0}).na.drop(),
    "na.drop of most": lambda t, u, w: w.na.drop(thresh=2),
    "na.drop of all": lambda t, u, w: w.na.drop("all", subset=["i", "z"]),
    "na.drop of NaN": lambda t, u, w: w.na.drop(subset=["z"]),
    "na.replace": lambda t, u, w: t.na.replace(["a", "b"], ["x", "y"], ["s"]),
    "hint": lambda t, u, w: t.hint("broadcast").select("i"),
    "checkpoint": lambda t, u, w: t.localCheckpoint().select("i"),
    "cache": lambda t, u, w: t.cache().select("i"),
    "to": lambda t, u, w: t.select("i").to(w.select("i").schema),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_projections(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


_MARKS = {"withColumnsRenamed": pytest.mark.since("4.0", "Spark itself renames one column after the other")}


@pytest.mark.parametrize("name", [pytest.param(name, marks=_MARKS.get(name, ())) for name in FRAMES])
def test_projections_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame], name: str) -> None:
    assert_round_trip(spark, FRAMES[name](tables["t"], tables["u"], tables["w"]))


def test_metrics_that_are_observed_are_no_part_of_the_plan(
    spark: SparkSession, tables: Mapping[str, DataFrame]
) -> None:
    from pyspark.sql import functions

    assert_round_trip(spark, tables["t"].observe("seen", functions.count("i").alias("n")).select("s"))


def test_columns_that_only_pass_need_no_relation(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    frame = spark.sql("SELECT s AS a, i AS b FROM (SELECT i, s FROM (SELECT s, d, i FROM t) WHERE i > 1)")
    plan = to_substrait(frame, tables=tuple(tables))
    assert '"project"' not in plan.to_json()
