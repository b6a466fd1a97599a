"""Views: those of the catalog mean the same to every client; what can't be stored is the session's, and says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyspark_substrait.errors import InvalidPlanError, SubstraitWarning, TableError, UnsupportedPlanError
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Cast, FailureBehavior
from pyspark_substrait.model.relations import DdlOp, FileOrFiles, LocalFiles, ParquetReadOptions, Read, RelationBase
from tests.spark.plans import INT, INT_, LONG_, TEXT_, call, col, number, project, schema, stored, values, where
from tests.spark.writing.ddl import carry_out, found_rows, unique, view

CREATE, REPLACE, ALTER, DROP, DROP_IF = (
    DdlOp.CREATE,
    DdlOp.CREATE_OR_REPLACE,
    DdlOp.ALTER,
    DdlOp.DROP,
    DdlOp.DROP_IF_EXIST,
)


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    name = unique("view")
    yield name
    spark.sql(f"DROP VIEW IF EXISTS {name}")
    spark.sql(f"DROP VIEW IF EXISTS {name}")  # that of the catalog, where a session view hid it


@pytest.fixture
def source(spark: SparkSession) -> Iterator[str]:
    """A table (a INT, b STRING)."""
    name = unique("source")
    spark.sql(f"CREATE TABLE {name} (a INT, b STRING) USING parquet").collect()
    spark.sql(f"INSERT INTO {name} VALUES (1, '10'), (2, 'twenty'), (3, NULL)").collect()
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def of(source: str | tuple[str, ...]) -> Read:
    return stored(source, {"a": INT_, "b": TEXT_})


def quietly(spark: SparkSession, node: RelationBase, **options: Any) -> None:
    """Carry out what must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SubstraitWarning)
        carry_out(spark, node, **options)


def test_a_catalog_view_is_text_that_every_client_runs(spark: SparkSession, name: str, source: str) -> None:
    read = of(source)
    quietly(spark, view(CREATE, name, where(read, call("gt", col(read, 0), number(1))), ("it's", "b`c")))
    assert sorted(found_rows(spark, f"SELECT * FROM {name}")) == [(2, "twenty"), (3, None)]
    assert found_rows(spark, f"SELECT `b``c` FROM {name} WHERE `it's` = 2") == [("twenty",)]
    spark.sql(f"INSERT INTO {source} VALUES (4, 'four')").collect()
    assert found_rows(spark, f"SELECT count(*) FROM {name}") == [(3,)]
    assert [field.dataType.simpleString() for field in spark.table(name).schema.fields] == ["int", "string"]
    described = {row[0]: row[1] for row in found_rows(spark, f"DESCRIBE TABLE EXTENDED {name}")}
    assert described["Type"] == "VIEW" and f"`spark_catalog`.`default`.`{source}`" in described["View Text"]


def test_the_settings_that_the_text_needs_travel_with_it(spark: SparkSession, name: str, source: str) -> None:
    if not hasattr(spark, "newSession") or type(spark).__module__.startswith("pyspark.sql.connect"):
        pytest.skip("a second session of the same catalog needs a classic one")
    read = of(source)
    as_number = Cast(type=LONG_, input=col(read, 1), failure_behavior=FailureBehavior.THROW_EXCEPTION)
    quietly(spark, view(CREATE, name, project(read, col(read, 0), as_number), ("a", "n")))
    client = spark.newSession()
    client.conf.set("spark.sql.ansi.enabled", "false")
    client.sql("CREATE DATABASE IF NOT EXISTS elsewhere")
    client.sql("USE elsewhere")
    try:
        assert found_rows(client, f"SELECT n FROM default.{name} WHERE a = 1") == [(10,)]
        assert found_rows(client, "SELECT CAST('twenty' AS BIGINT)") == [(None,)]
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            found_rows(client, f"SELECT n FROM default.{name}")
    finally:
        client.sql("USE default")
        client.sql("DROP DATABASE elsewhere")


def test_a_view_over_a_virtual_table_is_text_too(spark: SparkSession, name: str) -> None:
    inner = t.Struct(types=(INT_, TEXT_), nullable=True)
    rows = values((INT, inner), [(1, (2, "{x}`${y'")), (2, None)])
    node = view(CREATE, name, rows, table_schema=schema((INT, inner), ("id", "s", "x y", "z`")))
    quietly(spark, node)
    assert sorted(found_rows(spark, f"SELECT id, s.`x y`, s.`z``` FROM {name}")) == [
        (1, 2, "{x}`${y'"),
        (2, None, None),
    ]


def test_replacing_altering_dropping(spark: SparkSession, name: str, source: str) -> None:
    read = of(source)
    one, two = project(read, col(read, 0)), project(read, col(read, 1))
    for op in (ALTER, DROP):
        with pytest.raises(TableError, match=f"there is no view {name}"):
            quietly(spark, view(op, name, one, ("x",)))
    quietly(spark, view(DROP_IF, name))
    quietly(spark, view(REPLACE, ("default", name), one, ("x",)))
    quietly(spark, view(REPLACE, name, two, ("y",)))
    assert spark.table(name).columns == ["y"]
    spark.sql(f"ALTER VIEW {name} SET TBLPROPERTIES ('kept' = 'yes')")
    quietly(spark, view(ALTER, name, one, ("z",)))
    assert spark.table(name).columns == ["z"]
    assert ("kept", "yes") in found_rows(spark, f"SHOW TBLPROPERTIES {name}")
    quietly(spark, view(DROP, name))
    assert not spark.catalog.tableExists(name)


