"""Set operations: the specification's own examples, counted multisets, and the nullability of the output."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.relations import Set, SetOp
from pyspark_substrait.model.types import Map, Struct, with_nullability
from tests.spark.plans import INT, INT_, TEXT, TEXT_, answers, lit, ordered, rows, run, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[Any, ...]
Example = tuple[list[Any], list[Any], list[Any]]

# relations/logical_relations, "Set Operation Types": primary, secondary inputs, result
EXAMPLES: dict[SetOp, Example] = {
    SetOp.MINUS_PRIMARY: ([1, 2, 2, 3, 3, 3, 4], [[1, 2], [3]], [4]),
    SetOp.MINUS_PRIMARY_ALL: ([1, 2, 2, 3, 3, 3, 3], [[1, 2, 3, 4], [3]], [2, 3, 3]),
    SetOp.MINUS_MULTISET: ([1, 2, 3, 4], [[1, 2], [1, 2, 3]], [3, 4]),
    SetOp.INTERSECTION_PRIMARY: ([1, 2, 2, 3, 3, 3, 4], [[1, 2, 3, 5], [2, 3, 6]], [1, 2, 3]),
    SetOp.INTERSECTION_MULTISET: ([1, 2, 3, 4], [[2, 3], [3, 4]], [3]),
    SetOp.INTERSECTION_MULTISET_ALL: ([1, 2, 2, 3, 3, 3, 4], [[1, 2, 3, 3, 5], [2, 3, 3, 6]], [2, 3, 3]),
    SetOp.UNION_DISTINCT: ([1, 2, 2, 3, 3, 3, 4], [[2, 3, 5], [1, 6]], [1, 2, 3, 4, 5, 6]),
    SetOp.UNION_ALL: ([1, 2, 2, 3, 3, 3, 4], [[2, 3, 5], [1, 6]], [1, 2, 2, 3, 3, 3, 4, 2, 3, 5, 1, 6]),
}

# the notes on null: {NULL, 1, 3} with {NULL, 2, 4}, or with {NULL, 2, 3} for intersections
WITH_NULLS: dict[SetOp, Example] = {
    SetOp.MINUS_PRIMARY: ([None, 1, 3], [None, 2, 4], [1, 3]),
    SetOp.MINUS_PRIMARY_ALL: ([None, 1, 3], [None, 2, 4], [1, 3]),
    SetOp.MINUS_MULTISET: ([None, 1, 3], [None, 2, 4], [1, 3]),
    SetOp.INTERSECTION_PRIMARY: ([None, 1, 3], [None, 2, 4], [None]),
    SetOp.INTERSECTION_MULTISET: ([None, 1, 3], [None, 2, 4], [None]),
    SetOp.INTERSECTION_MULTISET_ALL: ([None, 1, 3], [None, 2, 4], [None]),
    SetOp.UNION_DISTINCT: ([None, 1, 3], [None, 2, 4], [None, 1, 2, 3, 4]),
    SetOp.UNION_ALL: ([None, 1, 3], [None, 2, 4], [None, 1, 3, None, 2, 4]),
}


def expected(op: SetOp, primary: list[Row], secondary: list[list[Row]]) -> list[Row]:
    """The specification's words on counts: m copies in the primary input, n1, n2, … in the others."""
    found: list[Row] = []
    for row in dict.fromkeys(itertools.chain(primary, *secondary)):
        m, ns = primary.count(row), [other.count(row) for other in secondary]
        match op:
            case SetOp.MINUS_PRIMARY:
                copies = int(m > 0 and not any(ns))
            case SetOp.MINUS_PRIMARY_ALL:
                copies = max(0, m - sum(ns))
            case SetOp.MINUS_MULTISET:
                copies = 0 if all(ns) else m
            case SetOp.INTERSECTION_PRIMARY:
                copies = int(m > 0 and any(ns))
            case SetOp.INTERSECTION_MULTISET:
                copies = int(m > 0 and all(ns))
            case SetOp.INTERSECTION_MULTISET_ALL:
                copies = min(m, *ns)
            case SetOp.UNION_DISTINCT:
                copies = 1
            case SetOp.UNION_ALL:
                copies = m + sum(ns)
        found += [row] * copies
    return found


def test_the_examples_of_the_specification(spark: SparkSession) -> None:
    nodes, wanted = [], []
    for op, (primary, secondary, result) in EXAMPLES.items():
        members = tuple(values([INT], [(item,) for item in items]) for items in [primary, *secondary])
        nodes.append(Set(op=op, members=members))
        wanted.append(result)
    for op, (primary, secondary, result) in WITH_NULLS.items():
        members = tuple(values([INT_], [(item,) for item in items]) for items in [primary, secondary])
        nodes.append(Set(op=op, members=members))
        wanted.append(result)
    found = [Counter(row[0] for row in table) for table in answers(spark, nodes)]
    assert found == [Counter(result) for result in wanted]


