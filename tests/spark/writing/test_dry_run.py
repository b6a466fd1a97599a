"""What a plan would touch, told without Spark; and what the command line says of plans that write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait import write_targets
from pyspark_substrait.cli import main
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import PredicateOp, SetPredicate
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import (
    CreateMode,
    DdlOp,
    ExtensionTable,
    FileOrFiles,
    IcebergTable,
    JoinType,
    LocalFiles,
    NamedTable,
    OutputMode,
    ParquetReadOptions,
    Read,
    Reference,
    Set,
    SetOp,
    Update,
    Write,
    WriteOp,
)
from tests.samples.relations import RELATIONS
from tests.spark.plans import INT, INT_, TEXT, col, join, plan, project, schema, stored, truth, values, where
from tests.spark.writing.ddl import found_rows, named, table, unique, view
from tests.spark.writing.test_write_targets import target

A = {"a": INT}


def told(relation: Any, *others: Any) -> list[str]:
    """What is touched, in words, without the paths' common beginning."""
    whole = plan(relation, (), *others)
    return [f"{touch} @ {touch.path.removeprefix('relations[0].root.input.')}" for touch in ps.touches(whole)]


def write(write_type: Any, input: Any, op: WriteOp, **more: Any) -> Write:
    described = schema(input.schema.types, [f"c{n}" for n in range(len(input.schema.types))])
    return Write(write_type=write_type, table_schema=described, op=op, input=input, **more)


def test_reads_of_every_kind_in_the_order_of_the_inputs() -> None:
    item = FileOrFiles(path_type="uri_file", path="/d/a\nb.parquet", file_format=ParquetReadOptions())
    files = Read(base_schema=schema((INT,), ("a",)), read_type=LocalFiles(items=(item, item)))
    ice = Read(base_schema=schema((INT,), ("a",)), read_type=IcebergTable(metadata_uri="s3://b/m.json"))
    other = Read(
        base_schema=schema((INT,), ("a",)), read_type=ExtensionTable(detail=AnyMessage("example.com/acme.T", b""))
    )
    inner = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=stored(("db", "in ner"), A))
    left = where(stored("t", A), inner)
    both = join(left, files, truth(True), JoinType.INNER)
    union = Set(members=(project(both, col(both, 0)), ice, other, values((INT,), [(1,)])), op=SetOp.UNION_ALL)
    path = "set.inputs[0].project.input.join"
    assert told(union) == [
        f"read the table t @ {path}.left.filter.input.read.named_table",
        f'read the table db."in ner" @ {path}.left.filter.(subquery).read.named_table',
        f"read the files /d/a\\nb.parquet @ {path}.right.read.local_files.items[0]",
        f"read the files /d/a\\nb.parquet @ {path}.right.read.local_files.items[1]",
        "read the Iceberg table s3://b/m.json @ set.inputs[1].read.iceberg_table",
        "read the extension example.com/acme.T @ set.inputs[2].read.extension_table",
    ]


def test_the_path_below_a_generator_is_the_one_in_the_message() -> None:
    assert told(RELATIONS["explode"]) == ["read the table nested @ extension_single.input.read.named_table"]


def test_writes_of_every_kind() -> None:
    one, memory = stored("s", A), target(write_targets.in_memory_table("m"))
    read = "read the table s @ write.input.read.named_table"
    for op, mode, words in (
        (WriteOp.INSERT, CreateMode.UNSPECIFIED, "add records to"),
        (WriteOp.DELETE, CreateMode.UNSPECIFIED, "remove records from"),
        (WriteOp.UPDATE, CreateMode.UNSPECIFIED, "change records of"),
        (WriteOp.CTAS, CreateMode.UNSPECIFIED, "create"),
        (WriteOp.CTAS, CreateMode.ERROR_IF_EXISTS, "create"),
        (WriteOp.CTAS, CreateMode.REPLACE_IF_EXISTS, "create or replace"),
        (WriteOp.CTAS, CreateMode.APPEND_IF_EXISTS, "create or add records to"),
        (WriteOp.CTAS, CreateMode.IGNORE_IF_EXISTS, "create, if it is missing,"),
    ):
        assert told(write(named(("d", "t")), one, op, create_mode=mode)) == [read, f"{words} the table d.t @ write"]
        assert told(write(memory, one, op, create_mode=mode))[1] == f"{words} the in-memory table m @ write"
    files = target(write_targets.files("/out/{c0}"))
    assert told(write(files, one, WriteOp.CTAS))[1] == "create the files /out/{c0} @ write"
    changed = Update(update_type=NamedTable(names=("t",)), table_schema=schema((INT,), ("a",)))
    assert told(changed) == ["change records of the table t @ update"]


