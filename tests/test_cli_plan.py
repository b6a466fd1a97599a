"""The command that makes plans of Spark SQL: arguments, exit codes, where output goes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import pyspark_substrait as ps
from pyspark_substrait.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

needs_classic = pytest.mark.skipif(
    bool(os.environ.get("TEST_REMOTE")), reason="plans are made in classic sessions only"
)


def call(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)], input=stdin)


def told(result: Result) -> str:
    """What stands on standard error, but for the line that says to wait."""
    return result.stderr.removeprefix("Starting Spark …\n")


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    file = tmp_path / "orders.parquet"
    pq.write_table(pa.table({"id": [1, 2], "price": [5.0, 15.0]}), file)
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [""],
        ["absent.sql"],
        ["SELECT 1", "--table", "orders"],
        ["SELECT 1", "--table", "orders=absent.parquet"],
        ["SELECT 1", "--schema", "orders"],
        ["SELECT 1", "--schema", "orders= "],
        ["SELECT 1", "--schema", "orders=a INT", "--schema", "orders=b INT"],
        ["SELECT 1", "--output", "."],
    ],
)
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert "Usage:" in result.output


@needs_classic
def test_the_plan_goes_to_standard_output_as_json(spark: SparkSession, orders: Path) -> None:
    result = call("SELECT id FROM shop.orders WHERE price > 10;", "--table", f"shop.orders={orders}")
    assert result.exit_code == 0, result.output
    plan = ps.load(json.loads(result.stdout))
    assert ps.from_substrait(plan, spark, tables={"shop.orders": orders}).collect() == [(2,)]


@needs_classic
def test_files_and_standard_input(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    query = "SELECT max(price) AS most FROM orders"
    (tmp_path / "query.sql").write_text(query)
    schema = "orders=id BIGINT NOT NULL, price DOUBLE"
    required = pa.schema([pa.field("id", pa.int64(), nullable=False), ("price", pa.float64())])
    tables = {"orders": pq.read_table(orders).cast(required)}
    found = []
    for source, target, stdin in (
        (tmp_path / "query.sql", "a.json", None),
        ("-", "b.pb", query),
        (query, "c.plan", None),
    ):
        result = call(source, "--schema", schema, "-o", tmp_path / target, stdin=stdin)
        assert result.exit_code == 0, result.output
        assert told(result) == f"written to {tmp_path / target}\n"
        plan = ps.load(tmp_path / target)
        found.append(plan.to_bytes())
        assert ps.run_query(plan, tables=tables, spark=spark).to_pylist() == [{"most": 15.0}]
    assert found[0] == found[1] == found[2]
    assert (tmp_path / "a.json").read_bytes().lstrip().startswith(b"{")
    assert not (tmp_path / "b.pb").read_bytes().lstrip().startswith(b"{")


@needs_classic
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["SELECT nope FROM t", "--schema", "t=a INT"], "`nope` cannot be resolved"),
        (["SELECT * FRM x y"], "line 1, column 14"),
        (["MERGE INTO t USING t AS u ON true WHEN MATCHED THEN DELETE"], "error: "),
        (["SELECT 1 AS x", "--target", "nothing"], "nothing"),
    ],
)
def test_errors_are_one_line(spark: SparkSession, arguments: list[str], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert told(result).startswith("error: ")
    assert told(result).count("\n") == 1
    assert message in told(result)


@needs_classic
def test_options(spark: SparkSession) -> None:
    for options in (["--optimized"], ["--portable"], ["--target", "datafusion"]):
        result = call("SELECT a + 1 AS b FROM t", "--schema", "t=a INT", *options)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("{")
