"""Texts that DataFusion reads by formats of chrono, on Spark: each cell is DataFusion's, or both refuse the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from tests.spark.test_datafusion_functions import calls
from tests.spark.test_datafusion_temporal import wrong_cells

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

MICROS = [0, -1, 10**15 + 1, None, 86_399_999_999, -86_400_000_001]
TEXTS = pa.table(
    {
        "id": pa.array(range(6), pa.int64()),
        "a": [
            "2020-1-2 3:4:5.25",
            "2020-02-29 23:59:60",
            "1969-12-31 23:59:59.9995",
            None,
            "  2021-12-31   00:00:00.1234567899",
            "1700-01-01 00:00:00",
        ],
        "b": [
            "2020-01-02 10:20:30 +05:30",
            "2020-01-02 10:20:30 +25:00",
            "2020-01-02 10:20:30\N{MINUS SIGN}0530",
            None,
            "2020-12-31 23:00:00-05:30",
            "2020-01-02 10:20:30+05 :\N{NO-BREAK SPACE}00",
        ],
        "c": [
            "Thu 02 jan 2020 1:05 pM",
            "fri 31 DEC 1999 12:00 am",
            "Sun 29 Feb 2032 12:59 PM",
            None,
            "Wed 1 may 2024 7:7 Am",
            "WED 01 MAY 2024 07:07 AM",
        ],
        "d": [
            "2020-01-02T10:20:30Z",
            "2020-1-2 1:2:3.5UTC",
            "1999-12-31t23:59:59.999999999+00:30",
            None,
            " 2020-01-02 10:20:30 -0100",
            "2020-01-02 10:20:30.25 utc",
        ],
        "e": ["20-366", "69-001", "70-60", None, "0-60", "19-9"],
        "f": ["100", "0", "1600000000.5", None, "1.123456789123", "9000000000"],
        "ts": pa.array(MICROS, pa.timestamp("us")),
        "tn": pa.array([0, -1, 10**18 + 1, None, 86_399_999_999_999, -86_400_000_001], pa.timestamp("ns")),
        "tz": pa.array(MICROS, pa.timestamp("us", "UTC")),
    }
)
EXPRESSIONS = calls(
    """
to_timestamp(a, '%Y-%m-%d %H:%M:%S%.f') ; to_timestamp_seconds(a, '%F %T%.f') ; to_timestamp_millis(a, '%F %T%.f')
to_timestamp_micros(a, '%F %T%.f') ; to_timestamp_nanos(a, '%F %T%.f') ; to_date(a, '%F %T%.f')
to_unixtime(a, '%F %T%.f') ; to_timestamp(b, '%F %T %z') ; to_date(b, '%F %T %:z') ; to_time(b, '%F %T %z')
to_timestamp(b, '%F %T', '%F %T%#z') ; to_unixtime(b, '%F %T%z')
to_timestamp(c, '%a %d %b %Y %I:%M %p') ; to_date(c, '%A %d %B %Y %I:%M %P') ; to_time(c, '%a %d %b %Y %I:%M %p')
to_timestamp(c, '%q', '%a %e %h %Y %l:%M %p') ; to_timestamp(d, '%+') ; to_date(d, '%+') ; to_time(d, '%+')
to_unixtime(d, '%c', '%+') ; to_timestamp_millis(d, '%E', '%5Y', '%+')
to_date(e, '%y-%j') ; to_timestamp(e, '%y-%j') ; to_timestamp(f, '%s%.f') ; to_unixtime(f, '%s%.f')
to_date(f, '%s%.f') ; to_time(ts) ; to_time(tn) ; to_time(tz) ; to_date(ts, 'x') ; to_timestamp(ts, '%s')
to_timestamp(1.5, a) ; to_date(5, '%F') ; to_date(tz) ; to_date(to_date(ts)) ; from_unixtime(id, 'Asia/Istanbul')
to_time('12:30:45.5') ; to_time('12:30') ; to_time('1:2:3') ; to_time(NULL) ; to_date('2020-01-02 10', '%F %H')
to_timestamp('2020-01-02 10', '%F %H') ; to_timestamp('2020-09-08 12/00/00+00:00', '%Y-%m-%d %H/%M/%s%#z')
to_timestamp('1970-01-01 00/01/60+00:00', '%Y-%m-%d %H/%M/%s%#z') ; to_date('2020-01-02', NULL::VARCHAR)
to_timestamp('2020-01-02 10:20:30.000005', '%F %T.%f') ; to_timestamp('2020-01-02 10:20:30.123', '%F %T.%3f')
to_timestamp('2020-01-02 10:20:30.123456', '%F %T%.6f') ; to_date('02/29/20', '%D') ; to_date(' 1-jan-2020', '%v')
to_date('2020 1 2', '%Y%m%d') ; to_date('2020%1-2', '%Y%%%m-%d') ; to_date('+2020-1-2', '%F')
to_time('10:20:03 PM', '%r') ; to_timestamp('Thu Jan  2 10:20:30 2020', '%c') ; to_date('2020-1-1x', '%F', '%Fx')
to_date('2020-02-30', '%F', '%Y-%m-3%e', '%Y-02-30') ; to_local_time(tz) ; to_local_time(ts)
"""
)


@pytest.mark.parametrize("optimized", [False, True])
def test_every_cell_is_that_of_datafusion(optimized: bool, spark: SparkSession) -> None:
    expressions = [one for one in EXPRESSIONS if "'%Y-02-30'" not in one]
    wrong = wrong_cells(expressions, TEXTS, spark, optimized=optimized)
    assert not wrong, "\n".join(wrong)


REFUSED_TEXTS = calls(
    """