@pytest.mark.sweep
def test_counts_of_records_with_two_columns_and_nulls(spark: SparkSession) -> None:
    primary: list[Row] = (
        [(1, "a")] * 3 + [(None, "a")] * 2 + [(1, None), (None, None), (None, None), (2, "b"), (2, "b")]
    )
    first: list[Row] = [(1, "a"), (None, "a"), (None, None), (2, "b"), (2, "b"), (2, "b"), (3, "c")]
    second: list[Row] = [(1, "a"), (1, "a"), (None, None), (None, None), (1, "b"), (3, "c"), (2, "b")]
    shapes: list[list[list[Row]]] = [[first], [second], [first, second], [second, first, first], [first, []], [[], []]]
    nodes, wanted = [], []
    for op, others in itertools.product(SetOp, shapes):
        nodes.append(Set(op=op, members=tuple(values([INT_, TEXT_], item) for item in [primary, *others])))
        wanted.append((op, len(others), ordered(expected(op, primary, others))))
    for found, (op, inputs, result) in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == result, (op, inputs)


R, N = False, True
INPUTS = [[R, R, R, R, N, N, N, N], [R, R, N, N, R, R, N, N], [R, N, R, N, R, N, R, N]]
# "Output Type Derivation Examples"
NULLABILITY = {
    SetOp.MINUS_PRIMARY: [R, R, R, R, N, N, N, N],
    SetOp.MINUS_PRIMARY_ALL: [R, R, R, R, N, N, N, N],
    SetOp.MINUS_MULTISET: [R, R, R, R, N, N, N, N],
    SetOp.INTERSECTION_PRIMARY: [R, R, R, R, R, N, N, N],
    SetOp.INTERSECTION_MULTISET: [R, R, R, R, R, R, R, N],
    SetOp.INTERSECTION_MULTISET_ALL: [R, R, R, R, R, R, R, N],
    SetOp.UNION_DISTINCT: [R, N, N, N, N, N, N, N],
    SetOp.UNION_ALL: [R, N, N, N, N, N, N, N],
}


@pytest.mark.parametrize("op", SetOp, ids=lambda op: op.name)
def test_nullability_of_the_output(spark: SparkSession, op: SetOp) -> None:
    # nulls wherever they are allowed; every operation has a record left
    members = []
    for nullable in INPUTS:
        types = [with_nullability(INT, item) for item in nullable]
        members.append(values(types, [[None if item else 1 for item in nullable], [7] * 8, [8] * 8]))
    members[0] = values(members[0].schema.types, [[7] * 8, [8] * 8, [9] * 8])
    found = run(spark, Set(op=op, members=tuple(members)))
    assert [field.nullable for field in found.schema] == NULLABILITY[op]
    assert found.num_rows >= 1


def test_a_set_operation_of_shared_and_nested_inputs(spark: SparkSession) -> None:
    one, other = values([INT], [(1,), (2,), (2,)]), values([INT], [(2,)])
    union = Set(op=SetOp.UNION_ALL, members=(one, other))
    minus = Set(op=SetOp.MINUS_PRIMARY_ALL, members=(union, other, other))
    assert ordered(rows(spark, Set(op=SetOp.UNION_ALL, members=(minus, minus)))) == [(1,), (1,), (2,), (2,)]


def test_records_with_lists_and_structs(spark: SparkSession) -> None:
    struct = Struct(types=(INT_, TEXT), nullable=True)
    one = values([struct], [((1, "a"),), ((None, "a"),), (None,)])
    other = values([struct], [((None, "a"),), (None,), ((1, "b"),)])
    found = rows(spark, Set(op=SetOp.INTERSECTION_MULTISET, members=(one, other)))
    assert len(found) == 2 and (None,) in found
    assert [tuple(row[0].values()) for row in found if row[0] is not None] == [(None, "a")]


def test_what_has_no_meaning_is_refused(spark: SparkSession) -> None:
    one, other = values([INT], [(1,)]), values([TEXT], [("a",)])
    with pytest.raises(InvalidPlanError, match=r"column 0 is string, in the primary input i32"):
        rows(spark, Set(op=SetOp.UNION_ALL, members=(one, other)))
    with pytest.raises(InvalidPlanError, match="at least two inputs"):
        rows(spark, Set(op=SetOp.UNION_ALL, members=(one,)))
    maps = values([Map(key=INT, value=INT)], [(lit(Map(key=INT, value=INT), {1: 2}),)])
    with pytest.raises(UnsupportedPlanError, match="maps") as caught:
        rows(spark, Set(op=SetOp.UNION_DISTINCT, members=(maps, maps)))
    assert caught.value.path == "relations[0].root.input.set.op"
    assert len(rows(spark, Set(op=SetOp.UNION_ALL, members=(maps, maps)))) == 2
