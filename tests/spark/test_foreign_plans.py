"""Plans that others made run on Spark and give the rows that DuckDB gives for the SQL they were made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

import pyspark_substrait
from tests.agreement import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

PLANS = Path(__file__).resolve().parents[3] / "shared" / "plans"

TPCH = sorted(path.relative_to(PLANS).as_posix() for path in PLANS.glob("tpch/*/q*") if path.suffix != ".sql")
RELATIONS = sorted(path.relative_to(PLANS).as_posix() for path in PLANS.glob("relations/*/*.json"))

#: Averages and quotients of decimals are decimals by the extensions (avg of decimal<15, 2> is decimal<38, 2>), where
#: DuckDB gives doubles: the places to which the plans compute them.
PLACES = {"q01": 2, "q08": 6, "q14": 6}

#: Plans that say something else than the SQL they were made from (DuckDB kept neither grouping sets nor DISTINCT), and
#: what they say.
FAULTY = {
    "aggregate/aggregate_with_group_by_rollup": "SELECT L_ORDERKEY, L_LINENUMBER, count(*) FROM lineitem GROUP BY ALL",
    "aggregate/aggregate_with_group_by_cube": "SELECT L_ORDERKEY, L_LINENUMBER, count(*) FROM lineitem GROUP BY ALL",
    "aggregate/aggregate_with_grouping_set": (
        "SELECT sum(L_EXTENDEDPRICE), L_LINENUMBER, L_ORDERKEY FROM lineitem GROUP BY ALL"
    ),
    "set/union_distinct": "SELECT C_NATIONKEY FROM customer UNION ALL SELECT N_NATIONKEY FROM nation",
}


def plans(names: list[str]) -> list[object]:
    """The plans as parameters; one that says why it is skipped where there are none."""
    return list(names) or [pytest.param("", marks=pytest.mark.skip(reason="no ../shared beside the repository"))]


@pytest.fixture(scope="session")
def tables(tpch: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in tpch.items()}


@pytest.fixture(scope="session")
def few(tpch: dict[str, Path]) -> dict[str, pa.Table]:
    """The first rows of each table: enough for every kind of relation, few enough for a cross join."""
    import pyarrow.parquet as pq

    return {name: pa.Table.from_batches([next(pq.ParquetFile(path).iter_batches(300))]) for name, path in tpch.items()}


@pytest.mark.parametrize("name", plans(TPCH))
def test_tpch(name: str, spark: SparkSession, tables: dict[str, str], duck: duckdb.DuckDBPyConnection) -> None:
    query = (PLANS / "tpch" / "sql" / f"{Path(name).stem}.sql").read_text()
    result = pyspark_substrait.run_query(PLANS / name, tables=tables, spark=spark)
    assert_same_rows(result, duck.sql(query).to_arrow_table(), places=PLACES.get(Path(name).stem))


@pytest.mark.parametrize("name", plans(RELATIONS))
def test_relations(name: str, spark: SparkSession, few: dict[str, pa.Table]) -> None:
    queries = json.loads((PLANS / "relations" / "queries.json").read_text())
    short = name.removeprefix("relations/").removesuffix(".json")
    query = FAULTY.get(short, queries[short]["sql"])
    result = pyspark_substrait.run_query(PLANS / name, tables=few, spark=spark)
    with duckdb.connect() as duck:
        for table, rows in few.items():
            duck.register(table, rows)
        assert_same_rows(result, duck.sql(query).to_arrow_table())


@pytest.mark.parametrize(
    "name", plans(["tutorial/final_plan.2023.json", "tutorial/final_plan.0.101.json"] if TPCH else [])
)
def test_tutorial(name: str, spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    orders, products = tutorial_tables()
    result = pyspark_substrait.run_query(PLANS / name, tables={"orders": orders, "products": products}, spark=spark)
    duck.register("tutorial_orders", orders)
    duck.register("tutorial_products", products)
    query = """
        SELECT product_name, o.product_id, sum(CAST(quantity AS DECIMAL(10, 2)) * price)
        FROM tutorial_orders o JOIN tutorial_products p ON o.product_id = p.product_id
        WHERE NOT list_contains(categories, 'Computers')
        GROUP BY product_name, o.product_id
    """
    assert_same_rows(result, duck.sql(query).to_arrow_table())
    assert result.schema.types == [pa.string(), pa.int64(), pa.decimal128(38, 2)]
    assert result.schema.names == ["product_name", "product_id", "sales"]


def tutorial_tables() -> tuple[pa.Table, pa.Table]:
    """Orders and products by the tutorial's schemas."""
    import datetime
    from decimal import Decimal

    day = datetime.date(2023, 1, 5)
    orders = pa.table(
        {
            "product_id": pa.array([1, 1, 2, 3, 4, 9], pa.int64()),
            "quantity": pa.array([2, 3, 1, 4, 5, 6], pa.int32()),
            "order_date": pa.array([day] * 6, pa.date32()),
            "price": pa.array(
                [Decimal("1.25"), Decimal("2.00"), Decimal("999.99"), None, Decimal("0.10"), Decimal(1)]
            ).cast(pa.decimal128(10, 2)),
        }
    )
    details = pa.struct([("manufacturer", pa.string()), ("year_created", pa.int32())])
    products = pa.table(
        {
            "product_id": pa.array([1, 2, 3, 4], pa.int64()),
            "categories": pa.array([["Books"], ["Home", "Computers"], [], ["Toys", "Books"]], pa.list_(pa.string())),
            "details": pa.array([{"manufacturer": "A", "year_created": 1990}, None, None, None], details),
            "product_name": pa.array(["Novel", "Laptop", "Pencil", None]),
        }
    )
    return orders, products
