"""DataFusion's intervals and durations on Spark, beside its own results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from tests.peers.plan_outcomes import rows, rows_difference
from tests.spark.test_datafusion_functions import calls
from tests.spark.test_datafusion_temporal import wrong_cells

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

MICROS = [0, -1, 10**15 + 1, None, 86_399_999_999, -86_400_000_001]
DAY = 86_400
SPANS = pa.table(
    {
        "id": pa.array(range(6), pa.int64()),
        "g": pa.array([1, 1, 2, 2, 3, 3], pa.int64()),
        "du": pa.array([0, 1, -1, None, DAY * 10**6 + 1, -DAY * 10**6 * 40], pa.duration("us")),
        "ds": pa.array([0, 1, -1, None, DAY * 1000 + 1, -DAY * 40], pa.duration("s")),
        "dn": pa.array([0, 5, -7, None, 10**17, -(10**17)], pa.duration("ns")),
        "iv": pa.array(
            [(0, 0, 0), (1, 2, 3 * 10**9), (-14, 1, -5), None, (0, 40, 10**15), (3, -1, -7)],
            pa.month_day_nano_interval(),
        ),
        # days and times that are one number in both
        "si": pa.array(
            [(0, 0, 0), (1, 2, 3 * 10**9), (-14, -1, -5), None, (0, 40, 10**12), (3, 0, 7)],
            pa.month_day_nano_interval(),
        ),
        "ts": pa.array(MICROS, pa.timestamp("us")),
        "sec": pa.array([0, -1, 10**9 + 1, None, 86_399, -86_401], pa.timestamp("s")),
        "tn": pa.array([0, -1, 10**18 + 1, None, 86_399_999_999_999, -86_400_000_001], pa.timestamp("ns")),
        "tz": pa.array(MICROS, pa.timestamp("us", "UTC")),
        "i": pa.array([0, 1, -5, None, 100, 7], pa.int64()),
        "i32": pa.array([0, 1, -5, None, 100, 7], pa.int32()),
        "f": [1.0, 2.0, math.nan, None, 10.0, -1.0],
    }
)
EXPRESSIONS = calls(
    """
ts + du ; ts - du ; sec + du ; sec - ds ; tn + du ; tn - dn ; tz + du ; ts + dn ; sec + dn ; du + ts ; tz - ds
du + du ; du - du ; dn + dn ; dn - dn ; du < du ; du > du ; ds = ds
ts + iv ; ts - iv ; sec + iv ; sec - iv ; tn + iv ; tn - iv ; tz + iv ; tz - iv ; iv + ts
ts + (iv + iv) ; ts - (interval '1 day' - iv) ; ts - (-iv) ; si + si ; -si ; interval '1 day' + interval '1 hour'
ts + (iv + du) ; ts + (dn - iv) ; interval '1 month' - interval '-2 hours'
date_part('epoch', iv) ; extract(epoch from interval '1 month 1.5 seconds') ; arrow_cast(i, 'Duration(Second)')
arrow_cast(i, 'Duration(Millisecond)') ; arrow_cast(i, 'Duration(Nanosecond)') ; arrow_cast(i32, 'Duration(Second)')
ts + arrow_cast(i, 'Duration(Microsecond)') ; arrow_cast('2 seconds', 'Interval(MonthDayNano)')
arrow_cast('1 year 2 months 3 days 4 hours -5 minutes 6 milliseconds', 'Interval(MonthDayNano)')
ts + arrow_cast('10 days', 'Interval(DayTime)') ; ts + arrow_cast('1 year 2 months', 'Interval(YearMonth)')
extract(year from arrow_cast('25 months', 'Interval(YearMonth)'))
date_part('month', arrow_cast('-25 months', 'Interval(YearMonth)'))
date_part('hour', interval '25 months 40 days 30 hours 61 minutes 62.123456789 seconds')
date_part('minute', interval '-25 months -40 days -30 hours -61 minutes -62.123456789 seconds')
date_part('week', interval '-40 days') ; date_part('ms', interval '-62.123456789 seconds')
date_part('us', interval '62.123456789 seconds') ; date_part('year', interval '-25 months')
date_part('second', arrow_cast('61 seconds', 'Interval(DayTime)')) ; date_part('days', interval '3 days 50 hours')
date_part('hour', arrow_cast('10 days -30 hours 5 milliseconds', 'Interval(DayTime)'))
date_bin(INTERVAL '1 day', tz, TIMESTAMP '2020-01-01 01:00:00') ; date_bin('1 day', tz, '2020-01-01 01:00:00')
date_bin(INTERVAL '3 nanoseconds', arrow_cast(-9223372036854775808, 'Timestamp(Nanosecond, None)'))
range(DATE '2020-01-01', DATE '2020-05-01', arrow_cast('1 month', 'Interval(YearMonth)'))
range(TIMESTAMP '1992-09-01', NULL, INTERVAL '1' YEAR) ; range(NULL, DATE '1993-03-01', INTERVAL '1' YEAR)
CASE WHEN i > 0 THEN ts ELSE tn END ; CASE WHEN i > 0 THEN sec ELSE ts END ; coalesce(ts, tn) ; tz < ts ; tz = tn
CASE WHEN i > 0 THEN tz ELSE ts END
"""
)


@pytest.mark.parametrize("optimized", [False, True])
def test_every_cell_is_that_of_datafusion(optimized: bool, spark: SparkSession) -> None:
    wrong = wrong_cells(EXPRESSIONS, SPANS, spark, optimized=optimized)
    assert not wrong, "\n".join(wrong)


QUERIES = [
    "SELECT g, sum(du), avg(du), sum(ds), avg(ds), sum(dn), avg(dn), min(du), max(dn), count(du) FROM t GROUP BY g",
    "SELECT sum(du), avg(dn), sum(iv) FROM t WHERE id > 100",
    "SELECT TIMESTAMP '2000-01-01' + sum(iv), TIMESTAMP '2000-01-01' - sum(iv) FROM t",
    "SELECT sum(iv) FROM t WHERE id IN (0, 1)",
    "SELECT id, avg(du) OVER (PARTITION BY g ORDER BY id) FROM t",
    "SELECT id, sum(dn) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    "SELECT ts FROM t UNION ALL SELECT tn FROM t UNION ALL SELECT sec FROM t",
]


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("query", QUERIES)
def test_the_rows_are_datafusions(query: str, optimized: bool, spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("t", [SPANS.to_batches()])
    frame = context.sql(query)
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    ours = ps.run_query(plan, tables={"t": SPANS}, spark=spark)
    assert rows_difference(rows(ours), rows(frame.to_arrow_table()), ordered=False) is None


@pytest.mark.parametrize("expression", ["iv + iv", "iv - interval '1 day'", "-iv", "sum(iv)"])
def test_days_and_hours_of_computed_intervals_are_one_number_and_a_note_says_so(expression: str) -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("t", [SPANS.to_batches()])
    logical = context.sql(f"SELECT {expression} FROM t").logical_plan()
    plan = ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())
    assert "datafusion-interval" in {note.rule for note in plan.notes}
