"""Functions of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.producer.nested_views import assert_nested_round_trip, nested_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

views = nested_views

QUERIES = (
    "SELECT size(m), size(mn), cardinality(mm) FROM t",
    "SELECT map_keys(m), map_values(m), map_keys(mn), map_values(mn), map_keys(w), map_values(mm) FROM t",
    "SELECT map_entries(m), map_entries(mn), map_entries(mm) FROM t",
    "SELECT map_entries(m)[0].key, map_entries(w).value FROM t WHERE size(m) > 0",
    "SELECT map_from_entries(map_entries(m)), map_from_entries(array(struct(id, t), struct(-1 AS id, "
    "'x' AS t))) FROM t",
    "SELECT map_from_entries(array_compact(q)) FROM t WHERE id > 1",
    "SELECT map_from_entries(CASE WHEN id > 1 THEN array(struct(id AS x, t)) END) FROM t",
    "SELECT map_from_arrays(array(id, 0), array(t, 'x')), map_from_arrays(map_keys(m), map_values(m)) FROM t",
    "SELECT map_concat(m, map('z', 2)), map_concat(mn, map('z', id)), map_concat(m), map_concat(w, map(99, t)) FROM t",
    "SELECT map_contains_key(m, 'a'), map_contains_key(w, id), map_contains_key(mn, t) FROM t",
    "SELECT str_to_map('a:1,b:2'), str_to_map('a=1;b', ';', '='), str_to_map(t), str_to_map('', ',', ':') FROM t",
    "SELECT map('a', id)['a'], map(1, a)[id], map('x', m)['x']['a'] FROM t",
    "SELECT m['a'] + 1, coalesce(mn['zz'], id), w[1] = 'x' FROM t",
    "SELECT id FROM t WHERE map_contains_key(m, 'a') OR w[-1] IS NULL",
    "SELECT try_element_at(m, t), element_at(w, id), m[lower('A')] FROM t",
    "SELECT map(array(id), named_struct('p', t))[array(1)], map(named_struct('p', id), m)[named_struct('p', 1)] FROM t",
    "SELECT map_keys(map(named_struct('p', id), m))[0].p FROM t",
    "SELECT array_sort(map_keys(m)), array_contains(map_keys(m), t), size(map_values(mm)) FROM t",
    "SELECT map_filter(m, (k, v) -> v > 0), map_filter(mn, (k, v) -> k = 'a' OR v IS NULL) FROM t",
    "SELECT transform_keys(m, (k, v) -> concat(k, '!')), transform_keys(w, (k, v) -> k + id) FROM t",
    "SELECT transform_values(m, (k, v) -> v + id), transform_values(mn, (k, v) -> k), transform_values(mm, "
    "(k, v) -> size(v)) FROM t",
    "SELECT map_zip_with(m, mn, (k, x, y) -> coalesce(x, 0) + coalesce(y, 0)), map_zip_with(w, map(1, id), "
    "(k, x, y) -> x) FROM t",
    "SELECT map_zip_with(m, map('a', t), (k, x, y) -> struct(k, x, y)) FROM t",
    "SELECT map_concat(w, map(-7, t)), map_keys(CAST(NULL AS MAP<INT, INT>)) FROM t",
    "SELECT first_value(m['a']) OVER (ORDER BY id) FROM t",
    "SELECT map('k', DATE'2024-01-01', 'l', NULL), map(1.50, true, 2, NULL), map(DATE'2024-01-01', "
    "1)[DATE'2024-01-01'] FROM t",
    "SELECT map(1.50, 'x')[1.5], map(1L, 'y')[id], map(CAST(1 AS DOUBLE), 'z')[id] FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    nested_views(spark)
    assert_nested_round_trip(spark, query)
