"""Hash, merge and nested-loop joins against the specification's words: every type, comparison, residual and filter."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    Expression,
    Function,
    PredicateOp,
    ScalarSubquery,
    SetPredicate,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.relations import (
    BuildInput,
    ComparisonJoinKey,
    HashJoin,
    JoinType,
    MergeJoin,
    NestedLoopJoin,
    Read,
    SimpleComparisonType,
)
from pyspark_substrait.model.relations.joins import JoinBase
from pyspark_substrait.model.types import Map, Struct
from tests.spark.joining import (
    LEFT,
    LEFT_UNIQUE,
    RIGHT,
    RIGHT_UNIQUE,
    SINGLE,
    Match,
    Row,
    compared,
    expected,
    is_refused,
    kept_by_post_filter,
    null_and,
    post_filter,
)
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    LONG_,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    both,
    call,
    col,
    emit,
    group,
    long,
    number,
    ordered,
    outer,
    plan,
    rows,
    run,
    sort,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

EQ, SAME, MIGHT = SimpleComparisonType
SMALLER = Function("extension:io.substrait:functions_comparison", "lt", "any_any")

Keys = Sequence[tuple[int, SimpleComparisonType | Function]]


def equal(left: Any, right: Any) -> bool | None:
    return compared(lambda one, other: one == other, left, right)


# the comment of each member of the enum, in Python; a key is the same column of both sides
COMPARED: dict[SimpleComparisonType | Function, Callable[[Any, Any], bool | None]] = {
    EQ: equal,
    SAME: lambda left, right: left == right,
    MIGHT: lambda left, right: left is None or right is None or left == right,
    SMALLER: lambda left, right: compared(lambda one, other: one < other, left, right),
}
KEYS: dict[str, Keys] = {
    "equal": [(0, EQ)],
    "null with null": [(0, SAME)],
    "might be equal": [(0, MIGHT)],
    "smaller": [(0, SMALLER)],
    "all that is there": [(0, MIGHT), (1, EQ)],
    "equal, and null with null": [(0, EQ), (1, SAME)],
}
RESIDUALS: dict[str, tuple[Callable[[Struct], Expression] | None, Match]] = {
    "none": (None, lambda *_: True),
    "never null": (
        lambda pair: call("not_equal", col(pair, 3), text("y")),
        lambda _, right: right[1] != "y",
    ),
    "null at times": (
        lambda pair: call("lt", call("add", col(pair, 0), col(pair, 2)), number(4)),
        lambda left, right: compared(lambda one, other: one + other < 4, left[0], right[0]),
    ),
}


def matching(keys: Keys, residual: Match) -> Match:
    def match(left: Row, right: Row) -> bool | None:
        outcomes = [COMPARED[comparison](left[field], right[field]) for field, comparison in keys]
        return null_and(*outcomes, residual(left, right))

    return match


def table(data: Sequence[Row]) -> Read:
    return values([INT_, TEXT], data)


def hash_left(**more: Any) -> JoinBase:
    return HashJoin(build_input=BuildInput.LEFT, **more)


def hash_right(**more: Any) -> JoinBase:
    return HashJoin(build_input=BuildInput.RIGHT, **more)


def merge(**more: Any) -> JoinBase:
    return MergeJoin(**more)


KINDS: tuple[Callable[..., JoinBase], ...] = (hash_left, hash_right, merge)


def keyed(
    kind: Callable[..., JoinBase], type: JoinType, left: Read, right: Read, keys: Keys, **more: Any
) -> HashJoin | MergeJoin:
    pairs = tuple(ComparisonJoinKey(left=col(left, at), right=col(right, at), comparison=how) for at, how in keys)
    return kind(type=type, left=left, right=right, keys=pairs, **more)  # type: ignore[return-value]


def combinations(type: JoinType) -> Iterator[tuple[str, JoinBase, list[Row] | None]]:
    """Joins by each comparison: of every kind, or of one with a residual, every other one with a filter.

    With each comes its name, and its records; None where a record of a single join has more than one match.
    """
    kinds = itertools.cycle(KINDS)
    cases = [
        (keys, residual, kind)
        for keys, residual in itertools.product(KEYS, RESIDUALS)
        for kind in (KINDS if residual == "none" else [next(kinds)])
    ]
    for turn, (by, rest, kind) in enumerate(cases):
        residual, outcome = RESIDUALS[rest]
        match = matching(KEYS[by], outcome)
        left, right = LEFT, RIGHT
        if is_refused(type, left, right, match):
            left, right = LEFT_UNIQUE, RIGHT_UNIQUE
        one, other = table(left), table(right)
        condition = None if residual is None else residual(both(one, other))
        node = keyed(kind, type, one, other, KEYS[by], residual_expression=condition)
        name = f"{kind.__name__}, {by}, {rest}"
        if is_refused(type, left, right, match):
            yield name, node, None
        elif turn % 2:
            records = [row for row in expected(type, left, right, match) if kept_by_post_filter(row)]
            yield f"{name}, filtered", replace(node, post_join_filter=post_filter(node)), records
        else:
            yield name, node, expected(type, left, right, match)


@pytest.mark.parametrize("type", JoinType, ids=lambda type: type.name)
def test_every_kind_with_every_comparison(spark: SparkSession, type: JoinType) -> None:
    cases = [(name, node, records) for name, node, records in combinations(type) if records is not None]
    for (name, _, records), found in zip(cases, answers(spark, [node for _, node, _ in cases]), strict=True):
        assert ordered(found) == ordered(records), name


@pytest.mark.parametrize("type", SINGLE, ids=lambda type: type.name)
def test_a_second_match_of_a_single_join_is_an_error(spark: SparkSession, type: JoinType) -> None:
    refused = {node.__class__: node for _, node, records in combinations(type) if records is None}
    assert set(refused) == {HashJoin, MergeJoin}
    loop = NestedLoopJoin(left=table(LEFT), right=table(RIGHT), type=type)
    for node in (*refused.values(), loop):
        with pytest.raises(ExecutionError, match="more than one match"):
            rows(spark, node)


def test_nested_loops(spark: SparkSession) -> None:
    one, other = table(LEFT), table(RIGHT)
    small, unique = table([(3, "a")]), table([(None, "z"), (5, "v")])
    nodes, wanted = [], []
    for type in JoinType:
        # a single join has no second match where the other side has one record
        left, right = (small, unique) if type is JoinType.RIGHT_SINGLE else (one, other)
        left, right = (unique, small) if type is JoinType.LEFT_SINGLE else (left, right)
        data: dict[int, list[Row]] = {
            id(one): LEFT,
            id(other): RIGHT,
            id(small): [(3, "a")],
            id(unique): [(None, "z"), (5, "v")],
        }
        pair = both(left, right)
        for condition, match in (
            (None, lambda *_: True),
            (
                call("lte", col(pair, 0), col(pair, 2)),
                lambda a, b: compared(lambda one, other: one <= other, a[0], b[0]),
            ),
            (call("equal", col(pair, 0), col(pair, 2)), lambda a, b: equal(a[0], b[0])),
        ):
            nodes.append(NestedLoopJoin(left=left, right=right, type=type, expression=condition))
            wanted.append(expected(type, data[id(left)], data[id(right)], match))
    for node, found, records in zip(nodes, answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records), (node.type, node.expression)


def test_a_side_without_records(spark: SparkSession) -> None:
    full, empty = [(1, "a"), (None, "b")], list[Row]()
    nodes, wanted = [], []
    for type, (left, right) in itertools.product(JoinType, ((full, empty), (empty, full))):
        nodes.append(keyed(hash_right, type, table(left), table(right), KEYS["might be equal"]))
        wanted.append(expected(type, left, right, lambda *_: True))
    for node, found, records in zip(nodes, answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records), node.type


def test_nullability_of_the_output_and_emit(spark: SparkSession) -> None:
    one, other = values([INT, TEXT], [(1, "a")]), values([INT, TEXT], [(1, "b")])
    for type, nullable in {
        JoinType.INNER: [False, False],
        JoinType.OUTER: [True, True],
        JoinType.LEFT: [True, False],
        JoinType.RIGHT_SINGLE: [False, True],
        JoinType.LEFT_MARK: [True, False],
        JoinType.RIGHT_SEMI: [False, False],
    }.items():
        places = {JoinType.LEFT_MARK: (2, 0), JoinType.RIGHT_SEMI: (1, 0)}.get(type, (3, 0))
        found = run(spark, keyed(merge, type, one, other, KEYS["equal"], common=emit(*places)))
        assert [field.nullable for field in found.schema] == nullable, type
        assert tuples(found) == [(True if type is JoinType.LEFT_MARK else "b", 1)]


# keys -----------------------------------------------------------------------------------------------------------------


def test_keys_inside_of_a_column_and_required_ones(spark: SparkSession) -> None:
    inner = Struct(types=(TEXT, INT_), nullable=True)
    left = values([INT, inner], [(1, ("a", 1)), (2, ("b", None)), (3, None)])
    right = values([INT], [(1,), (2,)])
    found = []
    for comparison in (EQ, SAME, MIGHT):
        key = ComparisonJoinKey(left=col(left, 1, StructField(1)), right=col(right, 0), comparison=comparison)
        backwards = ComparisonJoinKey(left=key.right, right=key.left, comparison=comparison)
        found += [
            HashJoin(left=left, right=right, type=JoinType.INNER, keys=(key,), common=emit(0, 2)),
            HashJoin(left=right, right=left, type=JoinType.INNER, keys=(backwards,), common=emit(1, 0)),
        ]
    equal_ones, all_of_them = [(1, 1)], [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)]
    wanted = [*[equal_ones] * 4, *[all_of_them] * 2]
    assert [ordered(records) for records in answers(spark, found)] == wanted


def loaded(node: JoinBase, registry: Registry | None = None, **options: Any) -> Any:
    """The join as a serialized plan gives it."""
    return ps.load(plan(node).to_json(), registry=registry, **options)


def test_keys_of_two_types_are_compared_as_the_wider_one(spark: SparkSession) -> None:
    left = values([INT_, TEXT], [(1, "a"), (None, "b"), (3, "c")])
    right = values([LONG_, TEXT], [(1, "x"), (1 << 32 | 3, "y"), (None, "z")])
    joins = [keyed(merge, type, left, right, KEYS["null with null"]) for type in (JoinType.INNER, JoinType.LEFT_SEMI)]
    documents = [loaded(node) for node in joins]
    assert [note.rule for note in documents[0].notes] == ["different-types"]
    assert [ordered(found) for found in answers(spark, documents)] == [
        ordered([(1, "a", 1, "x"), (None, "b", None, "z")]),
        ordered([(1, "a"), (None, "b")]),
    ]
    with pytest.raises(InvalidPlanError, match=r"i32\S* is compared with i64"):
        loaded(joins[0], strict=True)
    with pytest.raises(InvalidPlanError, match=r"i32\S* is compared with i64") as caught:
        rows(spark, joins[0])
    assert caught.value.path == "relations[0].root.input.merge_join.keys[0]"


def test_joins_without_keys_and_keys_that_are_no_fields(spark: SparkSession) -> None:
    one, other = table(LEFT), table(RIGHT)
    with pytest.raises(InvalidPlanError, match="no keys") as caught:
        rows(spark, keyed(hash_left, JoinType.LEFT, one, other, []))
    assert caught.value.path == "relations[0].root.input.hash_join.keys"
    with pytest.raises(InvalidPlanError, match="no keys"):
        loaded(keyed(merge, JoinType.LEFT, one, other, []))
    beyond = ComparisonJoinKey(left=col(one, 0), right=outer(other, 0, steps_out=1))
    node = HashJoin(left=one, right=other, type=JoinType.INNER, keys=(beyond,))
    query = where(table(LEFT), SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=node))
    with pytest.raises(InvalidPlanError, match="a key of a join is a field of its input") as caught:
        ps.load(plan(query).to_json())
    assert caught.value.path.endswith("hash_join.keys[0].right")
    inner = Map(key=INT, value=INT)
    maps = values([inner], [({1: 2},)])
    node = HashJoin(
        left=maps, right=maps, type=JoinType.INNER, keys=(ComparisonJoinKey(left=col(maps, 0), right=col(maps, 0)),)
    )
    with pytest.raises(UnsupportedPlanError, match="Spark cannot compare maps") as refused:
        rows(spark, node)
    assert refused.value.path.startswith("relations[0].root.input.hash_join.keys[0]")


def test_functions_as_comparisons(spark: SparkSession) -> None:
    registry = (
        Registry.default()
        .with_yaml(OURS)
        .with_function(URN, "alike", sql="lower({a}) = lower({b})")
        .with_function(URN, "number", sql="{a} + {b}")
    )
    left = values([TEXT_], [("Ab",), ("c",), (None,)])
    right = values([TEXT_], [("aB",), ("AB",), ("d",), (None,)])
    key = ComparisonJoinKey(left=col(left, 0), right=col(right, 0), comparison=Function(URN, "alike", "str_str"))
    nodes = [
        kind(left=left, right=right, type=type, keys=(key,))
        for kind, type in ((HashJoin, JoinType.LEFT), (MergeJoin, JoinType.LEFT_MARK), (HashJoin, JoinType.RIGHT_ANTI))
    ]
    wanted: list[list[Row]] = [
        [("Ab", "aB"), ("Ab", "AB"), ("c", None), (None, None)],
        # null is compared with null, and c with null
        [("Ab", True), ("c", None), (None, None)],
        [("d",), (None,)],
    ]
    found = answers(spark, [loaded(node, registry) for node in nodes], registry=registry)
    assert [ordered(records) for records in found] == [ordered(records) for records in wanted]
    ones = values([INT], [(1,)])
    key = ComparisonJoinKey(left=col(ones, 0), right=col(ones, 0), comparison=Function(URN, "number", "i32_i32"))
    with pytest.raises(InvalidPlanError, match="`number:i32_i32` gives i32") as caught:
        loaded(HashJoin(left=ones, right=ones, type=JoinType.INNER, keys=(key,)), registry)
    assert caught.value.path == "relations[0].root.input.hash_join.keys[0].comparison"
    with pytest.raises(UnsupportedPlanError, match="has no Spark form"):
        ps.to_sql(plan(nodes[0]))


URN = "extension:org.example:joins"
OURS = """%YAML 1.2
---
urn: extension:org.example:joins
scalar_functions:
  - name: alike
    impls: [{args: [{name: a, value: string}, {name: b, value: string}], return: boolean}]
  - name: number
    impls: [{args: [{name: a, value: i32}, {name: b, value: i32}], return: i32}]
