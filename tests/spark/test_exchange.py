"""Exchange: where the records go, seen by ``spark_partition_id``. Buckets and orders are worked out by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import NestedList, ScalarSubquery, SortDirection
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    Broadcast,
    Exchange,
    ExchangeKind,
    ExchangeTarget,
    Fetch,
    JoinType,
    MultiBucketExpression,
    Reference,
    Relation,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
    Sort,
)
from pyspark_substrait.model.types import List, Map
from pyspark_substrait.sql.compiler.exchanges import MAX_PARTITIONS, key_of
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    REAL_,
    TEXT,
    TEXT_,
    aggregate,
    both,
    call,
    col,
    emit,
    group,
    join,
    long,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    sort,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: a number, a key of five values and null, a float
CELLS: list[tuple[Any, ...]] = [
    (i, None if i % 6 == 5 else "abcde"[i % 6], (0.0, -0.0, None, float("nan"))[i % 4]) for i in range(60)
]
TABLE = values([INT, TEXT_, REAL_], CELLS)


def c(position: int) -> Any:
    return col(TABLE, position)


def exchange(kind: ExchangeKind, count: int = 0, input: Relation = TABLE, **more: Any) -> Exchange:
    return Exchange(input=input, exchange_kind=kind, partition_count=count, **more)


def placed(spark: SparkSession, *nodes: Relation) -> list[list[tuple[Any, ...]]]:
    """The records of each relation, each with the number of its partition in front, in the order of collection."""
    found = []
    for node in nodes:
        frame = ps.from_substrait(plan(node), spark).selectExpr("spark_partition_id() AS p", "*")
        found.append([tuple(row) for row in frame.collect()])
    return found


def partitions(found: list[tuple[Any, ...]]) -> dict[int, list[Any]]:
    """The first columns of the records, by partition."""
    by: dict[int, list[Any]] = defaultdict(list)
    for partition, first, *_ in found:
        by[partition].append(first)
    return dict(by)


def test_scattered_records_with_equal_keys_stay_together(spark: SparkSession) -> None:
    """So do nulls, NaNs, and both zeros; the same keys find the same partition in every exchange."""
    by_text, by_float, by_both, again = placed(
        spark,
        exchange(ScatterFields((c(1),)), 7),
        exchange(ScatterFields((c(2),)), 7),
        exchange(ScatterFields((c(1), c(2))), 3),
        exchange(ScatterFields((col(values([TEXT_], []), 0),)), 7, input=project(TABLE, c(1))),
    )
    for found, key in ((by_text, lambda row: row[2]), (by_float, lambda row: str(row[3]).lstrip("-"))):
        homes = defaultdict(set)
        for row in found:
            homes[key(row)].add(row[0])
        assert all(len(home) == 1 for home in homes.values())
        assert len({next(iter(home)) for home in homes.values()}) > 1
    assert max(row[0] for row in by_both) < 3
    for found in (by_text, by_float, by_both):
        assert sorted(row[1] for row in found) == list(range(60))
    assert {(row[2], row[0]) for row in by_text} == {(row[1], row[0]) for row in again}


def test_the_number_of_partitions_is_the_one_stated(spark: SparkSession) -> None:
    """Adaptive execution merges small partitions only where their number is left to Spark."""
    many = values([INT], [(i,) for i in range(100)])
    key = col(many, 0)
    for kind in (ScatterFields((key,)), SingleBucketExpression(key), RoundRobin(), RoundRobin(exact=True)):
        (found,) = placed(spark, exchange(kind, 5, input=many))
        assert set(partitions(found)) == {0, 1, 2, 3, 4}, kind
    for kind in (ScatterFields((key,)), SingleBucketExpression(key), RoundRobin(), RoundRobin(exact=True)):
        (found,) = placed(spark, exchange(kind, input=many))
        assert sorted(row[1] for row in found) == list(range(100)), kind


def test_a_single_bucket_is_the_partition_of_its_number(spark: SparkSession) -> None:
    """The number modulo the count, which is never negative; of every integer type."""
    shifted = call("subtract", c(0), number(30))
    for expression, count in ((shifted, 4), (shifted, 1), (shifted, 59), (c(0), 13)):
        (found,) = placed(spark, exchange(SingleBucketExpression(expression), count))
        off = 30 if expression is shifted else 0
        assert sorted(row[1] for row in found) == list(range(60))
        assert all(row[0] == (row[1] - off) % count for row in found), count
    wide = values([LONG], [(2**40 + i,) for i in range(8)] + [(-(2**40) - i,) for i in range(8)])
    (found,) = placed(spark, exchange(SingleBucketExpression(col(wide, 0)), 5, input=wide))
    assert len(found) == 16 and all(row[0] == row[1] % 5 for row in found)
    (found,) = placed(spark, exchange(SingleBucketExpression(c(0))))
    assert sorted(row[1] for row in found) == list(range(60))


def test_spark_hashes_a_key_to_its_bucket(spark: SparkSession) -> None:
    buckets = [*range(300), 2**31 - 1, 2**31, 2**32 - 1, *range(10_000, MAX_PARTITIONS, 9_973)]
    frame = spark.createDataFrame([(bucket, key_of(bucket)) for bucket in buckets], "b BIGINT, k INT")
    assert frame.where("(hash(k) & 4294967295) != b").collect() == []


def test_a_record_goes_into_all_of_its_buckets(spark: SparkSession) -> None:
    """One copy for each number of the list, equal ones included; none for an empty list."""
    lists = [[0, 1, 2], [], [3, 3], [7, -1], [5]]
    table = values([INT, List(type=INT)], list(enumerate(lists)))
    multi = MultiBucketExpression(col(table, 1))
    (found,) = placed(spark, exchange(multi, 4, input=table))
    wanted = [(bucket % 4, i) for i, buckets in enumerate(lists) for bucket in buckets]
    assert sorted(row[:2] for row in found) == sorted(wanted)
    inside = where(table, call("lt", col(table, 0), number(3)))
    (found,) = placed(spark, exchange(MultiBucketExpression(col(table, 1), True), 4, input=inside))
    assert sorted(row[:2] for row in found) == sorted(pair for pair in wanted if pair[1] < 3)
    # how many copies there are doesn't depend on the number of partitions
    assert Counter(row[0] for row in rows(spark, exchange(multi, input=table))) == {0: 3, 2: 2, 3: 2, 4: 1}
    computed = NestedList(values=(col(table, 0), call("add", col(table, 0), number(1))))
    (found,) = placed(spark, exchange(MultiBucketExpression(computed), 3, input=table))
    assert sorted(row[:2] for row in found) == sorted((b % 3, i) for i in range(5) for b in (i, i + 1))


def test_buckets_that_are_none(spark: SparkSession) -> None:
    table = values([INT_, List(type=INT_, nullable=True)], [(1, [1]), (None, [None]), (2, None)])
    for row, kind in (
        (1, SingleBucketExpression(col(table, 0))),
        (1, MultiBucketExpression(col(table, 1))),
        (2, MultiBucketExpression(col(table, 1))),
    ):
        one = values(table.base_schema.struct.types, [[(1, [1]), (None, [None]), (2, None)][row]])
        for count in (0, 3):
            with pytest.raises(ExecutionError, match="the bucket of a record is null"):
                rows(spark, exchange(kind, count, input=one))
    for wrong in (3, -1, None):
        one = values([List(type=INT_)], [([wrong],)])
        constrained = MultiBucketExpression(col(one, 0), constrained_to_count=True)
        with pytest.raises(ExecutionError, match="isn't one of the 3 from 0 on"):
            rows(spark, exchange(constrained, 3, input=one))


def test_round_robin(spark: SparkSession) -> None:
    """Exact: sizes differ by one at most, and neighbours go to neighbours. Approximate: they are about the same."""
    for records in (0, 1, 7, 40):
        some = where(TABLE, call("lt", c(0), number(records)))
        exact, about = placed(
            spark, exchange(RoundRobin(exact=True), 4, input=some), exchange(RoundRobin(), 4, input=some)
        )
        assert sorted(row[1] for row in exact) == sorted(row[1] for row in about) == list(range(records))
        sizes = [len(partitions(exact).get(partition, ())) for partition in range(4)]
        assert max(sizes) - min(sizes) <= 1
    assert {row[1] % 4 - row[0] for row in exact} == {0}
    assert all(5 <= len(part) <= 15 for part in partitions(about).values()) and len(partitions(about)) == 4


def test_a_broadcast_is_the_same_records_and_a_hint(spark: SparkSession) -> None:
    """Every partition of a join's other side gets all records; the result has each of them once."""
    sides = [values([INT], [(i,) for i in range(n)]) for n in (5, 3)]
    for count in (0, 4):
        sent = [exchange(Broadcast(), count, input=side) for side in sides]
        assert sorted(rows(spark, sent[0])) == [(i,) for i in range(5)]
        filtered = where(sent[0], call("gte", col(sent[0], 0), number(1)))
        for left, right, place in ((filtered, sides[1], "BuildLeft"), (sides[0], sent[1], "BuildRight")):
            record = both(left, right)
            joined = join(left, right, call("equal", col(record, 0), col(record, 1)), JoinType.INNER)
            start = 1 if left is filtered else 0
            assert ordered(rows(spark, joined)) == [(i, i) for i in range(start, 3)]
            assert "strategy=broadcast" in plans(ps.from_substrait(plan(joined), spark))
            assert place in plans(ps.from_substrait(plan(joined), spark))


