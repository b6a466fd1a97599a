"""Files that a plan names: items, formats, names with every character, hidden and missing files."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    FileOrFiles,
    OrcReadOptions,
    Read,
    RelationBase,
)
from pyspark_substrait.model.types import (
    FP32,
    I8,
    I32,
    Binary,
    Boolean,
    Date,
    Decimal,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
)
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.addresses import Address
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.reading import file_slices, orc, scans
from tests.spark.plans import (
    LONG,
    LONG_,
    TEXT,
    TEXT_,
    answers,
    call,
    col,
    long,
    ordered,
    plan,
    rows,
    run,
    stored,
    tuples,
    where,
)
from tests.spark.reading.file_reads import FORMATS, ORC, PARQUET, item, read, write
from tests.versions import LACKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": LONG_, "word": TEXT_}


def of(first: int) -> dict[str, list[Any]]:
    """Two records, told apart from others by the number."""
    return {"id": [first, first + 1], "word": [f"w{first}", None]}


def found(spark: SparkSession, folder: Path, *items: FileOrFiles) -> list[tuple[Any, ...]]:
    return ordered(rows(spark, read(COLUMNS, *items), allowed_paths=[folder]))


def expected(*firsts: int) -> list[tuple[Any, ...]]:
    return ordered([row for first in firsts for row in ((first, f"w{first}"), (first + 1, None))])


@pytest.mark.parametrize("kind", FORMATS)
def test_files_folders_and_patterns(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    format = FORMATS[kind]
    for number, name in enumerate(("a/1", "a/2", "a/deep/er/3", "b/4")):
        write(tmp_path / f"{name}.{kind}", of(10 * number))
    a, one = tmp_path / "a", tmp_path / "a" / f"1.{kind}"
    cases: list[tuple[list[FileOrFiles], list[int]]] = [
        ([item(one, format)], [0]),
        ([item(one.as_uri(), format, "uri_file")], [0]),
        ([item(f"{a}", format)], [0, 10, 20]),
        ([item(f"{a}/", format, "uri_folder")], [0, 10, 20]),
        ([item(f"{tmp_path}/?/[1-3].{kind}", format, "uri_path_glob")], [0, 10]),
        ([item(f"{tmp_path}/*", format, "uri_path_glob")], [0, 10, 20, 30]),
        ([item(f"file://{tmp_path}/[!a]/*", format, "uri_path_glob")], [30]),
        ([item(f"{tmp_path}/none*", format, "uri_path_glob")], []),
        ([item(one, format), item(one, format), item(a, format)], [0, 0, 0, 10, 20]),
        ([item(one, format, partition_index=7), item(tmp_path / "b", format, partition_index=7)], [0, 30]),
    ]
    nodes = [read(COLUMNS, *items) for items, _ in cases]
    for answer, (items, firsts) in zip(answers(spark, nodes, allowed_paths=[tmp_path]), cases, strict=True):
        assert ordered(answer) == expected(*firsts), items


def test_formats_in_one_read(spark: SparkSession, tmp_path: Path) -> None:
    parquet = write(tmp_path / "1.parquet", of(0))
    orc = write(tmp_path / "2.orc", {"more": [1, 2], "word": ["w10", None], "id": pa.array([10, 11], pa.int32())})
    with pa.ipc.new_file(tmp_path / "3.arrow", pa.table(of(20)).schema) as writer:
        writer.write_table(pa.table(of(20)))
    (tmp_path / "4.csv").write_text("30,w30\n31,\n")
    text = DelimiterSeparatedTextReadOptions(field_delimiter=",", value_treated_as_null="")
    items = [
        item(parquet),
        item(orc, ORC),
        item(tmp_path / "3.arrow", ArrowReadOptions()),
        item(tmp_path / "4.csv", text),
        item(parquet),
    ]
    assert found(spark, tmp_path, *items) == expected(0, 0, 10, 20, 30)


NAMES = [
    "a b",
    "a%20b",
    "a+b",
    "ä☃é",
    "e\u0301",
    "a,b",
    "q'\"x",
    "[x]{y}*?",
    "a#b&c=d;e@$!~()",
    "back\\slash",
    "${x}",
    "`^|<>",
    "\u00a0",
    "-",
]


def test_names_with_every_character(spark: SparkSession, tmp_path: Path) -> None:
    paths = []
    for number, name in enumerate(NAMES):
        paths.append(write(tmp_path / f"in {name}" / f"{name}.parquet", of(10 * number), row_group_size=1))
    plain = read(COLUMNS, *map(item, paths))
    uris = read(COLUMNS, *(item(path.as_uri()) for path in paths))
    halves = read(COLUMNS, *(part for path in paths for part in (item(path, length=60), item(path.as_uri(), start=60))))
    folders = read(COLUMNS, *(item(path.parent, kind="uri_folder") for path in paths))
    answer = expected(*(10 * number for number in range(len(NAMES))))
    for node in answers(spark, [plain, uris, halves, folders], allowed_paths=[tmp_path]):
        assert ordered(node) == answer


def test_hidden_files(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "t" / "1.parquet", of(0))
    for name in ("_SUCCESS", ".part.crc", "_temporary/0/x.parquet", ".git/x.parquet"):
        write(tmp_path / "t" / name, of(50))
    assert found(spark, tmp_path, item(tmp_path / "t")) == expected(0)
    assert found(spark, tmp_path, item(f"{tmp_path}/t/*", kind="uri_path_glob")) == expected(0)
    with pytest.raises(UnsupportedPlanError, match=r"passes over the file .*_SUCCESS"):
        found(spark, tmp_path, item(tmp_path / "t" / "_SUCCESS"))


def test_links(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "allowed" / "there" / "1.parquet", of(0))
    write(tmp_path / "secret" / "2.parquet", of(10))
    table = tmp_path / "allowed" / "table"
    write(table / "3.parquet", of(20))
    (table / "linked").symlink_to(tmp_path / "allowed" / "there")
    (table / "loop").symlink_to(table)
    node = read(COLUMNS, item(table))
    assert ordered(rows(spark, node, allowed_paths=[tmp_path / "allowed"])) == expected(0, 20)
    (tmp_path / "allowed" / "there" / "deep").symlink_to(tmp_path / "secret")
    with pytest.raises(UnsupportedPlanError, match=r"deep, which is not among the allowed paths"):
        rows(spark, node, allowed_paths=[tmp_path / "allowed"])


def test_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    one = write(tmp_path / "t" / "1.parquet", of(0))
    (tmp_path / "t" / "text.parquet").write_text("no Parquet at all")
    cases: list[tuple[FileOrFiles, type[SubstraitError], str, str]] = [
        (item(one, None), UnsupportedPlanError, "does not state the format", ""),
        (item(one, DwrfReadOptions()), UnsupportedPlanError, "no reader for DWRF", ".dwrf"),
        (item(one, AnyMessage("type.example/Avro", b"")), UnsupportedPlanError, "type.example/Avro", ".extension"),
        (item(tmp_path / "t", kind="uri_file"), TableError, "is a folder", ""),
        (item(one, kind="uri_folder"), TableError, "is not a folder", ""),
        (item(tmp_path / "t" / "2.parquet"), TableError, "there is no file", ""),
        (item(tmp_path / "t" / "text.parquet"), TableError, "cannot be read as Parquet", ""),
        (item(one, ORC), TableError, "cannot be read as ORC", ""),
        (item(tmp_path / "t", start=1, length=5), UnsupportedPlanError, "a slice is a part of one file", ".start"),
    ]
    for wrong, error, message, place in cases:
        with pytest.raises(error, match=message) as caught:
            found(spark, tmp_path, item(one), wrong)
        # of a format that several items have, the message names the file
        which = "items" if "as Parquet" in message else f"items[1]{place}"
        assert caught.value.path == f"relations[0].root.input.read.local_files.{which}", wrong
    # a pattern that matches one file is that file
    assert found(spark, tmp_path, item(f"{one.parent}/1*", kind="uri_path_glob", start=4, length=1)) == []


def test_no_files_at_all(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for node in (read(COLUMNS, item(tmp_path / "empty")), read({}, item(f"{tmp_path}/no*", kind="uri_path_glob"))):
        table = ps.run_query(plan(node), spark=spark, allowed_paths=[tmp_path])
        assert table.num_rows == 0 and table.num_columns == len(node.schema.types)
    with pytest.raises(TableError, match="there are no files to read"):
        rows(spark, read(COLUMNS))


def test_reads_without_columns_count_records(spark: SparkSession, tmp_path: Path) -> None:
    items = [item(write(tmp_path / f"1.{kind}", of(0)), format) for kind, format in FORMATS.items()]
    assert rows(spark, read({}, *items), allowed_paths=[tmp_path]) == [()] * 4


def test_many_files(spark: SparkSession, tmp_path: Path) -> None:
    """All files of a folder, most of them, and a few; one of them twice."""
    files = [write(tmp_path / f"{n % 7}" / f"{n}.parquet", {"id": [n]}) for n in range(100)]
    nodes: list[RelationBase] = []
    for chosen in (100, 80, 40):
        node = read({"id": LONG}, *map(item, files[:chosen]), item(files[1]))
        nodes += [node, where(node, call("gt", col(node, 0), long(chosen - 2)))]
    for number, found in enumerate(answers(spark, nodes, allowed_paths=[tmp_path])):
        chosen = (100, 80, 40)[number // 2]
        wanted = [chosen - 1] if number % 2 else sorted([*range(chosen), 1])
        assert sorted(n for (n,) in found) == wanted


@pytest.mark.parametrize("kind", FORMATS)
def test_files_that_only_spark_sees(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Files of other systems: Spark lists them and says what columns they have."""
    format = FORMATS[kind]
    one = write(tmp_path / "t" / "p=1" / f"a b%20.{kind}", {"id": [1], "word": ["x"]})
    write(tmp_path / "t" / "p=02" / f"2.{kind}", {"id": [2]})
    write(tmp_path / "t" / "p=1" / f"_hidden.{kind}", {"id": [3]})
    monkeypatch.setattr(Access, "place", lambda _, path, **__: Address("file", "", tuple(path.split("/")[1:])))
    for module in (file_slices, scans, orc):
        monkeypatch.setattr(module, "is_here", lambda _: False)
    columns = {"id": LONG_, "word": TEXT_, "p": TEXT_, "none": LONG_}
    rest = one.stat().st_size // 2 + 1
    cases = [
        (read(columns, item(tmp_path / "t", format, "uri_folder")), [(1, "x", "1", None), (2, None, "02", None)]),
        (read(columns, item(one, format, "uri_file")), [(1, "x", "1", None)]),
        (read({"id": LONG}, item(one, format), item(f"{tmp_path}/t/*/2*", format, "uri_path_glob")), [(1,), (2,)]),
        (read({"id": LONG}, item(f"{tmp_path}/t/x*", format, "uri_path_glob")), []),
    ]
    if kind == "orc":
        cases.append((read({"id": LONG}, item(one, format, start=rest), item(one, format, length=rest)), [(1,)]))
    found = [sorted(answer) for answer in answers(spark, [node for node, _ in cases])]
    assert found == [wanted for _, wanted in cases]
    refused: list[tuple[FileOrFiles, str]] = [
        (item(tmp_path / "t", format, "uri_file"), "is a folder"),
        (item(one, format, "uri_folder"), "is not a folder"),
        (item(tmp_path / "u", format), "there is no file"),
        (item(one.with_name(f"_hidden.{kind}"), format, "uri_file"), "passes over"),
    ]
    for wrong, message in refused:
        with pytest.raises(SubstraitError, match=message):
            rows(spark, read({"id": LONG}, wrong))
    write(tmp_path / "t" / "p=1" / f"3.{kind}", {"id": ["text"]})
    with pytest.raises(TableError, match="different types in files that this machine sees"):
        rows(spark, read({"id": LONG}, item(tmp_path / "t", format)))


