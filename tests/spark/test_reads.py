"""Reads: filters and projections of the read itself, virtual tables, emit, and files that a plan names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.expressions import PredicateOp, SetPredicate
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import ListItem, ListSelect, MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import (
    DwrfReadOptions,
    ExtensionTable,
    FileFormat,
    FileOrFiles,
    IcebergTable,
    LocalFiles,
    NamedTable,
    ParquetReadOptions,
    Read,
    ReadType,
)
from pyspark_substrait.model.types import (
    Binary,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    List,
    Map,
    NamedStruct,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    VarChar,
)
from tests.spark.plans import (
    BOOL_,
    INT,
    INT_,
    LONG,
    LONG_,
    REAL_,
    TEXT,
    TEXT_,
    call,
    col,
    emit,
    number,
    ordered,
    plan,
    rows,
    run,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = pa.table({"id": [1, 2, 3, 4], "word": ["a", "b", None, "d"], "price": [10, 20, 30, 40]})
PLACE = Struct(types=(TEXT, Struct(types=(INT, INT))), nullable=True)
SCHEMA = NamedStruct(names=("id", "word", "price"), struct=Struct(types=(LONG, TEXT_, LONG_)))


def read(**more: Any) -> Read:
    return Read(base_schema=SCHEMA, read_type=NamedTable(names=("t",)), **more)


def mask(*fields: int, **more: Any) -> MaskExpression:
    return MaskExpression(select=StructSelect(tuple(StructItem(field) for field in fields)), **more)


id_, word, price = (col(SCHEMA.struct, position) for position in range(3))


def of_table(spark: SparkSession, node: Any) -> list[tuple[Any, ...]]:
    return ordered(rows(spark, node, tables={"t": TABLE}))


def test_filters_and_projection_of_a_read(spark: SparkSession) -> None:
    wide = call("gt", price, call("multiply", price, call("subtract", price, price)))
    cases: dict[str, tuple[Read, list[Any]]] = {
        "projection": (read(projection=mask(2, 0)), [(10, 1), (20, 2), (30, 3), (40, 4)]),
        "a column twice": (read(projection=mask(0, 1, 0)), [(1, "a", 1), (2, "b", 2), (3, None, 3), (4, "d", 4)]),
        "filter": (read(filter=call("gt", id_, call("subtract", price, price))), [*tuples(TABLE)]),
        "filter on a dropped column": (read(filter=call("is_null", word), projection=mask(2)), [(30,)]),
        "best effort": (read(best_effort_filter=call("equal", word, text("b")), projection=mask(0)), [(2,)]),
        "both": (read(filter=call("not", call("is_null", word)), best_effort_filter=call("equal", id_, price)), []),
        "emit over it": (
            read(filter=call("equal", word, text("d")), projection=mask(2, 1), common=emit(1, 0, 1)),
            [("d", 40, "d")],
        ),
        "all in one": (
            read(filter=wide, projection=mask(1), common=emit(0, 0)),
            [(w, w) for w in ("a", "b", None, "d")],
        ),
    }
    for name, (node, wanted) in cases.items():
        assert of_table(spark, node) == ordered(wanted), name


def test_relations_over_a_projected_read(spark: SparkSession) -> None:
    node = read(filter=call("gt", id_, call("subtract", id_, id_)), projection=mask(2, 1))
    assert of_table(spark, where(node, call("equal", col(node, 1), text("b")))) == [(20, "b")]
    # a filter with a subquery may need any column
    inner = values([LONG], [(2,), (3,)])
    from tests.spark.plans import outer

    matching = where(inner, call("equal", col(inner, 0), outer(SCHEMA.struct, 0, steps_out=1)))
    exists = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=matching)
    assert of_table(spark, read(filter=exists, projection=mask(2))) == [(20,), (30,)]


def test_the_mask_of_a_struct(spark: SparkSession) -> None:
    schema = NamedStruct(names=("k", "place", "name", "at", "x", "y"), struct=Struct(types=(LONG, PLACE)))
    table = pa.table(
        {"k": [1, 2], "place": [{"name": "here", "at": {"x": 1, "y": 2}}, None]},
        schema=pa.schema(
            [
                ("k", pa.int64()),
                (
                    "place",
                    pa.struct([("name", pa.string()), ("at", pa.struct([("x", pa.int32()), ("y", pa.int32())]))]),
                ),
            ]
        ),
    )

    def masked(*items: StructItem, maintain: bool = False) -> Any:
        select = StructSelect((StructItem(1, StructSelect(items)), StructItem(0)))
        projection = MaskExpression(select=select, maintain_singular_struct=maintain)
        node = Read(base_schema=schema, read_type=NamedTable(names=("t",)), projection=projection)
        import pyspark_substrait as ps

        document = plan(node, node.projected.names)
        return ps.run_query(document, tables={"t": table}, spark=spark).to_pylist()

    y = StructItem(1, StructSelect((StructItem(1),)))
    assert masked(y, StructItem(0)) == [{"place": {"at": 2, "name": "here"}, "k": 1}, {"place": None, "k": 2}]
    assert masked(y, maintain=True) == [{"place": {"at": {"y": 2}}, "k": 1}, {"place": None, "k": 2}]
    assert masked(StructItem(0)) == [{"place": "here", "k": 1}, {"place": None, "k": 2}]
    listed = NamedStruct(names=("l",), struct=Struct(types=(List(type=LONG),)))
    projection = MaskExpression(select=StructSelect((StructItem(0, ListSelect((ListItem(0),))),)))
    node = Read(base_schema=listed, read_type=NamedTable(names=("t",)), projection=projection)
    assert rows(spark, node, tables={"t": pa.table({"l": [[1, 2], []]})}) == [(1,), (None,)]


def test_emit(spark: SparkSession) -> None:
    table = values([INT, TEXT], [(1, "a"), (2, "b")])
    node = where(table, call("gt", col(table, 0), number(1)), common=emit(1, 1, 0))
    assert rows(spark, node) == [("b", "b", 2)]
    again = where(node, call("equal", col(node, 1), text("b")), common=emit(2))
    assert rows(spark, again) == [(2,)]
    with pytest.raises(InvalidPlanError, match="emit names column 2, but there are 2 columns"):
        rows(spark, where(table, call("gt", col(table, 0), number(1)), common=emit(2)))


KINDS: list[tuple[Type, Any]] = [
    (BOOL_, True),
    (INT_, -5),
    (LONG_, 2**40),
    (REAL_, 0.5),
    (TEXT_, "é☃"),
    (Binary(nullable=True), b"\x00\xff"),
    (Date(nullable=True), -1),
    (Decimal(precision=38, scale=10, nullable=True), "12345678901234567890.0123456789"),
    (FixedChar(length=3, nullable=True), "ab"),
    (VarChar(length=3, nullable=True), "ab"),
    (FixedBinary(length=2, nullable=True), b"ab"),
    (PrecisionTimestamp(precision=6, nullable=True), 1),
    (PrecisionTimestampTZ(precision=6, nullable=True), 1),
    (List(type=INT_, nullable=True), [1, None]),
    (Struct(types=(INT_, TEXT), nullable=True), (None, "x")),
    (Map(key=TEXT, value=INT_, nullable=True), {"a": None}),
]


def test_virtual_tables_of_every_kind(spark: SparkSession) -> None:
    types = [type for type, _ in KINDS]
    table = values(types, [[value for _, value in KINDS], [None] * len(KINDS)])
    found = run(spark, table)
    first, second = tuples(found)
    assert second == (None,) * len(KINDS)
    assert first[:5] == (True, -5, 2**40, 0.5, "é☃") and first[5] == b"\x00\xff"
    assert [str(value) for value in first[6:8]] == ["1969-12-31", "12345678901234567890.0123456789"]
    assert first[8:11] == ("ab ", "ab", b"ab")
    assert [str(field.type) for field in found.schema][11:13] == ["timestamp[us]", "timestamp[us, tz=UTC]"]
    assert first[13] == [1, None] and list(first[14].values()) == [None, "x"] and first[15] == [("a", None)]
    # the same, all null, without any record, and under a filter
    assert run(spark, values(types, [[None] * len(KINDS)])).num_rows == 1
    empty = run(spark, values(types, []))
    assert empty.num_rows == 0 and empty.schema == found.schema


def test_virtual_tables_with_expressions(spark: SparkSession) -> None:
    table = values([INT, TEXT_], [(call("add", number(1), number(2)), text("a")), (4, text(None))])
    assert ordered(rows(spark, table)) == ordered([(3, "a"), (4, None)])
    with pytest.raises(InvalidPlanError) as caught:
        rows(spark, values([INT], [(1,), (col(Struct(types=(INT,)), 0),)]))
    assert caught.value.path.startswith("relations[0].root.input.read.virtual_table.expressions[1].fields[0]")
    with pytest.raises(InvalidPlanError, match="the field is null, the schema says i32"):
        rows(spark, values([INT], [(None,)]))
    with pytest.raises(InvalidPlanError, match="the field is string, the schema says i32"):
        rows(spark, values([INT], [(text("a"),)]))


# files ---------------------------------------------------------------------------------------------------------------


def files(*paths: str, kind: str = "uri_file", format: FileFormat | None = None, **more: Any) -> Read:
    items = tuple(
        FileOrFiles(path_type=kind, path=path, file_format=format or ParquetReadOptions(), **more)  # type: ignore[arg-type]
        for path in paths
    )
    return Read(base_schema=SCHEMA, read_type=LocalFiles(items=items))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``allowed`` with tables in it, and ``secret`` beside it."""
    for name in ("allowed/one", "allowed/[x]{y} #1", "allowed/sub/two", "secret/three"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True, parents=True)
        pq.write_table(TABLE, path)
    return tmp_path


