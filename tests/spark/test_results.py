"""Rows on their way to people and files."""

from __future__ import annotations

import datetime
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import pyspark_substrait
from pyspark_substrait.errors import ExecutionError, TableError
from pyspark_substrait.spark.results import as_table, write_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table(
    {
        "number": pa.array([1, None], pa.int64()),
        "price": pa.array([Decimal("0.000000000010"), Decimal("12345678901234567890.000000000000")]),
        "day": [datetime.date(2024, 2, 29), None],
        "ratio": [float("nan"), 0.5],
        "raw": [b"\x00\xff", None],
        "tags": [["a", None], []],
        "maker": [{"name": "[red]", "year": 1}, None],
    }
)


def test_json_loses_nothing(tmp_path: Path) -> None:
    write_file(ROWS, tmp_path / "rows.json", "json")
    first, second = (json.loads(line) for line in (tmp_path / "rows.json").read_text().splitlines())
    assert first == {
        "number": 1,
        "price": "0.000000000010",
        "day": "2024-02-29",
        "ratio": "nan",
        "raw": "AP8=",
        "tags": ["a", None],
        "maker": {"name": "[red]", "year": 1},
    }
    assert second["price"] == "12345678901234567890.000000000000"
    assert second["number"] is None and second["tags"] == []


def test_parquet_is_the_same_table(tmp_path: Path) -> None:
    write_file(ROWS, tmp_path / "rows.parquet", "parquet")
    assert pq.read_table(tmp_path / "rows.parquet").drop_columns("ratio").equals(ROWS.drop_columns("ratio"))


def test_a_format_that_cannot_hold_a_column_says_so(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="'raw' of type binary"):
        write_file(ROWS, tmp_path / "rows.csv", "csv")
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(TableError, match="two columns with the name 'a'"):
        write_file(twice, tmp_path / "rows.json", "json")
    assert list(tmp_path.iterdir()) == []


def test_the_table_shows_values_as_they_are() -> None:
    console = Console(file=io.StringIO(), width=200)
    console.print(as_table(ROWS, types=True))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert [line.split() for line in lines[:1]] == [ROWS.column_names]
    assert '{"name": "[red]", "year": 1}' in lines[3]
    assert lines[4].split().count("null") == 4
    assert len({len(line) for line in lines}) == 1


NAMES: dict[str, Any] = {"names": ["name"], "struct": {"types": [{"string": {"nullability": "NULLABILITY_NULLABLE"}}]}}
READ: dict[str, Any] = {"read": {"baseSchema": NAMES, "namedTable": {"names": ["people"]}}}
PEOPLE = pa.table({"name": ["Ada", "Grace", None, "Edsger"]})


def plan(relation: dict[str, Any]) -> dict[str, Any]:
    return {"version": {"minorNumber": 108}, "relations": [{"root": {"input": relation, "names": ["name"]}}]}


def test_an_error_while_running_is_one_of_ours(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    field = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
    number = {"cast": {"type": {"i32": {"nullability": "NULLABILITY_NULLABLE"}}, "input": field}}
    emit = {"emit": {"outputMapping": [1]}}
    project = {"project": {"common": emit, "input": READ, "expressions": [number]}}
    with pytest.raises(ExecutionError, match="CAST_INVALID_INPUT") as caught:
        pyspark_substrait.run_query(plan(project), tables={"people": PEOPLE}, spark=spark)
    assert caught.value.__cause__ is not None
    assert capfd.readouterr() == ("", "")


def test_a_limit_is_the_most_rows(spark: SparkSession) -> None:
    tables = {"people": PEOPLE}
    assert pyspark_substrait.run_query(plan(READ), tables=tables, spark=spark, limit=3).num_rows == 3
    assert pyspark_substrait.run_query(plan(READ), tables=tables, spark=spark, limit=9).num_rows == 4
