"""Named tables: how a plan's names find tables of the caller, of the session and of its catalog."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import JoinType
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import SparkVersion
from tests.spark.plans import INT_, LONG_, TEXT_, both, call, col, join, long, ordered, plan, rows, run, stored

#: the first version of Spark whose temporary views are in a schema "session"
_SESSION_SCHEMA = SparkVersion(4, 2)
_ID = {"id": LONG_}
_DATABASE = "named_tables_db"


def _ids(spark: SparkSession, *names: str, **more: Any) -> list[int]:
    return sorted(row[0] for row in rows(spark, stored(names, _ID), **more))


def _table(*ids: int) -> pa.Table:
    return pa.table({"id": ids})


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with a Parquet table ``t`` (1 to 5, with words), and views."""
    folder = tmp_path_factory.mktemp("named") / "t"
    spark.catalog.dropTempView("t")  # what other tests have left would hide the table
    spark.sql(f"CREATE DATABASE {_DATABASE}")
    spark.sql(
        f"CREATE TABLE {_DATABASE}.t USING parquet LOCATION '{folder}' AS "
        "SELECT id, concat('w', id) AS Word FROM range(1, 6)"
    )
    spark.sql(f"CREATE VIEW {_DATABASE}.v AS SELECT id + 100 AS id FROM {_DATABASE}.t")
    yield _DATABASE
    spark.sql(f"DROP DATABASE {_DATABASE} CASCADE")


@contextlib.contextmanager
def _view(spark: SparkSession, name: str, *ids: int) -> Iterator[None]:
    frame_of_arrow(spark, _table(*ids)).createOrReplaceTempView(f"`{name}`")
    try:
        yield
    finally:
        spark.catalog.dropTempView(name)


# the catalog ---------------------------------------------------------------------------------------------------------


def test_names_of_several_parts(spark: SparkSession, database: str) -> None:
    for names in ((database, "t"), ("spark_catalog", database, "t"), (database.upper(), "T")):
        assert _ids(spark, *names) == [1, 2, 3, 4, 5]
    assert _ids(spark, database, "v") == [101, 102, 103, 104, 105]


@pytest.mark.parametrize(
    "names",
    [
        ("t",),
        ("no_such_db", "t"),
        ("no_such_catalog", "default", "t"),
        ("a", "b", "c", "d"),
        (f"{_DATABASE}.t",),
        (_DATABASE, "t", "files"),
        ("default", f"`{_DATABASE}`.`t`"),
        ("x" * 10_000,),
        ("a; DROP TABLE t", "b'\"`--"),
    ],
)
def test_tables_that_are_not_there(spark: SparkSession, database: str, names: tuple[str, ...]) -> None:
    with pytest.raises(TableError, match="there is no table") as caught:
        _ids(spark, *names)
    assert caught.value.path == "relations[0].root.input.read.named_table"
    assert caught.value.hint is not None and caught.value.hint.startswith("Tables given: none")


def test_names_without_a_name(spark: SparkSession) -> None:
    with pytest.raises(InvalidPlanError, match="the table has no name") as caught:
        _ids(spark)
    assert caught.value.path == "relations[0].root.input.read.named_table.names"
    for names in (("",), ("default", ""), ("", "0")):
        with pytest.raises(TableError, match="of which a part is empty"):
            _ids(spark, *names)


