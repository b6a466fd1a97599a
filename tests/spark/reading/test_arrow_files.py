"""Arrow IPC files, against pyarrow and values worked out by hand."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal as D
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from pyspark_substrait.errors import ExecutionError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import ArrowReadOptions, FileOrFiles
from pyspark_substrait.model.types import (
    Binary,
    Date,
    Decimal,
    List,
    NamedStruct,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    with_nullability,
)
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.arrow_files import arrow_table
from pyspark_substrait.spark.reading.file_slices import FileSlice
from tests.agreement import assert_same_rows
from tests.spark.plans import BOOL_, INT, INT_, LONG, LONG_, REAL, REAL_, TEXT, TEXT_, answers, rows, run
from tests.spark.reading.file_reads import item, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARROW = ArrowReadOptions()
FORMS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}


def written(path: Path, table: pa.Table, form: str = "file", batch: int = 1000, **options: Any) -> FileOrFiles:
    """An item that is the table as a file of batches of so many rows."""
    how = pa.ipc.IpcWriteOptions(**options)
    with pa.OSFile(str(path), "wb") as sink, FORMS[form](sink, table.schema, options=how) as writer:
        writer.write_table(table, max_chunksize=batch)
    return item(path, ARROW, "uri_file")


def found(spark: SparkSession, columns: dict[str, Type], *items: FileOrFiles) -> list[tuple[Any, ...]]:
    node = read(columns, *items)
    return sorted(rows(spark, node, allowed_paths=[Path(item.path).parent for item in items]), key=repr)


@pytest.mark.parametrize("form", FORMS)
def test_types(spark: SparkSession, tmp_path: Path, form: str) -> None:
    moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)
    table = pa.table(
        {
            "text": pa.array(["a", None, "é"]),
            "large": pa.array(["a", None, "é"], pa.large_string()),
            "view": pa.array(["a", None, "a string that is longer"], pa.string_view()),
            "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
            "number": pa.array([1, None, -(2**31)], pa.int32()),
            "wide": pa.array([1, None, 2**63 - 1]),
            "real": pa.array([0.5, None, float("nan")]),
            "truth": pa.array([True, None, False]),
            "money": pa.array([D("1.50"), None, D("-99.99")], pa.decimal128(4, 2)),
            "day": pa.array([moment.date(), None, moment.date()]),
            "local": pa.array([moment, None, moment], pa.timestamp("us")),
            "instant": pa.array([moment, None, moment], pa.timestamp("us", "Europe/Paris")),
            "bytes": pa.array([b"\x00\xff", None, b""]),
            "list": pa.array([[1, None], None, []], pa.list_(pa.int64())),
            "struct": pa.array([{"x": 1, "y": "z"}, None, {"x": None, "y": None}]),
        }
    )
    types: Sequence[Type] = (
        *(TEXT_, TEXT_, TEXT_, TEXT_, INT_, LONG_, REAL_, BOOL_),
        *(Decimal(precision=4, scale=2), Date(), PrecisionTimestamp(precision=6), PrecisionTimestampTZ(precision=6)),
        *(Binary(), List(type=LONG_), Struct(types=(LONG_, TEXT_))),
    )
    names = {name: with_nullability(type, True) for name, type in zip(table.column_names, types, strict=True)}
    node = read_of(names, written(tmp_path / "a.arrow", table, form, batch=2, compression="zstd"))
    result = run(spark, node, allowed_paths=[tmp_path])
    assert_same_rows(result, table)
    assert all(field.nullable for field in result.schema)


def read_of(columns: dict[str, Type], *items: FileOrFiles) -> Any:
    """As ``read``, with the names x and y for the fields of structs."""
    names = [part for name, type in columns.items() for part in ([name, "x", "y"] if "struct" in str(type) else [name])]
    return read(NamedStruct(names=tuple(names), struct=Struct(types=tuple(columns.values()))), *items)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_batches_with_dictionaries(spark: SparkSession, tmp_path: Path, compression: str | None) -> None:
    """Dictionaries that are replaced, grow, or are the same in each batch."""
    chunks = [pa.array(["a", "b"]), pa.array(["b", "c", None]), pa.array(["d"])]
    column = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])
    table = pa.table({"n": range(6), "word": column})
    items = [
        written(tmp_path / "stream", table, "stream", compression=compression),
        written(tmp_path / "deltas", table, "stream", compression=compression, emit_dictionary_deltas=True),
        written(tmp_path / "file", table, unify_dictionaries=True, compression=compression),
    ]
    expected = [(0, "a"), (1, "b"), (2, "b"), (3, "c"), (4, None), (5, "d")]
    assert found(spark, {"n": LONG, "word": TEXT_}, *items) == sorted(expected * 3, key=repr)


def test_columns_are_found_by_name(spark: SparkSession, tmp_path: Path) -> None:
    items = [
        written(tmp_path / "1", pa.table({"a": [1], "b": ["x"]})),
        written(tmp_path / "2", pa.table({"c": [0.5], "B": ["y"], "A": pa.array([2], pa.int8())}), "stream"),
        written(tmp_path / "3", pa.table({"b": pa.array(["z"]).dictionary_encode(), "a": pa.array([3], pa.uint16())})),
    ]
    assert found(spark, {"b": TEXT, "a": LONG, "c": REAL_}, *items) == [("x", 1, None), ("y", 2, 0.5), ("z", 3, None)]
    with pytest.raises(TableError, match=r"/1 has no column c. Its columns: a, b"):
        found(spark, {"b": TEXT, "c": REAL}, *items)
    assert found(spark, {"b": TEXT, "nowhere": INT_}, items[0]) == [("x", None)]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "A"])
    with pytest.raises(TableError, match="has 2 columns named a"):
        found(spark, {"a": LONG}, written(tmp_path / "4", twice))


def test_types_that_differ_between_files(spark: SparkSession, tmp_path: Path) -> None:
    seconds = [datetime.datetime(2024, 1, 1, 0, 0, 7)]
    micros = [datetime.datetime(2024, 1, 1, 0, 0, 7, 1)]
    one = {
        "i": pa.array([1], pa.int8()),
        "u": pa.array([2**64 - 1], pa.uint64()),
        "f": pa.array([0.5], pa.float32()),
        "d": pa.array([D("1.5")], pa.decimal128(3, 1)),
        "t": pa.array(seconds, pa.timestamp("s")),
        "n": pa.nulls(1),
    }
    other = {
        "i": pa.array([2**62]),
        "u": pa.array([-1], pa.int8()),
        "f": pa.array([1e300]),
        "d": pa.array([D("10.25")], pa.decimal128(4, 2)),
        "t": pa.array(micros, pa.timestamp("us")),
        "n": pa.array(["x"]),
    }
    items = [written(tmp_path / "1", pa.table(one)), written(tmp_path / "2", pa.table(other))]
    columns: dict[str, Type] = {
        "i": LONG,
        "u": Decimal(precision=20, scale=0),
        "f": REAL,
        "d": Decimal(precision=5, scale=2),
        "t": PrecisionTimestamp(precision=6),
        "n": TEXT_,
    }
    assert found(spark, columns, *items) == [
        (1, D(2**64 - 1), 0.5, D("1.50"), seconds[0], None),
        (2**62, D(-1), 1e300, D("10.25"), micros[0], "x"),
    ]
    for table in (pa.table({"i": ["x"]}), pa.table({"i": [0.5]})):
        with pytest.raises(TableError, match=r"the column i is int8 and (string|double) in files of one read"):
            found(spark, {"i": LONG}, items[0], written(tmp_path / "3", table))


def test_nulls_where_there_are_none(spark: SparkSession, tmp_path: Path) -> None:
    file = written(tmp_path / "a", pa.table({"n": [1, None]}))
    with pytest.raises(ExecutionError, match="is null, but the plan says it never is"):
        found(spark, {"n": LONG}, file)


def test_no_records(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("n", pa.int64())])
    items = [written(tmp_path / form, schema.empty_table(), form) for form in FORMS]
    with pa.OSFile(str(tmp_path / "none"), "wb") as sink:
        pa.ipc.new_stream(sink, schema).close()
    assert found(spark, {"n": LONG}, *items, item(tmp_path / "none", ARROW)) == []


def test_what_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    written(whole, pa.table({"n": range(100)}), batch=10)
    wrong = {
        "empty": b"",
        "text": b"n\n1\n2\n",
        "cut": whole.read_bytes()[:-20],
        "magic": b"ARROW1",
        "feather": b"FEA1" + b"\0" * 20,
    }
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=name):
            found(spark, {"n": LONG}, item(tmp_path / name, ARROW))
    with pytest.raises(TableError, match="there is no file"):
        found(spark, {"n": LONG}, item(tmp_path / "nowhere", ARROW))


def test_a_damaged_file_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    """Offsets that lead out of the file aren't followed."""
    path = tmp_path / "damaged"
    written(path, pa.table({"word": ["abc", "defg"]}))
    content = path.read_bytes()
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 3, 7))
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, offsets[:8] + (2**30).to_bytes(4, "little")))
    with pytest.raises(TableError, match="damaged"):
        found(spark, {"word": TEXT}, item(path, ARROW))


