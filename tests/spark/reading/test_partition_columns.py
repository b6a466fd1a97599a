"""Columns whose values stand in the paths of files."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import Read
from pyspark_substrait.model.types import Binary, Date, Decimal, FixedChar, PrecisionTimestamp, Type, VarChar
from tests.spark.plans import (
    BOOL_,
    INT,
    INT_,
    LONG,
    LONG_,
    REAL_,
    TEXT,
    TEXT_,
    answers,
    call,
    col,
    number,
    plan,
    rows,
    where,
)
from tests.spark.reading.file_reads import FORMATS, item, read, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ID = {"id": [1, 2]}
NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize("kind", FORMATS)
def test_values_come_from_the_path(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    format = FORMATS[kind]
    for first, (year, month) in enumerate([("2023", "01"), ("2023", NULL), ("2024", "1")]):
        write(tmp_path / f"t/year={year}/month={month}/x.{kind}", {"id": [10 * first]})
    text: dict[str, Type] = {"month": TEXT_, "id": LONG, "year": TEXT}
    numbers: dict[str, Type] = {"id": LONG, "year": INT, "month": LONG_}
    deep = tmp_path / f"t/year=2024/month=1/x.{kind}"
    cases: list[tuple[Read, list[tuple[Any, ...]]]] = [
        (read(text, item(tmp_path / "t", format)), [("01", 0, "2023"), (None, 10, "2023"), ("1", 20, "2024")]),
        (read(numbers, item(tmp_path / "t", format)), [(0, 2023, 1), (10, 2023, None), (20, 2024, 1)]),
        (read(numbers, item(deep, format, "uri_file")), [(20, 2024, 1)]),
        (read(numbers, item(deep.parent, format), item(deep, format)), [(20, 2024, 1)] * 2),
        (read(numbers, item(f"{tmp_path}/t/*/month=*1", format, "uri_path_glob")), [(0, 2023, 1), (20, 2024, 1)]),
        (read({"year": INT}, item(tmp_path / "t", format)), [(2023,), (2023,), (2024,)]),
        (read({"id": LONG}, item(tmp_path / "t", format)), [(0,), (10,), (20,)]),
        (read({"id": LONG, "day": INT_}, item(deep, format)), [(20, None)]),
    ]
    for (node, wanted), found in zip(
        cases, answers(spark, [c[0] for c in cases], allowed_paths=[tmp_path]), strict=True
    ):
        assert sorted(found, key=repr) == sorted(wanted, key=repr), node.read_type


VALUES: list[tuple[Type, str, Any]] = [
    (TEXT_, "a%2Fb%3Dc%25 d", "a/b=c% d"),
    (TEXT_, "☃é", "☃é"),
    (VarChar(length=3, nullable=True), "abc", "abc"),
    (FixedChar(length=3, nullable=True), "ab", "ab "),
    (BOOL_, "true", True),
    (INT_, "-5", -5),
    (REAL_, "1.5e3", 1500.0),
    (Decimal(precision=5, scale=2, nullable=True), "12.3", Number("12.30")),
    (Date(nullable=True), "2024-02-29", date(2024, 2, 29)),
    (
        PrecisionTimestamp(precision=6, nullable=True),
        "2024-01-02 03%3A04%3A05.25",
        datetime(2024, 1, 2, 3, 4, 5, 250000),
    ),
    (PrecisionTimestamp(precision=0, nullable=True), "2024-01-02 03%3A04%3A05", datetime(2024, 1, 2, 3, 4, 5)),
]


def test_values_of_every_type(spark: SparkSession, tmp_path: Path) -> None:
    folder, nulls = tmp_path, tmp_path
    columns: dict[str, Type] = {"id": LONG}
    for position, (type, value, _) in enumerate(VALUES):
        columns[f"p{position}"] = type
        folder, nulls = folder / f"p{position}={value}", nulls / f"p{position}={NULL}"
    write(folder / "x.parquet", ID)
    write(nulls / "x.parquet", {"id": [3]})
    table = ps.run_query(plan(read(columns, item(tmp_path))), spark=spark, allowed_paths=[tmp_path])
    found = sorted(tuple(row.values()) for row in table.to_pylist())
    values = tuple(value for _, _, value in VALUES)
    assert [row[1:] for row in found] == [values, values, (None,) * len(VALUES)]


def test_what_is_no_value(spark: SparkSession, tmp_path: Path) -> None:
    cases: list[tuple[str, Type, type[SubstraitError], str]] = [
        ("p=x", INT_, TableError, r"/p=x/1.parquet says p=x, which is no i32"),
        ("p=3000000000", INT_, TableError, "no i32"),
        ("p=1.5", LONG, TableError, "no i64"),
        ("p=1.25", Decimal(precision=5, scale=1), TableError, "no decimal"),
        ("p=12345", Decimal(precision=5, scale=1), TableError, "no decimal"),
        ("p=2024-13-01", Date(), TableError, "no date"),
        ("p=2024-01-01 00%3A00%3A00.5", PrecisionTimestamp(precision=0), TableError, "no precision_timestamp"),
        ("p=abcd", VarChar(length=3), TableError, "no varchar"),
        (f"p={NULL}", TEXT, TableError, "says that p is null"),
        ("p=ab", Binary(), UnsupportedPlanError, "where no binary is read from"),
        ("p=1/more", INT_, UnsupportedPlanError, "has folders without a value below it"),
    ]
    for number_, (folder, type, error, message) in enumerate(cases):
        path = write(tmp_path / str(number_) / folder / "1.parquet", ID)
        with pytest.raises(error, match=message):
            rows(spark, read({"id": LONG, "p": type}, item(path)), allowed_paths=[tmp_path])


def test_a_column_in_the_file_is_that_of_the_file(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "p=7/q=8/1.parquet", {"id": [1], "p": [5]})
    write(tmp_path / "p=7/q=9/1.parquet", {"id": [2]})
    write(tmp_path / "p=6/1.parquet", {"id": [3], "Q": pa.array([None], pa.int64())})
    everything = item(tmp_path)
    assert sorted(rows(spark, read({"id": LONG, "p": LONG}, everything), allowed_paths=[tmp_path])) == [
        (1, 5),
        (2, 7),
        (3, 6),
    ]
    assert sorted(rows(spark, read({"id": LONG, "q": LONG_}, everything), allowed_paths=[tmp_path])) == [
        (1, 8),
        (2, 9),
        (3, None),
    ]
    both = read({"p": LONG, "q": LONG_}, everything)
    assert sorted(rows(spark, both, allowed_paths=[tmp_path]), key=repr) == [(5, 8), (6, None), (7, 9)]


def test_slices_and_many_files_with_values(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "p=1/x.parquet", {"id": range(10)}, row_group_size=5)
    half = path.stat().st_size // 2
    node = read({"id": LONG, "p": INT}, item(path, length=half), item(path, start=half), item(path, length=4))
    assert sorted(rows(spark, node, allowed_paths=[tmp_path])) == [(n, 1) for n in range(10)]
    files = [write(tmp_path / f"many/p={n}/x.parquet", {"id": [n]}) for n in range(50)]
    node = read({"id": LONG, "p": INT}, *map(item, files[:40]))
    above = where(node, call("gt", col(node, 1), number(37)))
    assert sorted(rows(spark, above, allowed_paths=[tmp_path])) == [(38, 38), (39, 39)]
    node = read({"id": LONG, "p": INT}, item(tmp_path / "many"))
    assert sorted(rows(spark, node, allowed_paths=[tmp_path])) == [(n, n) for n in range(50)]
