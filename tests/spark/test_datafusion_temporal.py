"""DataFusion's dates, timestamps and intervals on Spark, and arguments that only its optimized plans cast."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from tests.spark.test_datafusion_functions import TABLE, alike, calls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

MOMENTS = [
    dt.datetime(2024, 2, 29, 23, 59, 59, 999999),
    dt.datetime(1970, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 1),
    None,
    dt.datetime(2000, 1, 1, 12),
    dt.datetime(2023, 12, 31, 5, 6, 7, 89),
    dt.datetime(2024, 1, 1),
    dt.datetime(1820, 10, 4, 1, 2, 3),
    dt.datetime(1900, 3, 1, 13, 14, 15, 500000),
    dt.datetime(2199, 6, 15, 8, 30),
]
TIMES = pa.table(
    {
        "id": pa.array(range(10), pa.int64()),
        "i": pa.array([0, 1, -1, None, 2, -2, 500, -500, 3, 100], pa.int64()),
        "b": [True, False, None, True, True, False, None, None, False, True],
        "day": [moment and moment.date() for moment in MOMENTS],
        "ts": pa.array(MOMENTS, pa.timestamp("us")),
        "tz": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
        "tn": pa.array(MOMENTS, pa.timestamp("ns")),
        "sec": pa.array(MOMENTS, pa.timestamp("s")),
        "ti": pa.array([moment and moment.time() for moment in MOMENTS], pa.time64("us")),
        "tis": pa.array([moment and moment.time().replace(microsecond=0) for moment in MOMENTS], pa.time32("s")),
        "tin": pa.array([i and i * 8_765_432_198_765 for i in (*range(1, 7), None, 9, 8, 7)], pa.time64("ns")),
        "fl": [0.0, 1.9999999999, -1.5, None, 1e6 + 0.1, -123456.789, 0.5, -0.5, 86399.999, 1e9],
        "de": pa.array(
            [*map(Decimal, ("0.00", "1.99", "-1.99", "1000.50", "-1000.51", "7")), None, *[Decimal("2.5")] * 3]
        ),
        "tx": ["2020-01-31", "2021-02-28 12:30:00", "1999-12-31T23:59:59.5", None, *["1960-02-29"] * 6],
    }
)
PARTS = "year quarter month week day hour minute second millisecond microsecond"
OTHER_PARTS = "doy dow isodow isoyear epoch nanosecond years yr mon w d hours mins s ms useconds nanoseconds qtr"
EXPRESSIONS = (
    [f"date_trunc('{part}', {column})" for part in PARTS.split() for column in ("day", "ts", "tz", "tn", "sec")]
    + [f"date_part('{part}', {c})" for part in f"{PARTS} {OTHER_PARTS}".split() for c in ("day", "ts", "tz", "tn")]
    + calls(
        """
