"""References to a relation of the plan: a subtree that is used more than once is computed once.

That it is can be seen in Spark's final plan (classic sessions), and in values that would differ if it weren't.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import InPredicate, ScalarSubquery, SortDirection
from pyspark_substrait.model.relations import (
    DetachedRel,
    Fetch,
    Filter,
    JoinType,
    Reference,
    Relation,
    Set,
    SetOp,
    Sort,
)
from tests.spark.plans import (
    INT,
    INT_,
    TEXT,
    aggregate,
    both,
    call,
    col,
    group,
    join,
    long,
    number,
    ordered,
    outer,
    plan,
    project,
    sort,
    stored,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

#: for each key of 0 to 6 the sum of the numbers below 100 that leave it when divided by 7
SUMS = {k: sum(i for i in range(100) if i % 7 == k) for k in range(7)}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relation]:
    """100 numbers in a Parquet table, and what they leave when divided by 7."""
    folder: Path = tmp_path_factory.mktemp("shared") / "t"
    spark.sql("SELECT CAST(id AS INT) AS i, CAST(id % 7 AS INT) AS k FROM range(100)").write.parquet(str(folder))
    spark.read.parquet(str(folder)).createOrReplaceTempView("shared_subtrees_t")
    yield stored("shared_subtrees_t", {"i": INT_, "k": INT_})
    spark.catalog.dropTempView("shared_subtrees_t")


def sums(table: Relation) -> Relation:
    return group(table, [col(table, 1)], [aggregate("sum", col(table, 0))])


def of(subtree: Relation, ordinal: int = 1) -> Reference:
    return Reference(subtree_ordinal=ordinal, subtree=subtree)


def equi(left: Relation, right: Relation) -> Relation:
    """A join by the first columns."""
    record = both(left, right)
    return join(left, right, call("equal", col(record, 0), col(record, len(left.schema.types))), JoinType.INNER)


def above(input: Relation, bound: int, position: int = 0) -> Filter:
    return where(input, call("gt", col(input, position), number(bound)))


def below(input: Relation, bound: int, position: int = 0) -> Filter:
    return where(input, call("lt", col(input, position), number(bound)))


def carried_out(spark: SparkSession, node: Relation, *shared: Relation) -> tuple[list[tuple[Any, ...]], str]:
    """The rows, and the plan by which Spark came to them; empty with Connect, which doesn't tell."""
    frame = ps.from_substrait(plan(node, (), *shared), spark)
    found = [tuple(row) for row in frame.collect()]
    if not hasattr(frame, "_jdf"):
        return found, ""
    return found, "\n".join(_final(frame._jdf.queryExecution().executedPlan().toString().splitlines()))


def _final(lines: list[str]) -> Iterator[str]:
    """The lines of a plan, without those of the plans that adaptive execution began with."""
    skipped: int | None = None
    for line in lines:
        depth = len(line) - len(line.lstrip(" :+-"))
        if skipped is None or depth < skipped:
            skipped = depth if "== Initial Plan ==" in line else None
        if skipped is None:
            yield line


def scans(physical: str) -> int:
    return physical.count("FileScan")


def test_a_subtree_used_twice_is_computed_once(spark: SparkSession, table: Relation) -> None:
    """Conditions that all uses share still reach the scan, and so do the columns."""
    shared = sums(table)
    node = equi(above(of(shared), 2), below(of(shared), 5))
    found, physical = carried_out(spark, node, shared)
    assert ordered(found) == [(k, SUMS[k], k, SUMS[k]) for k in (3, 4)]
    if physical:
        assert physical.count("ReusedExchange") == 1 and scans(physical) == 1
        assert "GreaterThan(k,2)" in physical and "LessThan(k,5)" in physical


def test_values_of_chance_are_the_same_in_all_uses(spark: SparkSession, table: Relation) -> None:
    spark.sql("SELECT uuid() AS u, CAST(id AS INT) AS n FROM range(20)").createOrReplaceTempView("shared_subtrees_u")
    by_chance = stored("shared_subtrees_u", {"u": TEXT, "n": INT})
    for shared in (by_chance, group(by_chance, [col(by_chance, 0)], [aggregate("max", col(by_chance, 1))])):
        joined = equi(of(shared), of(shared))
        assert len(rows_of(spark, joined, shared)) == 20
        either = Set(members=(of(shared), of(shared), of(shared)), op=SetOp.UNION_DISTINCT)
        assert len(rows_of(spark, either, shared)) == 20
    spark.catalog.dropTempView("shared_subtrees_u")


def rows_of(spark: SparkSession, node: Relation, *shared: Relation) -> list[tuple[Any, ...]]:
    return tuples(ps.run_query(plan(node, (), *shared), spark=spark))


def test_subtrees_that_share_subtrees(spark: SparkSession, table: Relation) -> None:
    """The inner one is used once in the text, by the outer one; or twice, when it is also used beside it."""
    inner = sums(table)
    outer_ = group(above(of(inner), 1), [], [aggregate("max", col(inner, 1))])
    outer_two = of(outer_, 2)
    record = both(outer_two, outer_two)
    node = join(outer_two, outer_two, call("equal", col(record, 0), col(record, 1)), JoinType.INNER)
    most = max(SUMS[k] for k in range(2, 7))
    found, physical = carried_out(spark, node, inner, outer_)
    assert found == [(most, most)]
    if physical:
        assert scans(physical) == 1
    beside = equi(project(of(inner), col(inner, 1), col(inner, 0)), outer_two)
    found, physical = carried_out(spark, beside, inner, outer_)
    assert found == [(most, next(k for k in SUMS if SUMS[k] == most), most)]
    if physical:
        assert scans(physical) == 1


