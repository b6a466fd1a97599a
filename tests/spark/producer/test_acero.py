"""Plans made for Acero, run by pyarrow (in an environment of its own) over the same files."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.round_trips import assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = Path(__file__).resolve().parents[2] / "peers" / "arrow_plans.py"
QUERIES = {
    "columns": "SELECT n_name, n_regionkey FROM nation",
    "arithmetic": "SELECT n_nationkey + n_regionkey AS x, n_name FROM nation WHERE n_nationkey * 2 > 3",
    "decimals": "SELECT l_orderkey, 1 - l_discount AS x FROM lineitem WHERE l_discount > 0.05 AND l_orderkey < 100",
    "dates": "SELECT l_orderkey, year(l_shipdate) AS y FROM lineitem WHERE l_shipdate > DATE '1998-11-01'",
    "join": "SELECT n_name, r_name FROM nation JOIN region ON n_regionkey = r_regionkey",
    "join on two keys": "SELECT ps_availqty FROM partsupp JOIN lineitem ON ps_partkey = l_partkey"
    " AND ps_suppkey = l_suppkey WHERE l_orderkey < 100",
    "left join": "SELECT r_name, n_name FROM region LEFT JOIN nation ON r_regionkey = n_nationkey",
    "groups": "SELECT n_regionkey, count(*) AS c, sum(n_nationkey + 1) AS s FROM nation GROUP BY n_regionkey",
    "no groups": "SELECT sum(n_nationkey) AS s, count(n_name) AS c FROM nation",
    "order": "SELECT n_name FROM nation ORDER BY n_name DESC",
    "choice": "SELECT CASE WHEN n_nationkey > 3 THEN n_name END AS x FROM nation",
    "list": "SELECT n_name FROM nation WHERE n_nationkey IN (1, 3, 99)",
}
TPCH = ("q04", "q12")
#: what keeps each of the others from Acero 22, by the first thing that does
REFUSED = {
    "q02": "ends_with",
    "q09": "contains",
    "q11": "ScalarSubquery",
    "q13": "like",
    "q14": "starts_with",
    "q15": "ScalarSubquery",
    "q16": "DISTINCT",
    "q20": "starts_with",
    "q21": "joins by one equality",
    "q22": "substring",
}


def text_of(shared: Path, query: str) -> str:
    return (shared / "plans" / "tpch" / "sql" / f"{query}.sql").read_text().strip().rstrip(";")


@pytest.mark.sweep
def test_acero_runs_the_plans_made_for_it(
    spark: SparkSession, tpch: dict[str, Path], peers: Path, tmp_path: Path
) -> None:
    assert_that_acero_agrees(spark, {name: str(path) for name, path in tpch.items()}, QUERIES, peers, tmp_path)


def test_acero_runs_some_tpch_queries(
    spark: SparkSession, shared: Path, tpch: dict[str, Path], peers: Path, tmp_path: Path
) -> None:
    queries = {query: text_of(shared, query) for query in TPCH}
    assert_that_acero_agrees(spark, {name: str(path) for name, path in tpch.items()}, queries, peers, tmp_path)


@pytest.mark.parametrize("query", REFUSED)
def test_what_acero_has_not_got_is_named(spark: SparkSession, shared: Path, tpch: dict[str, Path], query: str) -> None:
    tables = {name: str(path) for name, path in tpch.items()}
    with pytest.raises(UnsupportedPlanError, match=REFUSED[query]):
        ps.from_sql(text_of(shared, query), spark, tables=tables, target="acero", optimized=True)


def assert_that_acero_agrees(
    spark: SparkSession, tables: dict[str, str], queries: dict[str, str], peers: Path, folder: Path
) -> None:
    numbered = {f"{number:03}": text for number, text in enumerate(queries.values())}
    for number, text in numbered.items():
        made = ps.from_sql(text, spark, tables=tables, target="acero", optimized=True)
        (folder / f"{number}.plan").write_bytes(made.to_bytes())
    given = [f"{name}={path}" for name, path in tables.items()]
    done = subprocess.run([peers, SCRIPT, folder, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for refused in folder.glob("*.refused"):
        pytest.fail(f"{numbered[refused.stem]}: {refused.read_text()[:500]}")
    for name, path in tables.items():
        spark.read.parquet(path).createOrReplaceTempView(name)
    for number, text in numbered.items():
        with pa.ipc.open_file(folder / f"{number}.arrow") as file:
            found = [tuple(record.values()) for record in file.read_all().to_pylist()]
        assert_same(found, rows(spark.sql(text)), ordered="ORDER BY" in text)
    for name in tables:
        spark.catalog.dropTempView(name)