def test_tables_in_files_of_other_formats(spark: SparkSession, tmp_path: Path) -> None:
    """What the caller gives for a name is read by the ending of its name."""
    write(tmp_path / "a.orc", of(0))
    write(tmp_path / "folder" / "b.orc", of(10))
    table = pa.table(of(20))
    with pa.ipc.new_file(tmp_path / "c.arrow", table.schema) as writer:
        writer.write_table(table)
    for name, first in (("a.orc", 0), ("folder", 10), ("c.arrow", 20)):
        node = stored("t", {"word": TEXT_, "id": LONG})
        found = rows(spark, node, tables={"t": tmp_path / name})
        assert ordered(found) == ordered([(f"w{first}", first), (None, first + 1)])
    (tmp_path / "no.arrow").write_text("no Arrow")
    with pytest.raises(TableError, match="cannot be read as Arrow IPC"):
        rows(spark, stored("t", {"id": LONG}), tables={"t": tmp_path / "no.arrow"})


TYPED = pa.table(
    {
        "yes": [True, None],
        "small": pa.array([-128, None], pa.int8()),
        "number": pa.array([2**31 - 1, None], pa.int32()),
        "real": pa.array([0.1, None], pa.float32()),
        "text": ["é☃", None],
        "bytes": [b"\x00\xff", None],
        "day": pa.array([-1, None], pa.date32()),
        "price": pa.array([Number("-12345678901234567890.12"), None], pa.decimal128(30, 2)),
        "moment": pa.array([1_700_000_000_123_456, None], pa.timestamp("us", "UTC")),
        "list": pa.array([[1, None], None], pa.list_(pa.int64())),
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
    }
)
TYPES: list[Type] = [
    *(Boolean(nullable=True), I8(nullable=True), I32(nullable=True), FP32(nullable=True), TEXT_, Binary(nullable=True)),
    *(Date(nullable=True), Decimal(precision=30, scale=2, nullable=True)),
    *(PrecisionTimestampTZ(precision=6, nullable=True), List(type=LONG_, nullable=True)),
    Map(key=TEXT, value=LONG_, nullable=True),
]