def test_in_subqueries(spark: SparkSession, table: Relation) -> None:
    """Uncorrelated and correlated: all of them read what was computed once."""
    shared = sums(table)
    use = of(shared)
    most = group(use, [], [aggregate("max", col(use, 1))])
    wanted = where(use, call("equal", col(use, 1), ScalarSubquery(input=most)))
    found, physical = carried_out(spark, wanted, shared)
    assert found == [max(SUMS.items(), key=lambda item: item[1])]
    if physical:
        assert scans(physical) == 1
    same = where(use, call("equal", col(use, 0), outer(table, 1, steps_out=1)))
    of_key = ScalarSubquery(input=group(same, [], [aggregate("max", col(same, 1))]))
    little = below(table, 3)
    keys = InPredicate(needles=(col(little, 1),), haystack=project(use, col(use, 0)))
    found, physical = carried_out(spark, project(where(little, keys), col(little, 0), of_key), shared)
    assert ordered(found) == [(i, SUMS[i]) for i in range(3)]
    if physical:
        assert scans(physical) == 2  # the table itself, and the shared sums


def test_a_subtree_that_looks_at_the_records_around_it(spark: SparkSession, table: Relation) -> None:
    """It is another one for each of its uses."""
    from dataclasses import replace

    from pyspark_substrait.model.relations import RelCommon

    some = values([INT], [(1,), (3,)], common=RelCommon(rel_anchor=7))
    filtered = replace(some, common=RelCommon())
    shared = below(table, 10)
    inner = where(shared, call("equal", col(shared, 1), outer(filtered, 0, rel_reference=9)))
    counted = of(group(inner, [], [aggregate("sum", col(inner, 0))]))
    both_ = project(filtered, ScalarSubquery(input=counted), ScalarSubquery(input=counted))
    node = replace(both_, common=replace(both_.common, rel_anchor=9))
    assert ordered(rows_of(spark, node, counted.subtree)) == [(3, 3), (9, 9)]  # 1 + 8; 3


def test_the_order_of_a_shared_subtree(spark: SparkSession, table: Relation) -> None:
    grouped = sums(table)
    shared = Sort(input=grouped, sorts=(sort(col(grouped, 0), SortDirection.DESC_NULLS_LAST),))
    first, low = Fetch(input=of(shared), count_expr=long(2)), Fetch(input=below(of(shared), 5), count_expr=long(2))
    node = Set(members=(first, low), op=SetOp.UNION_ALL)
    found, physical = carried_out(spark, node, shared)
    assert ordered(found) == [(k, SUMS[k]) for k in (3, 4, 5, 6)]
    if physical:
        assert scans(physical) == 1
    found, _ = carried_out(spark, above(of(shared), 3), shared)
    assert [row[0] for row in found] == [6, 5, 4]


def test_what_is_read_or_used_once_stays_open(spark: SparkSession, table: Relation) -> None:
    """A bare scan takes the conditions of each of its uses; one use is as good as none."""
    found, physical = carried_out(spark, equi(above(of(table), 2), below(of(table), 5)), table)
    assert ordered(found) == [(i, i % 7, i, i % 7) for i in (3, 4)]
    if physical:
        assert scans(physical) == 2 and "Exchange Round" not in physical
    shared = sums(table)
    for node in (above(of(shared), 4), DetachedRel(relation=above(of(shared), 4))):
        text = ps.to_sql(plan(node, (), shared))
        assert "monotonically" not in text
    assert "monotonically" not in ps.to_sql(plan(equi(of(table), of(table)), (), table))


def test_detached_relations_are_what_they_hold(spark: SparkSession, table: Relation) -> None:
    shared = DetachedRel(relation=sums(DetachedRel(relation=table)))
    node = DetachedRel(relation=equi(DetachedRel(relation=of(shared)), of(shared)))
    found, physical = carried_out(spark, node, shared)
    assert ordered(found) == [(k, SUMS[k], k, SUMS[k]) for k in range(7)]
    if physical:
        assert scans(physical) == 1


def test_an_equi_join_of_tables_is_joined_again_when_it_is_used_twice(spark: SparkSession, table: Relation) -> None:
    shared = equi(table, below(table, 50))
    twice = equi(above(of(shared), 2), below(of(shared), 5))
    found, physical = carried_out(spark, twice, shared)
    assert ordered(found) == [(i, i % 7, i, i % 7) * 2 for i in (3, 4)]
    if physical:
        assert "Exchange Round" not in physical
    assert "monotonically" not in ps.to_sql(plan(twice, (), shared))
    three = Set(members=(of(shared), of(shared), of(shared)), op=SetOp.UNION_ALL)
    assert len(rows_of(spark, three, shared)) == 150
    assert "monotonically" in ps.to_sql(plan(three, (), shared))
    record = both(table, table)
    pairs = join(table, table, call("lt", col(record, 0), col(record, 2)), JoinType.INNER)
    assert "monotonically" in ps.to_sql(plan(equi(of(pairs), of(pairs)), (), pairs))


def test_joined_values_of_chance_are_the_same_in_both_uses(spark: SparkSession) -> None:
    spark.sql("SELECT uuid() AS u, CAST(id AS INT) AS n FROM range(20)").createOrReplaceTempView("shared_subtrees_v")
    by_chance = stored("shared_subtrees_v", {"u": TEXT, "n": INT})
    record = both(by_chance, by_chance)
    shared = join(by_chance, by_chance, call("equal", col(record, 1), col(record, 3)), JoinType.INNER)
    assert len(rows_of(spark, equi(of(shared), of(shared)), shared)) == 20
    spark.catalog.dropTempView("shared_subtrees_v")