"""


def test_a_function_may_take_keys_of_other_types(spark: SparkSession) -> None:
    left, right = values([INT_], [(1,), (2,), (None,)]), values([LONG], [(2,), (3,)])
    longer = Function("extension:io.substrait:functions_comparison", "lt", "any_any")
    key = ComparisonJoinKey(left=col(left, 0), right=col(right, 0), comparison=longer)
    document = loaded(HashJoin(left=left, right=right, type=JoinType.LEFT_SEMI, keys=(key,)))
    assert ordered(tuples(ps.run_query(document, spark=spark))) == [(1,), (2,)]


def test_keys_of_old_plans(spark: SparkSession) -> None:
    """Before 0.98 the keys were two lists of fields."""
    left, right = table(LEFT_UNIQUE), table(RIGHT_UNIQUE)
    message = json.loads(plan(keyed(hash_left, JoinType.INNER, left, right, KEYS["equal"])).to_json())
    written = message["relations"][0]["root"]["input"]["hashJoin"]
    [key] = written.pop("keys")
    written["leftKeys"], written["rightKeys"] = [key["left"]], [key["right"]]
    message["version"] = {"minorNumber": 60}
    document = ps.load(json.dumps(message))
    assert "join-keys" in [note.rule for note in document.upgrades]
    wanted = expected(JoinType.INNER, LEFT_UNIQUE, RIGHT_UNIQUE, lambda one, other: equal(one[0], other[0]))
    assert ordered(tuples(ps.run_query(document, spark=spark))) == ordered(wanted)


# subqueries -----------------------------------------------------------------------------------------------------------


def test_subqueries_in_and_around_physical_joins(spark: SparkSession) -> None:
    one, other, third = table(LEFT), table(RIGHT), table([(1, "x"), (2, "c"), (4, "q")])
    pair = both(one, other)
    highest = ScalarSubquery(input=group(third, [], [aggregate("max", col(third, 0))]))
    there = exists(
        where(
            third,
            call(
                "and",
                call("equal", col(third, 0), outer(pair, 0, steps_out=1)),
                call("equal", col(third, 1), outer(pair, 3, steps_out=1)),
            ),
        )
    )
    is_below = call("lt", col(pair, 2), highest)
    joined = keyed(hash_left, JoinType.INNER, one, other, KEYS["equal"])
    around = where(
        third,
        exists(where(joined, call("equal", col(joined, 0), outer(third, 0, steps_out=1)))),
    )
    correlated = keyed(
        merge,
        JoinType.LEFT_ANTI,
        where(one, call("equal", col(one, 0), outer(third, 0, steps_out=1))),  # type: ignore[arg-type]
        other,
        KEYS["might be equal"],
        residual_expression=call("lt", outer(third, 0, steps_out=1), number(2)),
    )

    def equal_and(more: Callable[[Row, Row], bool | None]) -> Match:
        return lambda left, right: null_and(equal(left[0], right[0]), more(left, right))

    def in_third(left: Row, right: Row) -> bool:
        return (left[0], right[1]) in [(1, "x"), (2, "c"), (4, "q")]

    nodes: list[Any] = [
        keyed(hash_right, type, one, other, KEYS["equal"], residual_expression=residual)
        for type in (JoinType.INNER, JoinType.OUTER, JoinType.LEFT_MARK, JoinType.RIGHT_ANTI)
        for residual in (is_below, there)
    ]
    wanted = [
        expected(type, LEFT, RIGHT, match)
        for type in (JoinType.INNER, JoinType.OUTER, JoinType.LEFT_MARK, JoinType.RIGHT_ANTI)
        for match in (equal_and(lambda _, right: compared(lambda a, b: a < b, right[0], 4)), equal_and(in_third))
    ]
    loop = NestedLoopJoin(left=one, right=other, type=JoinType.LEFT_SEMI, expression=there)
    nodes += [loop, around, where(third, exists(correlated))]
    wanted += [
        expected(JoinType.LEFT_SEMI, LEFT, RIGHT, in_third),
        [(1, "x"), (2, "c")],
        # its record may be equal to a null: what keeps it is the residual
        [(2, "c"), (4, "q")],
    ]
    for number_, (found, records) in enumerate(zip(answers(spark, nodes), wanted, strict=True)):
        assert ordered(found) == ordered(records), number_


def exists(input: Any) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def test_the_filter_behind_a_join_may_have_a_subquery(spark: SparkSession) -> None:
    one, other = table(LEFT), table(RIGHT)
    node = keyed(merge, JoinType.LEFT, one, other, KEYS["equal"])
    missing = where(other, call("equal", col(other, 0), outer(node, 2, steps_out=1)))
    filtered = replace(node, post_join_filter=call("not", exists(missing)))
    wanted = [row for row in expected(JoinType.LEFT, LEFT, RIGHT, lambda a, b: equal(a[0], b[0])) if row[2] is None]
    assert ordered(rows(spark, filtered)) == ordered(wanted)


def test_window_functions_in_physical_joins(spark: SparkSession) -> None:
    """Over the output there are records to number, while pairs are matched there are none."""
    one, other = table(LEFT_UNIQUE), table(RIGHT_UNIQUE)

    def first(pair: Struct) -> Expression:
        number_ = WindowFunction(
            function=Function("extension:io.substrait:functions_arithmetic", "row_number", ""),
            arguments=(),
            output_type=LONG_,
            derived_type=LONG_,
            sorts=(sort(col(pair, 1)),),
        )
        return call("equal", number_, long(1))

    pair = both(one, other)
    node = keyed(merge, JoinType.LEFT, one, other, KEYS["equal"], post_join_filter=first(pair))
    assert rows(spark, node) == [(1, "a", 1, "x")]
    node = keyed(merge, JoinType.LEFT, one, other, KEYS["equal"], residual_expression=first(pair))
    with pytest.raises(UnsupportedPlanError, match="window") as caught:
        rows(spark, node)
    assert caught.value.path.startswith("relations[0].root.input.merge_join.residual_expression")