@pytest.mark.parametrize("kind", FORMATS)
def test_values_of_every_type(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    table, types = TYPED, dict(zip(TYPED.column_names, TYPES, strict=True))
    if kind == "orc" and session_version(spark) < LACKING["ORC files with timestamps with a time zone"]:
        table = table.drop_columns(["moment"])
        del types["moment"]
    path = write(tmp_path / f"1.{kind}", table)
    node = read(types, item(path, FORMATS[kind]))
    assert ordered(rows(spark, node, allowed_paths=[tmp_path])) == ordered(tuples(table))


def test_parquet_types_that_spark_does_not_read_are_read_as_stored(spark: SparkSession, tmp_path: Path) -> None:
    table = {"at": pa.array([1, None], pa.timestamp("ns")), "time": pa.array([5, None], pa.time64("us"))}
    path = write(tmp_path / "1.parquet", table)
    types: dict[str, Type] = {
        "at": PrecisionTimestamp(precision=9, nullable=True),
        "time": PrecisionTime(precision=9, nullable=True),
    }
    found = run(spark, read(types, item(path, PARQUET)), allowed_paths=[tmp_path])
    assert [column.cast(pa.int64()).to_pylist() for column in found.columns] == [[1, None], [5_000, None]]


def test_orc_has_no_local_times_but_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    local = PrecisionTimestamp(precision=6, nullable=True)
    path = write(tmp_path / "1.orc", {"at": pa.array([0], pa.timestamp("us"))})
    with pytest.raises(TableError, match="cannot be read as precision_timestamp"):
        rows(spark, read({"at": local}, item(path, ORC)), allowed_paths=[tmp_path])
    frame = spark.sql("SELECT TIMESTAMP_NTZ '2024-03-31 02:30:00' AS at")
    frame.write.orc(str(tmp_path / "spark"))
    assert rows(spark, read({"at": local}, item(tmp_path / "spark", ORC)), allowed_paths=[tmp_path]) == [
        (datetime(2024, 3, 31, 2, 30),)
    ]


def test_orc_and_parquet_say_the_same_of_an_item(spark: SparkSession, tmp_path: Path) -> None:
    """The format that counts is that of the item, not the ending of a name."""
    write(tmp_path / "x.orc", of(0)).rename(tmp_path / "x.parquet")
    assert found(spark, tmp_path, item(tmp_path / "x.parquet", OrcReadOptions())) == expected(0)
    assert isinstance(read(COLUMNS, item(tmp_path / "x.parquet", PARQUET)), Read)
