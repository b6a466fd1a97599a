"""Tables made, replaced and dropped: what the catalog holds afterwards, and what plain Spark SQL does with it."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import DdlOp
from tests.spark.plans import INT, INT_, LONG_, TEXT, TEXT_, lit, schema, values
from tests.spark.writing.ddl import carry_out, described, found_rows, table, unique, view

CREATE, REPLACE, ALTER, DROP, DROP_IF = (
    DdlOp.CREATE,
    DdlOp.CREATE_OR_REPLACE,
    DdlOp.ALTER,
    DdlOp.DROP,
    DdlOp.DROP_IF_EXIST,
)
MONEY = t.Decimal(precision=9, scale=2, nullable=True)
PLACE = t.Struct(types=(INT, TEXT_))


def refused(spark: SparkSession, node: object, error: type[Exception], text: str, path: str) -> None:
    with pytest.raises(error, match=text) as caught:
        carry_out(spark, node)  # type: ignore[arg-type]
    assert caught.value.path.removeprefix("relations[0].root.input.") == path  # type: ignore[attr-defined]


def test_columns_types_not_null_and_defaults_are_in_the_catalog(spark: SparkSession) -> None:
    name = unique()
    columns = schema((INT, TEXT_, MONEY, PLACE), ("id", "note", "price", "place", "x", "y"))
    defaults = (lit(INT, 7), lit(TEXT_, "it's {new}"), lit(MONEY, None), lit(PLACE, (1, "a")))
    carry_out(spark, table(CREATE, name, columns, defaults))
    try:
        assert [row[:3] for row in described(spark, name)] == [
            ("id", "int", False),
            ("note", "string", True),
            ("price", "decimal(9,2)", True),
            ("place", "struct<x:int,y:string>", False),
        ]
        spark.sql(f"INSERT INTO {name} (id) VALUES (1)").collect()
        spark.sql(f"INSERT INTO {name} (price) VALUES (2.5)").collect()
        assert sorted(found_rows(spark, f"SELECT id, note, price, place.x, place.y FROM {name}")) == [
            (1, "it's {new}", None, 1, "a"),
            (7, "it's {new}", decimal.Decimal("2.50"), 1, "a"),
        ]
        for nothing in (
            "(CAST(NULL AS INT), '', 1, named_struct('x', 1, 'y', ''))",
            "(1, '', 1, named_struct('x', CAST(NULL AS INT), 'y', ''))",
        ):
            with pytest.raises(Exception, match="NOT_NULL_ASSERT_VIOLATION"):
                spark.sql(f"INSERT INTO {name} VALUES {nothing}").collect()
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


#: a type, the Spark type of its column (docs/types.md), a default, and what Spark gives for it
STORED: list[tuple[t.Type, str, Any, Any]] = [
    (t.Boolean(nullable=True), "boolean", True, True),
    (t.I8(nullable=True), "tinyint", -8, -8),
    (t.I16(nullable=True), "smallint", 16, 16),
    (t.I64(nullable=True), "bigint", 2**62, 2**62),
    (t.FP32(nullable=True), "float", 0.5, 0.5),
    (t.FP64(nullable=True), "double", 0.1, 0.1),
    (t.VarChar(length=5, nullable=True), "string", "a\\b", "a\\b"),
    (t.FixedChar(length=2, nullable=True), "string", "ab", "ab"),
    (t.Binary(nullable=True), "binary", b"\x00\xff", bytearray(b"\x00\xff")),
    (t.Date(nullable=True), "date", 59, datetime.date(1970, 3, 1)),
    (t.PrecisionTimestamp(precision=6, nullable=True), "timestamp_ntz", 1, datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
    (t.PrecisionTimestamp(precision=9, nullable=True), "bigint", 1, 1),
    (t.List(type=INT_, nullable=True), "array<int>", (1, None), [1, None]),
    (t.Map(key=TEXT, value=INT_, nullable=True), "map<string,int>", {"k": 1}, {"k": 1}),
]


def test_every_type_has_its_carrier_and_can_have_a_default(spark: SparkSession) -> None:
    name = unique()
    columns = {f"c{position}": row[0] for position, row in enumerate(STORED)}
    defaults = [lit(type, value) for type, _, value, _ in STORED]
    carry_out(spark, table(CREATE, name, {**columns, "last": INT_}, [*defaults, lit(INT_, None)]))
    try:
        assert [row[1] for row in described(spark, name)] == [*(row[1] for row in STORED), "int"]
        spark.sql(f"INSERT INTO {name} (last) VALUES (1)").collect()
        assert found_rows(spark, f"SELECT * FROM {name}") == [(*(row[3] for row in STORED), 1)]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_replacing_makes_a_new_empty_table_or_the_first_one(spark: SparkSession) -> None:
    name = unique()
    try:
        carry_out(spark, table(REPLACE, name, {"a": INT}))
        spark.sql(f"INSERT INTO {name} VALUES (1)").collect()
        carry_out(spark, table(REPLACE, name, {"b": TEXT_}, [lit(TEXT_, "x")]))
        assert described(spark, name) == [("b", "string", True, "'x'")]
        assert found_rows(spark, f"SELECT * FROM {name}") == []
        # what can't be made leaves the old one
        refused(
            spark,
            table(REPLACE, name, {"b": TEXT_, "B": TEXT_}),
            UnsupportedPlanError,
            "two columns named B",
            "ddl.table_schema.names",
        )
        assert [row[0] for row in described(spark, name)] == ["b"]
        listed = [row[1] for row in found_rows(spark, "SHOW TABLES")]
        assert not [other for other in listed if other.startswith("substrait_")]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_dropping(spark: SparkSession) -> None:
    name = unique()
    refused(spark, table(DROP, name), TableError, f"there is no table {name}", "ddl.named_object")
    carry_out(spark, table(DROP_IF, name))
    carry_out(spark, table(DROP_IF, ("no_such_database", name)))
    for op in (DROP, DROP_IF):
        carry_out(spark, table(CREATE, ("default", name), {"a": INT_}))
        assert spark.catalog.tableExists(name)
        carry_out(spark, table(op, ("spark_catalog", "default", name)))
        assert not spark.catalog.tableExists(name)


def test_what_is_there_already_or_is_something_else(spark: SparkSession) -> None:
    name, other, own = unique(), unique("view"), unique("own")
    try:
        carry_out(spark, table(CREATE, name, {"a": INT_}))
        spark.sql(f"CREATE VIEW {other} AS SELECT 1 AS a")
        spark.sql("SELECT 1 AS a").createOrReplaceTempView(own)
        one = values((INT,), [(1,)])
        for found, kind in ((name, "table"), (other, "view"), (own, "session view")):
            there = f"there is a {kind} {found} already"
            refused(spark, table(CREATE, found, {"a": INT_}), TableError, there, "ddl.named_object")
            refused(spark, view(CREATE, found, one, ("a",)), TableError, there, "ddl.named_object")
        for op in (REPLACE, ALTER, DROP, DROP_IF):
            for found, kind in ((other, "view"), (own, "session view")):
                node = table(op, found, {"a": INT_})
                refused(spark, node, TableError, f"{found} is a {kind}, not a table", "ddl.named_object")
            refused(
                spark, view(op, name, one, ("a",)), TableError, f"{name} is a table, not a view", "ddl.named_object"
            )
        assert found_rows(spark, f"SELECT * FROM {other} UNION ALL SELECT * FROM {own}") == [(1,), (1,)]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(f"DROP VIEW IF EXISTS {other}")
        spark.catalog.dropTempView(own)


def test_databases_are_named_and_not_made(spark: SparkSession) -> None:
    database, name = unique("db"), unique()
    missing = f"there is no database for {database}.{name}"
    refused(spark, table(CREATE, (database, name), {"a": INT_}), TableError, missing, "ddl")
    spark.sql(f"CREATE DATABASE {database}")
    try:
        carry_out(spark, table(CREATE, (database, name), {"a": INT_}))
        carry_out(spark, table(REPLACE, (database, name), {"b": INT_}))
        assert described(spark, f"{database}.{name}") == [("b", "int", True, None)]
        assert not spark.catalog.tableExists(name)
    finally:
        spark.sql(f"DROP DATABASE {database} CASCADE")


def test_a_plan_that_contradicts_itself(spark: SparkSession) -> None:
    name = unique()
    one = values((INT,), [(1,)])
    refused(spark, table(CREATE, name), InvalidPlanError, "columns of the table are missing", "ddl.table_schema")
    refused(spark, table(CREATE, name, {}), UnsupportedPlanError, "without columns", "ddl.table_schema")
    refused(
        spark,
        table(CREATE, name, {"a": INT_}, []),
        InvalidPlanError,
        "0 defaults for 1 columns",
        "ddl.table_defaults.fields",
    )
    refused(
        spark,
        table(CREATE, name, {"a": INT_, "b": INT_}, [lit(INT_, 1), lit(LONG_, 1)]),
        InvalidPlanError,
        "the default is a i64[?], and the column a i32[?]",
        "ddl.table_defaults.fields[1]",
    )
    refused(
        spark,
        table(CREATE, name, {"a": INT_}, view_definition=one),
        InvalidPlanError,
        "no definition",
        "ddl.view_definition",
    )
    refused(spark, table(CREATE, (), {"a": INT_}), InvalidPlanError, "name is empty", "ddl.named_object.names")
    assert not spark.catalog.tableExists(name)


def test_a_null_is_no_default_of_a_required_column(spark: SparkSession) -> None:
    name = unique()
    carry_out(spark, table(CREATE, name, {"a": INT, "b": INT_}, [Literal(type=INT_, value=None), lit(INT_, None)]))
    try:
        assert described(spark, name) == [("a", "int", False, None), ("b", "int", True, "NULL")]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.since("4.2", "the setting")
def test_not_null_needs_the_setting_under_which_spark_keeps_it(spark: SparkSession) -> None:
    name, key = unique(), "spark.sql.fileSource.insert.enforceNotNull"
    spark.conf.set(key, "false")
    try:
        refused(spark, table(CREATE, name, {"a": INT}), UnsupportedPlanError, key, "ddl")
        assert not spark.catalog.tableExists(name)
        carry_out(spark, table(CREATE, name, {"a": INT_}))
    finally:
        spark.conf.set(key, "true")
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_tables_given_for_the_run_are_never_changed(spark: SparkSession) -> None:
    name = unique()
    given = {name: spark.sql("SELECT 1 AS a")}
    for node in (table(CREATE, name, {"a": INT_}), table(DROP_IF, name)):
        with pytest.raises(UnsupportedPlanError, match="passed to this run"):
            carry_out(spark, node, tables=given)


def test_a_plan_as_json(spark: SparkSession) -> None:
    name = unique()
    text = """{"relations": [{"root": {"names": [], "input": {"ddl": {
      "namedObject": {"names": ["%s"]}, "object": "DDL_OBJECT_TABLE", "op": "DDL_OP_CREATE",
      "tableSchema": {"names": ["a"], "struct": {"types": [{"i32": {"nullability": "NULLABILITY_REQUIRED"}}],
        "nullability": "NULLABILITY_REQUIRED"}},
      "tableDefaults": {"fields": [{"i32": 3}]}}}}}]}"""
    ps.run_query(text % name, spark=spark)
    try:
        assert described(spark, name) == [("a", "int", False, "3")]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
