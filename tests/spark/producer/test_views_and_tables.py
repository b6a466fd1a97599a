"""Tables of the catalog, views, and DataFrames that go by a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read
from tests.spark.producer.round_trips import assert_round_trip, assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def names(plan: ps.model.plan.Plan) -> list[str]:
    """The named tables that a plan reads."""
    pending = [tree.input if isinstance(tree, RelRoot) else tree for tree in plan.relations]
    found = []
    while pending:
        node = pending.pop()
        pending.extend(node.inputs)
        if isinstance(node, Read) and isinstance(node.read_type, NamedTable):
            found.append(".".join(node.read_type.names))
    return found


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE DATABASE producing")
    spark.sql("CREATE TABLE producing.t (i INT, s STRING, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO producing.t VALUES (1, 'a', 1), (2, NULL, 1), (NULL, 'c', 2)")
    spark.sql("CREATE TABLE producing.text (i INT, s STRING) USING csv")
    spark.sql("INSERT INTO producing.text VALUES (1, 'a')")
    spark.sql("CREATE VIEW producing.v AS SELECT i + 1 AS j, s FROM producing.t WHERE p = 1")
    spark.sql("SELECT i, s FROM producing.t").createOrReplaceTempView("producing_temp")
    spark.sql("SELECT 5 AS n").createOrReplaceGlobalTempView("producing_global")
    yield
    spark.catalog.dropTempView("producing_temp")
    spark.catalog.dropGlobalTempView("producing_global")
    spark.sql("DROP DATABASE producing CASCADE")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM producing.t",
        "SELECT p, count(i) FROM spark_catalog.producing.t GROUP BY p",
        "SELECT a.i, b.s FROM producing.t a JOIN producing.t b ON a.i = b.p",
        "SELECT * FROM producing.text",
        "SELECT * FROM producing.v",
        "SELECT * FROM producing_temp WHERE i IS NOT NULL",
        "SELECT * FROM global_temp.producing_global",
        "TABLE producing.v",
        "SELECT v.*, t.p FROM producing.v JOIN producing.t ON v.j = t.i",
    ],
)
def test_round_trips(spark: SparkSession, query: str) -> None:
    assert_round_trip(spark, query)


def test_tables_go_out_by_their_full_names(spark: SparkSession) -> None:
    assert names(ps.to_substrait(spark.table("producing.t"))) == ["spark_catalog.producing.t"]
    assert names(ps.to_substrait(spark.read.table("producing.v"))) == ["spark_catalog.producing.t"]


@pytest.mark.parametrize(
    ("query", "asked", "found"),
    [
        ("SELECT * FROM producing_temp", "producing_temp", "producing_temp"),
        ("SELECT * FROM PRODUCING_TEMP", "Producing_Temp", "Producing_Temp"),
        ("SELECT * FROM producing.v", "producing.v", "producing.v"),
        ("SELECT * FROM producing.v", "spark_catalog.producing.v", "spark_catalog.producing.v"),
        ("SELECT * FROM producing.t", "producing.t", "producing.t"),
        ("SELECT * FROM producing.t", "t", "spark_catalog.producing.t"),
        ("SELECT * FROM global_temp.producing_global", "global_temp.producing_global", "global_temp.producing_global"),
    ],
)
def test_names_of_the_callers(spark: SparkSession, query: str, asked: str, found: str) -> None:
    assert names(ps.to_substrait(spark.sql(query), tables=[asked])) == [found]


@pytest.mark.since("4.0", "before, a table of the catalog is read without the options of a read")
@pytest.mark.parametrize("option", [("sep", "|"), ("header", "true")])
def test_no_plan_reads_a_table_with_options(spark: SparkSession, option: tuple[str, str]) -> None:
    frame = spark.read.option(*option).table("producing.text")
    assert rows(frame) != rows(spark.table("producing.text"))
    with pytest.raises(UnsupportedPlanError, match=r"the options that the query gives spark_catalog\.producing\.text"):
        ps.to_substrait(frame)


def test_the_files_of_records_are_no_columns_of_a_table(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="the column `_metadata`, which names the source of records"):
        ps.to_substrait(spark.sql("SELECT i, _metadata.file_name FROM producing.t"))


def test_a_name_of_one_part_is_of_the_current_database(spark: SparkSession) -> None:
    before = spark.catalog.currentDatabase()
    spark.catalog.setCurrentDatabase("producing")
    try:
        assert names(ps.to_substrait(spark.table("t"), tables=["t"])) == ["t"]
        spark.sql("SELECT 1 AS i").createOrReplaceTempView("v")
        with pytest.raises(UnsupportedPlanError, match="two tables of the query would have the name v"):
            ps.to_substrait(spark.sql("SELECT * FROM v, producing.v"), tables=["v"])
    finally:
        spark.catalog.dropTempView("v")
        spark.catalog.setCurrentDatabase(before)


@pytest.mark.sweep
def test_dataframes_by_name(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t (i, s)").write.csv(str(tmp_path / "csv"), header=True)
    sources = {
        "rows": spark.createDataFrame([(1, "x"), (None, "y")], "i INT, s STRING"),
        "files": spark.read.csv(str(tmp_path / "csv"), header=True, inferSchema=True),
        "db.query": spark.table("producing.t").selectExpr("i + 1 AS i", "s").where("i > 0"),
        "of_view": spark.table("producing_temp"),
        "range": spark.range(4).withColumnRenamed("id", "i"),
    }
    for name, source in sources.items():
        queries = (
            source,
            source.where("i = 1"),
            source.alias("a").join(source.alias("b"), "i"),
            source.groupBy("i").count().orderBy("i"),
            source.union(source).distinct(),
            source.toDF(*[f"{column}_" for column in source.columns]),
        )
        for query in queries:
            plan = ps.to_substrait(query, tables=sources)
            assert set(names(plan)) == {name}
            assert_same(rows(ps.from_substrait(plan, spark, tables=sources)), rows(query))


def test_a_dataframe_that_is_not_read_changes_nothing(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1), (2) AS t (i)")
    other = spark.sql("SELECT * FROM VALUES (1), (3) AS t (i)")
    assert names(ps.to_substrait(frame, tables={"other": other})) == []
    named = {("a.b", "c"): other}
    assert names(ps.to_substrait(frame.unionAll(other), tables=named)) == ["a.b.c"]


def test_a_view_under_other_settings(spark: SparkSession) -> None:
    """A view of the catalog is computed with the settings with which it was made."""
    before: Any = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.sql("CREATE VIEW producing.lenient AS SELECT CAST(s AS INT) AS n FROM producing.t")
    spark.conf.set("spark.sql.ansi.enabled", before)
    assert_round_trip(spark, "SELECT n FROM producing.lenient")
    plan = ps.to_substrait(spark.table("producing.lenient"), tables=["producing.lenient"])
    assert names(plan) == ["producing.lenient"]
