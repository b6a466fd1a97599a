"""Reads of Iceberg tables by their metadata file. The tables are made by PyIceberg; what they hold is written here."""

from __future__ import annotations

import datetime
import decimal
import json
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyiceberg")

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.model import types as T
from pyspark_substrait.model.relations import IcebergTable, Read
from pyspark_substrait.model.types import Type
from tests.spark.plans import INT_, LONG, LONG_, REAL_, TEXT_, call, col, long, ordered, plan, run, schema, tuples
from tests.spark.reading.iceberg_tables import by_position, by_value, catalog, with_deletes

_SIMPLE = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType(), required=False))
_COLUMNS = {"id": LONG, "name": TEXT_}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> SqlCatalog:
    return catalog(tmp_path_factory.mktemp("iceberg"))


def _folder(table: Table) -> Path:
    return Path(table.location().removeprefix("file://"))


def _read(metadata: str | Path | Table, columns: Mapping[str, Type], **more: Any) -> Read:
    uri = metadata.metadata_location if isinstance(metadata, Table) else str(metadata)
    keys = {key: more.pop(key) for key in ("snapshot_id", "snapshot_timestamp") if key in more}
    read = IcebergTable(metadata_uri=uri, **keys)
    return Read(base_schema=schema(tuple(columns.values()), tuple(columns)), read_type=read, **more)


def _rows(spark: SparkSession, read: Read, allowed: Path) -> list[tuple[Any, ...]]:
    return ordered(tuples(run(spark, read, allowed_paths=[allowed])))


def _simple_rows(start: int, stop: int) -> pa.Table:
    ids = list(range(start, stop))
    fields = [pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())]
    return pa.table([ids, [None if id % 4 == 3 else f"n{id}" for id in ids]], schema=pa.schema(fields))


@pytest.fixture(scope="module")
def grown(tables: SqlCatalog) -> Table:
    """A table with three snapshots: 0 to 4, then 5 to 9 too, then without those below 3."""
    table = tables.create_table("db.grown", _SIMPLE)
    table.append(_simple_rows(0, 5))
    table.append(_simple_rows(5, 10))
    table.delete("id < 3")
    return table


def _expected(*ids: int) -> list[tuple[Any, ...]]:
    return ordered((id, None if id % 4 == 3 else f"n{id}") for id in ids)


def test_the_current_snapshot(spark: SparkSession, grown: Table) -> None:
    assert _rows(spark, _read(grown, _COLUMNS), _folder(grown)) == _expected(*range(3, 10))
    # columns are found by their names, in whatever order and case
    assert _rows(spark, _read(grown, {"NAME": TEXT_}), _folder(grown)) == ordered(
        (name,) for _, name in _expected(*range(3, 10))
    )


def test_snapshots_by_id_and_by_time(spark: SparkSession, grown: Table) -> None:
    entries = grown.history()
    states = [range(5), range(10)]
    for entry, ids in zip(entries, states, strict=False):
        by_id = _read(grown, _COLUMNS, snapshot_id=str(entry.snapshot_id))
        assert _rows(spark, by_id, _folder(grown)) == _expected(*ids)
    at_the_time = _read(grown, _COLUMNS, snapshot_timestamp=entries[0].timestamp_ms * 1000)
    assert _rows(spark, at_the_time, _folder(grown)) == _expected(*range(5))
    just_before = _read(grown, _COLUMNS, snapshot_timestamp=entries[1].timestamp_ms * 1000 - 1)
    assert _rows(spark, just_before, _folder(grown)) == _expected(*range(5))
    far_later = _read(grown, _COLUMNS, snapshot_timestamp=2**62)
    assert _rows(spark, far_later, _folder(grown)) == _expected(*range(3, 10))


