"""Statements: the plan, run on a copy of the tables, leaves what the statement itself leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import SparkVersion
from tests.spark.plans import table_names
from tests.spark.producer.round_trips import assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

_HIVE_BY_DEFAULT = "spark.sql.legacy.createHiveTableByDefault"
ROWS = "(1, 'a', 1.50), (2, NULL, -2.25), (NULL, 'c', NULL), (2, 'b', 0.00)"


@pytest.fixture
def fresh(spark: SparkSession) -> Iterator[Callable[[], None]]:
    """Makes the tables as they are at first; the current database is theirs."""
    before = spark.catalog.currentDatabase()
    # as it is by default since 4.0: CREATE TABLE without a format makes no table of Hive
    default = spark.conf.get(_HIVE_BY_DEFAULT)
    spark.conf.set(_HIVE_BY_DEFAULT, False)
    for view in ("t", "parts", "wide", "strict", "v"):  # what other tests have left would hide the tables
        spark.catalog.dropTempView(view)

    def make() -> None:
        spark.sql("USE default")
        spark.sql("DROP DATABASE IF EXISTS statements CASCADE")
        spark.sql("CREATE DATABASE statements")
        spark.sql("USE statements")
        spark.sql("CREATE TABLE t (i INT, s STRING, d DECIMAL(5, 2)) USING parquet")
        spark.sql(f"INSERT INTO t VALUES {ROWS}")
        spark.sql("CREATE TABLE parts (i BIGINT, p STRING) USING parquet PARTITIONED BY (p)")
        spark.sql("INSERT INTO parts VALUES (1, 'x'), (2, 'y')")
        spark.sql("CREATE TABLE wide (a BIGINT, b VARCHAR(4), c CHAR(3), e STRING DEFAULT 'none') USING parquet")
        spark.sql("CREATE TABLE strict (a INT NOT NULL, b STRING) USING parquet")
        spark.sql("CREATE VIEW v AS SELECT i FROM t")

    make()
    yield make
    spark.conf.set(_HIVE_BY_DEFAULT, default or False)
    spark.sql(f"USE {before}")
    spark.sql("DROP DATABASE IF EXISTS statements CASCADE")


def state(spark: SparkSession) -> dict[str, Any]:
    """All tables and views: their columns and records."""
    found: dict[str, Any] = {}
    views = {row.viewName for row in spark.sql("SHOW VIEWS").collect()}
    for name in table_names(spark, views=False):  # others have left views
        frame = spark.table(name)
        fields = [(field.name, field.dataType.simpleString(), field.nullable) for field in frame.schema.fields]
        found[name] = name in views, fields, sorted(map(repr, rows(frame)))
    return found


STATEMENTS = (
    "INSERT INTO t VALUES (9, 'z', 1)",
    "INSERT INTO t SELECT i + 10, s, d FROM t ORDER BY i DESC NULLS LAST, s LIMIT 1",
    "CREATE TABLE top AS SELECT * FROM t ORDER BY i DESC NULLS LAST, s DESC LIMIT 2",
    "INSERT INTO t VALUES (NULL, NULL, NULL), (3, 'x', 1.255)",
    "INSERT INTO t SELECT i + 1, upper(s), d * 2 FROM t WHERE i > 1",
    "INSERT INTO t (s, i) SELECT 'q', 5",
    "INSERT INTO t BY NAME SELECT 'q' AS s, 7S AS i, 1.5 AS d",
    "INSERT INTO t TABLE t",
    "INSERT INTO t SELECT i, s, d FROM t WHERE i = 1 LIMIT 1",
    "INSERT INTO parts VALUES (3, 'x'), (4, NULL)",
    "INSERT INTO parts PARTITION (p = 'z') SELECT i FROM t",
    "INSERT INTO parts PARTITION (p) SELECT 5, 'w'",
    pytest.param(
        "INSERT INTO wide (a, b) VALUES (1, 'ab')",
        marks=pytest.mark.since("4.0", "Spark itself cannot write the null of a CHAR column that is left out"),
    ),
    "INSERT INTO wide VALUES (1, 'abcd', 'x', DEFAULT), (2, NULL, 'xyz', 'e')",
    "INSERT INTO strict VALUES (1, 'x'), (2, NULL)",
    "INSERT OVERWRITE t SELECT 1, 'only', 2.5",
    "INSERT OVERWRITE t SELECT i, p, i / 4 FROM parts WHERE i = 2",
    "INSERT OVERWRITE parts SELECT 7, 'q'",
    "CREATE TABLE made AS SELECT i, s AS text, array(i, 1) AS l FROM t",
    "CREATE TABLE made (SELECT named_struct('x', 1, 'y', 'z') AS s, map('k', 1.5) AS m)",
    "CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS other",
    "CREATE TABLE IF NOT EXISTS made AS SELECT 1 AS other",
    "CREATE TABLE made (a INT, b STRING DEFAULT 'x', c DECIMAL(5, 2) DEFAULT -1.5, d STRUCT<x: INT>)",
    "CREATE VIEW made AS SELECT i, count(*) AS n FROM t GROUP BY i",
    "CREATE VIEW made (x, y) AS SELECT i, s FROM t WHERE d > 0",
    "CREATE OR REPLACE VIEW v AS SELECT s FROM t",
    "DROP TABLE parts",
    "DROP TABLE IF EXISTS nothing",
    "DROP VIEW v",
    "DROP VIEW IF EXISTS nothing",
    "ALTER TABLE t ADD COLUMNS (x INT, y ARRAY<STRING>)",
    "ALTER TABLE parts ADD COLUMNS (x STRING)",
    "TRUNCATE TABLE t",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement(spark: SparkSession, fresh: Callable[[], None], statement: str) -> None:
    before = state(spark)
    plan = ps.from_sql(statement, spark)
    assert state(spark) == before, "nothing is executed"
    loaded = ps.load(plan.to_bytes())
    assert loaded.notes == ()
    ps.from_substrait(loaded, spark)
    found = state(spark)
    fresh()
    spark.sql(statement)
    assert found == state(spark)


@pytest.mark.parametrize(
    ("statement", "query"),
    [
        ("DELETE FROM t WHERE i = 2", "SELECT * FROM t WHERE NOT coalesce(i = 2, false)"),
        ("DELETE FROM t WHERE i IN (SELECT i FROM parts)", "SELECT * FROM t WHERE i IS NULL"),
        ("DELETE FROM t AS x WHERE x.s LIKE 'a%' OR d < 0", "SELECT * FROM t WHERE s IN ('c', 'b')"),
        ("DELETE FROM t", "SELECT * FROM t WHERE false"),
        (
            "UPDATE t SET s = 'new', d = d + 1 WHERE i = 2",
            "SELECT i, IF(i <=> 2, 'new', s), IF(i <=> 2, d + 1, d) FROM t",
        ),
        ("UPDATE t SET i = length(s)", "SELECT length(s), s, d FROM t"),
        (
            "UPDATE t AS x SET d = x.i WHERE x.s IS NOT NULL",
            "SELECT i, s, IF(s IS NULL, d, CAST(i AS DECIMAL(5, 2))) FROM t",
        ),
        ("UPDATE t SET s = NULL, d = DEFAULT WHERE true", "SELECT i, NULL, NULL FROM t"),
    ],
)
def test_what_spark_itself_can_not_do_with_files(
    spark: SparkSession, fresh: Callable[[], None], statement: str, query: str
) -> None:
    expected = rows(spark.sql(query))
    ps.from_substrait(ps.load(ps.from_sql(statement, spark).to_bytes()), spark)
    found = spark.table("t")
    assert_same(rows(found), [tuple(_two_digits(value) for value in row) for row in expected])


def _two_digits(value: Any) -> Any:
    """A decimal with the digits that the column has."""
    return value.quantize(Decimal("0.01")) if isinstance(value, Decimal) else value


def test_a_null_in_a_required_column(spark: SparkSession, fresh: Callable[[], None]) -> None:
    statement = "INSERT INTO strict VALUES (NULL, 'x')"
    plan = ps.from_sql(statement, spark)
    if session_version(spark) < SparkVersion(4, 2):  # no column of files is required there, for Spark as for the plan
        spark.sql(statement)
        taken = state(spark)
        fresh()
        ps.from_substrait(plan, spark)
        assert state(spark) == taken
        return
    with pytest.raises(SubstraitError, match="null"):
        ps.from_substrait(plan, spark)


def test_a_value_that_does_not_fit(spark: SparkSession, fresh: Callable[[], None]) -> None:
    plan = ps.from_sql("INSERT INTO t SELECT 5000000000L, 'x', 1", spark)
    before = state(spark)
    with pytest.raises(SubstraitError, match=r"OVERFLOW|overflow"):
        ps.from_substrait(plan, spark)
    assert state(spark) == before


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("MERGE INTO t USING parts ON t.i = parts.i WHEN MATCHED THEN DELETE", "MERGE INTO.*UPDATE"),
        ("INSERT OVERWRITE parts PARTITION (p = 'x') SELECT 1", "some partitions"),
        pytest.param(
            "INSERT INTO t WITH ('compression'='none') SELECT 1, 'a', 1.5",
            "the options that the query gives spark_catalog.statements.t",
            marks=pytest.mark.since("4.0", "the grammar of options"),
        ),
        ("CREATE TABLE made USING orc AS SELECT 1 AS x", "USING orc.*format of the session"),
        ("CREATE TABLE made PARTITIONED BY (x) AS SELECT 1 AS x, 2 AS y", "PARTITIONED BY"),
        ("CREATE TABLE made (x INT) LOCATION '/nowhere'", "LOCATION"),
        ("CREATE TABLE made (x INT) COMMENT 'c'", "COMMENT"),
        ("CREATE TABLE made (x INT COMMENT 'c')", "comment of the column x"),
        ("CREATE TABLE made (x INT) TBLPROPERTIES ('k' = 'v')", "TBLPROPERTIES"),
        ("CREATE TABLE made (x DATE DEFAULT current_date())", "default current_date.*literals"),
        ("CREATE TABLE IF NOT EXISTS made (x INT)", "IF NOT EXISTS"),
        ("CREATE VIEW IF NOT EXISTS made AS SELECT 1 AS x", "IF NOT EXISTS"),
        ("CREATE TEMPORARY VIEW made AS SELECT 1 AS x", "temporary view made"),
        ("CREATE VIEW made (x COMMENT 'c') AS SELECT 1", "comments of the columns"),
        ("DROP TABLE t PURGE", "PURGE"),
        ("TRUNCATE TABLE parts PARTITION (p = 'x')", "PARTITION"),
        ("INSERT OVERWRITE DIRECTORY '/nowhere' USING parquet SELECT 1", "has no Substrait form"),
    ],
)
def test_refused(spark: SparkSession, fresh: Callable[[], None], statement: str, message: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=message):
        ps.from_sql(statement, spark)


def test_what_spark_does_not_take(spark: SparkSession, fresh: Callable[[], None]) -> None:
    for statement in (
        "INSERT INTO t VALUES (1)",
        "ALTER TABLE t DROP COLUMN i",
        "UPDATE t SET nope = 1",
        "DROP nothing",
    ):
        with pytest.raises(InvalidPlanError):
            ps.from_sql(statement, spark)


def test_a_statement_that_was_executed(spark: SparkSession, fresh: Callable[[], None]) -> None:
    with pytest.raises(UnsupportedPlanError):
        ps.to_substrait(spark.sql("SHOW TABLES"))
