"""Whatever a name from a plan holds, it is only ever a name: what exists afterwards proves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait import write_targets
from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import (
    CreateMode,
    DdlOp,
    NamedTable,
    TransformExpression,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import Type
from tests.spark.plans import (
    INT,
    INT_,
    LONG_,
    TEXT_,
    call,
    col,
    lit,
    number,
    plan,
    rows,
    schema,
    stored,
    values,
    where,
)
from tests.spark.writing.ddl import carry_out, described, found_rows, named, table, unique, view
from tests.spark.writing.test_write_targets import define, target

pytestmark = pytest.mark.sweep

NAMES = [
    "a`b",
    "``",
    "a.b",
    "x; DROP TABLE victim",
    "x` INT); DROP TABLE victim; --",
    "') FROM victim --",
    "a b",
    'quote\'d "twice"',
    "back\\slash\\",
    "ünïcödé 名前 \U0001f600",
    "new\nline\ttab\r",
    "/* comment",
    "-- comment",
    "{brace} {{",
    "${env:HOME}",
    "%s %(x)s {0}",
    "select",
    "*",
    "..",
    "",
    " ",
    "CAST(NULL AS INT)",
    "x" * 10_000,
]
#: some of them, where each takes statements of its own
WORST = [NAMES[place] for place in (1, 2, 4, 7, 9, 10, 19, 22)]
#: what no text on its way to Spark could keep
IMPOSSIBLE = ["${env:HOME}", "nul\x00", "half \ud800"]


@pytest.fixture(scope="module")
def victim(spark: SparkSession) -> Iterator[str]:
    """A table that every injection above would drop."""
    spark.sql("CREATE TABLE victim (v INT) USING parquet").collect()
    yield "victim"
    spark.sql("DROP TABLE victim")


def everything(spark: SparkSession) -> set[tuple[Any, ...]]:
    """All tables, views and databases."""
    return {*found_rows(spark, "SHOW TABLES"), *found_rows(spark, "SHOW DATABASES")}


def possible() -> list[str]:
    return [name for name in NAMES if name not in IMPOSSIBLE]


def test_columns_of_tables_that_are_made_filled_changed_and_altered(spark: SparkSession, victim: str) -> None:
    """All names are columns of one table, so that each statement has all of them."""
    before, name, names = everything(spark), unique(), possible()
    types: dict[str, Type] = dict.fromkeys(names, INT_)
    carry_out(spark, table(DdlOp.CREATE, name, types, [lit(INT_, number_) for number_ in range(len(names))]))
    try:
        assert [(row[0], row[3]) for row in described(spark, name)] == [(n, str(p)) for p, n in enumerate(names)]
        read = stored(name, types)
        first = [1000 + position for position in range(len(names))]
        described_ = schema(tuple(types.values()), names)

        def write(input: Any, op: WriteOp) -> Write:
            return Write(write_type=named(name), table_schema=described_, op=op, input=input)

        carry_out(spark, write(values(tuple(types.values()), [first, [0] * len(names)]), WriteOp.INSERT))
        assert sorted(rows(spark, read)) == [(0,) * len(names), tuple(first)]
        one = where(read, call("equal", col(read, 0), number(0)))
        carry_out(spark, write(one, WriteOp.DELETE))
        changes = tuple(
            TransformExpression(transformation=call("add", col(read, place), number(1)), column_target=place)
            for place in range(len(names))
        )
        update = Update(
            update_type=NamedTable(names=(name,)),
            table_schema=described_,
            condition=call("gt", col(read, 1), number(0)),
            transformations=changes,
        )
        ps.run_query(plan(update), spark=spark)
        assert rows(spark, read) == [tuple(value + 1 for value in first)]
        # each gets a wider type, and another name
        later = {f"{column}2"[-200:]: LONG_ for column in names}
        carry_out(spark, table(DdlOp.ALTER, name, dict.fromkeys(names, LONG_)))
        carry_out(spark, table(DdlOp.ALTER, name, later))
        assert rows(spark, stored(name, later)) == [tuple(value + 1 for value in first)]
        carry_out(spark, table(DdlOp.DROP, name))
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    assert everything(spark) == before


def test_columns_and_names_of_views(spark: SparkSession, victim: str) -> None:
    before, name, names = everything(spark), unique("view"), possible()
    one = values((INT,) * len(names), [range(len(names))])
    carry_out(spark, view(DdlOp.CREATE, name, one, names))
    try:
        assert spark.table(name).columns == names
        assert rows(spark, stored(name, dict.fromkeys(names, INT))) == [tuple(range(len(names)))]
    finally:
        carry_out(spark, view(DdlOp.DROP, name))
    given = {"given": spark.sql("SELECT 1 AS a")}
    for hostile in filter(None, WORST):
        with pytest.warns(UserWarning, match="is one of this session only"):
            carry_out(spark, view(DdlOp.CREATE, hostile, stored("given", {"a": INT}), ("a",)), tables=given)
        assert rows(spark, stored((hostile,), {"a": INT})) == [(1,)]
        carry_out(spark, view(DdlOp.DROP, hostile))
        assert everything(spark) == before


def test_names_that_sparks_own_catalog_cannot_have(spark: SparkSession, victim: str) -> None:
    before = everything(spark)
    one: Any = values((INT,), [(1,)])
    refused = [name for name in (*NAMES, *IMPOSSIBLE) if name != "select" and len(name) < 1000]
    for place, hostile in enumerate(refused):
        write = Write(
            write_type=named(hostile),
            table_schema=schema((INT,), ("a",)),
            op=WriteOp.CTAS,
            input=one,
            create_mode=CreateMode.IGNORE_IF_EXISTS,
        )
        nodes = [
            table(DdlOp.CREATE, hostile, {"a": INT_}),
            write,
            table(DdlOp.CREATE, (hostile, "t"), {"a": INT_}),
            table(DdlOp.CREATE_OR_REPLACE, ("default", hostile), {"a": INT_}),
            view(DdlOp.CREATE, ("default", hostile), one, ("a",)),
            table(DdlOp.DROP, hostile),
        ]
        for node in (nodes[place % 6], nodes[(place + 1) % 6]):  # each of both, many times
            with pytest.raises(SubstraitError) as caught:
                carry_out(spark, node)
            assert "\n" not in str(caught.value) and "JVM" not in str(caught.value), str(caught.value)
    assert everything(spark) == before


def test_a_long_name_of_a_table_is_one_or_a_clear_error(spark: SparkSession) -> None:
    """The in-memory catalog has a folder for each table, and a folder's name is 255 bytes at most."""
    before, long = everything(spark), "x" * 10_000
    for name in ("select", "y" * 200):
        carry_out(spark, table(DdlOp.CREATE, name, {"a": INT_}))
        carry_out(spark, table(DdlOp.CREATE_OR_REPLACE, name, {"b": TEXT_}))
        assert [row[0] for row in described(spark, f"`{name}`")] == ["b"]
        carry_out(spark, table(DdlOp.DROP, name))
    try:
        carry_out(spark, table(DdlOp.CREATE, long, {"a": INT_}))
    except SubstraitError as error:
        assert "\n" not in str(error) and len(str(error)) < 1000
    finally:
        carry_out(spark, table(DdlOp.DROP_IF_EXIST, long))
    assert everything(spark) == before


