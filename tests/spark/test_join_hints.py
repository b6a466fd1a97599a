"""What Spark makes of physical joins: the operators of executed plans, over tables that it would broadcast unasked."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import PredicateOp, SetPredicate
from pyspark_substrait.model.relations import (
    BuildInput,
    ComparisonJoinKey,
    HashJoin,
    JoinType,
    MergeJoin,
    NestedLoopJoin,
    Relation,
    SimpleComparisonType,
)
from pyspark_substrait.spark.arrow_transfer import collected
from tests.spark.joining import LEFT_UNIQUE, RIGHT_UNIQUE, SINGLE
from tests.spark.plans import INT_, TEXT, both, call, col, join, ordered, outer, plan, tuples, values, where

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EQ, SAME, MIGHT = SimpleComparisonType
BOTH_KEPT = (JoinType.INNER, JoinType.OUTER, JoinType.LEFT, JoinType.RIGHT, *SINGLE)
LEFT_KEPT = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK)
RIGHT_KEPT = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK)

L, R = values([INT_, TEXT], LEFT_UNIQUE), values([INT_, TEXT], RIGHT_UNIQUE)
PAIR = both(L, R)


def keyed(kind: Callable[..., Relation], type: JoinType, comparison: SimpleComparisonType = SAME, **more: Any) -> Any:
    key = ComparisonJoinKey(left=col(L, 0), right=col(R, 0), comparison=comparison)
    return kind(left=L, right=R, type=type, keys=(key,), **more)


def operators(frame: DataFrame) -> set[str]:
    """The joins in a query's plan, with the side that is built; of its final plan when it has run."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        frame.explain()
    plan = printed.getvalue().partition("== Initial Plan ==")[0]
    joins = re.findall(r"^.*?(\w+(?:Join|Product))\b(.*)$", plan, re.MULTILINE)
    return {name + "".join(re.findall(r"Build(?:Left|Right)", rest)) for name, rest in joins}


def joined(spark: SparkSession, node: Relation) -> set[str]:
    return operators(ps.from_substrait(plan(node), spark))


def test_spark_keeps_to_the_hints_while_it_runs(spark: SparkSession) -> None:
    """Spark may choose another join as soon as it sees how few records there are, but not against a hint."""
    below = call("lt", col(PAIR, 0), col(PAIR, 2))
    for node, operator in (
        (keyed(HashJoin, JoinType.LEFT, build_input=BuildInput.LEFT), "ShuffledHashJoinBuildLeft"),
        (keyed(MergeJoin, JoinType.RIGHT_SEMI), "SortMergeJoin"),
        (NestedLoopJoin(left=L, right=R, type=JoinType.INNER, expression=below), "CartesianProduct"),
    ):
        frame = ps.from_substrait(plan(node), spark)
        collected(frame)
        assert operators(frame) == {operator}


def test_hash_joins_build_the_side_that_they_name(spark: SparkSession) -> None:
    for type in BOTH_KEPT:
        # a single join puts the kept side on the left of Spark's join
        sides = ("Right", "Left") if type is JoinType.RIGHT_SINGLE else ("Left", "Right")
        for side, build in zip(sides, (BuildInput.LEFT, BuildInput.RIGHT), strict=True):
            node = keyed(HashJoin, type, build_input=build)
            assert joined(spark, node) == {f"ShuffledHashJoinBuild{side}"}, (type, build)


def test_hash_joins_that_keep_one_side_build_the_other(spark: SparkSession) -> None:
    for types, build in ((LEFT_KEPT, BuildInput.RIGHT), (RIGHT_KEPT, BuildInput.LEFT)):
        for type, comparison in itertools.product(types, (EQ, SAME)):
            found = joined(spark, keyed(HashJoin, type, comparison, build_input=build))
            # where the mark may be null, Spark looks for the pairs that are unknown, too
            unknown = {"BroadcastNestedLoopJoinBuildRight"} if "MARK" in type.name and comparison is EQ else set()
            assert found == {"ShuffledHashJoinBuildRight"} | unknown, type


def test_a_side_that_spark_cannot_build_is_left_to_spark(spark: SparkSession) -> None:
    for types, build in ((LEFT_KEPT, BuildInput.LEFT), (RIGHT_KEPT, BuildInput.RIGHT)):
        for type in types:
            node = keyed(HashJoin, type, build_input=build)
            assert "/*+" not in ps.to_sql(plan(node))
            assert joined(spark, node) == {"BroadcastHashJoinBuildRight"}, type


def test_merge_joins(spark: SparkSession) -> None:
    for type in JoinType:
        assert joined(spark, keyed(MergeJoin, type)) == {"SortMergeJoin"}, type


def test_nested_loop_joins(spark: SparkSession) -> None:
    below, equal = (call(name, col(PAIR, 0), col(PAIR, 2)) for name in ("lt", "equal"))
    for condition in (None, below, equal):
        node = NestedLoopJoin(left=L, right=R, type=JoinType.INNER, expression=condition)
        assert joined(spark, node) == {"CartesianProduct"}
    for type in (JoinType.OUTER, JoinType.LEFT, JoinType.RIGHT, *LEFT_KEPT, JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI):
        # Spark's join of a kept right side has it on the left
        side = "Left" if type in RIGHT_KEPT else "Right"
        node = NestedLoopJoin(left=L, right=R, type=type, expression=below)
        assert joined(spark, node) == {f"BroadcastNestedLoopJoinBuild{side}"}, type
    # keys that have to be equal are hashed, but in an inner join: Spark has no hint against it
    node = NestedLoopJoin(left=L, right=R, type=JoinType.LEFT, expression=equal)
    assert joined(spark, node) == {"BroadcastHashJoinBuildRight"}


def test_an_anti_join_by_a_key_that_might_be_equal_is_hashed(spark: SparkSession) -> None:
    assert joined(spark, keyed(HashJoin, JoinType.LEFT_ANTI, MIGHT)) == {"BroadcastHashJoinBuildRight"}


def test_each_join_of_several_has_its_own_hint(spark: SparkSession) -> None:
    inner = keyed(HashJoin, JoinType.INNER, build_input=BuildInput.LEFT)

    def with_third(kind: Callable[..., Relation], left: Any, right: Any, **more: Any) -> Any:
        key = ComparisonJoinKey(left=col(left, 0), right=col(right, 0), comparison=EQ)
        return kind(left=left, right=right, type=JoinType.INNER, keys=(key,), **more)

    filtered = where(inner, call("is_not_null", col(inner, 0)))
    on_the_left = with_third(MergeJoin, filtered, L)
    on_the_right = with_third(MergeJoin, L, filtered)
    for node in (on_the_left, on_the_right):
        assert joined(spark, node) == {"ShuffledHashJoinBuildLeft", "SortMergeJoin"}
    # the hint of a join doesn't reach the one above
    above = join(filtered, L, call("equal", col(both(filtered, L), 0), col(both(filtered, L), 4)), JoinType.INNER)
    assert joined(spark, above) == {"ShuffledHashJoinBuildLeft", "BroadcastHashJoinBuildRight"}


def test_hints_in_subqueries(spark: SparkSession) -> None:
    third = values([INT_], [(1,), (2,), (9,)])
    node = keyed(MergeJoin, JoinType.INNER)
    query = where(node, call("equal", col(node, 0), outer(third, 0, steps_out=1)))
    found = where(third, SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=query))
    frame = ps.from_substrait(plan(found), spark)
    assert "SortMergeJoin" in operators(frame)
    assert ordered(tuples(collected(frame))) == [(1,), (2,)]