def test_files_are_no_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads the files of a name like parquet.`/path`; a plan must not reach them so."""
    path = tmp_path / "secret.parquet"
    pq.write_table(_table(1), path)
    for format in ("parquet", "Parquet", "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"):
        with pytest.raises(TableError, match="there is no table"):
            _ids(spark, format, str(path))
        with pytest.raises(TableError, match="there is no table"):
            _ids(spark, format, path.as_uri(), allowed_paths=[tmp_path])


def test_case(spark: SparkSession, database: str) -> None:
    node = stored((database, "T"), {"ID": LONG_, "word": TEXT_})
    assert ordered(rows(spark, node))[0] == (1, "w1")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(TableError, match="there is no table"):
            rows(spark, node)
        with pytest.raises(TableError, match="no column ID"):
            rows(spark, stored((database, "t"), {"ID": LONG_}))
        assert len(rows(spark, stored((database, "t"), {"id": LONG_, "Word": TEXT_}))) == 5
        both_given = {"t": _table(1), "T": _table(2)}
        assert _ids(spark, "t", tables=both_given) == [1]
        assert _ids(spark, "T", tables=both_given) == [2]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(TableError, match="given twice"):
        _ids(spark, "t", tables={"t": _table(1), "T": _table(2)})


def test_columns_that_differ_in_case_only(spark: SparkSession) -> None:
    twice = pa.table({"id": [1], "ID": [2]})
    with pytest.raises(TableError, match="2 columns named id"):
        rows(spark, stored("t", _ID), tables={"t": twice})


def test_temporary_views(spark: SparkSession, database: str) -> None:
    with _view(spark, "named_tables_view", 7):
        assert _ids(spark, "named_tables_view") == [7]
        if session_version(spark) >= _SESSION_SCHEMA:
            assert _ids(spark, "session", "named_tables_view") == [7]
        with pytest.raises(TableError, match="there is no table"):
            _ids(spark, database, "named_tables_view")
        # one over it, and one that goes before the table of the current database
        spark.sql("CREATE TEMPORARY VIEW named_tables_over AS SELECT id * 2 AS id FROM named_tables_view")
        try:
            assert _ids(spark, "named_tables_over") == [14]
        finally:
            spark.catalog.dropTempView("named_tables_over")
    frame_of_arrow(spark, _table(8)).createOrReplaceGlobalTempView("named_tables_global")
    try:
        assert _ids(spark, "global_temp", "named_tables_global") == [8]
        with pytest.raises(TableError, match="there is no table"):
            _ids(spark, "named_tables_global")
    finally:
        spark.catalog.dropGlobalTempView("named_tables_global")


@pytest.mark.parametrize("name", ["a b", "ä☃", "a.b", "a`b", "sélect", "select", 'a"b', "a'b", "a;b", "{a}", "1"])
def test_names_of_any_characters(spark: SparkSession, name: str) -> None:
    quoted = name.replace("`", "``")
    spark.sql(f"CREATE TEMPORARY VIEW `{quoted}` AS SELECT 3L AS id")
    try:
        assert _ids(spark, name) == [3]
    finally:
        spark.sql(f"DROP VIEW `{quoted}`")
    assert _ids(spark, "db", name, tables={("db", name): _table(4)}) == [4]


def test_tables_change_between_runs(spark: SparkSession) -> None:
    node = plan(stored("named_tables_changing", _ID), ("id",))
    for ids in ([1], [2, 3]):
        with _view(spark, "named_tables_changing", *ids):
            assert sorted(ps.run_query(node, spark=spark).column("id").to_pylist()) == ids
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW named_tables_changing AS SELECT 'text' AS id")
    try:
        with pytest.raises(TableError, match=r"named_tables_changing\.id is string, which cannot be read as i64"):
            ps.run_query(node, spark=spark)
    finally:
        spark.catalog.dropTempView("named_tables_changing")


def test_filters_and_projections_reach_a_table_of_the_catalog(spark: SparkSession, database: str) -> None:
    whole = stored((database, "t"), {"id": LONG_, "Word": TEXT_})
    filtered = stored((database, "t"), {"id": LONG_, "Word": TEXT_}, filter=call("gt", col(whole, 0), long(3)))
    frame = ps.from_substrait(plan(filtered, ("id", "Word")), spark)
    assert "PushedFilters: [IsNotNull(id), GreaterThan(id,3)]" in _explained(frame)
    assert sorted(row[0] for row in frame.collect()) == [4, 5]
    narrow = ps.from_substrait(plan(stored((database, "t"), {"Word": TEXT_}), ("Word",)), spark)
    assert "ReadSchema: struct<Word:string>" in _explained(narrow)


def _explained(frame: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        frame.explain("formatted")
    return text.getvalue()


def test_streams(spark: SparkSession) -> None:
    """A plan over a stream is a stream; only a result can't be had at once."""
    stream = spark.readStream.format("rate").load()
    node = plan(stored("s", {"value": LONG_}), ("value",))
    assert ps.from_substrait(node, spark, tables={"s": stream}).isStreaming
    with pytest.raises(UnsupportedPlanError, match="streaming"):
        ps.run_query(node, spark=spark, tables={"s": stream})


# tables of the caller ------------------------------------------------------------------------------------------------


def test_the_table_of_the_caller_goes_first(spark: SparkSession, database: str) -> None:
    assert _ids(spark, database, "t", tables={f"{database}.t": _table(42)}) == [42]
    with _view(spark, "named_tables_both", 1):
        assert _ids(spark, "named_tables_both", tables={"named_tables_both": _table(42)}) == [42]
        if session_version(spark) >= _SESSION_SCHEMA:  # another name of the same table is another name
            assert _ids(spark, "session", "named_tables_both", tables={"named_tables_both": _table(42)}) == [1]


def test_which_given_name_a_plan_means(spark: SparkSession) -> None:
    parts = ("a", "b")
    assert _ids(spark, *parts, tables={"a.b": _table(1)}) == [1]
    assert _ids(spark, *parts, tables={("a", "b"): _table(2)}) == [2]
    # a part of the name isn't the name, neither less nor more
    for given in ("b", "a", ("c", "a", "b"), ("a.b",)):
        with pytest.raises(TableError, match=r"there is no table a\.b") as caught:
            _ids(spark, *parts, tables={given: _table(3)})
        assert "Tables given: " in str(caught.value)
    # a plan may have put the dots into one part
    assert _ids(spark, "a.b", tables={"a.b": _table(4)}) == [4]
    assert _ids(spark, "a.b", tables={"a.b": _table(4), ("a.b",): _table(5)}) == [5]


def test_a_table_of_the_catalog_joined_with_a_given_one(spark: SparkSession, database: str) -> None:
    left, right = stored((database, "t"), _ID), stored("mine", {"key": INT_, "id": LONG_})
    given = pa.table({"key": pa.array([1, 2], pa.int32()), "id": [5, 6]})
    found = rows(
        spark,
        join(left, right, call("equal", col(both(left, right), 0), col(both(left, right), 2)), JoinType.INNER),
        tables={"mine": given},
    )
    assert found == [(5, 1, 5)]


def test_2000_columns(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"column_{n}" for n in range(2000)]
    pq.write_table(pa.table({name: pa.array([n, n + 1], pa.int64()) for n, name in enumerate(names)}), tmp_path / "w")
    node = stored("wide", dict.fromkeys(names, LONG_))
    found = run(spark, node, tables={"wide": tmp_path / "w"})
    assert found.num_columns == 2000
    assert [column.to_pylist() for column in found.columns] == [[n, n + 1] for n in range(2000)]
