"""Data in memory: exactly as it is, up to a number of rows; and ranges of any size."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import Compound, Literal
from pyspark_substrait.model.relations import Read, VirtualTable
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

VALUES = (
    "(1, 'a'), (2, NULL), (NULL, '')",
    "(true), (false), (NULL)",
    "(127Y, -128Y), (NULL, 0Y)",
    "(32767S, 9223372036854775807L), (-32768S, -9223372036854775808L)",
    "(CAST('NaN' AS DOUBLE)), (CAST('-Infinity' AS DOUBLE)), (-0.0D), (4.9E-324D), (NULL)",
    "(CAST('NaN' AS FLOAT)), (1.1F), (3.402823E38F), (NULL)",
    "(1.50), (-0.01), (12345678901234567890.12), (NULL)",
    "(99999999999999999999999999999999999999), (0), (NULL)",
    "(0.00000000000000000001), (NULL)",
    "('it''s'), ('a\\nb'), ('ä€😀'), ('')",
    "(X'00FF'), (X''), (NULL)",
    "(DATE '0001-01-01'), (DATE '9999-12-31'), (DATE '1969-12-31'), (NULL)",
    "(TIMESTAMP '0001-01-02 00:00:00'), (TIMESTAMP '9999-12-30 23:59:59.999999'), (NULL)",
    "(TIMESTAMP_NTZ '0001-01-01 00:00:00'), (TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'), (NULL)",
    "(TIME '00:00:00'), (TIME '23:59:59.999999'), (NULL)",
    "(INTERVAL '1 02:03:04.000005' DAY TO SECOND), (INTERVAL '-1 02:03:04.000005' DAY TO SECOND), (NULL)",
    "(array(1, NULL, 3)), (NULL), (array())",
    "(map('a', 1, 'b', NULL)), (NULL), (map())",
    "(named_struct('x', 1, 'y', 'z')), (named_struct('x', NULL, 'y', NULL)), (NULL)",
    "(array(named_struct('x', array(1, 2)), NULL)), (NULL)",
    "(map(named_struct('k', DATE '2020-01-01'), array(TIMESTAMP '2020-01-01 00:00:00'))), (NULL)",
    "(named_struct('x', 1, 'x', map(1, TIMESTAMP_NTZ '2020-01-01 00:00:00'))), (NULL)",
    "(array(array(1.5, NULL), NULL)), (array(array())), (NULL)",
    "(array(map(1, 'a'), map()), 1), (NULL, 2), (array(map(2, NULL), NULL), 3)",
)


@pytest.mark.parametrize("values", VALUES)
def test_values(spark: SparkSession, values: str) -> None:
    assert_round_trip(spark, f"SELECT * FROM VALUES {values}")


@pytest.mark.parametrize(
    ("data", "schema"),
    [
        ([(1, "a"), (None, None)], "a INT, b STRING"),
        ([(1, [1, 2]), (2, [])], "a INT NOT NULL, b ARRAY<INT>"),
        ([((1, "a"), {"k": 1.5}), (None, None)], "s STRUCT<x: INT NOT NULL, y: STRING>, m MAP<STRING, DOUBLE>"),
        ([(Decimal("1.5"), datetime.date(2020, 2, 29), b"\x00")], "a DECIMAL(38, 18), b DATE, c BINARY"),
        ([(datetime.datetime(2020, 2, 29, 1, 2, 3, 4, datetime.timezone.utc),)], "a TIMESTAMP"),
        ([(math.nan, -0.0), (math.inf, None)], "a DOUBLE, b FLOAT"),
        ([(None,), (None,)], "a STRUCT<x: STRUCT<y: INT NOT NULL> NOT NULL>"),
    ],
)
def test_rows_of_python(spark: SparkSession, data: list[Any], schema: str) -> None:
    assert_round_trip(spark, spark.createDataFrame(data, schema))
    assert_round_trip(spark, spark.sparkContext.parallelize(data).toDF(schema))


def test_arrow_and_pandas(spark: SparkSession) -> None:
    data = {"a": [1, 2, None], "b": ["x", None, ""]}
    assert_round_trip(spark, frame_of_arrow(spark, pa.table(data)))
    pandas = pytest.importorskip("pandas")
    assert_round_trip(spark, spark.createDataFrame(pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})))


def test_no_rows_and_no_columns(spark: SparkSession) -> None:
    assert_round_trip(spark, spark.createDataFrame([], "a INT, b ARRAY<STRING>"))
    assert_round_trip(spark, spark.range(5).select())
    assert_round_trip(spark, spark.createDataFrame([(), ()], "struct<>"))
    assert_round_trip(spark, "SELECT 1 AS a, NULL AS b WHERE false".replace("NULL AS b", "CAST(NULL AS INT) AS b"))


def test_nulls_without_a_type(spark: SparkSession) -> None:
    assert_round_trip(spark, "SELECT coalesce(a, 1) AS a FROM VALUES (NULL), (NULL) AS t (a)")
    assert_round_trip(spark, "SELECT a FROM VALUES (NULL) AS t (a) UNION ALL SELECT 'x'")
    with pytest.raises(UnsupportedPlanError, match=r"void.*CAST"):
        ps.to_substrait(spark.sql("SELECT * FROM VALUES (NULL)"))


def test_intervals_of_months_and_of_all_parts(spark: SparkSession) -> None:
    """Python has no values for these, and Spark's SQL type of months says its parts: so the literals are looked at."""

    def values(query: str) -> list[Any]:
        root: Any = ps.to_substrait(spark.sql(query)).relations[-1]
        read = root.input
        assert isinstance(read, Read)
        assert isinstance(read.read_type, VirtualTable)
        return [cell.value for row in read.read_type.expressions for cell in row.fields if isinstance(cell, Literal)]

    months = "SELECT * FROM VALUES (INTERVAL '-1-2' YEAR TO MONTH), (INTERVAL 3 YEAR), (NULL)"
    assert values(months) == [-14, 36, None]
    inside = "SELECT * FROM VALUES (array(INTERVAL '1' MONTH)), (NULL)"
    (first, second) = values(inside)
    assert [item.value for item in first] == [1]
    assert second is None
    parts = "SELECT * FROM VALUES (make_interval(1, 2, 3, 4, 5, 6, -7.5)), (make_interval(0, -1, 0, 0, -30)), (NULL)"
    seconds = 5 * 3600 + 6 * 60 - 7.5
    assert values(parts) == [
        Compound(14, 25, math.floor(seconds), 500_000),
        Compound(-1, 0, -30 * 3600, 0),
        None,
    ]