def ids(spark: SparkSession, node: Read, allowed: Sequence[Any]) -> list[int]:
    return sorted(row[0] for row in rows(spark, node, allowed_paths=allowed))


def test_files_that_a_plan_names(spark: SparkSession, folder: Path) -> None:
    allowed = [folder / "allowed"]
    one = folder / "allowed" / "one.parquet"
    assert ids(spark, files(str(one)), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(one.as_uri()), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(str(one)), [one]) == [1, 2, 3, 4]
    assert ids(spark, files(str(one), str(folder / "allowed/sub/two.parquet")), allowed) == [1, 1, 2, 2, 3, 3, 4, 4]
    odd = folder / "allowed" / "[x]{y} #1.parquet"
    assert ids(spark, files(str(odd)), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(odd.as_uri()), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(str(folder / "allowed/sub"), kind="uri_folder"), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(f"{folder}/allowed/on?.par*", kind="uri_path_glob"), allowed) == [1, 2, 3, 4]
    assert ids(spark, files(f"{folder}/allowed/x/../one.parquet"), allowed) == [1, 2, 3, 4]


def test_other_files_are_refused(spark: SparkSession, folder: Path) -> None:
    allowed, secret = folder / "allowed", folder / "secret"
    (allowed / "link.parquet").symlink_to(secret / "three.parquet")
    (allowed / "linked").symlink_to(secret)
    (allowed / "inner").mkdir()
    (allowed / "inner" / "link.parquet").symlink_to(secret / "three.parquet")
    paths = [
        ("uri_file", f"{secret}/three.parquet"),
        ("uri_file", f"{allowed}/../secret/three.parquet"),
        ("uri_file", f"file://{allowed}/../secret/three.parquet"),
        ("uri_file", f"file://{allowed}/%2e%2e/secret/three.parquet"),
        ("uri_file", f"{allowed}/link.parquet"),
        ("uri_file", f"{allowed}/linked/three.parquet"),
        ("uri_folder", f"{allowed}/linked"),
        ("uri_folder", f"{allowed}/inner"),
        ("uri_path_glob", f"{allowed}/l*k.parquet"),
        ("uri_path_glob", f"{allowed}/inner/*"),
        ("uri_path_glob", f"{allowed}/l?nked/*.parquet"),
        ("uri_path_glob", f"{allowed}/../s*/*.parquet"),
        ("uri_path_glob", f"{allowed}/{{one,../secret/three}}.parquet"),
        ("uri_path_glob", f"{allowed}/{{x,../../{folder.name}/secret}}/three.parquet"),
        ("uri_path_glob", f"{allowed}/\\.\\./secret/*.parquet"),
        ("uri_file", f"{allowed}-2/one.parquet"),
        ("uri_file", "s3a://bucket/one.parquet"),
        ("uri_file", f"hdfs://host{allowed}/one.parquet"),
    ]
    for kind, path in paths:
        with pytest.raises(UnsupportedPlanError, match=r"allowed paths|cannot be read") as caught:
            ids(spark, files(path, kind=kind), [allowed])
        assert caught.value.path.startswith("relations[0].root.input.read.local_files.items[0]"), path
    # what is behind a query or fragment of a URI isn't another path
    for path in (
        f"file://{allowed}/a%2Fb/../../secret/three.parquet",
        f"file://{allowed}/one.parquet?/../../secret/three.parquet",
        f"file://{allowed}/x#/../../secret/three.parquet",
    ):
        with pytest.raises(SubstraitError):
            assert ids(spark, files(path), [allowed]) == [1, 2, 3, 4]
            raise TableError("the allowed file itself may be read")
    with pytest.raises(UnsupportedPlanError, match="allowed"):
        ids(spark, files(str(allowed / "one.parquet")), [])