date_part('hour', ti) ; date_part('second', ti) ; date_part('epoch', ti) ; date_part('millisecond', ti)
extract(year FROM ts) ; extract(epoch FROM day) ; date_part('year', tx) ; date_trunc('month', tx)
date_bin(INTERVAL '15 minutes', ts) ; date_bin(INTERVAL '1 day', tn) ; date_bin(INTERVAL '7 days', tz)
date_bin(INTERVAL '2 hours', tn, TIMESTAMP '2000-01-01 00:10:00')
day + INTERVAL '1 day' ; day - INTERVAL '1 month' ; day + INTERVAL '1 year 2 months 3 days' ; INTERVAL '1 day' + day
day + INTERVAL '2 hours' ; day - INTERVAL '2 hours' ; day + INTERVAL '50 hours' ; day - INTERVAL '13 months'
ts + INTERVAL '1 hour' ; ts - INTERVAL '1 month' ; ts + INTERVAL '1 month 2 days 3 hours' ; ts + INTERVAL '1.5 seconds'
tn + INTERVAL '1 day' ; tn - INTERVAL '1 month 1 second' ; tz + INTERVAL '1 day' ; tz - INTERVAL '1 month'
sec + INTERVAL '1 hour' ; day + 5 ; day - 5 ; 5 + day ; day - day ; day - DATE '2000-01-01' ; ts - ts ; tn - tn
ts - TIMESTAMP '2000-01-01' ; tz - tz ; tn - day ; day - DATE '2000-01-01' > 5
INTERVAL '1 day' ; INTERVAL '1 month' ; day > DATE '2000-01-01' + INTERVAL '1 day'
to_timestamp(i) ; to_timestamp_seconds(i) ; to_timestamp_millis(i) ; to_timestamp_micros(i) ; to_timestamp_nanos(i)
to_timestamp(tx) ; to_timestamp(ts) ; to_timestamp_millis(tx) ; from_unixtime(i) ; to_unixtime(ts)
to_unixtime(tn) ; to_unixtime(day) ; to_date(tx) ; to_date(i) ; make_date(i + 2000, 3, 1) ; make_date(2020, 2, 29)
to_char(ts, '%Y-%m-%d %H:%M:%S') ; to_char(day, '%d.%m.%Y') ; to_char(ts, '%j %y %b %B %a %A %I %p %%')
to_char(ti, '%H:%M:%S') ; to_char(tis, '%I %p %M') ; to_char(tin, '%H.%M')
CAST(day AS TIMESTAMP) ; CAST(ts AS DATE) ; CAST(tz AS DATE) ; CAST(tn AS DATE) ; CAST(sec AS TIMESTAMP)
CAST(ts AS TIME) ; CAST(tz AS TIMESTAMP) ; day = ts ; day < tn ; ts = tn ; sec = ts ; tn < day
greatest(day, DATE '2000-01-01') ; day IN (DATE '2000-01-01', DATE '1970-01-01') ; day = '2024-02-29'
ts BETWEEN '1900-01-01' AND '2022-01-01' ; coalesce(ts, TIMESTAMP '2000-01-01') ; day > '2000-01-01'
to_timestamp(fl) ; to_timestamp(de) ; to_timestamp_seconds(fl) ; to_timestamp_millis(fl) ; to_timestamp_micros(de)
to_timestamp_nanos(fl) ; to_timestamp('NaN'::DOUBLE) ; to_timestamp(1e300) ; to_timestamp(-1e300) ; to_date(fl)
to_date(de) ; to_unixtime(i) ; to_unixtime(fl) ; to_unixtime(tx) ; CAST(i AS TIMESTAMP) ; CAST(i AS TIMESTAMP(3))
CAST(fl AS TIMESTAMP(3)) ; CAST(de AS TIMESTAMP) ; CAST(fl AS TIMESTAMP) ; CAST(CAST(i AS INT) AS DATE)
arrow_cast(arrow_cast(abs(i), 'Date64'), 'Date32') ; arrow_cast(arrow_cast(id * 86400000, 'Date64'), 'Date32') = day
arrow_cast(i, 'Timestamp(Second, None)') ; arrow_cast(fl, 'Timestamp(Microsecond, None)')
generate_series(day, day + INTERVAL '70 days', INTERVAL '1 month') ; generate_series(day, day, INTERVAL '1 day')
generate_series(ts, ts + INTERVAL '3 days', INTERVAL '17 hours') ; range(day, day + 70, INTERVAL '1 month 1 day')
range(DATE '2020-01-31', DATE '2020-06-30', INTERVAL '1 month') ; range(day, day + 3, INTERVAL '1 day')
generate_series(DATE '2020-06-30', DATE '2020-01-31', INTERVAL '-1 month') ; range(day, day - 3, INTERVAL '-1 day')
generate_series(tn, tn + INTERVAL '4 months', INTERVAL '1 month 1 hour') ; range(ts, ts, INTERVAL '1 hour')
range(sec, sec + INTERVAL '1 day', INTERVAL '12 hours') ; range(day, day - 3, INTERVAL '1 day')
generate_series(ts, ts - INTERVAL '3 months', INTERVAL '-1 month')
generate_series(ts, tn - INTERVAL '2 days', INTERVAL '1 month')
date_part('nanosecond', ti) ; date_part('nanoseconds', tin) ; date_part('epoch', tin) ; date_part('mins', tis)
date_trunc('hour', ti) ; date_trunc('minute', tis) ; date_trunc('second', tin) ; date_trunc('microsecond', tin)
date_bin(INTERVAL '15 minutes', ti) ; date_bin(INTERVAL '15 minutes', tis, arrow_cast('00:05:00', 'Time32(Second)'))
date_bin(INTERVAL '7 seconds', tin, TIME '23:59:58.7') ; date_bin(INTERVAL '-15 minutes', ts)
date_bin(INTERVAL '1 month', ts) ; date_bin(INTERVAL '5 months', tn) ; date_bin(INTERVAL '1 year', sec)
date_bin(INTERVAL '1 month', ts, TIMESTAMP '2020-01-31 05:00:00') ; date_bin(INTERVAL '-2 months', ts)
date_bin(INTERVAL '1500 nanoseconds', ts)
date_bin(INTERVAL '3 months', tn, TIMESTAMP '2024-02-29 23:00:00') ; date_bin(INTERVAL '100 years', tz)
CASE WHEN b THEN day ELSE DATE '2000-01-01' END ; TIMESTAMP '2020-01-01 12:00:00.123456789'
"""
    )
)
#: DataFusion cannot write the plans that its analyzer makes of these
UNANALYZED = calls(
    """