def test_views_over_what_only_the_session_has(spark: SparkSession, name: str, source: str, tmp_path: Any) -> None:
    file = tmp_path / "f.parquet"
    pq.write_table(pa.table({"a": pa.array([7], pa.int32()), "b": ["file"]}), file)
    item = FileOrFiles(path_type="uri_file", path=file.as_uri(), file_format=ParquetReadOptions())
    files = Read(base_schema=schema((INT_, TEXT_), ("a", "b")), read_type=LocalFiles(items=(item,)))
    spark.sql(f"SELECT * FROM {source} WHERE a = 3").createOrReplaceTempView("of_this_session")
    given = {"given": pa.table({"a": pa.array([8], pa.int32()), "b": ["given"]})}
    cases: list[tuple[Read, str, list[tuple[Any, ...]]]] = [
        (files, "it reads files", [(7, "file")]),
        (of("given"), "it reads given, a table passed to this run", [(8, "given")]),
        (of("of_this_session"), "it reads of_this_session, a view of this session", [(3, None)]),
    ]
    try:
        for definition, reason, expected in cases:
            with pytest.warns(SubstraitWarning, match=f"the view {name} is one of this session only, because {reason}"):
                carry_out(spark, view(REPLACE, name, definition, ("x", "y")), tables=given, allowed_paths=[tmp_path])
            assert found_rows(spark, f"SELECT x, y FROM {name}") == expected
            with pytest.raises(UnsupportedPlanError, match=f"stored in a catalog, because {reason}") as caught:
                node = view(CREATE, ("default", name), definition, ("x", "y"))
                carry_out(spark, node, tables=given, allowed_paths=[tmp_path])
            assert caught.value.path.endswith("ddl.named_object.names")
        assert f"spark_catalog.default.{name}" not in {f"{row[0]}.{row[1]}" for row in found_rows(spark, "SHOW VIEWS")}
        # altered, it stays one of the session, whatever its definition
        quietly(spark, view(ALTER, name, of(source), ("x", "y")))
        assert found_rows(spark, f"SELECT count(*) FROM {name}") == [(3,)]
        # replaced by one that can be stored, it is one of the catalog
        quietly(spark, view(REPLACE, name, of(source), ("x", "y")))
        assert found_rows(spark, f"SELECT count(*) FROM spark_catalog.default.{name}") == [(3,)]
        with pytest.raises(UnsupportedPlanError, match="is a view of the catalog and cannot be replaced"):
            carry_out(spark, view(REPLACE, name, of("given"), ("x", "y")), tables=given)
        quietly(spark, view(DROP, name))
        with pytest.raises(TableError, match="there is no view"):
            quietly(spark, view(DROP, name))
    finally:
        spark.catalog.dropTempView("of_this_session")


def test_files_of_a_view_are_below_the_allowed_paths(spark: SparkSession, name: str, tmp_path: Any) -> None:
    item = FileOrFiles(path_type="uri_file", path=(tmp_path / "f").as_uri(), file_format=ParquetReadOptions())
    files = Read(base_schema=schema((INT_,), ("a",)), read_type=LocalFiles(items=(item,)))
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"):
        carry_out(spark, view(CREATE, name, files, ("a",)))


def test_columns_of_a_view_are_those_of_its_definition(spark: SparkSession, name: str, source: str) -> None:
    read = of(source)
    for types, names, message, path in (
        ((INT_,), ("a",), "the view has 1 columns, and its definition 2", "table_schema"),
        ((INT_, LONG_), ("a", "b"), "column b is a i64.*gives a string", "table_schema.struct.types[1]"),
        ((INT, TEXT_), ("a", "b"), "column a is a i32, and its definition gives a i32", "table_schema.struct.types[0]"),
    ):
        with pytest.raises(InvalidPlanError, match=message) as caught:
            carry_out(spark, view(CREATE, name, read, table_schema=schema(types, names)))
        assert caught.value.path.endswith(f"ddl.{path}")
    with pytest.raises(InvalidPlanError, match="the columns of the view are missing"):
        carry_out(spark, view(CREATE, name, read, table_schema=None))
    with pytest.raises(InvalidPlanError, match="definition of the view is missing"):
        carry_out(spark, view(CREATE, name, None, table_schema=schema((INT,), ("a",))))
    with pytest.raises(TableError, match="there is no table nowhere") as found:
        carry_out(spark, view(CREATE, name, of("nowhere"), ("a", "b")))
    assert "view_definition" in found.value.path
    assert not spark.catalog.tableExists(name)


@pytest.mark.sweep(sample=0)  # only generated code checks the filter before the column that it does not use
def test_a_stored_column_of_another_type_or_null_is_checked_in_the_text(
    spark: SparkSession, name: str, source: str
) -> None:
    """The table's INT is the plan's i64, and its column that may be null is required."""
    read = stored(source, {"a": t.I32(), "b": t.String()})
    quietly(spark, view(CREATE, name, read, ("a", "b")))
    assert found_rows(spark, f"SELECT a FROM {name} WHERE a = 1") == [(1,)]
    with pytest.raises(Exception, match="null"):
        found_rows(spark, f"SELECT * FROM {name}")