@pytest.mark.parametrize("snapshot", ["17", "main", "", "-1"])
def test_a_snapshot_that_is_not_there(spark: SparkSession, grown: Table, snapshot: str) -> None:
    with pytest.raises(TableError, match="has no snapshot") as caught:
        run(spark, _read(grown, _COLUMNS, snapshot_id=snapshot), allowed_paths=[_folder(grown)])
    assert caught.value.path.endswith("read.iceberg_table.snapshot_id")
    assert str(grown.history()[0].snapshot_id) in str(caught.value)


def test_a_time_before_the_first_snapshot(spark: SparkSession, grown: Table) -> None:
    first = grown.history()[0].timestamp_ms * 1000
    with pytest.raises(TableError, match=f"Its first is of {first} µs") as caught:
        run(spark, _read(grown, _COLUMNS, snapshot_timestamp=first - 1), allowed_paths=[_folder(grown)])
    assert caught.value.path.endswith("read.iceberg_table.snapshot_timestamp")


def test_a_table_without_snapshots(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table("db.empty", _SIMPLE)
    found = run(spark, _read(table, _COLUMNS), allowed_paths=[_folder(table)])
    assert found.num_rows == 0
    assert found.schema.types == [pa.int64(), pa.string()]


def test_filters_and_projections_reach_the_scan(spark: SparkSession, grown: Table) -> None:
    whole = _read(grown, _COLUMNS)
    read = _read(grown, _COLUMNS, filter=call("gt", col(whole, 0), long(6)))
    frame: Any = ps.from_substrait(plan(read, ("id", "name")), spark, allowed_paths=[_folder(grown)])
    text = frame._explain_string() if hasattr(frame, "_explain_string") else _explained(frame)
    assert "GreaterThan(id,6)" in text
    assert ordered(map(tuple, frame.collect())) == _expected(7, 8, 9)
    narrow = ps.from_substrait(plan(_read(grown, {"id": LONG}), ("id",)), spark, allowed_paths=[_folder(grown)])
    assert "ReadSchema: struct<id:bigint>" in _explained(narrow)


def _explained(frame: Any) -> str:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as text:
        frame.explain("formatted")
    return text.getvalue()


def test_a_schema_that_evolved(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table(
        "db.evolved",
        Schema(
            NestedField(1, "id", IntegerType(), required=False),
            NestedField(2, "old", StringType(), required=False),
            NestedField(3, "gone", StringType(), required=False),
            NestedField(4, "price", DecimalType(5, 2), required=False),
            NestedField(5, "share", FloatType(), required=False),
        ),
    )
    price = pa.decimal128(5, 2)
    first = {"id": [1, 2], "old": ["a", None], "gone": ["x", "y"], "price": [decimal.Decimal("1.25"), None]}
    table.append(
        pa.table(
            {**first, "share": [0.5, 1.5]},
            schema=pa.schema(
                [
                    ("id", pa.int32()),
                    ("old", pa.string()),
                    ("gone", pa.string()),
                    ("price", price),
                    ("share", pa.float32()),
                ]
            ),
        )
    )
    before = table.current_snapshot()
    assert before is not None
    with table.update_schema() as update:
        update.rename_column("old", "name")
        update.delete_column("gone")
        update.update_column("id", LongType())
        update.update_column("price", DecimalType(9, 2))
        update.update_column("share", DoubleType())
        update.add_column("added", StringType())
    with table.update_schema() as update:
        # a new column of a name that a dropped one had holds nothing of it
        update.add_column("gone", StringType())
        update.move_first("added")
    table.append(
        pa.table(
            {
                "added": ["new"],
                "id": [2**40],
                "name": ["b"],
                "price": [decimal.Decimal("1234567.89")],
                "share": [0.1],
                "gone": ["z"],
            },
            schema=pa.schema(
                [
                    ("added", pa.string()),
                    ("id", pa.int64()),
                    ("name", pa.string()),
                    ("price", pa.decimal128(9, 2)),
                    ("share", pa.float64()),
                    ("gone", pa.string()),
                ]
            ),
        )
    )
    money = T.Decimal(precision=9, scale=2, nullable=True)
    columns = {"id": LONG_, "name": TEXT_, "added": TEXT_, "price": money, "share": REAL_, "gone": TEXT_}
    expected = [
        (1, "a", None, decimal.Decimal("1.25"), 0.5, None),
        (2, None, None, None, 1.5, None),
        (2**40, "b", "new", decimal.Decimal("1234567.89"), 0.1, "z"),
    ]
    assert _rows(spark, _read(table, columns), _folder(table)) == ordered(expected)
    # Spark reads the files itself: the filter is in the scan of each group
    filtered = _read(table, columns, filter=call("equal", col(_read(table, columns), 0), long(2)))
    frame = ps.from_substrait(plan(filtered, tuple(columns)), spark, allowed_paths=[_folder(table)])
    assert "PushedFilters: [IsNotNull(id), EqualTo(id,2)]" in _explained(frame)
    assert len(frame.collect()) == 1
    # an older snapshot has the columns of its time
    then = {"id": INT_, "old": TEXT_, "gone": TEXT_}
    read = _read(table, then, snapshot_id=str(before.snapshot_id))
    assert _rows(spark, read, _folder(table)) == ordered([(1, "a", "x"), (2, None, "y")])


def test_a_struct_that_evolved(spark: SparkSession, tables: SqlCatalog) -> None:
    inner = StructType(
        NestedField(3, "a", IntegerType(), required=False), NestedField(4, "b", StringType(), required=False)
    )
    table = tables.create_table(
        "db.nested_evolved",
        Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "s", inner, required=False)),
    )
    table.append(
        pa.table(
            {
                "id": pa.array([1], pa.int64()),
                "s": pa.array([{"a": 7, "b": "x"}], pa.struct([("a", pa.int32()), ("b", pa.string())])),
            }
        )
    )
    with table.update_schema() as update:
        update.rename_column("s.a", "c")
        update.add_column(("s", "d"), StringType())
    table.append(
        pa.table(
            {
                "id": pa.array([2], pa.int64()),
                "s": pa.array(
                    [{"c": 8, "b": None, "d": "new"}],
                    pa.struct([("c", pa.int32()), ("b", pa.string()), ("d", pa.string())]),
                ),
            }
        )
    )
    struct = T.Struct(types=(INT_, TEXT_, TEXT_), nullable=True)
    read = Read(
        base_schema=schema((LONG_, struct), ("id", "s", "c", "b", "d")),
        read_type=IcebergTable(metadata_uri=table.metadata_location),
    )
    found = run(spark, read, allowed_paths=[_folder(table)])
    values = [tuple(value.values()) for value in found.column(1).to_pylist()]
    assert sorted(zip(found.column(0).to_pylist(), values, strict=True)) == [(1, (7, "x", None)), (2, (8, None, "new"))]