ti + INTERVAL '3 hours' ; ti - INTERVAL '3 hours' ; tis + INTERVAL '1500 milliseconds' ; INTERVAL '1 day 2 hours' + tin
tis - INTERVAL '500 milliseconds' ; ti + INTERVAL '1 month 1 hour' ; tin - INTERVAL '1 nanosecond'
day + ti ; tin + day ; day - tis ; day + TIME '03:00' ; ti - ti ; tis - tin ; TIME '03:00' - tin
"""
)

NUMBERS = "i8 i32 i d e f f32"
UNCAST = [
    f"{left} {operator} {right}"
    for left in NUMBERS.split()
    for right in NUMBERS.split()
    for operator in ("<", "=", "+", "-", "*", "/", "%")
    if left != right
] + calls(
    """
f > 0 ; f32 < 1 ; d < 1 ; d < 1.5 ; d * 2 ; d + 1 ; 1 - d ; f * 2 ; f32 * 2 ; i + 1.5e0 ; d * 1.5e0 ; i = '5'
i32 < '7' ; d = '1.25' ; f = '1.5' ; f IN (1, 2, 1.5) ; i8 IN (1, 2)
d IN (1, 1.25) ; f BETWEEN 1 AND 2 ; d BETWEEN 1 AND 2
CASE WHEN b THEN 1 ELSE 1.5e0 END ; CASE WHEN b THEN d ELSE 1 END ; CASE WHEN b THEN 'a' ELSE i END
coalesce(i, v) ; coalesce(d, 0) ; coalesce(i32, 0) ; CASE i32 WHEN 1 THEN 1 END ; CASE v WHEN 15 THEN 1 END
nvl(i32, 1.5e0) ; nvl(i, d) ; ifnull(i8, 7) ; ifnull(NULL, i) ; nvl(f32, NULL) ; nvl(NULL, d) ; nvl(d, d)
nullif(d, 0) ; nullif(f, 0) ; greatest(i, v, d) ; least(d, 1) ; concat(s, i) ; s || i ; concat_ws('-', s, i) ; sin(d)
sin(i) ; exp(i8) ; ln(n) ; log10(n) ; atan2(i32, f32) ; degrees(i) ; signum(d) ; cbrt(i) ; substr(s, i32) ; repeat(s, n)
sqrt(n) ; power(i, 2) ; power(2, i) ; power(d, n) ; pi() * i ; i / 2.0 ; i % 3 ; i8 + 1 ; i32 * 2
i IS DISTINCT FROM d ; i + NULL ; NULL + d ; f = NULL ; s = NULL ; CASE WHEN b THEN NULL ELSE d END
coalesce(NULL, d) ; i IN (1, NULL) ; nullif(NULL, i) ; greatest(NULL, i) ; sin(NULL) ; CAST(NULL AS DATE)
"""
)
POWERS = calls("power(f, h) ; power(f32, h) ; power(h, v) ; sqrt(abs(f)) ; sqrt(abs(f32)) ; sqrt(abs(e))")


def cells(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; dates, times and durations as numbers, as Python has none of nanoseconds."""
    type = column.type
    if pa.types.is_date(type):
        return list(column.cast(pa.int32()).to_pylist())
    if pa.types.is_timestamp(type) or pa.types.is_time64(type) or pa.types.is_duration(type):
        factor = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[type.unit]
        return [None if cell is None else cell * factor for cell in column.cast(pa.int64()).to_pylist()]
    return list(column.to_pylist())