def test_file_systems_that_pyarrow_does_not_know(spark: SparkSession) -> None:
    schema = NamedStruct(names=("n",), struct=Struct(types=(INT,)))
    with pytest.raises(UnsupportedPlanError, match=r"where://host/a\.arrow cannot be reached"):
        arrow_table([FileSlice("where://host/a.arrow")], schema, Access(["where://host"]), spark)


# slices --------------------------------------------------------------------------------------------------------------


def batches(form: str, table: pa.Table, batch: int) -> tuple[bytes, list[int]]:
    """A file and where the middles of its record batches are, found by writing them one after the other."""
    sink = pa.BufferOutputStream()
    middles = []
    with FORMS[form](sink, table.schema) as writer:
        # the schema is written with the first batch, which has no records here
        writer.write_batch(pa.RecordBatch.from_pylist([], table.schema))
        for chunk in table.to_batches(max_chunksize=batch):
            before = sink.tell()
            writer.write_batch(chunk)
            middles.append((before + sink.tell()) // 2)
    return sink.getvalue().to_pybytes(), middles


@pytest.mark.parametrize("form", FORMS)
def test_slices_have_the_batches_whose_middle_they_have(spark: SparkSession, tmp_path: Path, form: str) -> None:
    table = pa.table({"n": range(30), "word": [f"word {n}" * (n % 7) for n in range(30)]})
    content, middles = batches(form, table, 10)
    path = tmp_path / "a"
    path.write_bytes(content)
    assert len(middles) == 3
    # around each middle, one byte before and at it
    cuts = sorted({0, *(cut + more for cut in middles for more in (0, 1)), len(content) // 3})
    nodes = []
    expected = []
    for first, end in zip(cuts, [*cuts[1:], None], strict=True):
        length = 0 if end is None else end - first
        nodes.append(read({"n": LONG}, item(path, ARROW, "uri_file", start=first, length=length)))
        chosen = [number for number, middle in enumerate(middles) if first <= middle and (end is None or middle < end)]
        expected.append([(number * 10 + n,) for number in chosen for n in range(10)])
    got = answers(spark, nodes, allowed_paths=[tmp_path])
    assert [sorted(one) for one in got] == expected
    assert sorted(row for one in got for row in one) == [(n,) for n in range(30)]
