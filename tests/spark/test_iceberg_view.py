"""Views of Iceberg, as a catalog gives them: the schema of a plan's view, and the plan of a view's text."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.schema import Schema
from pyiceberg.view import View
from pyiceberg.view.metadata import ViewMetadata

import pyspark_substrait as ps
from pyspark_substrait.builder import read
from pyspark_substrait.errors import TableError, UnsupportedPlanError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Catalog:
    """A catalog that keeps its views; what PyIceberg's client sends to a server is what it gets."""

    name = "lake"

    def __init__(self) -> None:
        self.views: dict[tuple[str, ...], View] = {}

    def create_view(self, names: tuple[str, ...], schema: Schema, version: Any, properties: dict[str, str]) -> View:
        metadata = {
            "view-uuid": str(uuid.uuid4()),
            "format-version": 1,
            "location": "file:///views",
            "schemas": [schema.model_dump(by_alias=True)],
            "current-version-id": 1,
            "versions": [version.model_dump(by_alias=True)],
            "version-log": [],
            "properties": properties,
        }
        self.views[names] = View(names, ViewMetadata.model_validate(metadata))
        return self.views[names]


def _view(schema: Sequence[tuple[str, str]], **texts: str) -> View:
    """Return a view of the namespace ``n`` with texts by their dialects."""
    fields = [{"id": place, "name": name, "type": type, "required": False} for place, (name, type) in enumerate(schema)]
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 0,
        "summary": {},
        "representations": [{"type": "sql", "sql": text, "dialect": dialect} for dialect, text in texts.items()],
        "default-namespace": ["views_of_iceberg"],
    }
    metadata = {
        "view-uuid": str(uuid.uuid4()),
        "format-version": 1,
        "location": "file:///views",
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "current-version-id": 1,
        "versions": [version],
        "version-log": [],
    }
    return View(("n", "v"), ViewMetadata.model_validate(metadata))


@pytest.fixture(scope="module")
def database(spark: SparkSession) -> Iterator[None]:
    """A database with a table, which isn't the current one."""
    spark.sql("CREATE DATABASE views_of_iceberg")
    spark.sql("CREATE TABLE views_of_iceberg.orders USING parquet AS SELECT id, id * 2 AS price FROM range(5)")
    yield
    spark.sql("DROP DATABASE views_of_iceberg CASCADE")


def test_each_type_of_iceberg() -> None:
    columns = {
        "a": "boolean",
        "b": "i8?",
        "c": "i32",
        "d": "i64?",
        "e": "fp32",
        "f": "fp64",
        "g": "string?",
        "h": "binary",
        "i": "date?",
        "j": "decimal<20,3>",
        "k": "precision_timestamp<6>",
        "l": "precision_timestamp_tz?<6>",
        "m": "list<i64?>",
        "n": "map?<string,fp64?>",
        "o": "uuid",
        "p": "precision_time<6>",
        "q": "varchar<10>",
    }
    plan = read("orders", columns).to_plan()
    view = ps.create_iceberg_view(plan, Catalog(), "shop.all", dialects=["spark"])  # type: ignore[arg-type]
    fields = view.schema().fields
    assert [field.name for field in fields] == list(columns)
    assert [str(field.field_type) for field in fields] == [
        "boolean",
        "int",
        "int",
        "long",
        "float",
        "double",
        "string",
        "binary",
        "date",
        "decimal(20, 3)",
        "timestamp",
        "timestamptz",
        "list<long>",
        "map<string, double>",
        "uuid",
        "time",
        "string",
    ]
    assert [field.required for field in fields] == ["?" not in type.partition("<")[0] for type in columns.values()]
    assert len({field.field_id for field in fields}) == len(fields)
    assert view.current_version().default_catalog == "lake"
    assert tuple(view.current_version().default_namespace) == ("shop",)


def test_what_no_view_can_have_is_refused_before_the_catalog_is_asked() -> None:
    catalog: Any = Catalog()
    plan = read("orders", {"a": "i64", "t": "interval_year"}).to_plan()
    with pytest.raises(UnsupportedPlanError, match="Iceberg has no type for interval_year, that of the column `t`"):
        ps.create_iceberg_view(plan, catalog, "shop.v", dialects=["spark"])
    with pytest.raises(UnsupportedPlanError, match="would read itself"):
        ps.create_iceberg_view(read(("shop", "v"), {"a": "i64"}).to_plan(), catalog, "shop.v")
    with pytest.raises(UnsupportedPlanError, match="would read itself"):
        ps.create_iceberg_view(read("v", {"a": "i64"}).to_plan(), catalog, "shop.v")
    with pytest.raises(TableError, match="has no namespace"):
        ps.create_iceberg_view(read("orders", {"a": "i64"}).to_plan(), catalog, "v")
    with pytest.raises(UnsupportedPlanError, match="no dialect"):
        ps.create_iceberg_view(read("orders", {"a": "i64"}).to_plan(), catalog, "shop.v", dialects=["spark", "db2"])
    assert not catalog.views


@pytest.mark.usefixtures("database")
def test_names_are_those_of_the_views_namespace_and_schema(spark: SparkSession) -> None:
    before = spark.catalog.currentDatabase()
    view = _view([("k", "long"), ("sum", "long")], trino="-", spark="SELECT id % 2, sum(price) FROM orders GROUP BY 1")
    plan = ps.from_iceberg_view(view, spark)
    assert plan.relations[0].names == ("k", "sum")
    assert sorted(ps.run_query(plan, spark=spark).to_pylist(), key=str) == [{"k": 0, "sum": 12}, {"k": 1, "sum": 8}]
    with pytest.raises(ps.InvalidPlanError):
        ps.from_iceberg_view(_view([("a", "long")], spark="SELECT nothing FROM orders"), spark)
    with pytest.raises(TableError, match=r"the session has no namespace `elsewhere\.views_of_iceberg`"):
        ps.from_iceberg_view(view, spark, catalog="elsewhere")
    assert spark.catalog.currentDatabase() == before


def test_datafusion_plans_a_view() -> None:
    pytest.importorskip("datafusion")
    view = _view([("a", "long"), ("b", "long")], spark="SELECT id, price AS b FROM orders WHERE id > 1 -- those")
    plan = ps.from_iceberg_view(view, tables={"orders": "id BIGINT, price BIGINT"}, engine="datafusion")
    assert plan.relations[0].names == ("a", "b")


def test_a_view_without_spark_sql_says_what_it_has() -> None:
    with pytest.raises(TableError, match=r"the view n\.v has no text in Spark SQL, but in duckdb, trino"):
        ps.from_iceberg_view(_view([("a", "long")], trino="SELECT 1", duckdb="SELECT 1"))