def wrong_cells(
    expressions: list[str], table: pa.Table, spark: SparkSession, *, optimized: bool, condition: str = "true"
) -> list[str]:
    """The cells of expressions over the records of a table, in one query, that aren't DataFusion's."""
    context = datafusion.SessionContext()
    context.register_record_batches("t", [table.to_batches()])
    listed = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
    frame = context.sql(f"SELECT id, {listed} FROM t WHERE {condition} ORDER BY id")
    theirs = frame.to_arrow_table()
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    ours, wrong = ps.run_query(plan, tables={"t": table}, spark=spark), []
    for number, expression in enumerate(expressions):
        mine, other = (cells(result.column(f"c{number}")) for result in (ours, theirs))
        if len(mine) != len(other):
            wrong.append(f"{expression}: {len(mine)} rows instead of {len(other)}")
        pairs = enumerate(zip(mine, other, strict=False))
        different = [(row, one, two) for row, (one, two) in pairs if not alike(one, two)]
        wrong += [f"{expression} in row {row}: {one!r} instead of {two!r}" for row, one, two in different[:2]]
    return wrong


@pytest.mark.sweep
@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize(
    ("expressions", "table", "condition"),
    [
        pytest.param(EXPRESSIONS, TIMES, "true", id="moments"),
        # without overflow and division by zero, which are errors in one of the two
        pytest.param(UNCAST, TABLE, "id IN (1, 2, 10)", id="uncast"),
        pytest.param(POWERS, TABLE, "NOT (f = 0.0 AND h < 0.0) AND NOT (h = 0.0 AND v < 0.0)", id="powers"),
    ],
)
def test_every_cell_is_that_of_datafusion(
    expressions: list[str], table: pa.Table, condition: str, optimized: bool, spark: SparkSession
) -> None:
    expressions = expressions if optimized or table is not TIMES else [*expressions, *UNANALYZED]
    wrong = wrong_cells(expressions, table, spark, optimized=optimized, condition=condition)
    assert not wrong, "\n".join(wrong)