def test_partitions_and_their_evolution(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table(
        "db.parted", _SIMPLE, partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    )
    table.append(_simple_rows(0, 5))
    with table.update_spec() as update:
        update.remove_field("name")
        update.add_field("id", IdentityTransform(), "b")
    table.append(_simple_rows(5, 10))
    assert _rows(spark, _read(table, _COLUMNS), _folder(table)) == _expected(*range(10))


def test_every_type(spark: SparkSession, tables: SqlCatalog) -> None:
    own = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    values: list[tuple[Any, pa.DataType, Type, Any]] = [
        (BooleanType(), pa.bool_(), T.Boolean(nullable=True), True),
        (IntegerType(), pa.int32(), INT_, -5),
        (LongType(), pa.int64(), LONG_, 2**62),
        (FloatType(), pa.float32(), T.FP32(nullable=True), 0.5),
        (DoubleType(), pa.float64(), REAL_, 0.1),
        (DateType(), pa.date32(), T.Date(nullable=True), datetime.date(2024, 2, 29)),
        (TimeType(), pa.time64("us"), T.PrecisionTime(precision=6, nullable=True), datetime.time(1, 2, 3, 4)),
        (
            TimestampType(),
            pa.timestamp("us"),
            T.PrecisionTimestamp(precision=6, nullable=True),
            datetime.datetime(2024, 1, 2, 3, 4, 5, 6),
        ),
        (
            TimestamptzType(),
            pa.timestamp("us", "UTC"),
            T.PrecisionTimestampTZ(precision=6, nullable=True),
            datetime.datetime(2024, 1, 2, 3, 4, 5, 6, datetime.timezone.utc),
        ),
        (StringType(), pa.string(), TEXT_, "ä"),
        (BinaryType(), pa.binary(), T.Binary(nullable=True), b"\x00\xff"),
        (FixedType(3), pa.binary(3), T.FixedBinary(length=3, nullable=True), b"abc"),
        (UUIDType(), pa.binary(16), T.UUID(nullable=True), own.bytes),
        (
            DecimalType(20, 4),
            pa.decimal128(20, 4),
            T.Decimal(precision=20, scale=4, nullable=True),
            decimal.Decimal("12.5000"),
        ),
        (ListType(100, IntegerType(), False), pa.list_(pa.int32()), T.List(type=INT_, nullable=True), [1, None]),
        (
            MapType(101, StringType(), 102, IntegerType(), False),
            pa.map_(pa.string(), pa.int32()),
            T.Map(key=T.String(), value=INT_, nullable=True),
            [("k", 1)],
        ),
    ]
    fields = [NestedField(n + 1, f"c{n}", kind, required=False) for n, (kind, *_) in enumerate(values)]
    table = tables.create_table("db.types", Schema(*fields))
    arrays = {f"c{n}": pa.array([value, None], arrow) for n, (_, arrow, _, value) in enumerate(values)}
    table.append(pa.table(arrays))
    columns = {f"c{n}": type for n, (_, _, type, _) in enumerate(values)}
    expected = [tuple(value for *_, value in values), (None,) * len(values)]
    natively = run(spark, _read(table, columns), allowed_paths=[_folder(table)])
    assert ordered(tuples(natively)) == ordered(expected)
    # the same through PyIceberg's reader, which files with deletes need
    (task,) = table.scan().plan_files()
    gone = by_position(table, _folder(table), {task.file.file_path: [1]})
    metadata = with_deletes(table, _folder(table), [gone])
    through_arrow = run(spark, _read(metadata, columns), allowed_paths=[_folder(table)])
    assert tuples(through_arrow) == expected[:1]
    assert through_arrow.schema == natively.schema


def test_deletes_by_position(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table("db.positions", _SIMPLE)
    table.append(_simple_rows(0, 5))
    table.append(_simple_rows(5, 10))
    files = sorted((task.file.file_path for task in table.scan().plan_files()), key=lambda path: _first_id(path))
    gone = by_position(table, _folder(table), {files[0]: [0, 3], files[1]: [4]})
    metadata = with_deletes(table, _folder(table), [gone])
    assert _rows(spark, _read(metadata, _COLUMNS), _folder(table)) == _expected(1, 2, 4, 5, 6, 7, 8)
    # the snapshot before has them all
    before = table.current_snapshot()
    assert before is not None
    older = _read(metadata, _COLUMNS, snapshot_id=str(before.snapshot_id))
    assert _rows(spark, older, _folder(table)) == _expected(*range(10))


def _first_id(path: str) -> int:
    import pyarrow.parquet as pq

    found: int = pq.read_table(path.removeprefix("file://")).column("id")[0].as_py()
    return found


def test_deletes_by_value(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table("db.by_value", _SIMPLE)
    table.append(_simple_rows(0, 8))
    names = pa.table({"name": pa.array(["n1", None])})
    both = pa.table({"id": pa.array([4, 5, 6], pa.int64()), "name": pa.array(["n4", "other", "n6"])})
    files = [by_value(table, _folder(table), values) for values in (names, both)]
    metadata = with_deletes(table, _folder(table), files)
    # 3 and 7 have no name, and null is the same as null; of 5, only one of the two values is the same
    assert _rows(spark, _read(metadata, _COLUMNS), _folder(table)) == _expected(0, 2, 5)
    # a column that decides doesn't have to be one that is read
    assert _rows(spark, _read(metadata, {"id": LONG}), _folder(table)) == [(0,), (2,), (5,)]
    # what is added later stays: the deletes are older
    later = tables.register_table("db.by_value_later", str(metadata))
    later.append(_simple_rows(4, 5))
    assert _rows(spark, _read(later, _COLUMNS), _folder(table)) == _expected(0, 2, 4, 5)


def test_deletes_of_one_partition(spark: SparkSession, tables: SqlCatalog) -> None:
    table = tables.create_table(
        "db.by_value_parted",
        _SIMPLE,
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name")),
    )
    ids, names = pa.array([1, 2, 1], pa.int64()), pa.array(["a", "a", "b"])
    table.append(pa.table([ids, names], schema=_simple_rows(0, 0).schema))
    values = pa.table({"id": pa.array([1], pa.int64())})
    metadata = with_deletes(table, _folder(table), [by_value(table, _folder(table), values, ["a"])])
    assert _rows(spark, _read(metadata, _COLUMNS), _folder(table)) == [(1, "b"), (2, "a")]


def test_only_allowed_files_are_read(spark: SparkSession, tables: SqlCatalog, tmp_path: Path) -> None:
    table = tables.create_table("db.secret", _SIMPLE)
    table.append(_simple_rows(0, 3))
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths") as caught:
        run(spark, _read(table, _COLUMNS))
    assert caught.value.path.endswith("read.iceberg_table.metadata_uri")
    # metadata in an allowed folder that names files in another one
    content = Path(table.metadata_location.removeprefix("file://")).read_text()
    planted = tmp_path / "v1.metadata.json"
    planted.write_text(content)
    with pytest.raises(UnsupportedPlanError, match=r"reads .*\.avro, which is not among the allowed paths"):
        run(spark, _read(planted, _COLUMNS), allowed_paths=[tmp_path])
    with pytest.raises(UnsupportedPlanError, match=r"reads .*\.parquet, which is not among the allowed paths"):
        run(spark, _read(table, _COLUMNS), allowed_paths=[_folder(table) / "metadata"])


def test_metadata_chooses_no_code(spark: SparkSession, tables: SqlCatalog, tmp_path: Path) -> None:
    table = tables.create_table("db.props", _SIMPLE)
    table.append(_simple_rows(0, 3))
    known = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    known["properties"] = {"py-io-impl": "this.module.would.be.Imported"}
    planted = tmp_path / "v1.metadata.json"
    planted.write_text(json.dumps(known))
    found = _read(planted, _COLUMNS)
    assert ordered(tuples(run(spark, found, allowed_paths=[tmp_path, _folder(table)]))) == _expected(0, 1, 2)


def test_what_is_no_metadata(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"format-version": 2}')
    for name in ("x.json", "none.metadata.json", ""):
        uri = str(tmp_path / name) if name else ""
        with pytest.raises(TableError) as caught:
            run(spark, _read(uri, _COLUMNS), allowed_paths=[tmp_path])
        assert caught.value.path.endswith("read.iceberg_table.metadata_uri")


def test_a_column_that_is_not_there(spark: SparkSession, grown: Table) -> None:
    with pytest.raises(TableError, match="has no column other"):
        run(spark, _read(grown, {"other": TEXT_}), allowed_paths=[_folder(grown)])
    with pytest.raises(TableError, match="cannot be read as"):
        run(spark, _read(grown, {"name": LONG}), allowed_paths=[_folder(grown)])


def test_without_the_package(spark: SparkSession, grown: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyiceberg.serializers", None)
    with pytest.raises(TableError, match="PyIceberg") as caught:
        run(spark, _read(grown, _COLUMNS), allowed_paths=[_folder(grown)])
    assert "pip install 'pyspark-substrait[iceberg]'" in str(caught.value)