RANGES = (
    (0, 10, 1),
    (0, 0, 1),
    (10, 0, 1),
    (10, -5, -4),
    (-3, 4, 3),
    (7, 8, 5),
    (0, 1000, 1),
    (0, 1001, 1),
    (5, 100_000, 3),
    (0, -2_500_000, -1000),
)


@pytest.mark.parametrize("bounds", RANGES)
def test_ranges(spark: SparkSession, bounds: tuple[int, int, int]) -> None:
    frame = spark.range(*bounds)
    if frame.count():
        assert_round_trip(spark, frame)
    else:  # of a table without records Spark doesn't see that nothing is null
        assert ps.from_substrait(ps.to_substrait(frame), spark).collect() == []


def test_a_range_of_a_million(spark: SparkSession) -> None:
    plan = ps.to_substrait(spark.range(10, 3_000_010, 3))
    assert len(plan.to_bytes()) < 30_000
    sums = "count(*)", "count(DISTINCT id)", "sum(id)", "min(id)", "max(id)"
    expected = spark.range(10, 3_000_010, 3).selectExpr(*sums).collect()
    assert ps.from_substrait(plan, spark).selectExpr(*sums).collect() == expected


def test_a_range_at_the_ends_of_numbers(spark: SparkSession) -> None:
    last = 2**63 - 1
    assert_round_trip(spark, spark.range(last - 3, last, 2))
    assert_round_trip(spark, spark.range(last - 5000, last, 1))
    with pytest.raises(UnsupportedPlanError, match="too far apart"):
        ps.to_substrait(spark.range(-last, last, last // 1000))


@pytest.mark.parametrize("made", ["values", "rows", "rdd"])
def test_too_many_rows(spark: SparkSession, made: str) -> None:
    data = [(number,) for number in range(11)]
    frame = {
        "values": lambda: spark.sql(f"SELECT * FROM VALUES {', '.join(f'({one})' for (one,) in data)} AS t (n)"),
        "rows": lambda: spark.createDataFrame(data, "n INT"),
        "rdd": lambda: spark.sparkContext.parallelize(data, 2).toDF("n INT"),
    }[made]()
    with pytest.raises(UnsupportedPlanError, match=r"in-memory data \(n\) of .*holds 10 of .*tables=.*max_rows"):
        ps.to_substrait(frame, max_rows=10)
    assert_round_trip(spark, frame, max_rows=11)


def test_the_default_is_ten_thousand(spark: SparkSession) -> None:
    data = pa.table({"n": range(10_001)})
    with pytest.raises(UnsupportedPlanError, match="holds 10,000"):
        ps.to_substrait(frame_of_arrow(spark, data))
    ps.to_substrait(frame_of_arrow(spark, data.slice(1)))


def test_what_changes_each_time_is_collected_once(spark: SparkSession) -> None:
    import random

    numbers = spark.sparkContext.parallelize(range(20), 2)
    frame = numbers.map(lambda each: (each, random.random())).toDF("i INT, r DOUBLE")
    joined = frame.alias("a").join(frame.alias("b"), "i").selectExpr("a.r = b.r AS same")
    back = ps.from_substrait(ps.to_substrait(joined), spark)
    assert [row[0] for row in back.collect()] == [True] * 20


def test_a_checkpoint(spark: SparkSession) -> None:
    frame = spark.range(5).selectExpr("id", "CAST(id AS STRING) AS s").localCheckpoint()
    assert_round_trip(spark, frame.where("id > 2"))


def test_what_is_cached_goes_out_as_what_it_stands_for(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t (i, s)").where("i = 1").cache()
    try:
        frame.count()
        assert_round_trip(spark, frame.select("s"))
        assert_round_trip(spark, frame.select("s"), optimized=True)
        assert_round_trip(spark, frame.alias("a").join(frame.alias("b"), "i"), optimized=True)
    finally:
        frame.unpersist()