def plans(frame: Any) -> str:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        frame.explain(extended=True)
    return out.getvalue()


def test_the_order_lasts_in_each_partition(spark: SparkSession) -> None:
    backwards = Sort(input=TABLE, sorts=(sort(c(0), SortDirection.DESC_NULLS_LAST),))
    kept = where(backwards, call("lt", c(0), number(50)))
    kinds = (
        ScatterFields((c(1),)),
        SingleBucketExpression(c(0)),
        RoundRobin(),
        RoundRobin(exact=True),
        MultiBucketExpression(NestedList(values=(number(0), c(0)))),
    )
    for kind in kinds:
        (found,) = placed(spark, exchange(kind, 3, input=kept))
        assert {row[1] for row in found} == set(range(50))
        for part in partitions(found).values():
            assert part == sorted(part, reverse=True), kind
        # who takes the first records goes by the order of all
        first = Fetch(input=exchange(kind, 3, input=kept), count_expr=long(4))
        wanted = [49, 48, 47, 46] if kind is not kinds[-1] else [49, 49, 48, 48]
        assert [row[0] for row in rows(spark, first)] == wanted, kind
    narrow = exchange(SingleBucketExpression(c(0)), 3, input=kept, common=emit(1, 0))
    assert [row[1] for row in rows(spark, Fetch(input=narrow, count_expr=long(3)))] == [49, 48, 47]
    (found,) = placed(spark, exchange(Broadcast(), input=kept))
    assert [row[1] for row in found] == list(range(49, -1, -1))
    shared = exchange(RoundRobin(), 3, input=backwards)
    reference = Reference(subtree_ordinal=1, subtree=shared)
    with pytest.raises(UnsupportedPlanError, match="shared subtree with an exchange"):
        ps.to_sql(plan(Fetch(input=reference, count_expr=long(1)), (), shared))


