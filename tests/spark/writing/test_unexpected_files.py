"""Folders with files that are not the table's own are neither replaced nor removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_substrait import write_targets
from pyspark_substrait.errors import ExecutionError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import CreateMode, DdlOp, RelationBase, WriteOp
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.writing import folders
from pyspark_substrait.spark.writing.unexpected_files import entries_below, first_unexpected, is_parquet, is_record_file
from tests.spark.plans import INT, INT_, LONG, TEXT_, call, col, number, run, text, values, where
from tests.spark.plans import stored as read
from tests.spark.writing.ddl import carry_out, unique
from tests.spark.writing.ddl import table as definition
from tests.spark.writing.records import PEOPLE, delete, folder, insert, stored, table, update, write
from tests.spark.writing.test_write_targets import REPLACE, define, pairs
from tests.spark.writing.test_write_targets import write as write_files

#: entries that nobody can have meant to replace; a name that ends in "/" is an empty folder
FOREIGN = (
    ".env",
    "_notes.txt",
    ".git/config",
    ".git/refs/",
    "_delta_log/0.json",
    "_spark_metadata/0",
    "_temporary/",
    "p=1/.env",
    "p=1/_x/y.parquet",
    ".part-9.parquet.crc",
    ".env.crc",
    ".hidden.parquet",
    "_hidden.parquet",
    "_committed_1",
    "_SUCCESS/",
    "x.parquet._COPYING_",
    ".2024.lock",
    "-> link",
    "p=1/-> link",
    "| pipe",
)
#: what Spark writes into folders of records
OURS = (
    "part-0.parquet",
    ".part-0.parquet.crc",
    "_SUCCESS",
    "._SUCCESS.crc",
    "_metadata",
    "_common_metadata",
    "._metadata.crc",
    "p=1/part-0.snappy.parquet",
    "p=1/.part-0.snappy.parquet.crc",
    "_p=1/q=2/part-0.parquet",
    "p=2/",
)


def put(folder: Path, name: str) -> None:
    """Make an entry of a folder."""
    *above, last = name.rstrip("/").split("/")
    place = folder.joinpath(*above)
    place.mkdir(parents=True, exist_ok=True)
    if name.endswith("/"):
        (place / last).mkdir()
    elif last.startswith("-> "):
        (place / last[3:]).symlink_to(folder.parent)
    elif last.startswith("| "):
        os.mkfifo(place / last[2:])
    else:
        (place / last).write_text(name)


@pytest.mark.skipif(os.name == "nt", reason="there are no pipes")
def test_every_entry_is_looked_at(tmp_path: Path) -> None:
    for number_, name in enumerate([None, *FOREIGN]):
        root = tmp_path / str(number_) / "root"
        for each in OURS:
            if name != "_SUCCESS/" or "_SUCCESS" not in each:
                put(root, each)
        assert first_unexpected(entries_below(root), is_parquet) is None
        assert first_unexpected(entries_below(root), is_record_file) is None
        if name is not None:
            put(root, name)
            for kind in (is_parquet, is_record_file):
                found = first_unexpected(entries_below(root), kind)
                assert found is not None and (root / found).is_relative_to(root), name
                assert str(found).split("/")[-1] in name, name
    notes = tmp_path / "notes"
    put(notes, "a/notes.txt")
    assert first_unexpected(entries_below(notes), is_parquet) == PurePosixPath("a/notes.txt")
    assert first_unexpected(entries_below(notes), is_record_file) is None, "Spark reads it as a file of records"


def content(folder: Path) -> dict[str, str | None]:
    """All that is below a folder."""
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace") if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("mine", [".env", "_notes.txt", ".git/config", "year=2024/.git/"])
def test_files_are_neither_replaced_nor_dropped_with_what_is_somebody_elses(
    spark: SparkSession, tmp_path: Path, mine: str
) -> None:
    root = tmp_path / "out"
    detail = write_targets.files(str(root))
    put(root, mine)
    empty = content(root)
    replacing = write_files(detail, pairs((2, "b")), mode=REPLACE)
    for node in (replacing, define(detail, DdlOp.DROP), define(detail, DdlOp.DROP_IF_EXIST)):
        with pytest.raises(TableError, match="has files other than Parquet, such as") as caught:
            carry_out(spark, node, allowed_paths=[tmp_path])
        assert caught.value.path.endswith("detail.path")
    assert content(root) == empty, "a folder that holds nothing else is still somebody's"
    carry_out(spark, write_files(detail, pairs((1, "a")), WriteOp.INSERT), allowed_paths=[tmp_path])
    assert content(root).items() >= empty.items(), "empty folders stay, too"
    before = content(root)
    for node in (replacing, define(detail, DdlOp.DROP)):
        with pytest.raises(TableError, match="has files other than Parquet, such as"):
            carry_out(spark, node, allowed_paths=[tmp_path])
    assert content(root) == before
    assert os.listdir(tmp_path) == ["out"]


def test_what_comes_while_files_are_replaced_or_dropped_is_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "out"
    detail = write_targets.files(str(root))
    carry_out(spark, write_files(detail, pairs((1, "a"))), allowed_paths=[tmp_path])
    before = content(root)
    exchange, rename = folders.exchange, os.rename

    def late(one: Path, other: Path) -> None:
        (root / ".env").write_text("mine")
        exchange(one, other)

    def late_rename(one: Any, other: Any) -> None:
        if Path(one) == root:
            (root / ".env").write_text("mine")
        rename(one, other)

    dropping = define(detail, DdlOp.DROP)
    for name, patched, node in (
        ("exchange", late, write_files(detail, pairs((2, "b")), mode=REPLACE)),
        ("os.rename", late_rename, dropping),
    ):
        with monkeypatch.context() as patching:
            patching.setattr(f"pyspark_substrait.spark.writing.folders.{name}", patched)
            with pytest.raises(ExecutionError, match="another process changed the files"):
                carry_out(spark, node, allowed_paths=[tmp_path])
        assert content(root) == {**before, ".env": "mine"}
        assert os.listdir(tmp_path) == ["out"]
        (root / ".env").unlink()
    with folders.changing(root), pytest.raises(ExecutionError, match="another process is changing"):
        carry_out(spark, dropping, allowed_paths=[tmp_path])
    assert content(root) == before


def test_what_a_crash_left_of_files_goes_with_the_next_command(spark: SparkSession, tmp_path: Path) -> None:
    detail = write_targets.files(str(tmp_path / "out"))
    (tmp_path / f".out.{'0' * 32}.version").mkdir()
    (tmp_path / ".out.lock").touch()
    carry_out(spark, define(detail, DdlOp.DROP_IF_EXIST), allowed_paths=[tmp_path])
    assert os.listdir(tmp_path) == []


def test_a_new_folder_is_there_with_its_files_or_not_at_all(spark: SparkSession, tmp_path: Path) -> None:
    detail = write_targets.files(str(tmp_path / "out"))
    failing = where(pairs((1, "a")), call("gt", call("divide", number(1), number(0)), number(0)))
    with pytest.raises(ExecutionError):
        carry_out(spark, write_files(detail, failing), allowed_paths=[tmp_path])
    assert os.listdir(tmp_path) == []


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A folder of this machine as one of another file system."""
    if is_connect(spark):
        pytest.skip("its settings are the server's")
    name = f"fs.viewfs.mounttable.{unique('mount')}"
    conf: Any = spark._jsc.hadoopConfiguration()
    (tmp_path / "mounted").mkdir()
    conf.set(f"{name}.link./data", (tmp_path / "mounted").as_uri())
    yield f"viewfs://{name.rsplit('.', 1)[1]}/data"
    conf.unset(f"{name}.link./data")


