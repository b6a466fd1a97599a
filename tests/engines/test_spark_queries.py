"""Spark's queries with functions that other engines spell otherwise: their rows there are those of ``spark.sql``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.queries import QueryEngines, query_outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("datafusion")
pytest.importorskip("duckdb")
pytestmark = pytest.mark.since("4.1", "the tables of the queries have columns that Spark makes of Arrow since then")

BOTH = ("DataFusion", "DuckDB")
QUERIES = {
    "SELECT id, trunc(day, 'MONTH') a, trunc(day, 'week') b, trunc(day, 'quarter') c, trunc(day, 'year') d "
    "FROM t": BOTH,
    "SELECT id, date_trunc('week', at) a, date_trunc('hour', at) b, date_trunc('quarter', at) c, "
    "date_trunc('millisecond', at) d, date_trunc('day', at) e, date_trunc('year', at) f FROM w": BOTH,
    "SELECT bit_or(n) a, bit_xor(n) b, bit_and(n) c, bit_or(tiny) d, bit_xor(small) e FROM w": BOTH,
    "SELECT g, bit_or(n) a, bit_xor(n) b, bit_and(n) FILTER (WHERE id > 1) c FROM t GROUP BY g": BOTH,
    "SELECT id, bit_xor(n) OVER (ORDER BY id ROWS 1 PRECEDING) a FROM t": BOTH,
    "SELECT id, bit_or(n) OVER (ORDER BY id ROWS 1 PRECEDING) a FROM t": ("DuckDB",),
    "SELECT id, substr(s, 1, length(s) - 1) a, substr(s, 1, length(s) - 5) b, substr(s, 1, n) c FROM t": BOTH,
    "SELECT id, greatest(n, g) a, least(s, 'b') b, greatest(f, v) c, least(f, v) d, greatest(b, false) e FROM t": BOTH,
    "SELECT id, greatest(raw, X'61') a, greatest(at, at) b, least(r, 1F) c, greatest(tiny, small) d, "
    "least(day, DATE'2000-01-01') e, least(d, 1) f, greatest(ts, TIMESTAMP_NTZ'2000-01-01') g FROM w": BOTH,
    "SELECT current_timestamp() > TIMESTAMP'2020-01-01 00:00:00Z' a, current_date() > DATE'2020-01-01' b FROM t": BOTH,
    "SELECT id, make_date(2000 + id, 1, 31) c FROM t": BOTH,
    "SELECT g, min_by(s, id) a, max_by(s, n) b, max_by(n, v) c, min_by(id, f) d, "
    "min_by(s, n) FILTER (WHERE id > 2) e FROM t GROUP BY g": BOTH,
    "SELECT max_by(s, n) a FROM t WHERE id < 0": BOTH,
    "SELECT g, array_sort(collect_list(n)) a, size(collect_list(s)) b, "
    "array_sort(collect_list(n) FILTER (WHERE id > 3)) c, size(collect_list(DISTINCT n)) d FROM t GROUP BY g": BOTH,
    "SELECT collect_list(n) a, count(*) b FROM t WHERE id < 0": BOTH,
    "SELECT g, b, size(collect_list(n)) a FROM t GROUP BY ROLLUP (g, b)": BOTH,
    "SELECT id, array(n, 1) a, array('a', s) b, size(li) c, sort_array(li) d, array_sort(li) e, "
    "sort_array(te, false) f, reverse(li) g FROM w": BOTH,
    "SELECT id, array(1, 2, 3) a, CAST(array() AS ARRAY<INT>) b, CAST(NULL AS ARRAY<INT>) c, "
    "array(array(1), array(2, NULL)) d, array(1.5, NULL) e, get(array(id, 2), 1) f FROM w": BOTH,
    "SELECT id, coalesce(li, array(0)) a, if(id > 3, li, array(1)) b FROM w UNION ALL SELECT 1, array(5), NULL": BOTH,
    "SELECT id, get(li, 0) a, get(get(array(li, li), 0), 1) b, get(li, n % 3) c, try_element_at(li, 2) d, "
    "try_element_at(li, -1) e, element_at(array(id, 7), 2) f, array(id, 7)[1] g FROM w": ("DuckDB",),
    "SELECT id, array_contains(li, 2) a, array_contains(te, 'x') b, array_max(li) c, array_min(te) d, "
    "array_max(array(v, f)) e, array_contains(array(v, CAST('NaN' AS DOUBLE)), CAST('NaN' AS DOUBLE)) f FROM w": (
        "DuckDB",
    ),
}


@pytest.fixture(scope="module")
def there(spark: SparkSession) -> QueryEngines:
    return QueryEngines(lambda: spark)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_the_rows_of_spark(query: str, there: QueryEngines) -> None:
    found = {item.trial: item for item in query_outcomes("Spark", query, there)}
    for trial in ("produced", "optimized", *QUERIES[query]):
        assert found[trial].outcome == "agrees", found[trial]


@pytest.mark.parametrize("query", ["SELECT id, least(li, array(1)) a FROM w", "SELECT id, greatest(st, st) a FROM w"])
def test_extremes_of_nested_values_are_refused(query: str, there: QueryEngines) -> None:
    """A null in them is the largest value in DataFusion, and the smallest here."""
    found = {item.trial: item for item in query_outcomes("Spark", query, there)}
    assert found["produced"].outcome == "agrees"
    assert found["DataFusion"].outcome == "refused", found


def test_other_zones_are_refused(there: QueryEngines) -> None:
    query = "SELECT date_trunc('hour', at) a FROM w"
    spark = there.spark
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        found = {item.trial: item for item in query_outcomes("Spark", query, there)}
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert found["produced"].outcome == "agrees"
    assert all(found[trial].outcome == "refused" for trial in BOTH), found
