"""DataFusion's functions on Spark: each call of a table, over values at the edges, gives what DataFusion gives."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.types import UNSIGNED_INTEGERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

NAN, INF = math.nan, math.inf


def decimals(values: list[str | None], precision: int, scale: int) -> pa.Array:
    return pa.array([None if one is None else Decimal(one) for one in values]).cast(pa.decimal128(precision, scale))


D = ["0", "1.25", "-1.25", None, "2.50", "-2.55", "99999999.99", "-99999999.99", "0.01", "-0.01", "3", "1000"]
E = ["1", "3.000", "-7.125", None, "0.125", "2", "3", "7", "0.001", "-3", "11", "13"]
TABLE = pa.table(
    {
        "id": pa.array(range(12), pa.int64()),
        "g": pa.array([1, 1, 1, 2, 2, 3, None, None, 4, 4, 4, 4], pa.int64()),
        "s": [
            "abc",
            "ABC dEF",
            "",
            None,
            "äÖü xΣ",
            "a%b_c\\d",
            " pad ",
            "ßİ ﬁn",
            "o'neil-mc x2y éa",
            "😀b́",
            "abcabc",
            "%",
        ],
        "p": ["a%", "%B%", "", None, "%Ö%", "a\\%b\\_c\\\\d", "%  ", "ß%", "_%", "%\\%", "abc\\", "\\%"],
        "q": ["b", "", "x", None, "Ö", "%", "a", " ", "xy", "\U0001f600", "abc", "z"],
        "i": pa.array([0, 1, -1, None, 2, -2, 5, -5, 3, 10, 7, 100], pa.int64()),
        "k": pa.array([1, 0, -3, 4, None, 3, -1, 2, -7, 20, 6, -100], pa.int64()),
        "n": pa.array([1, 2, 3, None, 4, 5, 6, 7, 8, 9, 10, 11], pa.int64()),
        "i32": pa.array([0, 1, -1, None, 2, -2, 5, -5, 2**31 - 1, -(2**31), 7, 100], pa.int32()),
        "i8": pa.array([0, 1, -1, None, 2, -2, 5, -5, 63, -63, 7, 10], pa.int8()),
        "f": [0.0, -0.0, 1.5, None, NAN, INF, -INF, 2.5, -2.5, -0.5, 0.49999999999999994, 1e300],
        "h": [1.0, 0.0, -0.0, 2.0, None, INF, 3.0, -2.5, NAN, -0.5, 0.5, 10.0],
        "v": [1.005, 2.675, 0.285, 1.255, -1.005, 0.15, None, 4.35, -0.04, 15.0, 25.0, -5.0],
        "f32": pa.array([0.0, -0.0, 1.5, None, NAN, INF, -INF, 2.5, -2.5, -0.5, 0.1, 1e30], pa.float32()),
        "b": [True, False, None] * 4,
        "c": [True, True, True, False, False, False, None, None, None, True, False, None],
        "d": decimals(D, 10, 2),
        "e": decimals(E, 12, 3),
        "w": decimals([f"{number % 4}{'9' * 33}.{number % 7}" for number in range(12)], 36, 1),
        "y": pa.array([b"", b"\x80", b"a", None, b"\x7f", b"\xff\x00", b"\xff", b"a\x00", b"b", b"\x00", b"A", b"ab"]),
        "day": [
            dt.date(2024, 2, 29),
            dt.date(1970, 1, 1),
            dt.date(1969, 12, 31),
            None,
            dt.date(1, 1, 1),
            dt.date(9999, 12, 31),
            dt.date(2000, 1, 1),
            dt.date(2023, 12, 31),
            dt.date(2024, 1, 1),
            dt.date(1582, 10, 4),
            dt.date(1900, 3, 1),
            dt.date(2021, 6, 15),
        ],
    }
)

SCALARS = """
abs(i) ; abs(f) ; abs(d) ; acos(h) ; acosh(f) ; asin(h) ; asinh(f) ; atan(f) ; atan2(f, h) ; atan2(h, f) ; atanh(h)
bit_length(s) ; octet_length(s) ; ceil(f) ; ceil(f32) ; floor(f) ; coalesce(i, k) ; coalesce(f, h)
concat(s, q) ; concat(s, q, p) ; concat(s) ; concat_ws('-', s, q) ; concat_ws(q, s, p)
contains(s, q) ; contains(s, '')
cos(f) ; cosh(f) ; degrees(f) ; ends_with(s, q) ; exp(f) ; factorial(n)
greatest(i, k) ; greatest(f, h) ; greatest(h, f) ; greatest(s, q) ; greatest(day, DATE '2000-01-01') ; greatest(i)
least(i, k, n) ; least(f, h) ; least(h, f) ; least(s, q) ; least(d, d)
initcap(s) ; lower(s) ; upper(s)
left(s, -1) ; left(s, 2) ; left(s, 0) ; left(s, -9223372036854775808) ; right(s, -1) ; right(s, 2) ; right(s, -9)
substr(s, -1, 3) ; substr(s, 0) ; substr(s, 0, 1) ; substr(s, -5) ; substr(s, 2) ; substr(s, 2, 9223372036854775807)
substr(s, 9223372036854775807) ; substr(s, 2, 0) ; substring(s, -1, 2)
ln(f) ; log10(f) ; log2(f) ; log(h, f) ; log(f, h) ; log(2.0, f) ; log(f)
ltrim(s, q) ; rtrim(s, q) ; nullif(i, k) ; nullif(f, h) ; nullif(h, f) ; nullif(s, q) ; nullif(f, f)
power(f, h) ; radians(f) ; repeat(s, k) ; replace(s, q, '_') ; replace(s, 'a', q) ; replace(s, '', '_') ; reverse(s)
regexp_replace(s, 'b', 'X') ; regexp_replace(s, '(a)(b)', '\\2\\1') ; regexp_replace(s, '^.(b|c)$', 'X')
regexp_replace(s, '[^a-c]+\\s?', '_') ; regexp_replace(s, '\\w', '_') ; regexp_replace(s, '.$', '_')
round(v, 2) ; round(v, 1) ; round(v, -1) ; round(f, 1) ; round(f, -1) ; round(f32, 1) ; round(d, 1) ; round(i, -1)
sin(f) ; sinh(f) ; starts_with(s, q) ; strpos(s, q) ; strpos(s, '') ; tan(f) ; tanh(f) ; sqrt(abs(f))
i + k ; i - k ; i * k ; i / n ; i % n ; f + h ; f - h ; f * h ; f / h ; h / f ; f32 * f32 ; i8 + i8
d + e ; d - e ; d * e ; d / e ; e / e ; d % e ; -i ; -f ; -d ; d * d / e
i = k ; f = h ; f <> h ; f < h ; f <= h ; f > h ; f >= h ; s = q ; s < q ; d = e ; d < e ; f = f
b AND c ; b OR c ; NOT b ; b IS TRUE ; b IS NOT TRUE ; b IS FALSE ; b IS NOT FALSE ; i IS NULL
f IS DISTINCT FROM h ; i IS DISTINCT FROM k ; i BETWEEN k AND 5 ; i NOT BETWEEN k AND 5
i IN (1, 2, 3, 5) ; i IN (1, k)
i NOT IN (1, k, NULL) ; i & k ; i | k ; i ^ k
s LIKE p ; s NOT LIKE p ; s LIKE 'a\\%b%' ; s LIKE '%\\%%' ; s LIKE 'a%b\\_c\\\\d'
s LIKE 'a\\bc%' ; s LIKE '%c\\'
date_part('year', day) ; date_part('dow', day) ; date_part('week', day) ; date_part('doy', day)
date_part('quarter', day)
CAST(d AS BIGINT) ; CAST(e AS DECIMAL(10, 1)) ; CAST(f AS FLOAT) ; CAST(d AS VARCHAR) ; CAST(b AS VARCHAR)
"""

LISTS = """
make_array(i, k) ; make_array(s, q, p) ; make_array(f) ; make_array(make_array(i), make_array(k, n)) ; make_array(d, d)
make_array(i, k)[1] ; make_array(i, k)[-1] ; make_array(i, k)[0] ; make_array(i, k)[3] ; make_array(s, q)[-3]
make_array(i, k, n)[k] ; make_array(i, k)[n] ; make_array(make_array(i), make_array(k))[2][1] ; make_array(day)[2]
array_length(make_array(i, k)) ; cardinality(make_array(i)) ; array_length(make_array(make_array(i, k)))
array_length(make_array(make_array(i), make_array(k))[n])
"""

#: what only the optimized plan has in a form that runs: there the arguments have been cast to what the function takes
COERCED = """
left(s, k) ; right(s, k) ; substr(s, k) ; substr(s, k, n) ; substr(s, n, 2) ; round(f) ; round(v)
log(n) ; log(k * k, n)
power(i, 2) ; d / 3 ; d / (e + 100) ; d + i ; exp(d) ; sin(i) ; i = f ; f BETWEEN h AND 5 ; atan2(i, k) ; degrees(i)
"""

AGGREGATES = """
count(*) ; count(i) ; count(DISTINCT i) ; sum(i) ; sum(i8) ; sum(f) ; sum(f32) ; sum(d) ; sum(DISTINCT i)
avg(i) ; avg(i32) ; avg(i8) ; avg(v) ; avg(f32) ; avg(d) ; avg(e) ; avg(DISTINCT i) ; avg(i) FILTER (WHERE b)
min(i) ; max(f) ; min(d) ; max(day) ; corr(CAST(d AS DOUBLE), CAST(e AS DOUBLE))
bool_and(b) ; bool_or(c) ; any_value(g)
string_agg(q, ',' ORDER BY id) ; sum(d) / sum(e) ; sum(d * d) / sum(e)
"""

STATISTICS = """
min(s) ; max(s) ; min(b) ; max(c) ; min(s) FILTER (WHERE b) ; min(y) ; max(y)
string_agg(s, '-' ORDER BY id DESC) ; string_agg(coalesce(s, 'x'), ',') FILTER (WHERE false)
string_agg(s, CAST(NULL AS VARCHAR) ORDER BY id) ; string_agg(DISTINCT q, ',' ORDER BY q DESC)
count(i, k) ; count(s, b, f)
approx_distinct(s) ; approx_distinct(i) ; approx_distinct(b) ; bit_and(i) ; bit_or(i) ; bit_xor(i) ; bit_and(i8)
bit_or(i8) ; bit_xor(i8) ; bit_and(i32) ; bit_xor(k) FILTER (WHERE b) ; array_agg(i ORDER BY id)
array_agg(s ORDER BY id DESC) ; array_agg(f ORDER BY k NULLS FIRST, id) ; array_agg(f32 ORDER BY v)
array_agg(i ORDER BY b DESC, q) ; array_agg(DISTINCT b) ; array_agg(DISTINCT i ORDER BY i)
array_agg(i) FILTER (WHERE false) ; array_agg(DISTINCT g ORDER BY g DESC)
array_agg(DISTINCT g ORDER BY g NULLS FIRST) ; array_agg(d ORDER BY d) FILTER (WHERE b)
array_agg(DISTINCT g ORDER BY g DESC NULLS LAST) ; array_agg(DISTINCT v ORDER BY v) ; array_agg(day ORDER BY id)
first_value(i ORDER BY id) ; first_value(s ORDER BY id DESC) ; last_value(i ORDER BY id)
last_value(s ORDER BY id DESC) ; first_value(s ORDER BY k) ; first_value(s ORDER BY k NULLS FIRST)
first_value(s ORDER BY k DESC) ; first_value(s ORDER BY k DESC NULLS LAST) ; last_value(s ORDER BY k)
last_value(s ORDER BY k NULLS FIRST) ; last_value(s ORDER BY k DESC) ; last_value(s ORDER BY k DESC NULLS LAST)
first_value(i ORDER BY b, id DESC) ; last_value(f ORDER BY b DESC NULLS LAST, id)
first_value(i ORDER BY id) FILTER (WHERE c) ; last_value(i ORDER BY b, c, id)
first_value(id ORDER BY id) FILTER (WHERE false) ; nth_value(i, 2 ORDER BY id) ; nth_value(s, -2 ORDER BY id)
nth_value(i, 1 ORDER BY b, id DESC) ; nth_value(i, 20 ORDER BY id) ; nth_value(i, -20 ORDER BY id) ; stddev(i)
stddev_pop(i) ; var(i) ; var_pop(i) ; stddev(v) ; var_pop(v) ; var(i32) ; stddev_samp(i8) ; var(e) ; var_pop(d)
var(f) FILTER (WHERE id < 11) ; var_pop(f) FILTER (WHERE id < 11) ; stddev(f) FILTER (WHERE id < 11)
stddev_pop(f32) ; var(v) FILTER (WHERE b) ; var(DISTINCT v) ; stddev_pop(DISTINCT i)
covar_samp(v, n) ; covar_pop(v, n) ; covar_samp(i, k) ; covar_pop(i32, v) ; covar_pop(f, h) ; corr(i, n)
regr_count(i, k) ; regr_avgx(i, k) ; regr_avgy(i, k) ; regr_sxx(i, k) ; regr_sxy(i, k) ; regr_syy(i, k)
regr_slope(i, k) ; regr_intercept(i, k) ; regr_r2(i, k) ; regr_slope(v, n) ; regr_intercept(v, n) ; regr_r2(v, n)
regr_r2(n, g) ; regr_r2(g, n) ; regr_slope(g, n) ; regr_slope(n, g) ; regr_intercept(g, n) ; regr_intercept(n, g)
regr_count(f, h) ; regr_sxx(f, h) ; regr_syy(f, h) FILTER (WHERE id < 11) ; regr_slope(h, f)
regr_slope(v, n) FILTER (WHERE b) ; median(i)
median(k) ; median(i8) ; median(v) ; median(f) ; median(f32) ; median(h) ; median(d) ; median(e) ; median(n)
median(DISTINCT i) ; median(f) FILTER (WHERE b) ; median(f) FILTER (WHERE f = 0.0) ; median(-f) FILTER (WHERE f = 0.0)
median(d) FILTER (WHERE id IN (1, 5, 9, 0)) ; median(DISTINCT d) ; median(i) FILTER (WHERE false) ; median(w)
median(-w) ; percentile_cont(0.5) WITHIN GROUP (ORDER BY f) ; percentile_cont(0.3) WITHIN GROUP (ORDER BY f DESC)
percentile_cont(0.75) WITHIN GROUP (ORDER BY f) FILTER (WHERE f <= 0.0)
percentile_cont(1.0) WITHIN GROUP (ORDER BY v) ; percentile_cont(0.123456789) WITHIN GROUP (ORDER BY v)
percentile_cont(0.333333333333) WITHIN GROUP (ORDER BY i DESC) ; percentile_cont(0.7) WITHIN GROUP (ORDER BY d)
percentile_cont(0.99) WITHIN GROUP (ORDER BY f32) FILTER (WHERE id > 3)
percentile_cont(0.7654321987) WITHIN GROUP (ORDER BY f32 DESC) ; percentile_cont(v, 0.1)
percentile_cont(0.5) WITHIN GROUP (ORDER BY h) ; percentile_cont(0.25) WITHIN GROUP (ORDER BY k)
percentile_cont(0.6) WITHIN GROUP (ORDER BY f32) FILTER (WHERE f32 = CAST(0 AS FLOAT))
percentile_cont(DISTINCT i, 0.4) ; percentile_cont(0.0) WITHIN GROUP (ORDER BY v) FILTER (WHERE b)
percentile_cont(0.25) WITHIN GROUP (ORDER BY h) FILTER (WHERE h > -1e9)
"""

WINDOWS = """
row_number() OVER (PARTITION BY g ORDER BY id) ; rank() OVER (ORDER BY q) ; dense_rank() OVER (ORDER BY g)
percent_rank() OVER (ORDER BY g) ; cume_dist() OVER (ORDER BY g) ; ntile(5) OVER (ORDER BY id)
lag(i) OVER (ORDER BY id) ; lag(i, 1, 99) OVER (ORDER BY id) ; lag(i, -1) OVER (ORDER BY id)
lead(i, 2, 0) OVER (ORDER BY id) ; lead(s, 1, 'z') OVER (PARTITION BY g ORDER BY id) ; avg(i) OVER (ORDER BY id)
avg(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ; avg(d) OVER (ORDER BY id)
sum(i) OVER (ORDER BY g) ; sum(d) OVER (PARTITION BY g) ; count(i) OVER (ORDER BY id) ; max(f) OVER (ORDER BY id)
min(s) OVER (ORDER BY id) ; max(b) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
stddev(v) OVER (ORDER BY id) ; var_pop(i) OVER (PARTITION BY g) ; covar_samp(v, n) OVER (ORDER BY id)
regr_slope(v, n) OVER (ORDER BY id) ; regr_count(v, n) OVER (PARTITION BY g) ; regr_r2(v, n) OVER (ORDER BY id)
median(v) OVER (ORDER BY id) ; median(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)
median(d) OVER (ORDER BY id) ; percentile_cont(v, 0.3) OVER (ORDER BY id DESC) ; bit_xor(i) OVER (ORDER BY id)
approx_distinct(i) OVER (ORDER BY id) ; array_agg(i) OVER (ORDER BY id)
array_agg(s) OVER (ORDER BY id DESC ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
array_agg(i) OVER (ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING)
array_agg(i) OVER (PARTITION BY g ORDER BY id) ; first_value(s) OVER (ORDER BY id)
last_value(i) OVER (PARTITION BY g ORDER BY id) ; string_agg(s, ',') OVER (ORDER BY id)
nth_value(i, 3) OVER (ORDER BY id)
"""


def calls(text: str) -> list[str]:
    return [call.strip() for line in text.splitlines() if line for call in line.split(" ; ")]


def alike(ours: Any, theirs: Any) -> bool:
    """Whether two cells are equal: NaN to itself, -0.0 to nothing else, and computed numbers by their first digits."""
    if isinstance(ours, float) and isinstance(theirs, float):
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        if ours == theirs:
            return math.copysign(1, ours) == math.copysign(1, theirs)
        return math.isclose(ours, theirs, rel_tol=1e-12)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


def cells(call: str, column: pa.ChunkedArray) -> list[Any]:
    """The values of a call, with the elements of a list in the same order if the call doesn't say one."""
    listed = column.to_pylist()
    unordered = call.startswith("array_agg(DISTINCT") and "ORDER BY" not in call
    return [sorted(cell, key=repr) if unordered and cell is not None else cell for cell in listed]


def plain(type: pa.DataType) -> str:
    """A type without what Spark doesn't have: views, unsigned numbers."""
    return (
        str(type).replace("_view", "").replace("large_", "").replace("uint64", "int64").replace("element: ", "item: ")
    )


WHOLE = "SELECT {} FROM t"
ROWS, GROUPS = "SELECT id, {} FROM t ORDER BY id", "SELECT g, {} FROM t GROUP BY g ORDER BY g"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("table", "shape", "optimized"),
    [
        pytest.param(SCALARS, ROWS, False, id="scalars-logical"),
        pytest.param(SCALARS + COERCED, ROWS, True, id="scalars-optimized"),
        pytest.param(LISTS, ROWS, False, id="lists-logical"),
        pytest.param(LISTS, ROWS, True, id="lists-optimized"),
        pytest.param(AGGREGATES, GROUPS, False, id="aggregates-logical"),
        pytest.param(AGGREGATES, GROUPS, True, id="aggregates-optimized"),
        pytest.param(STATISTICS, GROUPS, False, id="statistics-logical"),
        pytest.param(STATISTICS, GROUPS, True, id="statistics-optimized"),
        pytest.param(STATISTICS, WHOLE, True, id="statistics-whole"),
        pytest.param(WINDOWS, ROWS, False, id="windows-logical"),
    ],
)
def test_every_cell_is_that_of_datafusion(table: str, shape: str, optimized: bool, spark: SparkSession) -> None:
    listed = calls(table)
    context = datafusion.SessionContext()
    context.register_record_batches("t", [TABLE.to_batches()])
    frame = context.sql(shape.format(", ".join(f"{call} AS c{number}" for number, call in enumerate(listed))))
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    ours, wrong = ps.run_query(plan, tables={"t": TABLE}, spark=spark), []
    for number, call in enumerate(listed):
        # DataFusion doesn't compute aggregates in several orders at once
        mine, other = ours.column(f"c{number}"), context.sql(shape.format(f"{call} AS c")).to_arrow_table().column("c")
        if plain(mine.type) != plain(other.type):
            wrong.append(f"{call}: {mine.type} instead of {other.type}")
        pairs = zip(cells(call, mine), cells(call, other), strict=True)
        different = [(row, one, two) for row, (one, two) in enumerate(pairs) if not alike(one, two)]
        wrong += [f"{call} in row {row}: {one!r} instead of {two!r}" for row, one, two in different[:2]]
    assert not wrong, "\n".join(wrong)


def test_averages_of_decimals_are_cut_off(spark: SparkSession) -> None:
    """Beside exact integers: short types, and long ones, whose sums are computed in another way."""
    types = [(1, 0), (5, 5), (15, 2), (10, 10), (20, 10), (22, 11), (23, 0), (27, 13), (28, 4)]
    kinds = {f"d{precision}_{scale}": (precision, scale) for precision, scale in types}
    groups = [1, 1, 1, 1, 2, 2, 3, 4, 4, 4]

    def digits(precision: int) -> list[int | None]:
        most = 10**precision - 1
        return [most, most, most - 1, None, -most, 5, None, 1, 1, -4]

    columns = {
        name: decimals([None if one is None else f"{one}E-{scale}" for one in digits(precision)], precision, scale)
        for name, (precision, scale) in kinds.items()
    }
    table = pa.table({"g": groups, **columns})
    context = datafusion.SessionContext()
    context.register_record_batches("t", [table.to_batches()])
    frame = context.sql(
        f"SELECT g, {', '.join(f'avg({name}) AS {name}' for name in kinds)} FROM t GROUP BY g ORDER BY g"
    )
    plan = substrait.Producer.to_substrait_plan(frame.optimized_logical_plan(), context).encode()
    ours, theirs = ps.run_query(plan, tables={"t": table}, spark=spark), frame.to_arrow_table()
    for name, (precision, scale) in kinds.items():
        found = ours.column(name)
        assert found.type == pa.decimal128(min(precision + 4, 38), scale + 4)
        expected: list[int | None] = []
        for group in (1, 2, 3, 4):
            mine = [one for one, of in zip(digits(precision), groups, strict=True) if of == group and one is not None]
            cut = abs(sum(mine)) * 10**4 // max(len(mine), 1)
            expected.append((cut if sum(mine) >= 0 else -cut) if mine else None)
        unscaled = [None if one is None else int(one.scaleb(scale + 4, Context(prec=60))) for one in found.to_pylist()]
        assert unscaled == expected, name
        assert found.to_pylist() == theirs.column(name).to_pylist(), name


def test_unsigned_integers_are_summed_averaged_and_divided_as_in_datafusion(spark: SparkSession) -> None:
    names = ("u8", "u16", "u32", "u64")
    arrays = {name: pa.array([7, None, 2 ** int(name[1:]) - 1, 3, 1], f"uint{name[1:]}") for name in names}
    table = pa.table({"g": [1, 1, 1, 2, 2], **arrays})
    context = datafusion.SessionContext()
    context.register_record_batches("t", [table.to_batches()])
    measures = [(function, name) for name in names for function in ("sum", "avg")]
    listed = ", ".join(f"{function}({name}) AS {function}_{name}" for function, name in measures)
    query = f"SELECT *, {', '.join(f'sum_{name} / sum_{name} AS q_{name}' for name in names)} "
    query += f"FROM (SELECT g, {listed} FROM t GROUP BY g) ORDER BY g"
    theirs = context.sql(query).to_arrow_table()

    def field(position: int) -> dict[str, Any]:
        return {"selection": {"directReference": {"structField": {"field": position}}, "rootReference": {}}}

    def called(anchor: int, *positions: int) -> dict[str, Any]:
        arguments = [{"value": field(position)} for position in positions]
        return {"functionReference": anchor, "arguments": arguments}

    kinds = [
        {"userDefined": {"typeReference": anchor, "nullability": "NULLABILITY_NULLABLE"}} for anchor in (1, 2, 3, 4)
    ]
    struct = {
        "types": [{"i64": {"nullability": "NULLABILITY_NULLABLE"}}, *kinds],
        "nullability": "NULLABILITY_REQUIRED",
    }
    aggregated = {
        "input": {"read": {"namedTable": {"names": ["t"]}, "baseSchema": {"names": ["g", *names], "struct": struct}}},
        "groupingExpressions": [field(0)],
        "groupings": [{"expressionReferences": [0]}],
        "measures": [
            {"measure": {**called(("sum", "avg").index(function) + 1, names.index(name) + 1), "phase": 3}}
            for function, name in measures
        ],
    }
    quotients = [{"scalarFunction": called(3, 1 + 2 * place, 1 + 2 * place)} for place in range(4)]
    projected = {"project": {"input": {"aggregate": aggregated}, "expressions": quotients}}
    ascending = {"expr": field(0), "direction": "SORT_DIRECTION_ASC_NULLS_LAST"}
    extensions = [
        {"extensionType": {"extensionUrnReference": 1, "typeAnchor": anchor, "name": name}}
        for anchor, name in enumerate(names, 1)
    ]
    extensions += [
        {"extensionFunction": {"extensionUrnReference": 4294967295, "functionAnchor": anchor, "name": name}}
        for anchor, name in enumerate(("sum", "avg", "divide"), 1)
    ]
    message = {
        "version": {"minorNumber": 85, "producer": "datafusion"},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": UNSIGNED_INTEGERS}],
        "extensions": extensions,
        "relations": [
            {"root": {"names": theirs.column_names, "input": {"sort": {"input": projected, "sorts": [ascending]}}}}
        ],
    }
    ours = ps.run_query(json.dumps(message).encode(), tables={"t": table}, spark=spark)
    assert ours.schema.types == theirs.schema.types
    assert ours.to_pylist() == theirs.to_pylist()
