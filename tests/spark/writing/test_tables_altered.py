"""Tables altered: a plan gives the columns as they shall be, and the records keep what they had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pyspark_substrait.errors import ExecutionError, TableError, UnsupportedPlanError
from pyspark_substrait.model import types as t
from pyspark_substrait.model.relations import DdlOp
from pyspark_substrait.model.types import NamedStruct, Type
from pyspark_substrait.spark.writing.catalog import CatalogEntry
from pyspark_substrait.spark.writing.folders import changing
from tests.spark.plans import INT, INT_, LONG_, REAL_, TEXT_, lit, schema
from tests.spark.writing.ddl import carry_out, described, found_rows, table, unique
from tests.spark.writing.records import catalog_says

SMALL_, SINGLE_ = t.I16(nullable=True), t.FP32(nullable=True)


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    name = unique()
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    listed = [row[1] for row in found_rows(spark, "SHOW TABLES")]
    assert not [other for other in listed if other.startswith("substrait_")]


def alter(spark: SparkSession, name: str, columns: Mapping[str, Type] | NamedStruct, defaults: Any = None) -> None:
    carry_out(spark, table(DdlOp.ALTER, name, columns, defaults))


def made(spark: SparkSession, name: str, columns: str, values: str, more: str = "") -> None:
    spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet {more}").collect()
    spark.sql(f"INSERT INTO {name} VALUES {values}").collect()


def types(spark: SparkSession, name: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in described(spark, name)]


def test_columns_come(spark: SparkSession, name: str) -> None:
    made(spark, name, "a INT", "(1), (2)")
    columns = {"a": INT_, "b": TEXT_, "c": LONG_}
    alter(spark, name, columns, [lit(INT_, 5), lit(TEXT_, "new"), lit(LONG_, None)])
    spark.sql(f"INSERT INTO {name} (c) VALUES (3)").collect()
    assert sorted(found_rows(spark, f"SELECT * FROM {name}"), key=repr) == [
        (1, "new", None),
        (2, "new", None),
        (5, "new", 3),
    ]
    # in the middle, and required
    alter(
        spark,
        name,
        {"z": INT, "a": INT_, "b": TEXT_, "c": LONG_},
        [lit(INT, 9), *[lit(INT_, None)], lit(TEXT_, ""), lit(LONG_, None)],
    )
    assert types(spark, name)[0] == ("z", "int")
    assert sorted(found_rows(spark, f"SELECT z, a FROM {name}")) == [(9, 1), (9, 2), (9, 5)]
    with pytest.raises(ExecutionError, match="has nulls"):
        alter(spark, name, {"z": INT, "a": INT_, "b": TEXT_, "c": LONG_, "d": INT})
    assert [column for column, _ in types(spark, name)] == ["z", "a", "b", "c"]


def test_columns_go_and_are_renamed(spark: SparkSession, name: str) -> None:
    made(spark, name, "a INT DEFAULT 4, b STRING, c INT", "(1, 'x', 10), (2, 'y', 20)")
    alter(spark, name, {"a": INT_, "text": TEXT_, "c": INT_})
    assert sorted(found_rows(spark, f"SELECT a, text, c FROM {name}")) == [(1, "x", 10), (2, "y", 20)]
    assert described(spark, name)[0] == ("a", "int", True, "4")  # without table_defaults, they stay
    alter(spark, name, {"text": TEXT_, "a": INT_}, [lit(TEXT_, None), lit(INT_, 8)])
    assert described(spark, name) == [("text", "string", True, "NULL"), ("a", "int", True, "8")]
    assert sorted(found_rows(spark, f"SELECT * FROM {name}")) == [("x", 1), ("y", 2)]
    # gone, and new at another position or of another type: dropped and added
    alter(spark, name, {"a": INT_, "other": LONG_})
    assert sorted(found_rows(spark, f"SELECT * FROM {name}")) == [(1, None), (2, None)]


WIDER = [
    (SMALL_, INT_, "7", 7),
    (INT_, LONG_, "7", 7),
    (INT_, t.Decimal(precision=12, scale=2, nullable=True), "7", 7),
    (INT_, REAL_, "7", 7.0),
    (SINGLE_, REAL_, "0.5", 0.5),
    (t.Decimal(precision=5, scale=2, nullable=True), t.Decimal(precision=8, scale=3, nullable=True), "1.25", 1.25),
]


def test_types_become_wider(spark: SparkSession, name: str) -> None:
    before = [f"c{position}" for position in range(len(WIDER))]
    carry_out(spark, table(DdlOp.CREATE, name, {c: row[0] for c, row in zip(before, WIDER, strict=True)}))
    spark.sql(f"INSERT INTO {name} VALUES ({', '.join(row[2] for row in WIDER)})").collect()
    alter(spark, name, {c: row[1] for c, row in zip(before, WIDER, strict=True)})
    assert [kind for _, kind in types(spark, name)] == [
        "int",
        "bigint",
        "decimal(12,2)",
        "double",
        "double",
        "decimal(8,3)",
    ]
    (found,) = found_rows(spark, f"SELECT * FROM {name}")
    assert [float(value) for value in found] == [float(row[3]) for row in WIDER]


NARROWER = [
    (LONG_, INT_),
    (LONG_, REAL_),
    (REAL_, SINGLE_),
    (TEXT_, INT_),
    (t.Decimal(precision=5, scale=2, nullable=True), t.Decimal(precision=6, scale=4, nullable=True)),
    (INT_, t.Decimal(precision=9, scale=0, nullable=True)),
]


def test_types_become_nothing_else(spark: SparkSession, name: str) -> None:
    columns = [f"c{position}" for position in range(len(NARROWER))]
    old = dict(zip(columns, (row[0] for row in NARROWER), strict=True))
    carry_out(spark, table(DdlOp.CREATE, name, old))
    for column, (_, new) in zip(columns, NARROWER, strict=True):
        with pytest.raises(UnsupportedPlanError, match=f"{column} is a .*, which cannot become a") as caught:
            alter(spark, name, {**old, column: new})
        assert caught.value.path.endswith("ddl.table_schema")


def test_fields_inside(spark: SparkSession, name: str) -> None:
    inside = "STRUCT<x: INT, y: STRING, z: INT>"
    row = "named_struct('x', 1, 'y', 'one', 'z', 3)"
    made(
        spark,
        name,
        f"s {inside}, l ARRAY<{inside}>, m MAP<STRING, {inside}>",
        f"({row}, array({row}, NULL), map('k', {row})), (NULL, NULL, NULL)",
    )
    # x wider, y renamed, z dropped, new added
    struct = t.Struct(types=(LONG_, TEXT_, INT_), nullable=True)
    text = t.String()
    below = ("x", "text", "z2")
    columns = schema(
        (struct, t.List(type=struct, nullable=True), t.Map(key=text, value=struct, nullable=True)),
        ("s", *below, "l", *below, "m", *below),
    )
    alter(spark, name, columns)
    kind = "struct<x:bigint,text:string,z2:int>"
    assert types(spark, name) == [("s", kind), ("l", f"array<{kind}>"), ("m", f"map<string,{kind}>")]
    expected = {"x": 1, "text": "one", "z2": 3}
    found = [
        (row[0] and row[0].asDict(), row[1] and [item and item.asDict() for item in row[1]], row[2] and row[2]["k"])
        for row in found_rows(spark, f"SELECT s, l, m FROM {name}")
    ]
    full = (expected, [expected, None], tuple(expected.values()))
    assert sorted(found, key=repr) == sorted([full, (None, None, None)], key=repr)


def test_null_is_allowed_or_forbidden(spark: SparkSession, name: str) -> None:
    made(spark, name, "a INT, b INT", "(1, NULL), (2, 5)")
    alter(spark, name, {"a": INT, "b": INT_})
    assert [row[2] for row in described(spark, name)] == [False, True]
    with pytest.raises(Exception, match="NOT_NULL_ASSERT_VIOLATION"):
        spark.sql(f"INSERT INTO {name} VALUES (NULL, 1)").collect()
    with pytest.raises(ExecutionError, match="has nulls in columns that would become required"):
        alter(spark, name, {"a": INT, "b": INT})
    alter(spark, name, {"a": INT_, "b": INT_})
    spark.sql(f"INSERT INTO {name} VALUES (NULL, 1)").collect()
    assert found_rows(spark, f"SELECT count(*) FROM {name}") == [(3,)]


def test_partitions_buckets_comments_and_properties_stay(spark: SparkSession, name: str) -> None:
    spark.sql(
        f"CREATE TABLE {name} (a INT, b INT, p STRING) USING parquet OPTIONS (compression 'gzip') PARTITIONED BY (p) "
        "CLUSTERED BY (a) SORTED BY (b) INTO 2 BUCKETS COMMENT 'it\\'s' TBLPROPERTIES ('k' = 'v')"
    ).collect()
    spark.sql(f"INSERT INTO {name} VALUES (1, 2, 'x'), (3, 4, 'y')").collect()
    before = str(found_rows(spark, f"SHOW CREATE TABLE {name}")[0][0])
    alter(spark, name, {"a": INT_, "c": INT_, "p": TEXT_})
    after = str(found_rows(spark, f"SHOW CREATE TABLE {name}")[0][0])
    assert "CLUSTERED BY (a)" in before and "it\\'s" in before and "gzip" in before and "'k' = 'v'" in before
    assert after == before.replace("  b INT", "  c INT").replace("(b)", "(c)")
    assert sorted(found_rows(spark, f"SELECT a, c, p FROM {name}")) == [(1, 2, "x"), (3, 4, "y")]
    with pytest.raises(UnsupportedPlanError, match="partitioned by"):
        alter(spark, name, {"p": TEXT_, "a": INT_})
    with pytest.raises(UnsupportedPlanError, match="the column a cannot be dropped"):
        alter(spark, name, {"c": INT_, "p": TEXT_})


def test_what_is_declared_of_columns_stays(spark: SparkSession, name: str) -> None:
    made(
        spark,
        name,
        "a INT COMMENT 'it\\'s', v VARCHAR(3), c CHAR(4) COMMENT 'padded', "
        "s STRUCT<x: INT COMMENT 'in', y: INT>, b INT",
        "(1, 'abc', 'd', named_struct('x', 1, 'y', 2), 5)",
    )
    before = str(found_rows(spark, f"SHOW CREATE TABLE {name}")[0][0])
    nested = t.Struct(nullable=True, types=(INT_, INT_))
    columns = schema((INT_, TEXT_, TEXT_, nested, LONG_), ("a", "v", "c", "s", "x", "y", "b"))
    alter(spark, name, columns)
    assert found_rows(spark, f"SHOW CREATE TABLE {name}")[0][0] == before.replace("  b INT", "  b BIGINT")
    assert found_rows(spark, f"SELECT a, v, c, s.x, s.y, b FROM {name}") == [(1, "abc", "d   ", 1, 2, 5)]
    with pytest.raises(Exception, match="EXCEED_LIMIT_LENGTH"):
        spark.sql(f"INSERT INTO {name} (v) VALUES ('abcd')").collect()


def test_properties_that_spark_hides_stay(spark: SparkSession, name: str) -> None:
    more = "OPTIONS (password 'hunter2', some_url 'u') TBLPROPERTIES ('a.token' = 'abc', plain = 'p')"
    spark.sql(f"CREATE TABLE {name} (a INT, b INT) USING parquet {more}").collect()
    shown = str(found_rows(spark, f"DESCRIBE TABLE EXTENDED {name}"))
    assert "redacted" in shown and "hunter2" not in shown
    alter(spark, name, {"a": INT_, "b": LONG_})
    state: Any = spark._jsparkSession.sessionState()
    stored = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(name))
    assert stored.storage().properties().toString() == "Map(password -> hunter2, some_url -> u)"
    properties = stored.properties()
    assert (properties.apply("a.token"), properties.apply("plain")) == ("abc", "p")


@pytest.mark.parametrize("kind", ["storage_properties", "table_properties"])
def test_no_table_is_made_with_a_hidden_property(kind: str) -> None:
    """Spark Connect shows a client only that there is one."""
    details = {"provider": "parquet", kind: {"compression": "gzip", "password": "*********(redacted)"}}
    entry = CatalogEntry(path="`c`.`d`.`t`", kind="table", schema=StructType(), details=details)
    with pytest.raises(UnsupportedPlanError, match="Spark hides the property password of `c`"):
        entry.clauses({}, {})


def test_the_files_of_others_are_not_rewritten(spark: SparkSession, name: str, tmp_path: Any) -> None:
    made(spark, name, "a INT", "(1)", f"LOCATION '{tmp_path.as_uri()}'")
    alter(spark, name, {"a": INT_, "b": INT_}, [lit(INT_, None), lit(INT_, 3)])
    assert found_rows(spark, f"SELECT * FROM {name}") == [(1, 3)]
    with pytest.raises(UnsupportedPlanError, match="files outside the catalog"):
        alter(spark, name, {"a": LONG_, "b": INT_})


def test_nobody_else_changes_the_table_meanwhile(spark: SparkSession, name: str) -> None:
    made(spark, name, "a INT", "(1)")
    folder = Path(unquote(urlsplit(catalog_says(spark, name)["location"]).path))
    with changing(folder), pytest.raises(ExecutionError, match="another process is changing"):
        alter(spark, name, {"a": LONG_})
    assert types(spark, name) == [("a", "int")]
    alter(spark, name, {"a": LONG_})
    assert types(spark, name) == [("a", "bigint")]


def test_nothing_to_alter(spark: SparkSession, name: str) -> None:
    with pytest.raises(TableError, match=f"there is no table {name}"):
        alter(spark, name, {"a": INT_})
    made(spark, name, "a INT", "(1)")
    alter(spark, name, {"a": INT_})
    assert found_rows(spark, f"SELECT * FROM {name}") == [(1,)]
