"""Plans in a session that lacks settings which they need: they run in a copy of it, and the session stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark import RDD

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, NestedMap
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Date, Decimal, PrecisionTime, Type
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from pyspark_substrait.spark.session import copied, private_session
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    LONG_,
    REAL,
    aggregate,
    call,
    col,
    group,
    lit,
    number,
    plan,
    project,
    rows,
    stored,
    text,
    values,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="a Connect session that lacks a setting is refused")

ANSI = "spark.sql.ansi.enabled"
PATTERNS = "spark.sql.legacy.timeParserPolicy"
LARGEST = 2**31 - 1


@pytest.fixture
def lacking(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with ANSI mode off; after the test, it must still be so."""
    spark.conf.set(ANSI, "false")
    yield spark
    assert spark.conf.get(ANSI) == "false"
    spark.conf.set(ANSI, "true")


def one(*columns: Expression) -> Relation:
    return project(values([INT], [(1,)]), *columns)


def cast(value: Expression, type: Type, failure: FailureBehavior = FailureBehavior.THROW_EXCEPTION) -> Expression:
    return Cast(type=type, input=value, failure_behavior=failure)


_TWO_LARGEST = values([LONG], [(2**63 - 1,), (1,)])
_WIDE = Decimal(precision=38, scale=0)

#: what fails on its data, with ANSI mode off in the session as well
FAILING: dict[str, Relation] = {
    "an integer sum": one(call("add", number(LARGEST), number(1))),
    "an integer product": one(call("multiply", number(LARGEST), number(2))),
    "an integer difference": one(call("subtract", number(-LARGEST), number(2))),
    "a sign": one(call("negate", number(-LARGEST - 1))),
    "a division by zero": one(call("divide", number(1), number(0))),
    "a remainder by zero": one(call("modulus", number(1), number(0))),
    "text that is no number": one(cast(text("one"), INT)),
    "text that is no date": one(cast(text("2024-02-30"), Date())),
    "a number out of range": one(cast(lit(LONG, 2**40), INT)),
    "a fraction out of range": one(cast(lit(REAL, 1e20), LONG)),
    "a decimal out of range": one(cast(lit(_WIDE, 10**20), Decimal(precision=10, scale=0))),
    "a sum of integers": group(_TWO_LARGEST, [], [aggregate("sum", col(_TWO_LARGEST, 0))]),
}


@pytest.mark.parametrize("what", FAILING)
def test_what_fails_with_ansi_mode_fails_without(lacking: SparkSession, what: str) -> None:
    with pytest.raises(ExecutionError):
        rows(lacking, FAILING[what])
    with pytest.raises(Exception, match=r"OVERFLOW|BY_ZERO|INVALID_INPUT|OUT_OF_RANGE"):
        ps.from_substrait(plan(FAILING[what]), lacking).collect()


def test_values_are_those_of_ansi_mode(lacking: SparkSession) -> None:
    null = FailureBehavior.RETURN_NULL
    node = one(call("add", number(2), number(3)), cast(text("12"), INT), cast(text("x"), INT_, null))
    assert rows(lacking, node) == [(5, 12, None)]
    assert ps.run_query(plan(node), spark=lacking).to_pydict() == {"n0": [5], "n1": [12], "n2": [None]}


def test_tables_of_the_session_keep_its_semantics(lacking: SparkSession) -> None:
    """A DataFrame and a view are what they are in the session: a division by zero in them is null."""
    frame = lacking.sql("SELECT 1 div a AS a FROM VALUES (0L), (1L) AS t(a)")
    lacking.sql(
        "CREATE OR REPLACE TEMPORARY VIEW of_text AS SELECT CAST(s AS INT) AS a FROM VALUES ('x'), ('1') AS t(s)"
    )
    frame.createOrReplaceTempView("of_frame")
    try:
        given = stored("given", {"a": LONG_})
        assert set(rows(lacking, given, tables={"given": frame})) == {(None,), (1,)}
        assert set(rows(lacking, stored("of_frame", {"a": LONG_}))) == {(None,), (1,)}
        assert set(rows(lacking, stored("of_text", {"a": INT_}))) == {(None,), (1,)}
        arrow = {"given": pa.table({"a": pa.array([None, 1], pa.int64())})}
        assert set(rows(lacking, given, tables=arrow)) == {(None,), (1,)}
    finally:
        lacking.catalog.dropTempView("of_text")
        lacking.catalog.dropTempView("of_frame")


def test_what_is_current_in_the_session_is_so_in_the_copy(lacking: SparkSession) -> None:
    lacking.sql("CREATE DATABASE IF NOT EXISTS elsewhere")
    lacking.sql("CREATE TABLE elsewhere.numbers USING parquet AS SELECT 7 AS a")
    try:
        lacking.sql("USE elsewhere")
        assert rows(lacking, stored("numbers", {"a": INT_})) == [(7,)]
    finally:
        lacking.sql("USE default")
        lacking.sql("DROP DATABASE elsewhere CASCADE")