STRUCTURED = [
    "SELECT id, grouping(g) AS c, count(*) AS n FROM t GROUP BY ROLLUP (id, g)",
    "SELECT grouping(g, b) AS c, grouping(b, g) AS d, sum(i) AS s FROM t GROUP BY CUBE (g, b)",
    "SELECT g, b, count(*) AS n FROM t GROUP BY GROUPING SETS ((g, b), (g), (), (g, b))",
    "SELECT g, sum(i) AS s FROM t GROUP BY ROLLUP (g) HAVING grouping(g) = 1 OR sum(i) > 1",
    "SELECT id, named_struct('p', i, 'q', s)['q'] AS c, get_field(struct(s, i), 'c1') AS d FROM t",
    "SELECT struct(i, s) AS c, named_struct('p', i) AS d FROM t",
    "SELECT id, p['x'] AS c, get_field(p, 'y')['z'] AS d FROM n WHERE p['x'] > 0",
    "SELECT q.s['x'] AS c, count(*) AS n FROM (SELECT p AS s FROM n) q GROUP BY q.s['x']",
    "SELECT id, m['a'] AS c, m['none'] AS d, k, upper(k) AS l FROM n",
    "SELECT id, map_extract(m, 'a') AS c, map_extract(m, k) AS d FROM n",
    "SELECT k, count(*) AS c FROM n GROUP BY k",
    "SELECT id, regexp_replace(s, 'b', '[\\1]') AS c, regexp_replace(s, '(b)', '[\\2\\1]') AS d FROM t",
    "SELECT NULL AS c, id FROM t",
    "SELECT id FROM t WHERE i > 1 OR NULL",
    "SELECT id FROM t WHERE NULL",
    "SELECT id, b AND NULL AS c, NOT NULL AS d FROM t",
    "SELECT i FROM t UNION ALL SELECT NULL",
    "SELECT NULL, s FROM t UNION ALL SELECT d, 'x' FROM t",
    "SELECT d FROM t UNION SELECT i32 FROM t",
    "SELECT i, s FROM t UNION ALL SELECT e, i FROM t",
]
NESTED = pa.table(
    {
        "id": pa.array(range(3), pa.int64()),
        "m": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int64())),
        "k": pa.array(["x", None, "ß"]).dictionary_encode(),
        "p": [{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}, {"x": 3, "y": {"z": "ß"}}],
    }
)


@pytest.mark.sweep
@pytest.mark.parametrize("optimized", [False, True])
def test_structs_dictionaries_groupings_and_nulls(optimized: bool, spark: SparkSession) -> None:
    tables = {"t": TABLE, "n": NESTED}
    context, wrong = datafusion.SessionContext(), []
    for name, table in tables.items():
        context.register_record_batches(name, [table.to_batches()])

    def rows(table: pa.Table) -> list[str]:
        nested = [column.to_pylist() for column in table.columns]
        values = [[tuple(cell.values()) if isinstance(cell, dict) else cell for cell in column] for column in nested]
        return sorted(map(repr, zip(*values, strict=True)))

    for query in STRUCTURED:
        frame = context.sql(query)
        logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
        plan = substrait.Producer.to_substrait_plan(logical, context).encode()
        ours, theirs = rows(ps.run_query(plan, tables=tables, spark=spark)), rows(frame.to_arrow_table())
        wrong += [] if ours == theirs else [f"{query}: {ours[:3]} instead of {theirs[:3]}"]
    assert not wrong, "\n".join(wrong)


