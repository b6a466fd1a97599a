"""A view in a REST catalog of Iceberg, made of a plan: Spark and Trino read the same rows, each from its own text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog

import pyspark_substrait as ps
from pyspark_substrait.builder import call, count, read, sum_
from pyspark_substrait.errors import TableError, UnsupportedPlanError
from tests.dialects.engines import Trino, counted
from tests.integration import iceberg_rest, trino_server
from tests.integration.session import Session, session

pytestmark = pytest.mark.sweep(sample=0)

ORDERS = {"id": "i64?", "product": "string?", "price": "decimal?<10,2>", "weight": "fp64?", "day": "date?"}
ROWS = """
    (1, 'a', 10.50, 1.5, DATE '2024-01-31'), (2, 'b', 2.25, CAST('NaN' AS DOUBLE), DATE '2024-02-29'),
    (3, 'a', 0.25, NULL, NULL), (4, NULL, NULL, -0.0, DATE '1969-12-31'),
    (5, 'ß', 99999999.99, 3e300, DATE '9999-12-31')
"""


@dataclass(frozen=True)
class Lake:
    """A catalog, and the engines that have it as ``ice``."""

    uri: str
    catalog: Catalog
    spark: Session
    trino: Trino


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("views")
    with iceberg_rest.server() as rest:
        of_spark = {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "rest",
            "spark.sql.catalog.ice.uri": rest.uri,
            "spark.sql.catalog.ice.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        }
        of_trino = f"""\
connector.name=iceberg
iceberg.catalog.type=rest
iceberg.rest-catalog.uri={rest.uri}
fs.hadoop.enabled=true
"""
        with session("iceberg", folder, of_spark) as spark, trino_server.server({"ice": of_trino}) as trino:
            spark.sql("CREATE NAMESPACE ice.shop")
            spark.sql(
                "CREATE TABLE ice.shop.orders (id BIGINT, product STRING, price DECIMAL(10,2), weight DOUBLE, day DATE)"
            )
            spark.sql(f"INSERT INTO ice.shop.orders VALUES {ROWS}")
            catalog = load_catalog("ice", type="rest", uri=rest.uri)
            yield Lake(rest.uri, catalog, spark, Trino(trino))


def _plans() -> dict[str, Any]:
    orders = read("orders", ORDERS)
    return {
        "rows": orders,
        "filtered": orders.filter(lambda t: t.weight > 1.0).select("id", "weight"),
        "sums": orders.group_by("product").agg(total=lambda t: sum_(t.price), n=count()),
        "ordered": orders.sort("weight").limit(3),
    }


@pytest.mark.parametrize("name", list(_plans()))
def test_spark_and_trino_read_the_same_rows(lake: Lake, name: str) -> None:
    plan = _plans()[name].to_plan()
    made = ps.create_iceberg_view(plan, lake.catalog, f"shop.{name}")
    types = plan.trees[-1].schema.types
    assert {one.root.dialect for one in made.current_version().representations} == {"spark", "trino"}

    table = lake.spark.table(f"SELECT * FROM ice.shop.{name}")
    expected = _counted(table, types)
    assert len(expected) >= 2
    assert table.column_names == list(plan.relations[0].names)
    found = lake.trino.rows(f"SELECT * FROM ice.shop.{name}", types)
    assert sorted(map(str, found)) == sorted(map(str, expected))

    back = lake.spark.view(lake.uri, f"shop.{name}")
    assert sorted(map(str, _counted(lake.spark.plan(back), types))) == sorted(map(str, expected))


def _counted(table: pa.Table, types: Any) -> list[tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [tuple(counted(cell, type) for cell, type in zip(row, types, strict=True)) for row in rows]


def test_a_view_of_another_engine_is_read(lake: Lake) -> None:
    lake.spark.sql("CREATE VIEW ice.shop.by_spark (k, n) AS SELECT product, count(*) FROM ice.shop.orders GROUP BY 1")
    plan = lake.spark.view(lake.uri, "shop.by_spark")
    assert plan.relations[0].names == ("k", "n")
    assert sorted(map(str, lake.spark.plan(plan).to_pylist())) == sorted(
        map(str, lake.spark.table("SELECT * FROM ice.shop.by_spark").to_pylist())
    )


def test_what_cannot_be_a_view_is_refused(lake: Lake) -> None:
    plan = read("orders", ORDERS).to_plan()
    ps.create_iceberg_view(plan, lake.catalog, "shop.once", dialects=["trino"])
    with pytest.raises(TableError, match=r"there is a view or a table `shop\.once` already"):
        ps.create_iceberg_view(plan, lake.catalog, "shop.once")
    with pytest.raises(TableError, match="has no text in Spark SQL, but in trino"):
        ps.from_iceberg_view(lake.catalog.load_view("shop.once"))
    with pytest.raises(UnsupportedPlanError, match="Trino"):
        upper = read("orders", ORDERS).select(name=lambda t: call("upper", t.product, char_set="UTF8"))
        ps.create_iceberg_view(upper.to_plan(), lake.catalog, "shop.upper")
    assert not lake.catalog.view_exists("shop.upper")


def test_a_catalog_without_views_says_so(tmp_path: Path) -> None:
    catalog = load_catalog("own", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    with pytest.raises(UnsupportedPlanError, match="SqlCatalog has no views"):
        ps.create_iceberg_view(read("orders", ORDERS).to_plan(), catalog, "shop.large")