def test_folders_of_other_file_systems_are_not_replaced_either(
    spark: SparkSession, elsewhere: str, tmp_path: Path
) -> None:
    detail = write_targets.files(f"{elsewhere}/out")
    replacing = write_files(detail, pairs((2, "b")), mode=REPLACE)
    root = tmp_path / "mounted" / "out"
    for _ in range(2):
        carry_out(spark, replacing, allowed_paths=[elsewhere])
    assert [tuple(row) for row in spark.read.parquet(str(root)).collect()] == [(2, "b")]
    put(root, ".git/config")
    before = content(root)
    with pytest.raises(TableError, match=r"has files other than Parquet, such as \.git"):
        carry_out(spark, replacing, allowed_paths=[elsewhere])
    assert content(root) == before


@pytest.mark.since("4.2", "NOT NULL")
@pytest.mark.parametrize("mine", [".env", "_notes.txt", ".git/config"])
def test_tables_of_files_are_not_written_anew_with_what_is_somebody_elses(spark: SparkSession, mine: str) -> None:
    with table(spark, "id INT, name STRING, age INT") as name:
        everybody = values([INT, TEXT_, INT_], [(1, "Ann", 30)])
        run(spark, insert(name, everybody))
        place = folder(spark, name)
        put(place, mine)
        before = content(place)
        source = read(name, PEOPLE)
        replacing: dict[str, Any] = {"create_mode": CreateMode.REPLACE_IF_EXISTS}
        nodes: list[RelationBase] = [
            delete(name, where(source, call("equal", col(source, 0), number(1)))),
            update(name, None, [(1, text("x"))]),
            write(WriteOp.CTAS, name, everybody, **replacing),
            write(WriteOp.CTAS, name, values([LONG], [(1,)]), {"other": LONG}, **replacing),
            definition(DdlOp.CREATE_OR_REPLACE, name, {"other": LONG}),
            definition(DdlOp.ALTER, name, {"id": LONG, "age": INT_}),
            definition(DdlOp.DROP, name),
        ]
        for node in nodes:
            with pytest.raises(UnsupportedPlanError, match="something that is not a file of the table"):
                carry_out(spark, node)
            assert content(place) == before
        run(spark, insert(name, everybody))
        assert content(place).items() >= before.items()
        assert stored(spark, name) == [(1, "Ann", 30)] * 2
        assert [entry.name for entry in place.parent.glob(f".{name}.*")] == []
