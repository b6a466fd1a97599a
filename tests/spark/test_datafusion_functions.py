"""DataFusion's functions on Spark: each call of a table, over values at the edges, gives what DataFusion gives."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
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

WINDOWS = """
row_number() OVER (PARTITION BY g ORDER BY id) ; rank() OVER (ORDER BY q) ; dense_rank() OVER (ORDER BY g)
percent_rank() OVER (ORDER BY g) ; cume_dist() OVER (ORDER BY g) ; ntile(5) OVER (ORDER BY id)
lag(i) OVER (ORDER BY id) ; lag(i, 1, 99) OVER (ORDER BY id) ; lag(i, -1) OVER (ORDER BY id)
lead(i, 2, 0) OVER (ORDER BY id) ; lead(s, 1, 'z') OVER (PARTITION BY g ORDER BY id)
avg(i) OVER (ORDER BY id) ; avg(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
avg(d) OVER (ORDER BY id)
sum(i) OVER (ORDER BY g) ; sum(d) OVER (PARTITION BY g) ; count(i) OVER (ORDER BY id) ; max(f) OVER (ORDER BY id)
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
    return type(ours) is type(theirs) and bool(ours == theirs)


def plain(type: pa.DataType) -> str:
    """A type without what Spark doesn't have: views, unsigned numbers."""
    return str(type).replace("_view", "").replace("large_", "").replace("uint64", "int64")


ROWS, GROUPS = "SELECT id, {} FROM t ORDER BY id", "SELECT g, {} FROM t GROUP BY g ORDER BY g"


@pytest.mark.parametrize(
    ("table", "shape", "optimized"),
    [
        pytest.param(SCALARS, ROWS, False, id="scalars-logical"),
        pytest.param(SCALARS + COERCED, ROWS, True, id="scalars-optimized"),
        pytest.param(AGGREGATES, GROUPS, False, id="aggregates-logical"),
        pytest.param(AGGREGATES, GROUPS, True, id="aggregates-optimized"),
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
    ours, theirs = ps.run_query(plan, tables={"t": TABLE}, spark=spark), frame.to_arrow_table()
    assert ours.num_rows == theirs.num_rows
    wrong = []
    for number, call in enumerate(listed):
        mine, other = ours.column(f"c{number}"), theirs.column(f"c{number}")
        if plain(mine.type) != plain(other.type):
            wrong.append(f"{call}: {mine.type} instead of {other.type}")
        pairs = zip(mine.to_pylist(), other.to_pylist(), strict=True)
        different = [(row, one, two) for row, (one, two) in enumerate(pairs) if not alike(one, two)]
        wrong += [f"{call} in row {row}: {one!r} instead of {two!r}" for row, one, two in different[:2]]
    assert not wrong, "\n".join(wrong)


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
