"""Filters and projections reach the scan: the physical plans say so."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import StructField
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import RelationBase
from pyspark_substrait.model.types import Struct
from tests.spark.plans import (
    INT,
    INT_,
    LONG_,
    TEXT_,
    aggregate,
    call,
    col,
    emit,
    group,
    long,
    number,
    plan,
    project,
    schema,
    where,
)
from tests.spark.reading.file_reads import FORMATS, item, read, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = pa.table({"id": [1, 2], "word": ["a", None], "price": [10, 20]})
COLUMNS = {"id": LONG_, "word": TEXT_, "price": LONG_}


def scans(spark: SparkSession, node: RelationBase, folder: Path) -> list[tuple[str, str, str]]:
    """Of each scan in the physical plan: what is pushed, which partitions, what is read."""
    frame = ps.from_substrait(plan(node), spark, allowed_paths=[folder])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        frame.explain("formatted")
    found = []
    for part in printed.getvalue().split("\n\n"):
        if re.match(r"\(\d+\) Scan", part.strip()):
            lines = dict(line.split(": ", 1) for line in part.strip().splitlines()[1:] if ": " in line)
            found.append((lines.get("PushedFilters", ""), lines.get("PartitionFilters", ""), lines["ReadSchema"]))
    return found


def mask(*fields: int) -> MaskExpression:
    return MaskExpression(select=StructSelect(tuple(map(StructItem, fields))))


@pytest.mark.parametrize("kind", FORMATS)
def test_filters_and_projections(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    one = item(write(tmp_path / f"1.{kind}", TABLE), FORMATS[kind])
    whole = read(COLUMNS, one)
    condition = call("gt", col(whole, 0), long(1))
    pushed = "[IsNotNull(id), GreaterThan(id,1)]"
    inside = read(COLUMNS, one, filter=condition, projection=mask(2))
    assert scans(spark, inside, tmp_path) == [(pushed, "", "struct<id:bigint,price:bigint>")]
    best = read(COLUMNS, one, best_effort_filter=condition, projection=mask(0))
    assert scans(spark, best, tmp_path) == [(pushed, "", "struct<id:bigint>")]
    above = where(whole, condition, common=emit(1))
    assert scans(spark, above, tmp_path) == [(pushed, "", "struct<id:bigint,word:string>")]
    counted = group(whole, [], [aggregate("sum", col(whole, 2))])
    assert scans(spark, counted, tmp_path) == [("", "", "struct<price:bigint>")]


@pytest.mark.parametrize("kind", FORMATS)
def test_through_the_union_of_evolved_files(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    write(tmp_path / f"1.{kind}", TABLE)
    write(tmp_path / f"2.{kind}", {"price": [1], "id": pa.array([1], pa.int32())})
    other = "orc" if kind == "parquet" else "parquet"
    second = write(tmp_path / "other" / f"3.{other}", TABLE)
    whole = read(
        COLUMNS, *(item(tmp_path / f"{n}.{kind}", FORMATS[kind]) for n in (1, 2)), item(second, FORMATS[other])
    )
    node = project(where(whole, call("gt", col(whole, 0), long(1))), col(whole, 1))
    pushed = "[IsNotNull(id), GreaterThan(id,1)]"
    assert scans(spark, node, tmp_path) == [
        (pushed, "", "struct<id:bigint,word:string>"),
        (pushed, "", "struct<id:int>"),  # unwrapped from its cast; the word that isn't there is a null
        (pushed, "", "struct<id:bigint,word:string>"),
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_fields_inside(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    type = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("a", pa.int32()), ("b", pa.int32())]))])
    values = [{"x": 1, "y": "s", "z": {"a": 1, "b": 2}}, None]
    one = item(write(tmp_path / f"1.{kind}", {"k": [1, 2], "p": pa.array(values, type)}), FORMATS[kind])
    place = Struct(types=(INT_, TEXT_, Struct(types=(INT_, INT_), nullable=True)), nullable=True)
    whole = read(schema((LONG_, place), ("k", "p", "x", "y", "z", "a", "b")), one)
    x, b = col(whole, 1, StructField(0)), col(whole, 1, StructField(2), StructField(1))
    node = project(where(whole, call("gt", x, number(0))), b)
    ((pushed, _, schema_),) = scans(spark, node, tmp_path)
    assert schema_ == "struct<p:struct<x:int,z:struct<b:int>>>"
    assert pushed == ""


@pytest.mark.parametrize("kind", FORMATS)
def test_partitions(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    for year in (2023, 2024):
        write(tmp_path / f"year={year}" / f"1.{kind}", TABLE)
    whole = read({**COLUMNS, "year": INT}, item(tmp_path, FORMATS[kind]))
    node = project(where(whole, call("equal", col(whole, 3), number(2024))), col(whole, 2))
    ((pushed, partitions, found),) = scans(spark, node, tmp_path)
    assert re.fullmatch(r"\[isnotnull\(year#\d+\), \(cast\(year#\d+ as int\) = 2024\)\]", partitions)
    assert (pushed, found) == ("", "struct<price:bigint>")
