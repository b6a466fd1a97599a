"""Files that are older or newer than the plan: missing, moved, added and widened columns, and nulls."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from pyspark_substrait.errors import ExecutionError, TableError
from pyspark_substrait.model.types import Date, Decimal, List, Map, PrecisionTimestampTZ, Struct, Type
from tests.spark.plans import INT, INT_, LONG, LONG_, REAL_, TEXT, TEXT_, ordered, plan, rows, schema, stored, tuples
from tests.spark.reading.file_reads import FORMATS, PARQUET, item, read, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def found(spark: SparkSession, folder: Path, kind: str, node_columns: Any) -> list[tuple[Any, ...]]:
    return ordered(rows(spark, read(node_columns, item(folder, FORMATS[kind])), allowed_paths=[folder]))


@pytest.mark.parametrize("kind", FORMATS)
def test_missing_moved_added_and_widened_columns(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    write(tmp_path / f"1.{kind}", {"id": pa.array([1], pa.int32()), "amount": pa.array([1.5], pa.float32())})
    write(tmp_path / f"2.{kind}", {"word": ["x"], "amount": [2.5], "id": [2], "more": [True]})
    write(tmp_path / f"3.{kind}", {"id": pa.array([3], pa.int16())})
    write(tmp_path / f"4.{kind}", {"ID": [2**40], "Word": pa.array([None], pa.string()), "amount": [0.5]})
    columns = {"id": LONG, "word": TEXT_, "amount": REAL_, "never": INT_}
    assert found(spark, tmp_path, kind, columns) == ordered(
        [(1, None, 1.5, None), (2, "x", 2.5, None), (3, None, None, None), (2**40, None, 0.5, None)]
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_decimals_are_widened(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    write(tmp_path / f"1.{kind}", {"d": pa.array([Number("1.5")], pa.decimal128(5, 1))})
    write(tmp_path / f"2.{kind}", {"d": pa.array([Number("123456789.123")], pa.decimal128(20, 3))})
    write(tmp_path / f"3.{kind}", {"d": pa.array([7], pa.int32())})
    wanted = Decimal(precision=20, scale=3, nullable=True)
    assert found(spark, tmp_path, kind, {"d": wanted}) == [
        (Number("1.500"),),
        (Number("123456789.123"),),
        (Number("7.000"),),
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_does_not_fit_names_the_file(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    write(tmp_path / f"1.{kind}", {"id": [1], "word": ["a"]})
    write(tmp_path / f"2.{kind}", {"id": [2]})
    write(tmp_path / f"3.{kind}", {"id": ["3"], "word": ["c"]})
    with pytest.raises(TableError, match=rf"the file .*/2\.{kind} has no column word"):
        found(spark, tmp_path, kind, {"word": TEXT})
    with pytest.raises(TableError, match=rf"id of the file .*/3\.{kind} is string, which cannot be read as i64"):
        found(spark, tmp_path, kind, {"id": LONG})
    # a number that doesn't fit raises when it is read
    write(tmp_path / "narrow" / f"1.{kind}", {"id": [2**40]})
    with pytest.raises(ExecutionError):
        found(spark, tmp_path / "narrow", kind, {"id": INT_})


@pytest.mark.parametrize("kind", FORMATS)
def test_nulls_where_there_may_be_none(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    write(tmp_path / f"1.{kind}", {"id": [1], "n": pa.array([None], pa.int64())})
    write(tmp_path / f"2.{kind}", {"id": pa.array([2], pa.int32()), "n": [2]})
    assert found(spark, tmp_path, kind, {"id": LONG, "n": LONG_}) == [(1, None), (2, 2)]
    assert found(spark, tmp_path, kind, {"id": LONG}) == [(1,), (2,)]
    with pytest.raises(ExecutionError, match=r"n of the file .* is null, but the plan says it never is"):
        found(spark, tmp_path, kind, {"id": LONG, "n": LONG})


@pytest.mark.parametrize("kind", FORMATS)
def test_fields_inside_change_too(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    old = pa.struct([("x", pa.int32())])
    new = pa.struct([("name", pa.string()), ("y", pa.int64()), ("x", pa.int64())])
    for number, (type, value) in enumerate([(old, {"x": 1}), (new, {"name": "n", "y": 2, "x": 3}), (new, None)]):
        table = {
            "place": pa.array([value], type),
            "list": pa.array([[value, None]], pa.list_(type)),
            "map": pa.array([[("k", value)]], pa.map_(pa.string(), type)),
        }
        write(tmp_path / f"{number}.{kind}", table)
    place: Type = Struct(types=(LONG_, LONG_, TEXT_), nullable=True)
    names = ("x", "y", "name")
    wanted = schema(
        (place, List(type=place), Map(key=TEXT, value=place)),
        ("place", *names, "list", *names, "map", *names),
    )
    node = read(wanted, item(tmp_path, FORMATS[kind]))
    import pyspark_substrait as ps

    table = ps.run_query(plan(node, wanted.names), spark=spark, allowed_paths=[tmp_path])
    first = {"x": 1, "y": None, "name": None}
    second = {"x": 3, "y": 2, "name": "n"}
    assert ordered(tuples(table)) == ordered((value, [value, None], [("k", value)]) for value in (first, second, None))
    strict = schema((Struct(types=(LONG_, LONG), nullable=True),), ("place", "x", "y"))
    with pytest.raises(TableError, match=rf"place of the file .*0\.{kind} has no column y"):
        rows(spark, read(strict, item(tmp_path, FORMATS[kind])), allowed_paths=[tmp_path])


def test_columns_that_hold_nothing_but_null(spark: SparkSession, tmp_path: Path) -> None:
    """What has no value has no type in Arrow, and then none in a Parquet file that it writes."""
    write(tmp_path / "1.parquet", {"id": [1], "word": [None], "list": [None], "place": [{"x": None}]})
    write(tmp_path / "2.parquet", {"id": [2], "word": ["x"], "list": [[1]], "place": [{"x": 1}]})
    place = Struct(types=(LONG_,), nullable=True)
    wanted = schema((LONG, TEXT_, List(type=LONG, nullable=True), place), ("id", "word", "list", "place", "x"))
    found_ = found(spark, tmp_path, "parquet", wanted)
    assert [row[:3] for row in found_] == [(1, None, None), (2, "x", [1])]
    assert [list(row[3].values()) for row in found_] == [[None], [1]]
    with pytest.raises(ExecutionError, match=r"word of the file .* is null"):
        found(spark, tmp_path, "parquet", {"word": TEXT})


def test_required_columns_of_many_kinds_of_files(spark: SparkSession, tmp_path: Path) -> None:
    """More than one table, none with nulls: nothing is checked, everything is there."""
    write(tmp_path / "1.parquet", {"id": pa.array([1], pa.int32()), "n": [1]})
    write(tmp_path / "2.parquet", {"n": pa.array([2], pa.int16()), "id": [2]})
    assert found(spark, tmp_path, "parquet", {"id": LONG, "n": INT}) == [(1, 1), (2, 2)]


@pytest.mark.parametrize("mode", ("EXCEPTION", "LEGACY"))
def test_old_dates_are_those_stored_whatever_the_session_says(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """Parquet files of other programs do not say which calendar they are of."""
    days, moments = [date(1, 1, 1), date(1582, 10, 4)], [datetime(1, 1, 1, 12, 30), datetime(1500, 3, 1)]
    there = pa.table({"day": days, "at": pa.array(moments, pa.timestamp("us", "UTC"))})
    path = write(tmp_path / "old.parquet", there)
    columns: dict[str, Type] = {"day": Date(nullable=True), "at": PrecisionTimestampTZ(precision=6, nullable=True)}
    node = read(columns, item(path, PARQUET))
    key = "spark.sql.parquet.datetimeRebaseModeInRead"
    before = spark.conf.get(key)
    spark.conf.set(key, mode)
    try:
        named = rows(spark, node, allowed_paths=[tmp_path])
        given = rows(spark, stored("old", columns), tables={"old": str(path)})
    finally:
        spark.conf.set(key, before)  # type: ignore[arg-type]
    assert named == given == tuples(there)
