"""Functions of dates and of local times, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.texts_and_times import texts_and_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPRESSIONS = (
    "year(d), quarter(d), month(d), day(d), dayofmonth(d), dayofyear(d)",
    "dayofweek(d), weekday(d), weekofyear(d), extract(YEAROFWEEK FROM d), extract(DOW FROM d), extract(DOW_ISO FROM d)",
    "date_part('year', d), extract(MONTH FROM n), extract(WEEK FROM n), date_part('doy', n)",
    "year(n), month(n), day(n), hour(n), minute(n), second(n), extract(SECOND FROM n)",
    "monthname(d), dayname(d), last_day(d), last_day(n)",
    "d + 1, d - 3, date_add(d, i), date_sub(d, i), date_add(d, -400), dateadd(d, 2), date_add(d, NULL)",
    "d + INTERVAL 30 DAYS, d - INTERVAL '1' DAY, d + INTERVAL '1' DAY * i",
    "d + INTERVAL '2' MONTH, d - INTERVAL '1-1' YEAR TO MONTH",
    "d + INTERVAL '1' MONTH * i, d + make_ym_interval(i, 1)",
    "add_months(d, 1), add_months(d, -13), add_months(d, i), add_months(DATE'2020-01-31', i)",
    "datediff(d, DATE'2000-01-01'), date_diff(DATE'2000-01-01', d)",
    "d > DATE'2020-12-31', d BETWEEN DATE'1999-12-31' AND '2021-03-14'",
    "next_day(d, 'mon'), next_day(d, 'Friday'), next_day(d, 'su')",
    "make_date(2000 + i, 2, 28), make_date(2020, 2, 29)",
    "trunc(d, 'year'), trunc(d, 'QUARTER'), trunc(d, 'MM'), trunc(d, 'week'), trunc(d, 'day'), trunc(d, NULL)",
    "unix_date(d), date_from_unix_date(i), date_from_unix_date(unix_date(d) + i)",
    "to_date(date_format(d, 'dd/MM/yyyy'), 'dd/MM/yyyy'), try_to_date(CAST(i AS STRING), 'dd'), to_date(d)",
    "date_format(d, 'yyyy-MM-dd EEEE'), date_format(n, 'HH:mm:ss.SSS')",
    "date_format(d, 'D \"x\" ''q'''), date_format(tm, 'HH:mm')",
    "months_between(d, DATE'2020-02-29'), months_between(d, DATE'2020-02-15', false), months_between(n, d)",
    "n + INTERVAL '1' DAY, n - INTERVAL '1 02:03:04.5' DAY TO SECOND, n + INTERVAL '5' MINUTE, n - INTERVAL '13' MONTH",
    "n + INTERVAL '1' DAY * i, n + INTERVAL '1' MONTH * i, n > TIMESTAMP_NTZ'2021-01-01 00:00:00'",
    "timestampadd(MONTH, i, n), timestampadd(DAY, i, n), timestampadd(MICROSECOND, i, n), timestampadd(YEAR, 1, n)",
    "timestampdiff(DAY, n, TIMESTAMP_NTZ'2021-03-14 02:29:59')",
    "timestampdiff(SECOND, n, ts), timestampdiff(MILLISECOND, n, ts)",
    "timestampdiff(MONTH, n, TIMESTAMP_NTZ'2020-03-01 00:00:00')",
    "timestampdiff(YEAR, TIMESTAMP_NTZ'2020-03-01 00:00:00', n), timestampdiff(QUARTER, n, ts)",
    "make_timestamp_ntz(2020, 2, 29, 23, 59, 59.999999)",
    "make_timestamp_ntz(2000 + i, 1, 1, 0, 0, 60), make_timestamp_ntz(d, tm)",
    "try_make_timestamp_ntz(2020, i, 1, 0, 0, 0), try_make_timestamp_ntz(2020, 2, i, 0, 0, 0.5)",
    "to_timestamp_ntz(concat('2020-01-', CAST(10 + i % 9 AS STRING)), 'yyyy-MM-d'), date_format(n, 'yyyyMMdd')",
    "convert_timezone('UTC', 'America/New_York', n), convert_timezone('Asia/Tokyo', 'Europe/Paris', n)",
    "hour(tm), minute(tm), second(tm), extract(SECOND FROM tm)",
    "make_time(1, 2, i + 3.5), time_trunc('HOUR', tm)",
    "time_trunc('second', tm), time_diff('MINUTE', TIME'01:00:00', tm)",
    "tm < TIME'12:00:00', to_time('10:11:12.5'), try_to_time(CAST(i AS STRING))",
    "to_time(CAST(10 + abs(i) % 9 AS STRING), 'HH')",
    "time_to_seconds(tm), time_to_millis(tm), time_to_micros(tm)",
    "time_from_seconds(abs(i)), time_from_micros(abs(i)), time_from_millis(abs(i))",
    "current_date() = current_date(), current_date() > d, now() > ts, localtimestamp() > n, current_time() IS NULL",
)


@pytest.mark.parametrize("expressions", EXPRESSIONS)
def test_functions_of_dates(spark: SparkSession, expressions: str) -> None:
    assert_round_trip(spark, f"SELECT {expressions} FROM times", tables=texts_and_times(spark))


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("year(d)", "extract"),
        ("month(n)", "extract"),
        ("hour(ts)", "extract"),
        ("d + 5", "add"),
        ("d - 5", "subtract"),
        ("d + INTERVAL '3' MONTH", "add"),
        ("add_months(d, i)", "add"),
        ("n - INTERVAL '1' DAY", "add"),
        ("date_trunc('MONTH', ts)", "round_calendar"),
        ("trunc(d, 'YEAR')", "round_calendar"),
        ("unix_seconds(ts)", "extract"),
    ],
)
def test_what_the_standard_has_is_the_standard(spark: SparkSession, expression: str, function: str) -> None:
    tables = texts_and_times(spark)
    plan = ps.to_substrait(spark.sql(f"SELECT {expression} AS x FROM times"), tables=tuple(tables))
    text = plan.to_json()
    assert f'"{function}:' in text
    assert "pyspark_substrait:functions" not in text


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("date_format(ts, concat('yy', CAST(i AS STRING)))", "pattern is not a constant"),
        ("to_timestamp(CAST(i AS STRING), CAST(i AS STRING))", "pattern is not a constant"),
        ("trunc(d, CAST(i AS STRING))", "unit is not a constant"),
        ("ts + make_interval(0, 1, 0, 2)", "make_interval"),
    ],
)
def test_what_cannot_go_out_says_so(spark: SparkSession, expression: str, reason: str) -> None:
    tables = texts_and_times(spark)
    frame = spark.sql(f"SELECT {expression} AS x FROM times")
    with pytest.raises(UnsupportedPlanError, match=reason):
        ps.to_substrait(frame, tables=tuple(tables))


@pytest.mark.parametrize("value", ["''", "' '", "'x'", "'2020 '", "CAST(NULL AS STRING)", "'2020'"])
def test_texts_that_are_no_dates(spark: SparkSession, value: str) -> None:
    frame = spark.sql(
        f"SELECT to_timestamp(c, 'yyyy') AS x, unix_timestamp(c, 'yyyy') AS y FROM VALUES ({value}) AS t (c)"
    )
    back = ps.from_substrait(ps.load(ps.to_substrait(frame).to_bytes()), spark)
    outcomes = []
    for one in (frame, back):
        try:
            outcomes.append(repr(one.collect()))
        except Exception:  # Spark's own, whatever it is
            outcomes.append("an error")
    assert outcomes[0] == outcomes[1]
    assert_round_trip(spark, f"SELECT try_to_timestamp(c, 'yyyy') AS x FROM VALUES ({value}) AS t (c)")