def test_definitions_of_every_kind() -> None:
    words = {
        DdlOp.CREATE: "create",
        DdlOp.CREATE_OR_REPLACE: "create or replace",
        DdlOp.ALTER: "alter",
        DdlOp.DROP: "drop",
        DdlOp.DROP_IF_EXIST: "drop, if it is there,",
    }
    for op, word in words.items():
        assert told(table(op, "t", A)) == [f"{word} the table t @ ddl"]
        assert told(view(op, "v", stored("t", A), ("a",))) == [
            "read the table t @ ddl.view_definition.read.named_table",
            f"{word} the view v @ ddl",
        ]


def test_a_shared_tree_is_touched_once_and_an_inner_write_before_the_outer_one() -> None:
    shared = stored("s", A)
    again = Reference(subtree_ordinal=1, subtree=shared)
    inner = write(named("one"), again, WriteOp.CTAS, output=OutputMode.MODIFIED_RECORDS)
    outer = write(named("two"), Set(members=(inner, again), op=SetOp.UNION_ALL), WriteOp.INSERT)
    assert told(outer, shared) == [
        "read the table s @ relations[1].rel.read.named_table",
        "create the table one @ write.input.set.inputs[0].write",
        "add records to the table two @ write",
    ]


def test_roots() -> None:
    from dataclasses import replace

    whole = plan(stored("a", A))
    both = replace(whole, relations=(*whole.relations, RelRoot(input=stored("b", A), names=("a",))))
    assert [touch.name for touch in ps.touches(both)] == ["a", "b"]
    assert [touch.name for touch in ps.touches(both, root=1)] == ["b"]
    with pytest.raises(InvalidPlanError, match="there is no root 2"):
        ps.touches(both, root=2)


# the command line -----------------------------------------------------------------------------------------------------


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments], catch_exceptions=False)


def saved(relation: Any, folder: Path) -> str:
    path = folder / f"{unique('plan')}.json"
    plan(relation).save(path)
    return str(path)


def test_a_dry_run_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark_substrait.spark.session_start", None)
    found = command(saved(write(named("t"), stored("s", A), WriteOp.CTAS), tmp_path), "--dry-run")
    assert (found.exit_code, found.stdout.splitlines()) == (
        0,
        [
            "read the table s  (relations[0].root.input.write.input.read.named_table)",
            "create the table t  (relations[0].root.input.write)",
        ],
    )


@pytest.mark.since("4.2", "NOT NULL")
def test_what_a_plan_has_done(spark: SparkSession, tmp_path: Path) -> None:
    name, seen = unique(), unique("view")
    pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), tmp_path / "s.parquet")
    given = f"s={tmp_path / 's.parquet'}"
    try:
        found = command(saved(table(DdlOp.CREATE, name, {"a": INT_, "b": TEXT}), tmp_path))
        assert (found.exit_code, found.stdout) == (0, f"done: created the table {name}\n")
        found = command(saved(view(DdlOp.CREATE, seen, stored("s", A), ("a",)), tmp_path), "--table", given)
        assert (found.exit_code, found.stdout) == (0, f"done: created the view {seen}\n")
        assert f"note: the view {seen} is one of this session only, because it reads s" in found.stderr
        assert found_rows(spark, f"SELECT a FROM {seen}") == [(1,)]
        memory = target(write_targets.in_memory_table(f"{name}_m"))
        node = write(memory, values((INT,), [(7,)]), WriteOp.CTAS, output=OutputMode.MODIFIED_RECORDS)
        found = command(saved(node, tmp_path))
        assert found.exit_code == 0 and "7" in found.stdout and "done" not in found.stdout
        assert f"done: created the in-memory table {name}_m" in found.stderr
        found = command(saved(table(DdlOp.DROP, f"{name}_x"), tmp_path))
        assert found.exit_code == 1 and "done" not in found.output and f"there is no table {name}_x" in found.stderr
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        for one in (seen, f"{name}_m"):
            spark.catalog.dropTempView(one)


def test_the_command_line_names_what_may_be_written(spark: SparkSession, tmp_path: Path) -> None:
    node = write(target(write_targets.files(str(tmp_path / "out" / "x"))), values((INT,), [(7,)]), WriteOp.CTAS)
    file = saved(node, tmp_path)
    found = command(file)
    assert found.exit_code == 1 and "is not among the allowed paths" in found.stderr
    assert not (tmp_path / "out").exists()
    found = command(file, "--allow-path", str(tmp_path / "out"))
    assert (found.exit_code, found.stdout) == (0, f"done: created the files {tmp_path}/out/x\n")
    assert pq.read_table(tmp_path / "out" / "x").to_pylist() == [{"c0": 7}]
