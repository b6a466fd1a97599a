"""Calls that DataFusion takes for more types than the specification: numbers, binaries, lists in lists, nulls."""

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

NAN, INF = math.nan, math.inf
FLOATS = [0.0, -0.0, 1.5, None, NAN, INF, -INF, 1e300, 1e-300, 123456.789, 1e7, 0.001, 1e-5, -2.5e20, 100.0, 9.5e-7]
WHOLE = [6, -15, 0, None, 1, 7, 8, 9, 10, 12, 14, 18, 21, 24, 1000, 100]
MIXED = pa.table(
    {
        "id": pa.array(range(16), pa.int64()),
        "g": pa.array([1, 2, 3, 4] * 4, pa.int64()),
        "f": FLOATS,
        "f32": pa.array(FLOATS, pa.float32()),
        "i": pa.array([115, -115, 0, None, 25, -25, 1, 5, 15, 149, 150, -150, 1, 2, 3, 4], pa.int64()),
        "i32": pa.array([115, -115, 0, None, 25, -25, 2**31 - 1, 5, 15, 149, 150, -150, 1, 2, 3, 4], pa.int32()),
        "n": pa.array([0, 1, 2, 3, None, -1, -2, 10, -10, 1, -1, -2, 2, 1, 0, 3], pa.int64()),
        "m": pa.array([0, 1, 2, 3, None, 10, 5, 7] * 2, pa.int32()),
        "d": pa.array(WHOLE).cast(pa.decimal128(20, 0)),
        "e": pa.array([4, 10, 5, 6, None, 14, 12, 6, 15, 18, 0, 12, 14, 36, 49, 75]).cast(pa.decimal128(22, 2)),
        "ts": pa.array([0, -1, 10**15 + 1, None, 500_000, 1000, 120_000, 10**6] * 2, pa.timestamp("us")),
        "ti": pa.array([0, 1, 10**9 + 1, None, 500_000, 1000, 120_000, 10**6] * 2, pa.time64("us")),
        "tn": pa.array([0, -1, 10**15 + 1, None, 500_000, 1000, 120_000, 10**6] * 2, pa.timestamp("ns")),
        "l": [[1, 2], [], None, [None, 3], [5], [4, None, 4], [1], [2]] * 2,
        "ll": [[[1]], [], None, [None, [3]], [[5, 6], []], [[4, None]], [[1], [2]], [[]]] * 2,
        "y": pa.array([b"a", b"", "äb".encode(), None, b"%x", b"abc", b"A", b" "] * 2),
        "s": ["a", "", "äb", None, "x", "a%", "A", " "] * 2,
    }
)
EXPRESSIONS = calls(
    """
array_to_string(make_array(f, f), ',') ; array_to_string(make_array(f32), ',', 'z') ; array_to_string([1.0, 2.5], '-')
array_to_string(make_array(ts, ts), ',') ; array_to_string(make_array(ti), '|')
round(f, n) ; trunc(f, n) ; round(i32, n) ; round(f32, m) ; trunc(f32, m) ; round(f, m)
gcd(d, e) ; lcm(d, e) ; gcd(d, d) ; lcm(d, 4) ; gcd(15, d) ; gcd(e, e) ; lcm(e, e) ; gcd(i32, 10) ; lcm(id, 6)
isnan(i) ; isnan(d) ; isnan(NULL) ; isnan(1::INT) ; iszero(i) ; log(10, d) ; log(d) ; log(2, e) ; log(f, d) ; log(e)
log(2.0, d) ; log(i) ; log(2, i) ; log(7, d) ; log(0.5, d) ; log(null, d) ; log(2.0, null) ; log(i, f)
log(10::decimal(38, 0), 100000000000000000000000000000000000::decimal(38, 0))
CASE WHEN i THEN 1 END ; CASE WHEN f THEN 1 ELSE 2 END ; CASE WHEN i = 1 THEN 1 WHEN 3 THEN 4 END
CASE WHEN 10 = 5 THEN 1 WHEN 'true' THEN 2 ELSE 3 END
y = 'a' ; y <> s ; y || s ; s || y ; y || y ; y LIKE 'a%' ; y LIKE s ; character_length(y) ; reverse(y)
concat(y, s) ; concat_ws('-', y, s) ; y IN ('a', 'abc') ; y < 'b' ; regexp_replace(y, 'a', 'z')
array_dims(l) ; array_dims(make_array(l, l)) ; array_dims(make_array(make_array(i, n))) ; array_length(l, NULL)
array_length(l, n) ; array_length(make_array(l, l), n) ; array_concat(l, ll) ; array_concat(ll, l)
array_concat(make_array(i), ll, l) ; array_concat(l, make_array(ll))
array_min(make_array(tn, tn)) ; array_max(make_array(tn, TIMESTAMP '1970-01-01'))
array_sort(make_array(tn, tn + INTERVAL '-1 day'))
array_distinct(NULL) ; array_sort(NULL) ; array_reverse(NULL) ; array_remove(NULL, 1) ; coalesce(i) ; coalesce(s)
lead(i, -9223372036854775808, 0) OVER (ORDER BY id) ; lag(i, 9223372036854775807) OVER (ORDER BY id)
lead(i, 5000000000) OVER (ORDER BY id) ; lag(i, 1, 7) OVER (ORDER BY id) ; nth_value(i, NULL) OVER (ORDER BY id)
lag(e, 1, 0.0) OVER (ORDER BY id) ; lag(e, 1, 0.126) OVER (ORDER BY id) ; lead(i32, 1, 2.7) OVER (ORDER BY id)
lag(i, 2, '3') OVER (ORDER BY id) ; lag(s, 1, 5) OVER (ORDER BY id) ; lag(s, 1, 3.10) OVER (ORDER BY id)
lead(f, 1, 3) OVER (ORDER BY id) ; lag(ts, 1, '2020-01-01') OVER (ORDER BY id) ; lag(i32, 1, true) OVER (ORDER BY id)
f::VARCHAR ; f32::VARCHAR ; concat('x', f) ; f || 'x' ; arrow_cast(f, 'Utf8') ; TRY_CAST(f AS VARCHAR) ; 1e16::VARCHAR
ts::VARCHAR ; tn::VARCHAR ; ti::VARCHAR ; ts || 'x' ; concat('x', tn) ; arrow_cast(ts, 'Timestamp(ms, "UTC")')::VARCHAR
arrow_cast(ts, 'Timestamp(s)') ; arrow_cast(tn, 'Timestamp(ms)') ; arrow_cast(tn, 'Timestamp(s)')::VARCHAR
concat(i, ts) ; concat(f, 1.5, i = 1) ; concat_ws('-', ti, d) ; s || tn ; ti || s
arrow_cast(ti, 'Time32(ms)')::VARCHAR ; array_to_string(make_array(tn), ',')
cast_to_type('42', NULL::VARCHAR) ; cast_to_type(i, NULL::DOUBLE)
"""
)


