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


def test_times_that_python_does_not_have(tmp_path: Path) -> None:
    """Nanoseconds and years beyond 9999; written by hand in the forms of the standard library."""
    rows = pa.table(
        {
            "moment": pa.array([1_600_000_000_123_456_789], pa.timestamp("ns")),
            "instant": pa.array([1], pa.timestamp("ns", "UTC")),
            "late": pa.array([253_402_300_800], pa.timestamp("s")),
            "day": pa.array([-800_000], pa.date32()),
            "time": pa.array([1], pa.time64("ns")),
            "span": pa.array([-1], pa.duration("ns")),
            "long": pa.array([86_401_500], pa.duration("ms")),
            "months": pa.array([(14, 2, 1)], pa.month_day_nano_interval()),
            "nested": pa.array([[{"x": 1}, None]], pa.list_(pa.struct([("x", pa.time64("ns"))]))),
            "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.timestamp("ns"))),
        }
    )
    write_file(rows, tmp_path / "rows.json", "json")
    assert json.loads((tmp_path / "rows.json").read_text()) == {
        "moment": "2020-09-13T12:26:40.123456789",
        "instant": "1970-01-01T00:00:00.000000001+00:00",
        "late": "10000-01-01T00:00:00",
        "day": "-0221-09-04",
        "time": "00:00:00.000000001",
        "span": "-1 day, 23:59:59.999999999",
        "long": "1 day, 0:00:01.500",
        "months": "14 months, 2 days, 0:00:00.000000001",
        "nested": [{"x": "00:00:00.000000001"}, None],
        "map": [["a", "1970-01-01T00:00:00.000000001"]],
    }
    for form in ("parquet", "csv"):
        with pytest.raises(TableError, match="can't hold"):
            write_file(rows.select(["months"]), tmp_path / "rows", form)  # type: ignore[arg-type]


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
