"""Functions of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.nested_views import assert_nested_round_trip, nested_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

views = nested_views

QUERIES = (
    "SELECT array_contains(a, 1), array_contains(a, 7), array_contains(an, id), array_contains(b, 5) FROM t",
    "SELECT array_contains(d, double('NaN')), array_contains(s, t), array_contains(n, array(1, 2)) FROM t",
    "SELECT array_contains(array(1, 2), CAST(NULL AS INT)), array_contains(q, named_struct('k', 2, 'l', '')) FROM t",
    "SELECT array_distinct(a), array_distinct(d), array_distinct(q), array_distinct(an), array_distinct(b) FROM t",
    "SELECT array_union(a, b), array_union(b, a), array_union(an, a), array_union(s, array('q')) FROM t",
    "SELECT array_intersect(a, b), array_intersect(a, an), array_except(a, b), array_except(b, a) FROM t",
    "SELECT arrays_overlap(a, b), arrays_overlap(a, an), arrays_overlap(s, array('z')), arrays_overlap(b, b) FROM t",
    "SELECT arrays_zip(a, b), arrays_zip(a), arrays_zip(an, s, d) FROM t",
    "SELECT arrays_zip(a, b)[0].a, arrays_zip(a, b).b FROM t WHERE id = 1",
    "SELECT arrays_zip(a, a), arrays_zip(a, array(1, 2), s) AS z FROM t",
    "SELECT array_position(a, 1), array_position(s, t), array_position(an, 7), array_position(d, double('NaN')) FROM t",
    "SELECT array_remove(a, 1), array_remove(an, id), array_remove(s, 'b'), array_remove(b, 5) FROM t",
    "SELECT array_repeat(id, 2), array_repeat(t, id), array_repeat(a, 2), array_repeat(1, -1) FROM t",
    "SELECT slice(a, 1, 2), slice(a, -2, 2), slice(a, 2, 100), slice(s, id, 1), slice(an, 1, 1), slice(a, 9, 1) FROM t",
    "SELECT flatten(n), flatten(array(a, b)), flatten(array(a, an)) FROM t",
    "SELECT sort_array(a), sort_array(a, false), sort_array(s), sort_array(d), sort_array(d, false), "
    "sort_array(an) FROM t",
    "SELECT sort_array(q), sort_array(n, false), sort_array(b, 1 = 2) FROM t",
    "SELECT array_sort(a), array_sort(s), array_sort(d), array_sort(an), array_sort(q) FROM t",
    "SELECT array_min(a), array_max(a), array_min(d), array_max(d), array_min(s), array_max(an), array_min(b) FROM t",
    "SELECT array_join(s, ','), array_join(s, ',', '-'), array_join(s, t), array_join(array('a', 'b'), '') FROM t",
    "SELECT array_append(a, id), array_append(an, NULL), array_prepend(a, 7), array_prepend(s, t), "
    "array_append(b, id) FROM t",
    "SELECT array_insert(a, 1, 9), array_insert(a, -1, 9), array_insert(a, 8, id), array_insert(an, id, NULL) FROM t",
    "SELECT array_insert(b, -3, 9), array_insert(s, id, t) FROM t",
    "SELECT array_compact(a), array_compact(b), array_compact(n), array_compact(an), array_compact(s) FROM t",
    "SELECT sequence(1, id), sequence(id, 1), sequence(0, 10, id), sequence(10L, 0L, -3L), sequence(id, NULL) FROM t",
    "SELECT sequence(DATE'2024-01-30', DATE'2024-04-01', INTERVAL 1 MONTH), sequence(DATE'2024-01-30', "
    "DATE'2024-02-02') FROM t",
    "SELECT sequence(TIMESTAMP'2024-03-09 00:00:00', TIMESTAMP'2024-03-11 00:00:00', INTERVAL 12 HOURS) FROM t",
    "SELECT size(a), size(an), cardinality(a), array_size(an), size(array(1, 2)) FROM t",
    "SELECT reverse(a), reverse(an), reverse(s), reverse(n) FROM t",
    "SELECT concat(a, b), concat(a, an), concat(b, b, b), a || b, concat(s, array(t)) FROM t",
    "SELECT id FROM t WHERE array_contains(a, 1) AND size(b) > 1",
    "SELECT array_max(array_union(a, b)) - array_min(array_append(b, 1)) AS x FROM t WHERE id < 3",
    "SELECT sum(size(a)), count(array_max(a)), min(id) FROM t GROUP BY size(b) > 1",
    "SELECT array_agg_id, size(s) FROM (SELECT array(id, id + 1) AS array_agg_id, s FROM t)",
    "SELECT element_at(array_sort(a), 1), get(array_distinct(a), id) FROM t WHERE size(a) > 0",
    "SELECT array_contains(array(a, b), b), array_position(array(b, b), b), array_remove(array(a, b), b) FROM t",
    "SELECT array_union(array(named_struct('k', 1, 'l', t)), q) FROM t",
    "SELECT array_contains(array(DATE'2024-01-01'), DATE'2024-01-01'), array_max(array(1.50, 2)), "
    "array_distinct(array(1.0, NULL)) FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    nested_views(spark)
    assert_nested_round_trip(spark, query)


def test_a_shuffle_is_refused(spark: SparkSession) -> None:
    nested_views(spark)
    with pytest.raises(UnsupportedPlanError, match="shuffle"):
        ps.to_substrait(spark.sql("SELECT shuffle(a) FROM t"), tables=("t",))


def test_the_older_size_of_null(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.legacy.sizeOfNull", "true")
    nested_views(session)
    frame = session.sql("SELECT size(an), size(mn), size(a) FROM t")
    plan = ps.to_substrait(frame, tables=("t",))
    back = ps.from_substrait(plan, spark, tables=nested_views(spark))
    assert sorted(map(tuple, back.collect())) == [(-1, 1, 2), (0, -1, 0), (5, 2, 5)]
    assert sorted(map(tuple, frame.collect())) == [(-1, 1, 2), (0, -1, 0), (5, 2, 5)]


@pytest.mark.parametrize(
    ("query", "error"),
    (
        ("SELECT slice(a, 0, 1) FROM t", "INVALID_PARAMETER_VALUE|indices start at 1"),
        ("SELECT sequence(1, 5, -1) FROM t", "illegal|INVALID|boundaries"),
        ("SELECT try_element_at(a, id - 1) FROM t", "INVALID_INDEX_OF_ZERO"),
    ),
)
def test_errors_are_the_same(spark: SparkSession, query: str, error: str) -> None:
    tables = nested_views(spark)
    frame = spark.sql(query)
    back = ps.from_substrait(ps.to_substrait(frame, tables=("t",)), spark, tables=tables)
    for each in (frame, back):
        with pytest.raises(Exception, match=error):
            each.collect()


def test_whether_a_list_contains_a_value_is_standard_where_it_is_exact(spark: SparkSession) -> None:
    nested_views(spark)
    for query, name in (
        ("SELECT array_contains(a, 1) FROM t", "any_match"),
        ("SELECT array_contains(a, id) FROM t", "any_match"),
        ("SELECT array_contains(s, t) FROM t", "functions_spark_collection"),
        ("SELECT array_contains(d, double('NaN')) FROM t", "functions_spark_collection"),
    ):
        assert name in assert_nested_round_trip(spark, query).to_json()