@pytest.mark.sweep
@pytest.mark.parametrize("optimized", [False, True])
def test_every_cell_is_that_of_datafusion(optimized: bool, spark: SparkSession) -> None:
    wrong = wrong_cells(EXPRESSIONS, MIXED, spark, optimized=optimized)
    assert not wrong, "\n".join(wrong)


QUERIES = [
    "SELECT min(l), max(l), min(make_array(s, 'z')), max(make_array(i, n)) FROM t",
    "SELECT g, min(l), max(l) FROM t GROUP BY g",
    # with nulls in structs, DataFusion's result depends on the order of the records
    "SELECT min(struct(i, s)), max(struct(n, i)) FROM t WHERE i + n IS NOT NULL AND s IS NOT NULL",
    "SELECT min(l) OVER (ORDER BY id), max(l) OVER (PARTITION BY g) FROM t",
    # what a subquery is compared with
    "SELECT id FROM t WHERE e >= ALL (SELECT 50.0)",
    "SELECT id FROM t WHERE i < ANY (SELECT d FROM t)",
    "SELECT id FROM t WHERE i32 IN (SELECT 25.0)",
    "SELECT id FROM t WHERE d IN (SELECT i FROM t)",
    "SELECT id FROM t WHERE ts > ALL (SELECT DATE '1970-01-01')",
    "SELECT id FROM t WHERE s IN (SELECT NULL)",
    # statistics of pairs with a decimal
    "SELECT corr(i, e), covar_pop(e, i32), covar_samp(e, d), regr_slope(e, id), regr_count(d, i32) FROM t",
    "SELECT regr_avgx(e, i32), regr_avgy(e, id), regr_sxx(e, id), regr_r2(e, id), regr_intercept(d, id) FROM t",
]


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("query", QUERIES)
def test_queries_over_other_types(query: str, optimized: bool, spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("t", [MIXED.to_batches()])
    frame = context.sql(query)
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    ours = ps.run_query(plan, tables={"t": MIXED}, spark=spark)
    assert rows_difference(rows(ours), rows(frame.to_arrow_table()), ordered=False) is None


def test_places_beyond_those_that_are_exact_are_an_error(spark: SparkSession) -> None:
    context, table = datafusion.SessionContext(), MIXED.select(["f", "n"])
    context.register_record_batches("t", [table.to_batches()])
    logical = context.sql("SELECT round(f, n + 10) FROM t").logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    with pytest.raises(ps.SubstraitError, match="more than 10 places"):
        ps.run_query(plan, tables={"t": table}, spark=spark)
