"""Targets of this package: records in memory and files at a path, which plans name by an ``ExtensionObject``."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait import write_targets
from pyspark_substrait.errors import (
    ExecutionError,
    InvalidPlanError,
    PlanFormatError,
    SubstraitError,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    ExtensionObject,
    OutputMode,
    Relation,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import Type
from pyspark_substrait.proto.write_targets import decoded
from tests.spark.plans import INT, INT_, TEXT_, call, col, number, plan, project, rows, schema, stored, values, where
from tests.spark.writing.ddl import carry_out, found_rows, unique

INSERT, DELETE, UPDATE, CTAS = WriteOp.INSERT, WriteOp.DELETE, WriteOp.UPDATE, WriteOp.CTAS
APPEND, REPLACE, IGNORE, ERROR = (
    CreateMode.APPEND_IF_EXISTS,
    CreateMode.REPLACE_IF_EXISTS,
    CreateMode.IGNORE_IF_EXISTS,
    CreateMode.ERROR_IF_EXISTS,
)
COLUMNS = ("id", "it's `x`")


def target(detail: Any) -> ExtensionObject:
    """An extension object as a plan that was read has it."""
    message = AnyMessage(detail.type_url, detail.value)
    return ExtensionObject(detail=message, target=decoded(message))


def write(
    detail: Any,
    input: Relation,
    op: WriteOp = CTAS,
    mode: CreateMode = CreateMode.UNSPECIFIED,
    names: Sequence[str] = COLUMNS,
    output: OutputMode = OutputMode.NO_OUTPUT,
) -> Write:
    types = input.schema.types[: len(names)]
    return Write(
        write_type=target(detail),
        table_schema=schema(types, names),
        op=op,
        input=input,
        create_mode=mode,
        output=output,
    )


def define(detail: Any, op: DdlOp, columns: dict[str, Type] | None = None) -> Ddl:
    described = None if columns is None else schema(tuple(columns.values()), tuple(columns))
    return Ddl(write_type=target(detail), object=DdlObject.TABLE, op=op, table_schema=described)


def pairs(*found: tuple[int, str | None]) -> Relation:
    return values((INT, TEXT_), found)


# messages -------------------------------------------------------------------------------------------------------------


def test_the_messages_are_those_of_the_proto_file() -> None:
    text = (resources("pyspark_substrait") / "proto" / "write_targets.proto").read_text()
    assert "package pyspark_substrait.v1;" in text
    found = {
        message: re.findall(r"^  (\w+) (\w+) = (\d+);", body, re.MULTILINE)
        for message, body in re.findall(r"^message (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    }
    kinds = {9: "string", 8: "bool", 14: "Format"}
    from pyspark_substrait.proto.write_targets import _file

    built = {
        message.name: [(kinds[field.type], field.name, str(field.number)) for field in message.field]
        for message in _file().message_type
    }
    assert built == found
    values_ = {value.name: value.number for value in _file().message_type[1].enum_type[0].value}
    assert values_ == {name: int(number_) for name, number_ in re.findall(r"(FORMAT_\w+) = (\d+);", text)}


def test_the_bytes_are_those_of_protobuf() -> None:
    """Field 1 is a string, field 2 a number: written by hand."""
    memory = write_targets.in_memory_table("ab", pin=True)
    assert memory.type_url == "type.googleapis.com/pyspark_substrait.v1.InMemoryTable"
    assert memory.value == b"\x0a\x02ab\x10\x01"
    assert write_targets.files("/d").value == b"\x0a\x02/d\x10\x01"


def test_plans_with_them_are_read_and_written_as_json() -> None:
    text = """{"relations": [{"root": {"input": {"write": {
        "extensionTable": {"detail": {"@type": "type.googleapis.com/pyspark_substrait.v1.%s}},
        "tableSchema": {"names": ["a"], "struct": {"types": [{"i32": {}}], "nullability": "NULLABILITY_REQUIRED"}},
        "op": "WRITE_OP_CTAS", "input": {"read": {"virtualTable": {}, "baseSchema": {"names": ["a"],
        "struct": {"types": [{"i32": {}}], "nullability": "NULLABILITY_REQUIRED"}}}}}}}}]}"""
    for detail, shown in (
        ('InMemoryTable", "name": "x y", "pin": true', 'in-memory table "x y" (pinned)'),
        ('Files", "path": "/d/{a}", "format": "FORMAT_PARQUET"', "Parquet files '/d/{a}'"),
    ):
        loaded = ps.load(text % detail)
        assert shown in ps.explain(loaded)
        again = json.loads(loaded.to_json())
        found = again["relations"][0]["root"]["input"]["write"]["extensionTable"]["detail"]
        assert found == json.loads(f'{{"@type": "type.googleapis.com/pyspark_substrait.v1.{detail}}}')
        assert ps.load(loaded.to_bytes()) == loaded
    for detail, error, path in (
        ('InMemoryTable"', InvalidPlanError, "detail.name"),
        ('Files", "format": 1', InvalidPlanError, "detail.path"),
        ('Files", "path": "/d"', InvalidPlanError, "detail.format"),
        ('Files", "path": "/d", "format": 7', UnsupportedPlanError, "detail.format"),
    ):
        with pytest.raises(error) as caught:
            ps.load(text % detail)
        assert caught.value.path == f"relations[0].root.input.write.extension_table.{path}"
    with pytest.raises(PlanFormatError, match="field that is not known"):
        target(type("", (), {"type_url": "x/pyspark_substrait.v1.Files", "value": b"\x0a\x02/d\x10\x01\x1a\x01a"}))


def test_other_targets_are_refused_by_their_type(spark: SparkSession) -> None:
    other = type("", (), {"type_url": "type.googleapis.com/acme.Lake", "value": b"\x0a\x01a"})
    for node, field in (
        (write(other, pairs((1, "a"))), "write.extension_table"),
        (define(other, DdlOp.DROP_IF_EXIST), "ddl.extension_object"),
    ):
        with pytest.raises(UnsupportedPlanError, match=r"type\.googleapis\.com/acme\.Lake is not known") as caught:
            carry_out(spark, node)
        assert caught.value.path == f"relations[0].root.input.{field}.detail"


# in memory ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    name = unique("memory")
    yield name
    carry_out(spark, define(write_targets.in_memory_table(name), DdlOp.DROP_IF_EXIST))
    assert not spark.catalog.tableExists(name)


def held(spark: SparkSession, name: str) -> list[tuple[Any, ...]]:
    """The records, as a plan reads them by name."""
    return sorted(rows(spark, stored(name, {"id": INT, "it's `x`": TEXT_})), key=repr)


@pytest.mark.parametrize("pin", [True, False])
def test_records_in_memory_are_those_of_the_moment_they_were_written(spark: SparkSession, name: str, pin: bool) -> None:
    memory = write_targets.in_memory_table(name, pin=pin)
    source = unique("source")
    spark.sql(f"CREATE TABLE {source} (id INT, x STRING) USING parquet").collect()
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a'), (2, NULL)").collect()
    try:
        read = stored(source, {"id": INT, "x": TEXT_})
        carry_out(spark, write(memory, read))
        spark.sql(f"INSERT INTO {source} VALUES (3, 'later')").collect()
        assert held(spark, name) == [(1, "a"), (2, None)]
    finally:
        spark.sql(f"DROP TABLE {source}")
    assert held(spark, name) == [(1, "a"), (2, None)]
    assert sorted(found_rows(spark, f"SELECT id FROM {name}")) == [(1,), (2,)]


def test_modes_of_a_table_in_memory(spark: SparkSession, name: str) -> None:
    memory = write_targets.in_memory_table(name)
    with pytest.raises(TableError, match=f"there is no table {name} in memory"):
        carry_out(spark, write(memory, pairs((1, "a")), INSERT))
    carry_out(spark, write(memory, pairs((1, "a"))))
    for mode in (ERROR, CreateMode.UNSPECIFIED):
        with pytest.raises(TableError, match=f"there is a table {name} in memory already") as caught:
            carry_out(spark, write(memory, pairs((2, "b")), mode=mode))
        assert caught.value.path == "relations[0].root.input.write.extension_table.detail.name"
    carry_out(spark, write(memory, pairs((2, "b")), mode=IGNORE))
    assert held(spark, name) == [(1, "a")]
    carry_out(spark, write(memory, pairs((2, "b")), mode=APPEND))
    carry_out(spark, write(memory, pairs((3, None)), INSERT))
    assert held(spark, name) == [(1, "a"), (2, "b"), (3, None)]
    carry_out(spark, write(memory, pairs((4, "d")), mode=REPLACE))
    assert held(spark, name) == [(4, "d")]
    # another schema
    carry_out(spark, write(memory, values((TEXT_,), [("x",)]), mode=REPLACE, names=("only",)))
    assert found_rows(spark, f"SELECT only FROM {name}") == [("x",)]
    with pytest.raises(InvalidPlanError, match="only a CTAS has a create_mode"):
        carry_out(spark, write(memory, pairs((1, "a")), INSERT, APPEND))


def test_records_in_memory_are_removed_and_changed(spark: SparkSession, name: str) -> None:
    memory = write_targets.in_memory_table(name, pin=True)
    carry_out(spark, write(memory, pairs((1, "a"), (2, "b"), (2, "b"), (3, None))))
    read = stored(name, {"id": INT, "it's `x`": TEXT_})
    carry_out(spark, write(memory, pairs((2, "b"), (3, None), (9, "z")), DELETE))
    assert held(spark, name) == [(1, "a"), (2, "b")]
    changed = project(read, call("add", col(read, 0), number(10)), col(read, 1))
    found = rows(spark, write(memory, changed, UPDATE, output=OutputMode.MODIFIED_RECORDS))
    assert sorted(found) == [(11, "a"), (12, "b")] == held(spark, name)
    found = rows(
        spark,
        write(memory, where(read, call("gt", col(read, 0), number(11))), DELETE, output=OutputMode.MODIFIED_RECORDS),
    )
    assert found == [(12, "b")] and held(spark, name) == [(11, "a")]
    found = rows(spark, write(memory, pairs((5, "e")), INSERT, output=OutputMode.MODIFIED_RECORDS))
    assert found == [(5, "e")]
    found = rows(spark, write(memory, pairs((6, "f")), mode=REPLACE, output=OutputMode.MODIFIED_RECORDS))
    assert found == [(6, "f")] == held(spark, name)[0:1]


def test_definitions_of_a_table_in_memory(spark: SparkSession, name: str) -> None:
    memory = write_targets.in_memory_table(name)
    with pytest.raises(TableError, match="there is no table"):
        carry_out(spark, define(memory, DdlOp.DROP))
    carry_out(spark, define(memory, DdlOp.CREATE, {"id": INT, "it's `x`": TEXT_}))
    assert held(spark, name) == []
    carry_out(spark, write(memory, pairs((1, "a")), INSERT))
    with pytest.raises(TableError, match="already"):
        carry_out(spark, define(memory, DdlOp.CREATE, {"id": INT}))
    with pytest.raises(UnsupportedPlanError, match="cannot be altered"):
        carry_out(spark, define(memory, DdlOp.ALTER, {"id": INT}))
    carry_out(spark, define(memory, DdlOp.CREATE_OR_REPLACE, {"id": INT}))
    assert found_rows(spark, f"SELECT * FROM {name}") == []
    carry_out(spark, define(memory, DdlOp.DROP))


def test_a_table_in_memory_hides_nothing(spark: SparkSession) -> None:
    view, table = unique("view"), unique("table")
    spark.sql("SELECT 1 AS id").createOrReplaceTempView(view)
    spark.sql(f"CREATE TABLE {table} (id INT) USING parquet").collect()
    try:
        for taken, kind in ((view, "session view"), (table, "table")):
            for mode in (ERROR, REPLACE, APPEND):
                with pytest.raises(TableError, match=f"{taken} is a {kind}, not a table in memory"):
                    carry_out(spark, write(write_targets.in_memory_table(taken), pairs((1, "a")), mode=mode))
    finally:
        spark.catalog.dropTempView(view)
        spark.sql(f"DROP TABLE {table}")


# files ----------------------------------------------------------------------------------------------------------------


def read_all(folder: Path) -> list[tuple[Any, ...]]:
    """All records below a folder, by DuckDB, without looking at the folders' names."""
    with duckdb.connect() as connection:
        return connection.execute(
            f"FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = false) ORDER BY ALL"
        ).fetchall()


def test_modes_of_files(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    detail = write_targets.files(str(folder))

    def done(*found: tuple[int, str | None], **more: Any) -> list[tuple[Any, ...]]:
        carry_out(spark, write(detail, pairs(*found), **more), allowed_paths=[tmp_path])
        return read_all(folder)

    assert done((1, "a"), (2, None)) == [(1, "a"), (2, None)]
    (file, *_) = folder.glob("*.parquet")
    assert pq.read_schema(file).names == list(COLUMNS)
    for mode in (ERROR, CreateMode.UNSPECIFIED):
        with pytest.raises(TableError, match=f"{folder} already has files") as caught:
            done((3, "c"), mode=mode)
        assert caught.value.path == "relations[0].root.input.write.extension_table.detail.path"
    assert done((3, "c"), mode=IGNORE) == [(1, "a"), (2, None)]
    assert done((3, "c"), mode=APPEND) == [(1, "a"), (2, None), (3, "c")]
    assert done((4, "d"), op=INSERT) == [(1, "a"), (2, None), (3, "c"), (4, "d")]
    assert done((5, "e"), mode=REPLACE) == [(5, "e")]
    found = write(detail, pairs((6, "f")), INSERT, output=OutputMode.MODIFIED_RECORDS)
    assert rows(spark, found, allowed_paths=[tmp_path]) == [(6, "f")]
    assert read_all(folder) == [(5, "e"), (6, "f")]
    assert sorted(entry.name for entry in folder.parent.iterdir()) == ["out"]
    # the folder as a URI; files of others are never removed
    (folder / "notes.txt").write_text("mine")
    uri = write_targets.files(folder.as_uri())
    with pytest.raises(TableError, match="has files other than Parquet, such as notes"):
        carry_out(spark, write(uri, pairs((7, "g")), mode=REPLACE), allowed_paths=[tmp_path])
    carry_out(spark, write(uri, pairs((7, "g")), INSERT), allowed_paths=[tmp_path])
    assert read_all(folder)[-1] == (7, "g") and (folder / "notes.txt").read_text() == "mine"
    for op in (DELETE, UPDATE):
        with pytest.raises(UnsupportedPlanError, match="no table whose records could be found again"):
            carry_out(spark, write(uri, pairs((7, "g")), op), allowed_paths=[tmp_path])


#: a value, and the folder that its records are in
TEXTS = {
    "plain": "plain",
    "../../x": "%2E.%2F..%2Fx",
    "..": "%2E.",
    ".hidden": "%2Ehidden",
    "_temporary": "%5Ftemporary",
    "a b*c+d": "a%20b%2Ac%2Bd",
    "é/\\": "%C3%A9%2F%5C",
    "%41": "%2541",
    "{x}=y": "%7Bx%7D%3Dy",
    "": "empty",
    "empty": "%65mpty",
    "null": "%6Eull",
    None: "null",
    "line\nbreak\x00": "line%0Abreak%00",
}


def test_a_folder_for_each_value(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "by value"
    records = [(number_, text) for number_, text in enumerate(TEXTS)]
    input = values((INT, TEXT_), records)
    detail = write_targets.files(f"{root}/{{{{x}}}}/n{{text}}/{{text}}")
    carry_out(spark, write(detail, input, names=("id", "text")), allowed_paths=[tmp_path])
    found = {path.relative_to(root).parts: read_all(path) for path in root.glob("*/*/*")}
    assert found == {
        ("{x}", f"n{folder}", folder): [(number_, text)] for number_, (text, folder) in enumerate(TEXTS.items())
    }
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["by value"]


def test_values_of_other_types_and_folders_like_those_of_hive(spark: SparkSession, tmp_path: Path) -> None:
    day, money = t.Date(nullable=True), t.Decimal(precision=5, scale=2)
    types = (INT, day, money, t.Boolean(nullable=True))
    records = [(1, 0, "1.50", True), (2, 31, "2.00", None), (3, None, "1.50", False)]
    detail = write_targets.files(f"{tmp_path.as_uri()}/out/day={{day}}/{{money}}-{{flag}}")
    node = write(detail, values(types, records), names=("id", "day", "money", "flag"))
    carry_out(spark, node, allowed_paths=[tmp_path])
    root = tmp_path / "out"
    assert {str(path.relative_to(root)): read_all(path) for path in root.glob("*/*")} == {
        "day=1970-01-01/1.50-true": [(1, datetime.date(1970, 1, 1), decimal.Decimal("1.50"), True)],
        "day=1970-02-01/2.00-null": [(2, datetime.date(1970, 2, 1), decimal.Decimal("2.00"), None)],
        "day=__HIVE_DEFAULT_PARTITION__/1.50-false": [(3, None, decimal.Decimal("1.50"), False)],
    }
    more = write(detail, values(types, [(4, 0, "1.50", True)]), INSERT, names=("id", "day", "money", "flag"))
    carry_out(spark, more, allowed_paths=[tmp_path])
    assert [row[0] for row in read_all(root / "day=1970-01-01")] == [1, 4] and len(read_all(root)) == 4


def test_paths_that_make_no_sense_or_lead_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    cases: list[tuple[str, type[SubstraitError], str]] = [
        (str(tmp_path / "outside"), UnsupportedPlanError, "is not among the allowed paths"),
        (f"{inside}/../outside", UnsupportedPlanError, "is not among the allowed paths"),
        ("s3://bucket/x", UnsupportedPlanError, "is not among the allowed paths"),
        (f"{inside}/{{id}}/../../outside", InvalidPlanError, "has .. after a column"),
        (f"{tmp_path}/{{id}}", UnsupportedPlanError, "is not among the allowed paths"),
        ("{id}/x", InvalidPlanError, "starts with a column"),
        (f"{inside}/{{id", InvalidPlanError, "a brace in the path has no counterpart"),
        (f"{inside}/id}}", InvalidPlanError, "a brace in the path has no counterpart"),
        (f"{inside}/{{nothing}}", InvalidPlanError, "the path refers to nothing, of which there are 0"),
        (f"{inside}/{{}}", InvalidPlanError, "of which there are 0"),
        (f"{inside}/a\x00b", InvalidPlanError, "NUL"),
    ]
    for path, error, message in cases:
        with pytest.raises(error, match=message) as caught:
            carry_out(spark, write(write_targets.files(path), pairs((1, "a"))), allowed_paths=[inside])
        assert caught.value.path == "relations[0].root.input.write.extension_table.detail.path"
    nested = values((t.List(type=INT),), [([1],)])
    with pytest.raises(UnsupportedPlanError, match="has no text form for a folder name"):
        node = write(write_targets.files(f"{inside}/{{l}}"), nested, names=("l",))
        carry_out(spark, node, allowed_paths=[inside])
    (inside / "link").symlink_to(tmp_path)
    with pytest.raises(TableError, match="contains links"):
        carry_out(spark, write(write_targets.files(str(inside)), pairs((1, "a"))), allowed_paths=[inside])
    assert list(tmp_path.iterdir()) == [inside] and [entry.name for entry in inside.iterdir()] == ["link"]


def test_a_failing_write_leaves_the_files_as_they_were(spark: SparkSession, tmp_path: Path) -> None:
    detail = write_targets.files(str(tmp_path / "out"))
    carry_out(spark, write(detail, pairs((1, "a"))), allowed_paths=[tmp_path])
    read = values((INT, INT_), [(1, 0), (2, 5)])
    failing = project(read, call("divide", number(1), col(read, 1)), col(read, 0))
    for mode in (REPLACE, APPEND):
        with pytest.raises(ExecutionError):
            carry_out(spark, write(detail, failing, mode=mode), allowed_paths=[tmp_path])
        assert read_all(tmp_path / "out") == [(1, "a")]
        assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_files_are_dropped(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    detail = write_targets.files(str(folder))
    with pytest.raises(TableError, match="there are no files"):
        carry_out(spark, define(detail, DdlOp.DROP), allowed_paths=[tmp_path])
    carry_out(spark, define(detail, DdlOp.DROP_IF_EXIST), allowed_paths=[tmp_path])
    carry_out(spark, write(detail, pairs((1, "a"))), allowed_paths=[tmp_path])
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"):
        carry_out(spark, define(detail, DdlOp.DROP))
    (folder / "x.csv").write_text("")
    with pytest.raises(TableError, match="files other than Parquet"):
        carry_out(spark, define(detail, DdlOp.DROP), allowed_paths=[tmp_path])
    (folder / "x.csv").unlink()
    with pytest.raises(UnsupportedPlanError, match="no columns but those of their records"):
        carry_out(spark, define(detail, DdlOp.CREATE, {"a": INT}), allowed_paths=[tmp_path])
    carry_out(spark, define(detail, DdlOp.DROP), allowed_paths=[tmp_path])
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_messages(spark: SparkSession, tmp_path: Path) -> None:
    """A plan that somebody else made, with the builders."""
    whole: Any = plan(write(write_targets.files(str(tmp_path / "x")), pairs((1, "a"))))
    message: Any = whole.to_message()
    target = write_targets.files(str(tmp_path / "out"))
    message.relations[0].root.input.write.extension_table.detail.ParseFromString(target.SerializeToString())
    ps.run_query(message, spark=spark, allowed_paths=[tmp_path])
    assert read_all(tmp_path / "out") == [(1, "a")]
