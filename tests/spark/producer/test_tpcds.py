"""The 99 TPC-DS queries: out of Spark as plans, and back. DuckDB over the same data is the second witness."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import assert_alike, assert_same, rows, schema

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0.02)

QUERIES = [f"q{number:02}" for number in range(1, 100)]
#: queries whose LIMIT cuts through ties, so that any of several results is right
ANY_OF_TIED = {"q59"}
#: queries whose ORDER BY leaves ties
UNORDERED = {"q37", "q65", "q73", "q82"}
#: queries with a stddev_samp, whose last digits depend on the order of the sums
INEXACT = {"q17": 1e-9, "q39": 1e-9}
#: q78 rounds a quotient, which is a double in DuckDB (0.975 gives 0.97 since its release 2); q90 its parser rejects
NOT_IN_DUCKDB = {"q78", "q90"}


@pytest.fixture(scope="module")
def kit(shared: Path) -> Path:
    folder = shared / "tpcds"
    if not folder.is_dir():
        pytest.skip("no ../shared/tpcds beside the repository")
    return folder


@pytest.fixture(scope="module")
def tables(spark: SparkSession, kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The 24 tables as Parquet files by name, and as views of the session."""
    folder = tmp_path_factory.mktemp("tpcds")
    subprocess.run([sys.executable, kit / "make_data.py", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    found = {name: str(folder / f"{name}.parquet") for name in json.loads((kit / "schema.json").read_text())}
    for name, path in found.items():
        spark.read.parquet(path).createOrReplaceTempView(name)
    yield found
    for name in found:
        spark.catalog.dropTempView(name)


@pytest.fixture(scope="module")
def duck(tables: dict[str, str]) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    with duckdb.connect() as connection:
        for name, path in tables.items():
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{path}')")
        connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        yield connection


@pytest.mark.parametrize("query", QUERIES)
def test_the_plan_of_a_query_gives_its_rows_and_schema(
    spark: SparkSession, kit: Path, tables: dict[str, str], duck: duckdb.DuckDBPyConnection, query: str
) -> None:
    text = (kit / "queries" / f"{query}.sql").read_text().strip().rstrip(";")
    made = ps.from_sql(text, spark, tables=tables)
    # a quotient of decimals has fewer digits in the standard than in Spark, and a rounded one as many as before
    assert {use.name for use in made.portability} <= {"divide:dec_dec", "round:dec_i32"}
    read = ps.load(made.to_bytes(), strict=True)
    back, direct = ps.from_substrait(read, spark, tables=tables), spark.sql(text)
    assert schema(back) == schema(direct)
    found, expected = rows(back), rows(direct)
    if query in ANY_OF_TIED:
        assert len(found) == len(expected)
        return
    assert_same(found, expected, ordered=query not in UNORDERED, tolerance=INEXACT.get(query, 0.0))
    if query not in NOT_IN_DUCKDB:
        assert_alike(found, duck.execute(re.sub("`", '"', text)).fetchall())
