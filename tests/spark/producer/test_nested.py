"""Structs, lists and maps: making them, taking parts of them, changing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.nested_views import assert_nested_round_trip, nested_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

views = nested_views

QUERIES = (
    "SELECT r.x, r.y, r.z.v, r.z.v[0], rn.x, rn.z.v FROM t WHERE id <> 2 AND size(r.z.v) > 0",
    "SELECT r, rn, q, mm, n FROM t",
    "SELECT q.k, q.l FROM t",
    "SELECT q[0].k AS k, q[0].l FROM t WHERE size(q) > 0",
    "SELECT get(q, 1).k, try_element_at(q, -1).l FROM t",
    "SELECT get(a, 0), get(a, 2), get(a, 100), get(an, 0) FROM t",
    "SELECT get(a, id), get(a, -1), get(a, id - 2), get(a, CAST(id AS BIGINT)) FROM t",
    "SELECT a[id], element_at(a, id), element_at(a, -1) FROM t WHERE id = 1",
    "SELECT b[0], element_at(b, 1), element_at(b, -1) FROM t",
    "SELECT try_element_at(a, 1), try_element_at(a, -1), try_element_at(a, 100), try_element_at(an, id) FROM t",
    "SELECT m['a'], m['zz'], mn['b'], element_at(m, 'a'), try_element_at(m, 'b') FROM t",
    "SELECT m[t], element_at(mn, t), w[id], w[1], w[-1] FROM t",
    "SELECT mm['o'], mm['o']['i'], mm['o']['i'][0], mm[t] FROM t WHERE id <> 3",
    "SELECT array(1, 2, id), array(id), array(t, 'x', NULL), array(a, b), array(an, array(1)) FROM t",
    "SELECT coalesce(an, array()), CAST(array() AS ARRAY<STRING>), CAST(map() AS MAP<STRING, INT>) FROM t",
    "SELECT array(named_struct('p', id, 'q', t), named_struct('p', NULL, 'q', 'c')) AS made FROM t",
    "SELECT map('a', id, 'b', NULL), map(id, array(t)), map('k', a, 'l', an) FROM t",
    "SELECT map(t, id) FROM t WHERE t IS NOT NULL",
    "SELECT named_struct('p', id, 'q', t), struct(id, a), struct(*), struct(id AS other).other FROM t",
    "SELECT named_struct('p', named_struct('q', id)).p.q AS deep FROM t",
    "SELECT array(array(named_struct('m', map(id, array(t))))) AS deep FROM t",
    "SELECT if(id = 1, a, NULL)[0] IS NULL, (CASE WHEN id = 1 THEN r END).x FROM t WHERE id = 1",
    "SELECT coalesce(rn, r).y, coalesce(mn, m)['a'] FROM t",
    "SELECT r = rn, r < named_struct('x', 2, 'y', '', 'z', NULL), a = b, a < b, a <=> an FROM t",
    "SELECT DISTINCT a, r, q FROM (SELECT * FROM t UNION ALL SELECT * FROM t)",
    "SELECT r.x, count(*) AS c FROM t GROUP BY r.x",
    "SELECT a, count(*) FROM t GROUP BY a",
    "SELECT id FROM t ORDER BY a, r, q",
    "SELECT x.id FROM t AS x JOIN t AS y ON x.r = y.r AND x.a = y.a",
    "SELECT id FROM t WHERE r.x IN (SELECT get(a, 1) FROM t)",
    "SELECT id, (SELECT max(u.b[0]) FROM t AS u WHERE u.id = x.id) AS m FROM t AS x",
    "SELECT a IS NULL, an IS NOT NULL, rn IS NULL, mn IS NULL, size(mm['o']) FROM t",
    "SELECT CAST(a AS ARRAY<BIGINT>), CAST(r AS STRUCT<x: BIGINT, y: STRING, z: STRUCT<v: ARRAY<STRING>>>) FROM t",
    "SELECT CAST(m AS MAP<STRING, STRING>), CAST(get(b, 0) AS STRING) FROM t",
    "SELECT r.x AS `a.b`, struct(id AS `x y`, t AS `ö`) AS `weird name` FROM t",
    "SELECT x.r.*, x.id FROM t AS x",
    "SELECT max(r.x), get(min(a), 0) FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    nested_views(spark)
    assert_nested_round_trip(spark, query)


def test_fields_are_added_replaced_and_dropped(spark: SparkSession) -> None:
    tables = nested_views(spark)
    frame = spark.table("t")
    made = frame.select(
        F.col("r").withField("w", F.col("id")).alias("added"),
        F.col("rn").withField("x", F.lit("other")).alias("replaced"),
        F.col("rn").dropFields("y", "z").alias("dropped"),
        F.col("r").withField("z.v", F.col("a")).alias("inside"),
        F.struct(F.lit(1).alias("one"), F.col("rn")).alias("two").getField("rn").getField("x").alias("path"),
    )
    assert_nested_round_trip(spark, made, tables=tables)


def test_parts_by_the_data_frame_api(spark: SparkSession) -> None:
    tables = nested_views(spark)
    frame = spark.table("t")
    made = frame.select(
        F.col("m")["a"], F.col("r")["x"], F.col("q")["k"], F.get("a", 0), F.try_element_at("b", F.lit(2)), "r.z.v"
    )
    assert_nested_round_trip(spark, made, tables=tables)


@pytest.mark.parametrize("query", ("SELECT a[100] FROM t", "SELECT element_at(b, 9) FROM t", "SELECT b[-1] FROM t"))
def test_an_element_that_is_not_there_is_an_error_in_both(spark: SparkSession, query: str) -> None:
    tables = nested_views(spark)
    frame = spark.sql(query)
    back = ps.from_substrait(ps.to_substrait(frame, tables=("t",)), spark, tables=tables)
    for each in (frame, back):
        with pytest.raises(Exception, match="INVALID_ARRAY_INDEX"):
            each.collect()


@pytest.mark.parametrize(
    "query", ("SELECT map('a', id, 'a', id) FROM t", "SELECT map(t, id) FROM t", "SELECT map_concat(m, m) FROM t")
)
def test_keys_that_are_null_or_come_twice_are_errors_in_both(spark: SparkSession, query: str) -> None:
    tables = nested_views(spark)
    frame = spark.sql(query)
    back = ps.from_substrait(ps.to_substrait(frame, tables=("t",)), spark, tables=tables)
    for each in (frame, back):
        with pytest.raises(Exception, match=r"DUPLICATED_MAP_KEY|NULL_MAP_KEY"):
            each.collect()


def test_elements_of_no_type_are_refused(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match=r"void|no type"):
        ps.to_substrait(spark.sql("SELECT array() AS x"))
