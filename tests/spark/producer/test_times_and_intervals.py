"""Instants, time zones and intervals, there and back: the zone is in the plan, and no session's counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import analysed, assert_round_trip
from tests.spark.producer.texts_and_times import texts_and_times

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

#: what depends on the time zone, or might
ZONED = (
    "hour(ts), minute(ts), second(ts), extract(SECOND FROM ts)",
    "year(ts), month(ts), day(ts), dayofweek(ts), weekofyear(ts), date_part('doy', ts)",
    "date_trunc('YEAR', ts), date_trunc('quarter', ts)",
    "date_trunc('MON', ts), date_trunc('week', ts), date_trunc('DD', ts)",
    "date_trunc('HOUR', ts), date_trunc('minute', ts), date_trunc('second', ts)",
    "date_trunc('MILLISECOND', ts), date_trunc('x', ts)",
    "date_format(ts, 'yyyy-MM-dd HH:mm:ss.SSSSSS XXX'), date_format(ts, 'EEE, d MMM yy h a'), date_format(n, 'HH:mm')",
    "from_unixtime(unix_seconds(ts)), from_unixtime(i, 'yyyy-MM-dd HH:mm:ss'), from_unixtime(9223372036854775000L + i)",
    "unix_timestamp(ts), unix_timestamp(d), unix_timestamp(n)",
    "to_unix_timestamp(ts), unix_timestamp(date_format(n, 'yyyy-MM-dd HH:mm:ss'))",
    "unix_seconds(ts), unix_millis(ts), unix_micros(ts)",
    "to_timestamp(date_format(n, 'dd/MM/yyyy HH:mm'), 'dd/MM/yyyy HH:mm'), try_to_timestamp(CAST(i AS STRING), 'd')",
    "to_timestamp('2021-11-07 01:30:00 Europe/Paris', 'yyyy-MM-dd HH:mm:ss VV') > ts",
    "timestamp_seconds(i), timestamp_seconds(i + 0.5)",
    "timestamp_seconds(i * 1.5D), timestamp_millis(i), timestamp_micros(i)",
    "months_between(ts, TIMESTAMP'2020-02-29 12:00:00'), months_between(ts, d), months_between(ts, n, false)",
    "ts + INTERVAL '1' DAY, ts - INTERVAL '36' HOUR",
    "ts + INTERVAL '5' MINUTE, ts - INTERVAL '1 01:00:00' DAY TO SECOND",
    "ts + INTERVAL '1' DAY * i, ts - INTERVAL '1' HOUR * i, ts + make_dt_interval(i, 1, 2, 3.5)",
    "ts + INTERVAL '1' MONTH, ts - INTERVAL '2' YEAR, ts + INTERVAL '1' MONTH * i",
    "timestampadd(DAY, i, ts), timestampadd(WEEK, -1, ts), timestampadd(HOUR, i, ts), timestampadd(SECOND, 1, ts)",
    "timestampadd(MONTH, i, ts), timestampadd(QUARTER, 1, ts), dateadd(YEAR, -1, ts)",
    "timestampdiff(DAY, ts, TIMESTAMP'2021-03-14 12:00:00'), timestampdiff(HOUR, ts, n), timestampdiff(WEEK, d, ts)",
    "timestampdiff(MONTH, ts, TIMESTAMP'2021-03-31 12:00:00'), timestampdiff(YEAR, ts, n), datediff(MINUTE, ts, n)",
    "extract(DAY FROM ts - n), extract(HOUR FROM ts - n), ts - n > INTERVAL '1' DAY, n - ts < INTERVAL '0' SECOND",
    "make_timestamp(2021, 3, 14, 2, 30, 0.5), make_timestamp(2021, 11, 7, 1, 30, 0), make_timestamp(d, tm)",
    "make_timestamp(2021, 3, 14, 2, 30, 0, 'America/New_York'), make_timestamp_ltz(2000 + i, 1, 1, 0, 0, 0)",
    "try_make_timestamp(2021, i, 1, 2, 30, 0), make_timestamp_ltz(d, tm, 'Asia/Tokyo')",
    "make_timestamp_ntz(2021, 3, 14, 2, 30, 0)",
    "from_utc_timestamp(ts, 'Asia/Tokyo'), to_utc_timestamp(ts, 'Europe/Paris'), from_utc_timestamp(ts, '+02:00')",
    "convert_timezone('Asia/Tokyo', n), convert_timezone('UTC', 'Europe/Paris', n)",
    "ts > d, ts = TIMESTAMP'2021-03-14 01:30:00'",
    "ts BETWEEN TIMESTAMP'2021-01-01 00:00:00' AND TIMESTAMP'2021-12-31 00:00:00'",
    "last_day(ts), trunc(ts, 'MONTH'), datediff(ts, d), localtimestamp() > n, now() > ts",
)

INTERVALS = (
    "ts - TIMESTAMP'2021-01-01 00:00:00', n - TIMESTAMP_NTZ'2021-01-01 00:00:00', ts - d",
    "make_dt_interval(i, 2, 3, 4.5), make_dt_interval(), make_dt_interval(i)",
    "INTERVAL '1 02:03:04.5' DAY TO SECOND * i, i * INTERVAL '1 00:00:00' DAY TO SECOND, INTERVAL '1' DAY * 2.5",
    "(ts - n) / 2, (ts - n) / 0.5D, (n - ts) * 1.5D",
    "(ts - n) / CAST(3 AS DECIMAL(5, 2)), INTERVAL '1 00:00:00' DAY TO SECOND / 7",
    "-(ts - n), abs(ts - n), sign(ts - n), +(ts - n)",
    "(ts - n) + INTERVAL '1 00:00:00' DAY TO SECOND, (ts - n) - make_dt_interval(i), (ts - n) - (n - ts)",
    "extract(DAY FROM ts - n), extract(HOUR FROM ts - n), extract(MINUTE FROM ts - n), extract(SECOND FROM ts - n)",
    "extract(YEAR FROM make_ym_interval(i, 5)), extract(MONTH FROM make_ym_interval(-i, 5))",
    "make_ym_interval(i, 5) > INTERVAL '1-1' YEAR TO MONTH, make_ym_interval(i, 0) = INTERVAL '5-0' YEAR TO MONTH",
    "make_ym_interval(i, 1) * 2 > make_ym_interval(0, i), make_ym_interval(i, 1) / 2 = -make_ym_interval(1, 1)",
    "make_ym_interval(1, 1) * 2.5 > make_ym_interval(i)",
    "make_ym_interval(i) - make_ym_interval(1, 2) < make_ym_interval(0)",
    "abs(make_ym_interval(i)) = make_ym_interval(abs(i)), sign(make_ym_interval(i))",
    "tm + INTERVAL '0' SECOND, tm - TIME'00:00:00' > INTERVAL '1' HOUR, TIME'10:00:00' + INTERVAL '1' SECOND * i",
    "CASE WHEN i > 1 THEN ts - n ELSE INTERVAL '0 00:00:00' DAY TO SECOND END, coalesce(ts - n, make_dt_interval(1))",
    "ts + (ts - n), n + (ts - n) * 2, d + make_dt_interval(0, i)",
    "ts - n IN (make_dt_interval(0), make_dt_interval(1)), greatest(ts - n, make_dt_interval(i))",
)

QUERIES = (
    "SELECT window.start, window.end, count(*) AS c FROM times GROUP BY window(ts, '1 hour')",
    "SELECT window.start, count(*) AS c FROM times GROUP BY window(ts, '2 hours', '30 minutes', '5 minutes')",
    "SELECT window.start, max(i) AS m FROM times GROUP BY window(n, '7 days')",
    "SELECT window, count(*) AS c FROM times GROUP BY window(ts, '1 day')",
    "SELECT d - INTERVAL '1' YEAR AS y, count(*) AS c FROM times WHERE ts >= TIMESTAMP'2020-01-01 00:00:00' GROUP BY 1",
    "SELECT max(ts) AS a, min(n) AS b, max(d) AS c, min(tm) AS e FROM times",
    "SELECT ts, d FROM times ORDER BY ts DESC NULLS LAST, d LIMIT 3",
    "SELECT a.d FROM times a JOIN times b ON a.d = CAST(b.ts AS DATE) AND a.ts < b.ts + INTERVAL '1' DAY",
)


@contextmanager
def time_zone(spark: SparkSession, zone: str) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def moments(frame: DataFrame) -> list[str]:
    """The rows of a frame, where instants are the microseconds that they are."""
    columns = [
        f"unix_micros(`{name}`)" if kind == "timestamp" else f"CAST(`{name}` AS STRING)" for name, kind in frame.dtypes
    ]
    return sorted(map(repr, frame.selectExpr(*columns).collect()))


@pytest.mark.parametrize("expressions", ZONED)
@pytest.mark.parametrize(("here", "there"), [("America/New_York", "UTC"), ("UTC", "Asia/Tokyo")])
def test_the_zone_of_the_query_counts(spark: SparkSession, expressions: str, here: str, there: str) -> None:
    tables = texts_and_times(spark)
    with time_zone(spark, here):
        frame = analysed(spark, f"SELECT {expressions} FROM times")
        frame = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
        plan = ps.load(ps.to_substrait(frame, tables=tuple(tables)).to_bytes())
        expected = moments(frame)
    with time_zone(spark, there):
        assert moments(ps.from_substrait(plan, spark, tables=tables)) == expected


@pytest.mark.parametrize("expressions", ZONED)
def test_types_and_rows(spark: SparkSession, expressions: str) -> None:
    assert_round_trip(spark, f"SELECT {expressions} FROM times", tables=texts_and_times(spark))


@pytest.mark.parametrize("expressions", INTERVALS)
def test_intervals(spark: SparkSession, expressions: str) -> None:
    assert_round_trip(spark, f"SELECT {expressions} FROM times", tables=texts_and_times(spark))


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    assert_round_trip(spark, query, tables=texts_and_times(spark))


def test_windows_of_sessions_are_refused(spark: SparkSession) -> None:
    texts_and_times(spark)
    frame = spark.sql("SELECT session_window.start, count(*) FROM times GROUP BY session_window(ts, '5 minutes')")
    with pytest.raises(ps.UnsupportedPlanError):
        ps.to_substrait(frame, tables=("times",))


def test_zones_that_are_offsets(spark: SparkSession) -> None:
    tables = texts_and_times(spark)
    with time_zone(spark, "+02:00"):
        assert_round_trip(
            spark, "SELECT hour(ts), ts + INTERVAL '1' DAY, date_trunc('DAY', ts) FROM times", tables=tables
        )


def test_a_zone_without_a_name_is_refused(spark: SparkSession) -> None:
    tables = texts_and_times(spark)
    with time_zone(spark, "+05:30"):
        frame = spark.sql("SELECT hour(ts) FROM times")
        with pytest.raises(ps.UnsupportedPlanError, match="IANA"):
            ps.to_substrait(frame, tables=tuple(tables))