def test_the_catalog_that_is_current_stays_so(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.catalog.other", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    spark.conf.set("spark.sql.catalog.other.url", "jdbc:derby:memory:other;create=true")
    spark.conf.set("spark.sql.catalog.other.driver", "org.apache.derby.jdbc.EmbeddedDriver")
    try:
        spark.catalog.setCurrentCatalog("other")
        copy: Any = copied(spark)
        assert copy.sessionState().catalogManager().currentCatalog().name() == "other"
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
        for name in ("", ".url", ".driver"):
            spark.conf.unset(f"spark.sql.catalog.other{name}")


def test_a_frame_belongs_to_the_copy(lacking: SparkSession) -> None:
    frame = ps.from_substrait(plan(values([INT], [(1,)])), lacking)
    assert frame.sparkSession is not lacking and frame.sparkSession.conf.get(ANSI) == "true"
    again = stored("result", {"n0": INT})
    assert rows(lacking, again, tables={"result": frame}) == [(1,)]
    assert lacking.range(1).crossJoin(frame).collect() == [(0, 1)]
    # an expression keeps the mode in which it was analysed
    failing = ps.from_substrait(plan(FAILING["a sum of integers"]), lacking)
    with pytest.raises(Exception, match="OVERFLOW"):
        lacking.range(1).crossJoin(failing).collect()


def test_data_in_a_copy_does_not_make_it_the_active_session(spark: SparkSession) -> None:
    spark.createDataFrame([(1,)], "a INT")
    copy = private_session(spark)
    spark.sql("SELECT 1 AS a").createOrReplaceTempView("made_after_the_copy")
    try:
        assert frame_of_arrow(copy, pa.table({"a": [1]})).collect() == [(1,)]
        assert type(spark).getActiveSession() is spark
        # the one that Java takes, whose views a query reads where no session is given
        assert ps.run_query(plan(stored("made_after_the_copy", {"a": INT}))).to_pydict() == {"n0": [1]}
    finally:
        spark.catalog.dropTempView("made_after_the_copy")


def test_records_of_an_rdd_are_not_in_a_copy(lacking: SparkSession) -> None:
    before: Any = RDD.toDF  # a function of one session
    assert private_session(lacking) is not lacking
    assert RDD.toDF is before


def test_functions_of_the_user(lacking: SparkSession) -> None:
    lacking.udf.register("twice", lambda value: 2 * value, "int")
    lacking.sql("CREATE OR REPLACE TEMPORARY VIEW of_function AS SELECT twice(4) AS a")
    try:
        assert rows(lacking, stored("of_function", {"a": INT_})) == [(8,)]
    finally:
        lacking.catalog.dropTempView("of_function")


def test_other_settings(spark: SparkSession) -> None:
    repeated = NestedMap(key_values=((number(1), text("a")), (number(1), text("b"))))
    spark.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
    try:
        with pytest.raises(ExecutionError, match=r"DUPLICATED_MAP_KEY|uplicate map key"):
            rows(spark, one(repeated))
    finally:
        spark.conf.unset("spark.sql.mapKeyDedupPolicy")


@pytest.mark.since("4.2", "TIME")
def test_times(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.timeType.enabled", "false")
    try:
        [(found,)] = rows(spark, one(cast(text("10:30:00"), PrecisionTime(precision=0))))
        assert str(found) == "10:30:00"
    finally:
        spark.conf.set("spark.sql.timeType.enabled", "true")


def test_a_timestamp_is_an_instant(spark: SparkSession) -> None:
    text = "try_to_timestamp('02/01/2021 10:00', 'dd/MM/yyyy HH:mm')"
    made = ps.to_substrait(spark.sql(f"SELECT unix_seconds({text}) AS x"))
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")  # what TIMESTAMP means in a text
    try:
        assert ps.run_query(made, spark=spark).to_pylist() == [{"x": 1_609_581_600}]
    finally:
        spark.conf.unset("spark.sql.timestampType")


@pytest.fixture
def older_patterns(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with patterns of times as Spark 2 has them."""
    before = spark.conf.get(PATTERNS)
    spark.conf.set(PATTERNS, "LEGACY")
    yield spark
    assert spark.conf.get(PATTERNS) == "LEGACY"
    spark.conf.set(PATTERNS, str(before))


#: of each, Spark 2's pattern means something else: which Saturday of the month, one digit or two
PATTERNED = (
    "date_format(TIMESTAMP'2020-02-29 00:00:00', 'F')",
    "try_to_timestamp('2021-2-3', 'yyyy-MM-dd')",
)


def test_patterns_of_times(older_patterns: SparkSession) -> None:
    spark = older_patterns
    query = f"SELECT {', '.join(PATTERNED)}"
    meant_otherwise = spark.sql(query).collect()
    with pytest.raises(UnsupportedPlanError, match="has the meaning of Spark 2"):
        ps.to_substrait(spark.sql(query))
    spark.conf.set(PATTERNS, "CORRECTED")
    expected = spark.sql(query).collect()
    made = ps.to_substrait(spark.sql(query))
    spark.conf.set(PATTERNS, "LEGACY")
    assert [tuple(row) for row in ps.from_substrait(made, spark).collect()] == [tuple(row) for row in expected]
    assert all(one != other for one, other in zip(meant_otherwise[0], expected[0], strict=True))