def test_remote_prefixes(spark: SparkSession) -> None:
    for path in (
        "s3a://bucket/data/../other/x.parquet",
        "s3a://bucket/database/x.parquet",
        "s3a://other/data/x.parquet",
    ):
        with pytest.raises(UnsupportedPlanError, match="allowed paths"):
            ids(spark, files(path), ["s3a://bucket/data"])


def test_what_cannot_be_read_from_files(spark: SparkSession, folder: Path) -> None:
    one, allowed = str(folder / "allowed/one.parquet"), [folder / "allowed"]
    for node, message in (
        (files(one, format=DwrfReadOptions()), "no reader for DWRF"),
        (files(str(folder / "allowed"), kind="uri_folder", start=4, length=10), "a part of one file"),
    ):
        with pytest.raises(UnsupportedPlanError, match=message):
            ids(spark, node, allowed)
    assert ids(spark, files(f"{folder}/allowed/nothing*", kind="uri_path_glob"), allowed) == []
    with pytest.raises(TableError, match="no file"):
        ids(spark, files(f"{folder}/allowed/nothing.parquet"), allowed)
    with pytest.raises(TableError, match="no files"):
        ids(spark, files(), allowed)


def test_reads_that_spark_cannot_do(spark: SparkSession) -> None:
    kinds: list[tuple[ReadType, str]] = [
        (IcebergTable(metadata_uri="file:///x/metadata.json"), "iceberg_table.metadata_uri"),
        (ExtensionTable(detail=AnyMessage("type.example/T", b"")), "extension_table.detail"),
    ]
    for kind, path in kinds:
        with pytest.raises(UnsupportedPlanError) as caught:
            rows(spark, Read(base_schema=SCHEMA, read_type=kind))
        assert caught.value.path == f"relations[0].root.input.read.{path}"
