"""Higher-order functions: lambdas, with references to columns and to the parameters of lambdas around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from tests.spark.producer.nested_views import assert_nested_round_trip, nested_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

views = nested_views

QUERIES = (
    "SELECT transform(a, x -> x + 1) FROM t WHERE id < 3",
    "SELECT transform(b, x -> x * id), transform(an, x -> x IS NULL), transform(s, x -> concat(x, t)) FROM t",
    "SELECT transform(a, (x, i) -> i), transform(b, (x, i) -> x + i * id), transform(s, (x, i) -> struct(i, x)) FROM t",
    "SELECT filter(a, x -> x > 1), filter(an, x -> x IS NOT NULL), filter(s, x -> x = t), filter(a, x -> NULL) FROM t",
    "SELECT filter(a, (x, i) -> i > 0), filter(s, (x, i) -> i % 2 = 0 AND x <> '') FROM t",
    "SELECT exists(a, x -> x > 2), exists(an, x -> x IS NULL), exists(b, x -> x = id), exists(s, "
    "x -> x = 'nope') FROM t",
    "SELECT forall(a, x -> x > 0), forall(b, x -> x > 0), forall(an, x -> x IS NOT NULL), forall(s, "
    "x -> x <> 'q') FROM t",
    "SELECT transform(n, y -> transform(y, z -> z + size(y))) FROM t WHERE id <> 3",
    "SELECT transform(b, x -> transform(b, y -> x * y + id)) FROM t",
    "SELECT transform(b, x -> filter(a, y -> y > x AND id = 1)) FROM t",
    "SELECT transform(b, x -> transform(s, y -> exists(a, z -> z = x AND y = t))) FROM t",
    "SELECT transform(q, x -> x.k), transform(q, x -> named_struct('k', x.k, 'n', x.l IS NULL)), filter(q, "
    "x -> x.k = id) FROM t",
    "SELECT aggregate(b, 0, (acc, x) -> acc + x), aggregate(a, 0, (acc, x) -> acc + coalesce(x, 0) % 7) FROM t",
    "SELECT aggregate(b, 0, (acc, x) -> acc + x, acc -> acc * id), reduce(b, id, (acc, x) -> greatest(acc, x)) FROM t",
    "SELECT aggregate(s, '', (acc, x) -> concat(acc, coalesce(x, '?'))), aggregate(an, 1, (acc, x) -> acc) FROM t",
    "SELECT aggregate(a, CAST(NULL AS INT), (acc, x) -> coalesce(acc, x)) FROM t",
    "SELECT aggregate(b, named_struct('c', 0, 's', 0L), (acc, x) -> named_struct('c', acc.c + 1, 's', "
    "acc.s + x), acc -> acc.s / acc.c) FROM t WHERE id <> 2",
    "SELECT aggregate(b, CAST(array() AS ARRAY<INT>), (acc, x) -> array_append(acc, x * 2)) FROM t",
    "SELECT aggregate(transform(b, x -> x + id), 0L, (acc, x) -> acc + x) FROM t",
    "SELECT zip_with(b, b, (x, y) -> x + y), zip_with(a, b, (x, y) -> coalesce(x, y)), zip_with(s, a, (x, "
    "y) -> struct(x, y)) FROM t",
    "SELECT array_sort(b, (x, y) -> y - x), array_sort(s, (x, "
    "y) -> CASE WHEN x IS NULL THEN -1 WHEN y IS NULL THEN 1 WHEN length(x) < length(y) THEN -1 WHEN "
    "length(x) > length(y) THEN 1 ELSE 0 END) FROM t",
    "SELECT map_filter(map('a', id, 'b', 2), (k, v) -> v = id AND exists(s, x -> x = k)) FROM t",
    "SELECT transform(map_entries(m), e -> concat(e.key, '=', coalesce(CAST(e.value AS STRING), '?'))) FROM t",
    "SELECT id FROM t WHERE exists(a, x -> x > id) AND NOT forall(b, y -> y < id)",
    "SELECT count(*) FROM t GROUP BY size(filter(b, x -> x = 5))",
    "SELECT sum(aggregate(b, 0, (acc, x) -> acc + x)) FROM t",
    "SELECT x.id, transform(x.b, e -> e + y.id) FROM t AS x JOIN t AS y ON exists(x.b, e -> e = y.id)",
    "SELECT id FROM t ORDER BY aggregate(b, 0, (acc, x) -> acc - x), id",
    "SELECT id, (SELECT max(aggregate(u.b, 0, (acc, e) -> acc + e)) FROM t AS u WHERE u.id = x.id) FROM t AS x",
    "SELECT transform(a, x -> CASE WHEN x IS NULL THEN t WHEN x > 2 THEN 'big' ELSE 'small' END) FROM t",
    "SELECT transform(transform(b, x -> x + 1), x -> x * 2), filter(transform(b, x -> x), x -> x > 1) FROM t",
    "SELECT transform(b, id -> id + 1), transform(b, x -> transform(array(x), x -> x + 1)) FROM t",
    "SELECT transform(d, x -> isnan(x)), filter(d, x -> x >= 0), exists(d, x -> x = double('NaN')) FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_queries(spark: SparkSession, query: str) -> None:
    nested_views(spark)
    assert_nested_round_trip(spark, query)


def test_lambdas_by_the_data_frame_api(spark: SparkSession) -> None:
    nested_views(spark)
    frame = spark.table("t").select(
        F.transform("b", lambda x: x + F.col("id")),
        F.transform("b", lambda x, i: x * i),
        F.filter("a", lambda x: x.isNotNull()),
        F.exists("s", lambda x: x == F.col("t")),
        F.forall("b", lambda x: x > 0),
        F.aggregate("b", F.lit(0), lambda acc, x: acc + x, lambda acc: acc + 1),
        F.zip_with("b", "a", lambda x, y: F.coalesce(y, x)),
        F.transform("b", lambda x: F.transform("b", lambda y: x - y)),
        F.map_filter("m", lambda k, v: v.isNotNull()),
        F.transform_values("m", lambda k, v: F.concat(k, F.lit("!"))),
        F.array_sort("b", lambda x, y: y - x),
    )
    assert_nested_round_trip(spark, frame)


def test_existence_of_two_values(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.legacy.followThreeValuedLogicInArrayExists", "false")
    nested_views(session)
    frame = session.sql("SELECT exists(a, x -> x = 7), exists(an, x -> x = 3) FROM t")
    plan = ps.to_substrait(frame, tables=("t",))
    back = ps.from_substrait(plan, spark, tables=nested_views(spark))
    for each in (frame, back):
        assert [tuple(row) for row in each.collect()] == [(False, True), (False, False), (False, None)]