def test_exchanges_between_other_relations(spark: SparkSession) -> None:
    sent = exchange(ScatterFields((c(1),)), 4, input=where(TABLE, call("lt", c(0), number(20))), common=emit(1, 0))
    again = exchange(SingleBucketExpression(col(sent, 1)), 3, input=sent)
    grouped = group(again, [col(again, 0)], [aggregate("sum", col(again, 1))])
    wanted: Counter[Any] = Counter()
    for cell in CELLS[:20]:
        wanted[cell[1]] += cell[0]
    assert dict(rows(spark, grouped)) == dict(wanted)
    # in a correlated subquery, records are the same wherever they are
    inner = exchange(RoundRobin(), 2, input=where(TABLE, call("lt", c(0), outer(TABLE, 0, steps_out=1))))
    counted = group(inner, [], [aggregate("max", col(inner, 0))])
    some = where(TABLE, call("lt", c(0), number(3)))
    found = rows(spark, project(some, c(0), ScalarSubquery(input=counted)))
    assert ordered(found) == [(0, None), (1, 0), (2, 1)]
    best = group(TABLE, [], [aggregate("min", c(0))])
    by_query = call("add", c(0), ScalarSubquery(input=best))
    (placed_,) = placed(spark, exchange(MultiBucketExpression(NestedList(values=(number(1), number(1)))), 2))
    assert len(placed_) == 120
    with_query = project(TABLE, by_query)
    (found_,) = placed(
        spark, exchange(SingleBucketExpression(call("coalesce", col(with_query, 0), number(0))), 4, input=with_query)
    )
    assert all(row[0] == row[1] % 4 for row in found_)


def refusals() -> list[tuple[Exchange, str, str]]:
    mapped = values([Map(key=TEXT, value=INT)], [({"k": 1},)])
    one = SingleBucketExpression(c(0))
    return [
        (exchange(one, -1), "partition_count", "cannot be -1 partitions"),
        (exchange(one, MAX_PARTITIONS + 1), "partition_count", "more than Spark can handle"),
        (exchange(Broadcast(), 2**31 - 1), "partition_count", "more than Spark can handle"),
        (exchange(ScatterFields(()), 2), "scatter_by_fields.fields", "no fields"),
        (exchange(ScatterFields((col(mapped, 0),)), 2, input=mapped), "scatter_by_fields.fields[0]", "hash maps"),
        (exchange(SingleBucketExpression(c(1)), 2), "single_target.expression", "must be an integer, but is string?"),
        (exchange(MultiBucketExpression(c(0)), 2), "multi_target.expression", "must be a list of integers"),
        (
            exchange(MultiBucketExpression(NestedList(values=(c(0),)), True)),
            "multi_target.constrained_to_count",
            "is not stated",
        ),
        *(
            (exchange(one, 2, targets=(target,)), "targets[0]", "cannot be sent")
            for target in (
                ExchangeTarget(partition_id=(0,), target_type="grpc://elsewhere"),
                ExchangeTarget(partition_id=(), target_type=AnyMessage("type.example/T", b"")),
                ExchangeTarget(partition_id=(1,)),
            )
        ),
    ]


def test_refusals(spark: SparkSession) -> None:
    for node, path, words in refusals():
        with pytest.raises((InvalidPlanError, UnsupportedPlanError)) as caught:
            ps.to_sql(plan(node))
        assert caught.value.path == f"relations[0].root.input.exchange.{path}"
        assert words in str(caught.value)
