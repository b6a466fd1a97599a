"""Casts out of Spark, in its three modes: every pair of types that Spark casts, with awkward values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.numbers import ansi_off
from tests.spark.producer.round_trips import assert_round_trip, assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

TYPES: Final = (
    *("BOOLEAN", "TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 0)", "DECIMAL(12, 9)"),
    *("STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIME"),
)
VALUES: Final = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("0Y", "1Y", "127Y", "-128Y"),
    "INT": ("0", "300", "2147483647", "-2147483648"),
    "BIGINT": ("0L", "5L", "1577836800L", "9223372036854775807L", "-9223372036854775808L"),
    "FLOAT": (
        "0F",
        "1.5F",
        "-0.0F",
        "1e10F",
        "0.1F",
        "9.3e18F",
        "FLOAT('NaN')",
        "FLOAT('inf')",
        "9.223372036854775807E18F",
    ),
    "DOUBLE": (
        *("0D", "1.5D", "-0.0D", "200.7D", "-2.9D", "1e10D", "0.1D", "9.223372036854775807E18D", "1e300D", "1e-7D"),
        *("DOUBLE('NaN')", "DOUBLE('-inf')", "1577836800.123456D"),
    ),
    "DECIMAL(10, 2)": ("1.50BD", "-2.99BD", "99999999.99BD", "0.00BD", "128.70BD"),
    "DECIMAL(38, 0)": ("99999999999999999999999999999999999999BD", "5BD", "-12345678901234567890BD"),
    "DECIMAL(12, 9)": ("0.000000001BD", "123.123456789BD", "0.000000000BD"),
    "STRING": (
        *("'1'", "' 12 '", "'12.5'", "'-1.5e3'", "'abc'", "''", "'true'", "'t'", "'NaN'", "'inf'", "'1.5d'", "'0x10'"),
        *("'2020-01-01'", "'2020-1-1'", "'2020'", "'2020-03'", "'2020-02-30'", "'2020-01-01 12:34:56.789'", "'12:34'"),
        *("'2020-06-01T12:00:00Z'", "'2020-06-01 12:00:00+05:30'", "'2020-06-01 12:00:00 Europe/Paris'"),
        *("'99999999999'", "'1e400'", "'+5'", "'.5'", "'5.'", "' -.7 '", "'.'", "'-'", "'1.x'", "'é'"),
    ),
    "BINARY": ("X'616263'", "X''"),
    "DATE": ("DATE'2020-01-01'", "DATE'1582-10-10'", "DATE'2020-06-30'"),
    "TIMESTAMP": (
        *("TIMESTAMP'2020-01-01 00:00:00Z'", "TIMESTAMP'1969-12-31 23:59:59.999999Z'"),
        *("TIMESTAMP'2020-07-01 12:34:56.789Z'", "TIMESTAMP'1900-01-01 00:00:00Z'"),
    ),
    "TIMESTAMP_NTZ": (
        *("TIMESTAMP_NTZ'2020-01-01 00:00:00'", "TIMESTAMP_NTZ'2020-03-29 02:30:00'"),
        "TIMESTAMP_NTZ'2020-10-25 02:30:00.5'",
    ),
    "TIME": ("TIME'12:34:56.789'", "TIME'00:00:00'"),
}
NEEDS_TIME: Final = pytest.mark.since("4.1", "no TIME")
#: the types of the values that are cast
SOURCES: Final = tuple(pytest.param(type, marks=NEEDS_TIME) if type == "TIME" else type for type in TYPES)
#: what depends on ANSI mode in ways that no function says
REFUSED_WITHOUT_ANSI: Final = {
    ("BOOLEAN", "TIMESTAMP"),
    ("TINYINT", "BINARY"),
    ("INT", "BINARY"),
    ("BIGINT", "BINARY"),
    ("BIGINT", "TIMESTAMP"),
    ("FLOAT", "TIMESTAMP"),
    ("DOUBLE", "TIMESTAMP"),
    ("DECIMAL(10, 2)", "TIMESTAMP"),
    ("DECIMAL(38, 0)", "TIMESTAMP"),
    ("DECIMAL(12, 9)", "TIMESTAMP"),
    ("DECIMAL(12, 9)", "STRING"),
    ("TIMESTAMP", "BOOLEAN"),
    *(("DATE", type) for type in TYPES),
    *(("TIME", type) for type in TYPES),
}
#: what depends on the day on which the query runs
REFUSED: Final = {("TIME", "TIMESTAMP"), ("TIME", "TIMESTAMP_NTZ")}


def _source(type: str) -> str:
    values = ", ".join(f"(CAST({value} AS {type}))" for value in VALUES[type])
    return f"VALUES {values}, (NULL) AS v (x)"


def _cast(spark: SparkSession, mode: str, types: list[str], source: str) -> DataFrame:
    function = "try_cast" if mode == "TRY" else "CAST"
    # as text: Python's years end at 9999
    text = {type: f"{function}(x AS {type})" for type in types}
    text["TIMESTAMP"] = f"CAST({function}(x AS TIMESTAMP) AS STRING)"
    columns = ", ".join(f"{text[type]} AS `{type}`" for type in types)
    query = f"SELECT {columns} FROM {source}"
    return ansi_off(spark, query) if mode == "LEGACY" else spark.sql(query)


def _targets(spark: SparkSession, mode: str, source: str) -> list[str]:
    """What Spark casts a type to in a mode."""
    found = []
    for target in TYPES:
        try:
            _cast(spark, mode, [target], f"VALUES (CAST(NULL AS {source})) AS v (x)")
        except Exception:
            continue
        if target != source and (source, target) not in REFUSED:
            found.append(target)
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_null_where_there_is_no_value(spark: SparkSession, source: str) -> None:
    assert_round_trip(spark, _cast(spark, "TRY", _targets(spark, "TRY", source), _source(source)))


@pytest.mark.parametrize("source", SOURCES)
def test_with_ansi_mode_off(spark: SparkSession, source: str) -> None:
    targets = _targets(spark, "LEGACY", source)
    out = []
    for target in targets:
        frame = _cast(spark, "LEGACY", [target], _source(source))
        if (source, target) in REFUSED_WITHOUT_ANSI:
            try:
                ps.to_substrait(frame)
            except UnsupportedPlanError as error:
                assert "ANSI" in str(error)
                continue
        out.append(target)
    assert_round_trip(spark, _cast(spark, "LEGACY", out, _source(source)))


@pytest.mark.parametrize("source", SOURCES)
def test_an_error_where_there_is_no_value(spark: SparkSession, source: str) -> None:
    targets = _targets(spark, "ANSI", source)
    known = rows(_cast(spark, "TRY", targets, _source(source)))
    for value, results in zip(VALUES[source], known, strict=False):
        one = f"VALUES (CAST({value} AS {source})), (NULL) AS v (x)"
        fitting = [target for target, result in zip(targets, results, strict=True) if result is not None]
        if fitting:
            assert_round_trip(spark, _cast(spark, "ANSI", fitting, one))


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("'abc'", "INT"),
        ("'12.5'", "INT"),
        ("'abc'", "DOUBLE"),
        ("'abc'", "DECIMAL(5, 2)"),
        ("'1000'", "DECIMAL(5, 2)"),
        ("'2020-02-30'", "DATE"),
        ("'2020-02-30 00:00:00'", "TIMESTAMP"),
        ("'x'", "BOOLEAN"),
        ("300", "TINYINT"),
        ("3000000000L", "INT"),
        ("1e20D", "BIGINT"),
        ("DOUBLE('NaN')", "INT"),
        ("DOUBLE('NaN')", "BIGINT"),
        ("1e20D", "DECIMAL(5, 2)"),
        ("1000.5BD", "DECIMAL(5, 2)"),
        ("12345678901BD", "INT"),
        ("TIMESTAMP'2020-01-01 00:00:00'", "TINYINT"),
    ],
)
def test_both_fail(spark: SparkSession, value: str, target: str) -> None:
    for source in (f"VALUES ({value}), (NULL) AS v (x)", f"(SELECT {value} AS x FROM range(1))"):
        frame = spark.sql(f"SELECT CAST(x AS {target}) FROM {source}")
        with pytest.raises(Exception):  # noqa: B017  # whichever error Spark raises
            frame.collect()
        with pytest.raises(Exception):  # noqa: B017
            ps.from_substrait(ps.to_substrait(frame), spark).collect()


@pytest.mark.parametrize("target", ["BIGINT", "DECIMAL(20, 2)"])
@pytest.mark.parametrize("column", ["x", "x + 0D", "CAST(x AS FLOAT)", "abs(CAST(x AS FLOAT))"])
def test_floating_point_numbers_at_the_edge(spark: SparkSession, column: str, target: str) -> None:
    limits = ("9.223372036854775807E18D", "-9.223372036854775808E18D", "1.5D", "NULL", "9.2E18D")
    others = ("DOUBLE('NaN')", "DOUBLE('inf')", "NULL", "-0.0D") if target != "BIGINT" else ()
    for values in (limits if target == "BIGINT" else limits[2:4], others):
        if values:
            listed = ", ".join(f"({value})" for value in values)
            assert_round_trip(spark, f"SELECT CAST({column} AS {target}) FROM VALUES {listed} AS v (x)")


COLUMNS = (
    "CAST(array(x) AS ARRAY<BIGINT>), CAST(array(x) AS ARRAY<STRING>), CAST(array(x, 1) AS STRING)",
    "CAST(array(x) AS ARRAY<DOUBLE>), CAST(map('a', x) AS MAP<STRING, BIGINT>), CAST(map(1, x) AS MAP<BIGINT, INT>)",
    "CAST(if(x > 0, struct(x, t), NULL) AS STRUCT<a: BIGINT, b: STRING>)",
    "CAST(struct(x, t) AS STRING), CAST(map('k', x) AS STRING), CAST(array(t, 'ä') AS STRING)",
    "try_cast(array(t, '7') AS ARRAY<INT>), try_cast(array(x) AS ARRAY<TINYINT>), try_cast(array(t) AS ARRAY<DATE>)",
    "try_cast(struct(t, x) AS STRUCT<a: INT, b: TINYINT>), try_cast(struct(t) AS STRUCT<a: DOUBLE>)",
    "CAST('2020-01-01' AS DATE), INT('12'), DOUBLE('1.5'), CAST('1.25' AS DECIMAL(5, 1)), DOUBLE('NaN')",
    "CAST('2020-01-01 00:00:00' AS TIMESTAMP), try_cast('x' AS DATE), DATE'2020-01-01' < '2020-02-02', FLOAT('0.1')",
    "CAST(NULL AS INT), CAST(NULL AS ARRAY<INT>), CAST(NULL AS STRUCT<a: INT>), CAST(NULL AS DECIMAL(5, 2))",
    "string(x), bigint(x), double(x), boolean(x), x || 'a', t || x, x = '3', t = 3 FROM VALUES (3, '3') AS v (x, t)",
    "CAST(CAST(t AS INTERVAL YEAR TO MONTH) AS STRING) FROM VALUES ('1-4'), ('-0-1'), (NULL) AS v (t)",
    "CAST(CAST(t AS INTERVAL DAY TO SECOND) AS STRING) FROM VALUES ('1 02:03:04.5'), (NULL) AS v (t)",
    "x + 1L, x + 1.5D, x + 1.5BD, x / 2, x * 2Y, -x FROM VALUES (1), (NULL) AS v (x)",
)


@pytest.mark.parametrize("columns", COLUMNS)
def test_casts(spark: SparkSession, columns: str) -> None:
    source = "" if " FROM " in columns else " FROM VALUES (3, '4'), (500, 'x'), (NULL, NULL) AS v (x, t)"
    assert_round_trip(spark, f"SELECT {columns}{source}")


@contextmanager
def _zone(spark: SparkSession, zone: str) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", before or "UTC")


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York", "+05:30", "Asia/Kolkata", "UTC"])
def test_the_time_zone_is_that_of_the_query(spark: SparkSession, zone: str) -> None:
    """The plan is run in a session with another zone."""
    pairs = (
        ("DATE", ["STRING", "TIMESTAMP", "TIMESTAMP_NTZ"]),
        ("TIMESTAMP", ["STRING", "DATE", "TIMESTAMP_NTZ", "BIGINT"]),
        ("TIMESTAMP_NTZ", ["STRING", "DATE", "TIMESTAMP"]),
        ("STRING", ["TIMESTAMP", "DATE"]),
    )
    for source, targets in pairs:
        with _zone(spark, zone):
            texts = ", ".join(f"CAST(try_cast(x AS {target}) AS STRING)" for target in targets)
            frame = spark.sql(f"SELECT {texts} FROM {_source(source)}")
            expected = rows(frame)
            plan = ps.to_substrait(frame)
        with _zone(spark, "Asia/Tokyo"):
            assert_same(rows(ps.from_substrait(plan, spark)), expected)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("CAST(INTERVAL '1-2' YEAR TO MONTH AS INTERVAL YEAR)", "YEAR TO MONTH"),
        ("CAST(INTERVAL '1 02' DAY TO HOUR AS STRING)", "DAY TO SECOND"),
        ("CAST(array(TIMESTAMP'2020-01-01 00:00:00') AS STRING)", "time zone"),
        pytest.param(
            "CAST(TIME'12:00:00' AS TIMESTAMP)", "the day on which", marks=pytest.mark.since("4.2", "no such cast")
        ),
    ],
)
def test_what_is_refused(spark: SparkSession, expression: str, words: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=words):
        ps.to_substrait(spark.sql(f"SELECT {expression}"))


def test_plain_casts_are_those_of_the_specification(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT CAST(x AS BIGINT), CAST(x AS STRING), CAST(x AS DECIMAL(12, 2)), CAST(t AS INT), try_cast(t AS BIGINT) "
        "FROM VALUES (1, '2') AS v (x, t)"
    )
    assert "functions_spark" not in ps.to_substrait(frame).to_json()
