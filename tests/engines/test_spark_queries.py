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
    "SELECT id, st, ss, ma, deep, st.p a, st.q b, deep.a.p c, get(deep.b, 0) d, get(ss, 0).q e, get(ss, 1) f "
    "FROM w": BOTH,
    "SELECT id, CASE WHEN id > 3 THEN st ELSE named_struct('p', 1, 'q', 'z') END a, nullif(st, st) b, "
    "coalesce(st, named_struct('p', 0, 'q', '')) c, if(id > 2, NULL, deep) d FROM w": BOTH,
    "SELECT st FROM w UNION ALL SELECT named_struct('p', 5, 'q', 'u') UNION ALL SELECT deep.a FROM w": BOTH,
    "SELECT id, named_struct('a', named_struct('p', n, 'q', s), 'b', li) a FROM w UNION ALL SELECT id, deep "
    "FROM w": BOTH,
    "SELECT st FROM w UNION SELECT deep.a FROM w": BOTH,
    "SELECT deep.a a, li b, count(*) c FROM w GROUP BY deep.a, li": BOTH,
    "SELECT li FROM w EXCEPT SELECT li FROM w WHERE id > 5": BOTH,
    "SELECT id, st = named_struct('p', 1, 'q', 'a') a, st <=> deep.a b, li = array(3) c, li <> array(1) d, "
    "st IN (named_struct('p', 1, 'q', 'a'), NULL) e FROM w": BOTH,
    "SELECT id, li < array(2) a, li >= array(1, NULL) b, st < named_struct('p', 1, 'q', 'a') c, st > deep.a d, "
    "li BETWEEN array(0) AND array(3) e, ss < array(st) f, deep <= deep g FROM w": ("DuckDB",),
    "SELECT id, li, st, ss FROM w ORDER BY st DESC, li NULLS LAST, ss, id": ("DuckDB",),
    "SELECT id, rank() OVER (ORDER BY st) a, row_number() OVER (PARTITION BY li ORDER BY ss, id) b FROM w": ("DuckDB",),
    "SELECT a.id, b.id j FROM w a JOIN w b ON a.st = b.st LEFT JOIN w c ON a.li <=> c.li": BOTH,
    "SELECT id, named_struct('p', n, 'x', s) a, struct(st, li) b, array(named_struct('k', id, 'l', li)) c, "
    "named_struct('z', st).z.p d, map('a', st, 'b', NULL) e FROM w": ("DuckDB",),
    "SELECT b, count(*) c FROM (SELECT struct(n, s) b FROM w) GROUP BY b": BOTH,
    "SELECT id, ma['a'] a, map('k', id, 'l', n) b, element_at(ma, 'b') c, map(id, li) d FROM w": BOTH,
    "SELECT id, size(ma) a, map_keys(ma) b, map_values(ma) c, map_entries(ma) d, map_contains_key(ma, 'a') e, "
    "map_from_arrays(array('x', 'y'), array(id, n)) f, map_from_entries(array(struct('a', id), NULL)) g, "
    "map_concat(ma, map('zz', 1)) h FROM w": ("DuckDB",),
    "SELECT id, map_filter(ma, (k, v) -> v > 1 OR k = 'b') a, transform_values(ma, (k, v) -> v + length(k)) b, "
    "transform_keys(ma, (k, v) -> concat(k, '!')) c FROM w": ("DuckDB",),
    "SELECT id, transform(li, (x, i) -> x * i) a, filter(li, (x, i) -> i < 2) b, zip_with(li, array(1, 2), "
    "(x, y) -> x + y) c, aggregate(li, 0, (a, x) -> a + coalesce(x, 1), a -> a * 2) d, transform(ss, x -> x.p) e, "
    "exists(ss, x -> x.p > 1) f FROM w": ("DuckDB",),
    "SELECT id, array_position(li, 2) a, array_distinct(li) b, array_intersect(li, array(3, NULL, 1)) c, "
    "array_remove(li, 2) d, arrays_overlap(li, array(3, NULL)) e, arrays_zip(li, te) f, array_union(te, te) g, "
    "array_except(li, array(2, NULL)) h, array_except(te, CAST(NULL AS ARRAY<STRING>)) i FROM w": ("DuckDB",),
    "SELECT id, array_repeat(s, 2) a, slice(li, 2, 2) b, slice(li, -2, 1) c, slice(li, -9, 20) d, slice(te, 1, 0) e, "
    "flatten(array(li, array(1))) f, array_join(te, ',') g, array_append(li, 5) h, array_prepend(li, NULL) i, "
    "array_compact(li) j, concat(li, array(1)) k FROM w": ("DuckDB",),
    "SELECT id, sequence(id, 3) a, sequence(tiny, tiny) b, sequence(1, 9, 3) c, sequence(bigint(n % 5), 2L) d FROM w": (
        "DuckDB",
    ),
    "SELECT id, get(li, n) a, get(li, -1) b, try_element_at(li, n % 2 + 3) c, get(te, n % 4) d FROM w": BOTH,
    "SELECT id, try_element_at(li, n) a FROM w WHERE n <> 0": BOTH,
    "SELECT id, li[n] a, element_at(li, n + 1) b, element_at(array(id, n), -1) c FROM w "
    "WHERE n >= 0 AND n < size(li)": BOTH,
    "SELECT t.id, e.x, f.p, f.y FROM w t LATERAL VIEW explode(li) e AS x LATERAL VIEW OUTER posexplode(te) f AS p, "
    "y WHERE x > 1 OR x IS NULL": ("DuckDB",),
    "SELECT id, explode(ss) x FROM w": ("DuckDB",),
    "SELECT t.id, e.* FROM w t LATERAL VIEW OUTER explode(ma) e AS k, v": ("DuckDB",),
    "SELECT t.id, e.* FROM w t LATERAL VIEW posexplode(ma) e AS i, k, v": ("DuckDB",),
    "SELECT id, inline(ss) FROM w": ("DuckDB",),
    "SELECT id, inline_outer(ss) FROM w": ("DuckDB",),
    "SELECT id, stack(2, id, s, 0L, 'y') AS (a, b) FROM w": ("DuckDB",),
    "SELECT u.k, q.x FROM u LEFT JOIN (SELECT g, explode(li) x FROM w) q ON u.g = q.g": ("DuckDB",),
    "SELECT id, TRY_CAST(s AS BOOLEAN) a, TRY_CAST(' tRue ' AS BOOLEAN) b, CAST('\\tno\\n' AS BOOLEAN) c, "
    "TRY_CAST(s AS INT) d, CAST('\\t5\\n' AS INT) e, TRY_CAST('5.0' AS INT) f FROM w": BOTH,
    "SELECT id, ~tiny a, ~n b, ~id c FROM w": BOTH,
    "SELECT id, first(s) IGNORE NULLS OVER (ORDER BY id) a, last(n, true) OVER (PARTITION BY b ORDER BY id ROWS "
    "BETWEEN 1 PRECEDING AND 2 FOLLOWING) b, lag(n, 1) IGNORE NULLS OVER (ORDER BY id) c, lead(s, 2, 'none') IGNORE "
    "NULLS OVER (ORDER BY id DESC) d, nth_value(n, 2) IGNORE NULLS OVER (PARTITION BY b ORDER BY id) e, "
    "first_value(n) OVER (ORDER BY id) f FROM t": ("DuckDB",),
    "SELECT g, max(struct(n, s)) a, min(struct(id)) b, max(li) c, min(deep.b) d, max(st) FILTER (WHERE id > 3) e "
    "FROM w GROUP BY g": ("DuckDB",),
    "SELECT id, max(struct(n)) OVER (PARTITION BY g ORDER BY id) a, min(li) OVER (ORDER BY id ROWS 2 PRECEDING) b "
    "FROM w": ("DuckDB",),
    "SELECT g, array_sort(collect_set(s)) a, size(collect_set(n)) b, size(collect_set(st)) c FROM w GROUP BY g": (
        "DuckDB",
    ),
    "SELECT id, transform(array(li), x -> get(x, 0)) a, transform(array(ma), x -> x['a']) b FROM w": BOTH,
    "SELECT f, id FROM (SELECT -0.0D f, 3 id UNION ALL SELECT 0.0D, 1 UNION ALL SELECT -0.0D, 4 UNION ALL "
    "SELECT 0.0D, 2) ORDER BY f DESC, id LIMIT 3": BOTH,
    "SELECT * FROM (SELECT * FROM (SELECT id, f FROM t ORDER BY f, id) ORDER BY f, id LIMIT 5) ORDER BY f, id": BOTH,
    "SELECT id, count(*) OVER (PARTITION BY f) a, rank() OVER (ORDER BY f) b, sum(id) OVER (ORDER BY f) c FROM "
    "(SELECT -0.0D f, 3 id UNION ALL SELECT 0.0D, 1 UNION ALL SELECT 1D, 4 UNION ALL SELECT 0.0D, 2)": BOTH,
    "SELECT * FROM (SELECT 5 x, sum(id) s FROM t) WHERE x = 3": BOTH,
    "SELECT * FROM (SELECT CAST(NULL AS INT) x, sum(id) s FROM t UNION ALL SELECT 3, 4) WHERE x = 3": BOTH,
    "SELECT a.x, a.s FROM (SELECT 5 x, sum(id) s FROM t) a JOIN u ON a.x = 3 AND u.k > a.s": BOTH,
    "SELECT count(*) n FROM t HAVING (SELECT max(k) FROM u) > 100000": BOTH,
    "SELECT g, sum(id) s FROM t WHERE id < 0 GROUP BY ROLLUP (g) HAVING g = 3": BOTH,
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