REMARKED = {
    "SELECT id FROM t ORDER BY f, id": "datafusion-float",
    "SELECT DISTINCT f32 FROM t": "datafusion-float",
    "SELECT count(*) OVER (PARTITION BY f) FROM t": "datafusion-float",
    "SELECT a.id FROM t a JOIN t b ON a.f = b.h": "datafusion-float",
    "SELECT id FROM t WHERE f IN (SELECT h FROM t)": "datafusion-float",
    "SELECT f FROM t UNION SELECT h FROM t": "datafusion-float",
    "SELECT max(f) FROM t": "datafusion-float",
    "SELECT CASE f WHEN 0.0 THEN 1 END FROM t": "datafusion-float",
    "SELECT CAST(s AS BOOLEAN) FROM t": "datafusion-text",
    "SELECT CAST(s AS DECIMAL(9, 2)) FROM t": "datafusion-text",
    "SELECT to_date(s) FROM t": "datafusion-text",
    "SELECT CAST('2020-01-31T00:00:00 Europe/Brussels' AS TIMESTAMP) FROM t": "datafusion-text",
    "SELECT CAST(INTERVAL '1 day' AS VARCHAR) FROM t": "datafusion-cast",
    "SELECT CAST(CAST(day AS TIMESTAMP) AS TIMESTAMP(0)) FROM t": "datafusion-timestamp",
    "SELECT CAST(CAST(day AS TIMESTAMP) AS VARCHAR) FROM t": "datafusion-timestamp",
    "SELECT CAST(f AS VARCHAR) FROM t": "datafusion-cast",
    "SELECT arrow_cast(id, 'Date64') FROM t": "datafusion-cast",
    "SELECT CAST(day AS TIMESTAMP) AT TIME ZONE 'Europe/Brussels' FROM t": "datafusion-zone",
    "SELECT NULL AS x FROM t": "datafusion-null",
    "SELECT id FROM t WHERE f > 1": "datafusion-coercion",
    "SELECT a.id FROM t a LEFT ANTI JOIN t b ON a.i = b.k": "datafusion-anti-join",
    "SELECT struct(id, i) FROM t": "datafusion-struct",
    "SELECT arrow_cast(id, 'Int16') FROM t": "datafusion-arrow-cast",
    "SELECT approx_distinct(id) FROM t": "datafusion-approximate",
    "SELECT corr(f, h) FROM t": "datafusion-float",
    "SELECT max(id) OVER (ORDER BY id RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM t": "datafusion-frame",
    "SELECT count(*) FROM t GROUP BY id, id": "datafusion-grouping-id",
}


def test_structs_that_meet_have_their_fields_in_one_order() -> None:
    """DataFusion finds the fields by their names, which its plans don't have everywhere."""
    context = datafusion.SessionContext()
    logical = context.sql("SELECT {x: 1, y: 2} = {y: 2, x: 1}").logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    with pytest.raises(ps.InvalidPlanError, match="another order"):
        ps.load(plan)
    logical = context.sql("SELECT {x: 1, y: 2} = {x: 2, y: 1}").logical_plan()
    ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())


def test_a_date64_is_no_number() -> None:
    """It counts milliseconds, and the date that it becomes here does not."""
    context = datafusion.SessionContext()
    logical = context.sql("SELECT arrow_cast(arrow_cast('2020-01-02', 'Date64'), 'Int64')").logical_plan()
    with pytest.raises(ps.InvalidPlanError, match="counts milliseconds"):
        ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())


@pytest.mark.parametrize(
    "expression", ["CAST(d AS BIGINT)", "arrow_cast(d, 'Int64')", "CAST(coalesce(d, d) AS DOUBLE)"]
)
def test_a_column_of_date64_is_no_number(expression: str) -> None:
    table = pa.table({"d": pa.array([86_400_000], pa.date64()), "e": pa.array([1], pa.date32())})
    context = datafusion.SessionContext()
    context.register_record_batches("t", [table.to_batches()])
    for optimized in (False, True):
        frame = context.sql(f"SELECT {expression} FROM t")
        logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
        with pytest.raises(ps.InvalidPlanError, match="counts milliseconds"):
            ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())
    days = context.sql("SELECT d = e FROM t WHERE d < DATE '2020-01-01'").logical_plan()
    ps.load(substrait.Producer.to_substrait_plan(days, context).encode())


def test_what_differs_for_some_values_is_noted() -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("t", [TABLE.to_batches()])

    def rules(query: str) -> set[str]:
        logical = context.sql(query).logical_plan()
        loaded = ps.load(substrait.Producer.to_substrait_plan(logical, context).encode())
        return {note.rule for note in loaded.notes}

    assert {query: rule for query, rule in REMARKED.items() if rule not in rules(query)} == {}
    usual = "SELECT id, day > DATE '2020-01-31', sum(i) FROM t WHERE s = 'a' AND f > 1.5 GROUP BY id, day ORDER BY id"
    assert not {rule for rule in rules(usual) if rule.startswith("datafusion")}