to_date('2020-02-30', '%F') ; to_date('2019-366', '%Y-%j') ; to_date('2020-13-01', '%F') ; to_date('2020-01-02 ', '%F')
to_date('12020-01-02', '%F') ; to_date('Fri 2020-01-02', '%a %F') ; to_date('02 January 2020', '%d %b %Y')
to_date('', '%F') ; to_timestamp('2020-01-02 24:00', '%F %R') ; to_timestamp('2020-01-02 10:20:30.12', '%F %T%.3f')
to_timestamp('2020-01-02 10:20:30+05', '%F %T%z') ; to_timestamp('2020-01-02 10:20:30Z', '%F %T%z')
to_timestamp('2020-01-02T10:20:30', '%+') ; to_time('10', '%H') ; to_time('24:00') ; to_date('\uff12020-01-02', '%F')
to_date('2020-1', '%Y-%q') ; to_date('2020-01-02', '%E') ; to_timestamp('-5', '%s')
"""
)


@pytest.mark.parametrize("expression", REFUSED_TEXTS)
def test_what_datafusion_refuses_is_an_error(expression: str, spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    frame = context.sql(f"SELECT {expression} AS c")
    with pytest.raises(Exception, match=r"pars|timestamp|time|range|format"):
        frame.to_arrow_table()
    plan = substrait.Producer.to_substrait_plan(frame.logical_plan(), context).encode()
    with pytest.raises(ps.SubstraitError, match="has none of the forms"):
        ps.run_query(plan, spark=spark)


@pytest.mark.parametrize(
    ("format", "what"),
    [
        ("'%Y-%m-%d %Z'", "%Z"),
        ("'%G-W%V-%u'", "%G"),
        ("'%F %H %I'", "a part that is there twice"),
        ("'%Y %y-%m-%d'", "a part that is there twice"),
        ("'%F %H:%M%.f'", "a fraction without its second"),
        ("'%F %s'", "a day in two ways"),
        ("x", "a format that isn't a literal"),
    ],
)
def test_formats_that_are_refused(format: str, what: str) -> None:
    context = datafusion.SessionContext()
    logical = context.sql(f"SELECT to_timestamp(x, {format}) AS c FROM (VALUES ('a')) t(x)").logical_plan()
    plan = ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())
    with pytest.raises(ps.UnsupportedPlanError, match=what):
        ps.to_sql(plan)
