"""The 22 TPC-H queries: out of Spark as plans, and back; and in DataFusion, made for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import assert_alike, assert_same, rows, schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

QUERIES = [f"q{number:02}" for number in range(1, 23)]


@pytest.fixture(scope="module")
def views(spark: SparkSession, tpch: dict[str, Path]) -> Iterator[dict[str, str]]:
    """The TPC-H tables as views of the session, and as paths."""
    for name, path in tpch.items():
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
    yield {name: str(path) for name, path in tpch.items()}
    for name in tpch:
        spark.catalog.dropTempView(name)


def text_of(shared: Path, query: str) -> str:
    return (shared / "plans" / "tpch" / "sql" / f"{query}.sql").read_text().strip().rstrip(";")


@pytest.mark.parametrize("query", QUERIES)
def test_the_plan_of_a_query_gives_its_rows_and_schema(
    spark: SparkSession, shared: Path, views: dict[str, str], query: str
) -> None:
    text = text_of(shared, query)
    made = ps.from_sql(text, spark, tables=views)
    assert made.portability == ()
    read = ps.load(made.to_bytes(), strict=True)
    found, expected = ps.from_substrait(read, spark, tables=views), spark.sql(text)
    assert schema(found) == schema(expected)
    assert_same(rows(found), rows(expected))


@pytest.mark.parametrize("query", QUERIES)
def test_datafusion_runs_the_plan_made_for_it(
    spark: SparkSession, shared: Path, views: dict[str, str], query: str
) -> None:
    datafusion = pytest.importorskip("datafusion")
    substrait = pytest.importorskip("datafusion.substrait")
    text = text_of(shared, query)
    made = ps.from_sql(text, spark, tables=views, target="datafusion")
    context = datafusion.SessionContext()
    for name, path in views.items():
        context.register_parquet(name, path)
    logical = substrait.Consumer.from_substrait_plan(context, substrait.Serde.deserialize_bytes(made.to_bytes()))
    found = context.create_dataframe_from_logical_plan(logical).to_arrow_table()
    theirs = [tuple(record.values()) for record in found.to_pylist()]
    assert_alike(theirs, rows(spark.sql(text)))