def test_names_of_tables_in_memory(spark: SparkSession, victim: str) -> None:
    before = everything(spark)
    one: Any = values((INT, TEXT_), [(1, "a")])
    for hostile in filter(None, WORST):
        memory = write_targets.in_memory_table(hostile)
        write = Write(
            write_type=target(memory), table_schema=schema((INT, TEXT_), (hostile, "b")), op=WriteOp.CTAS, input=one
        )
        carry_out(spark, write)
        assert rows(spark, stored((hostile,), {hostile: INT, "b": TEXT_})) == [(1, "a")]
        carry_out(spark, define(memory, DdlOp.DROP))
        assert everything(spark) == before
    for hostile in ("${env:HOME}", "nul\x00"):
        with pytest.raises(UnsupportedPlanError, match="Spark cannot have the name"):
            carry_out(spark, define(write_targets.in_memory_table(hostile), DdlOp.DROP_IF_EXIST))


def test_names_of_columns_in_files_and_in_their_paths(spark: SparkSession, tmp_path: Path) -> None:
    names = [name for name in possible() if "{" not in name]
    one: Any = values((INT,) * len(names), [range(len(names))])
    for place, hostile in enumerate(names):
        if hostile not in WORST:
            continue
        detail = write_targets.files(f"{tmp_path}/{place}/{{{hostile}}}")
        write = Write(
            write_type=target(detail), table_schema=schema((INT,) * len(names), names), op=WriteOp.CTAS, input=one
        )
        carry_out(spark, write, allowed_paths=[tmp_path])
        (file,) = tmp_path.glob(f"{place}/*/*.parquet")
        assert file.parent.name == str(place)
        found = pq.ParquetFile(file).read()
        assert found.column_names == names and [column[0].as_py() for column in found.columns] == list(
            range(len(names))
        )


def test_a_view_of_the_session_is_never_dropped_for_a_table(spark: SparkSession) -> None:
    name = unique("own")
    spark.sql("SELECT 1 AS a").createOrReplaceTempView(name)
    try:
        with pytest.raises(TableError, match="is a session view, not a table"):
            carry_out(spark, table(DdlOp.DROP, name))
        with pytest.raises(TableError, match="there is no table"):
            carry_out(spark, table(DdlOp.DROP, ("default", name)))
        assert found_rows(spark, f"SELECT * FROM {name}") == [(1,)]
    finally:
        spark.catalog.dropTempView(name)
