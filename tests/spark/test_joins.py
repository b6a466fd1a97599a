"""Joins: every type, over conditions that are true, false and null, against the specification's words and DuckDB."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Cross, Fetch, JoinType, Read, Reference, Sort
from pyspark_substrait.model.types import Struct
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
    kept_by_post_filter,
    null_and,
    post_filter,
)
from tests.spark.plans import (
    INT,
    INT_,
    TEXT,
    aggregate,
    answers,
    both,
    call,
    col,
    emit,
    group,
    join,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    sort,
    text,
    truth,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table(data: list[Row]) -> Read:
    return values([INT_, TEXT], data)


CONDITIONS: dict[str, tuple[Callable[[Struct], Expression], Match, str]] = {
    "equal": (
        lambda both: call("equal", col(both, 0), col(both, 2)),
        lambda left, right: compared(lambda a, b: a == b, left[0], right[0]),
        "l.k = r.k",
    ),
    "equal the other way round": (
        lambda both: call("equal", col(both, 2), col(both, 0)),
        lambda left, right: compared(lambda a, b: a == b, left[0], right[0]),
        "r.k = l.k",
    ),
    "two equal": (
        lambda both: call("and", call("equal", col(both, 2), col(both, 0)), call("equal", col(both, 1), col(both, 3))),
        lambda left, right: null_and(compared(lambda a, b: a == b, left[0], right[0]), left[1] == right[1]),
        "l.k = r.k AND l.t = r.t",
    ),
    "unequal": (
        lambda both: call("lt", col(both, 0), col(both, 2)),
        lambda left, right: compared(lambda a, b: a < b, left[0], right[0]),
        "l.k < r.k",
    ),
    "equal and more": (
        lambda both: call("and", call("equal", col(both, 0), col(both, 2)), call("lt", col(both, 3), text("y"))),
        lambda left, right: null_and(compared(lambda a, b: a == b, left[0], right[0]), right[1] < "y"),
        "l.k = r.k AND r.t < 'y'",
    ),
    "one side alone": (
        lambda both: call("gt", col(both, 0), number(1)),
        lambda left, _: compared(lambda a, b: a > b, left[0], 1),
        "l.k > 1",
    ),
    "null matches null": (
        lambda both: call("is_not_distinct_from", col(both, 0), col(both, 2)),
        lambda left, right: left[0] == right[0],
        "l.k IS NOT DISTINCT FROM r.k",
    ),
    "true": (lambda _: truth(True), lambda *_: True, "true"),
    "false": (lambda _: truth(False), lambda *_: False, "false"),
    "null": (lambda _: truth(None), lambda *_: None, "CAST(NULL AS BOOLEAN)"),
}


SQL = {
    JoinType.INNER: "SELECT * FROM l JOIN r ON {}",
    JoinType.OUTER: "SELECT * FROM l FULL JOIN r ON {}",
    JoinType.LEFT: "SELECT * FROM l LEFT JOIN r ON {}",
    JoinType.RIGHT: "SELECT * FROM l RIGHT JOIN r ON {}",
    JoinType.LEFT_SEMI: "SELECT * FROM l SEMI JOIN r ON {}",
    JoinType.LEFT_ANTI: "SELECT * FROM l ANTI JOIN r ON {}",
    JoinType.RIGHT_SEMI: "SELECT * FROM r SEMI JOIN l ON {}",
    JoinType.RIGHT_ANTI: "SELECT * FROM r ANTI JOIN l ON {}",
}


@pytest.mark.sweep(sample=0.3)
@pytest.mark.parametrize("type", JoinType, ids=lambda type: type.name)
def test_every_type_with_every_condition(spark: SparkSession, type: JoinType) -> None:
    left, right = (LEFT_UNIQUE, RIGHT_UNIQUE) if type in SINGLE else (LEFT, RIGHT)
    plans, wanted, names = [], [], []
    for name, (condition, match, _) in CONDITIONS.items():
        if type in SINGLE and name in ("unequal", "true", "one side alone"):
            continue
        one, other = table(left), table(right)
        node = join(one, other, condition(both(one, other)), type)
        filtered = join(one, other, node.expression, type, post_join_filter=post_filter(node))
        records = expected(type, left, right, match)
        plans += [node, filtered]
        wanted += [records, [row for row in records if kept_by_post_filter(row)]]
        names += [name, f"{name}, filtered"]
    for name, found, records in zip(names, answers(spark, plans), wanted, strict=True):
        assert ordered(found) == ordered(records), name


def test_the_evaluator_agrees_with_duckdb() -> None:
    with duckdb.connect() as connection:
        for name, data in (("l", LEFT), ("r", RIGHT)):
            connection.execute(f"CREATE TABLE {name} (k INT, t VARCHAR)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", data)
        for (type, query), (name, (_, match, sql)) in itertools.product(SQL.items(), CONDITIONS.items()):
            found = connection.execute(query.format(sql)).fetchall()
            assert ordered(found) == ordered(expected(type, LEFT, RIGHT, match)), (type, name)


@pytest.mark.parametrize("type", SINGLE, ids=lambda type: type.name)
def test_a_second_match_of_a_single_join_is_an_error(spark: SparkSession, type: JoinType) -> None:
    one, other = table(LEFT), table(RIGHT)
    equal = call("equal", col(both(one, other), 0), col(both(one, other), 2))
    kept = 0
    above = call("equal", col(join(one, other, equal, type), kept), number(4))
    for node in (
        join(one, other, equal, type),
        join(one, other, truth(True), type),
        # neither a filter nor leaving columns out hides the error
        join(one, other, equal, type, post_join_filter=above),
        group(join(one, other, equal, type), [], [aggregate("count")]),
    ):
        with pytest.raises(ExecutionError, match="more than one match"):
            rows(spark, node)


def test_nullability_of_the_output(spark: SparkSession) -> None:
    one, other = values([INT], [(1,)]), values([INT], [(1,)])
    wanted = {
        JoinType.INNER: [False, False],
        JoinType.OUTER: [True, True],
        JoinType.LEFT: [False, True],
        JoinType.LEFT_SINGLE: [False, True],
        JoinType.RIGHT: [True, False],
        JoinType.RIGHT_SINGLE: [True, False],
        JoinType.LEFT_SEMI: [False],
        JoinType.RIGHT_ANTI: [False],
        JoinType.LEFT_MARK: [False, True],
        JoinType.RIGHT_MARK: [False, True],
    }
    for type, nullable in wanted.items():
        found = run(spark, join(one, other, truth(True), type))
        assert [field.nullable for field in found.schema] == nullable, type


def test_inputs_that_are_queries_themselves(spark: SparkSession) -> None:
    base = values([INT_, INT], [(1, 1), (2, 2), (3, 3), (None, 4), (2, 5)])
    first = Fetch(input=Sort(input=base, sorts=(sort(col(base, 1)),)), count_expr=number(3))  # 1 2 3
    sums = group(base, [col(base, 0)], [aggregate("sum", col(base, 1))])  # 1:1 2:7 3:3 null:4
    filtered = where(base, call("gt", col(base, 1), number(1)), common=emit(1, 0))  # 2:2 3:3 4:null 5:2

    def equal(left: Any, right: Any, *positions: int) -> Expression:
        return call("equal", *(col(both(left, right), position) for position in positions))

    nodes = [
        join(first, first, equal(first, first, 0, 2), JoinType.INNER),
        join(base, first, equal(base, first, 0, 2), JoinType.LEFT_SEMI),
        join(base, first, equal(base, first, 0, 2), JoinType.LEFT_MARK),
        join(first, sums, equal(first, sums, 0, 2), JoinType.LEFT_SINGLE, common=emit(3, 0)),
        join(sums, filtered, equal(sums, filtered, 0, 2), JoinType.RIGHT_ANTI),
        Cross(left=project(first, col(first, 0)), right=project(first, col(first, 0))),
    ]
    wanted: list[list[Row]] = [
        [(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)],
        [(1, 1), (2, 2), (3, 3), (2, 5)],
        [(1, 1, True), (2, 2, True), (3, 3, True), (None, 4, None), (2, 5, True)],
        [(1, 1), (7, 2), (3, 3)],
        [(4, None), (5, 2)],
        list(itertools.product([1, 2, 3], [1, 2, 3])),
    ]
    for found, records in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records)


def test_one_column_may_equal_two(spark: SparkSession) -> None:
    left, right = values([INT, INT_], [(1, 1), (1, 2), (2, None)]), values([INT], [(1,), (2,)])
    pair = both(left, right)
    twice = call("and", call("equal", col(pair, 0), col(pair, 2)), call("equal", col(pair, 1), col(pair, 2)))
    again = call("and", call("equal", col(pair, 0), col(pair, 2)), call("equal", col(pair, 0), col(pair, 2)))
    assert rows(spark, join(left, right, twice, JoinType.LEFT_SEMI)) == [(1, 1)]
    assert ordered(rows(spark, join(left, right, again, JoinType.LEFT_SEMI))) == [(1, 1), (1, 2), (2, None)]


def test_joins_stand_on_either_side_of_joins(spark: SparkSession) -> None:
    one = values([INT], [(1,), (2,)])
    inner = join(one, one, call("equal", col(both(one, one), 0), col(both(one, one), 1)), JoinType.INNER)
    on_the_right = both(one, inner)
    node = join(one, inner, call("lt", col(on_the_right, 0), col(on_the_right, 1)), JoinType.LEFT)
    assert ordered(rows(spark, node)) == ordered([(1, 2, 2), (2, None, None)])
    on_both = both(inner, node)
    node = join(inner, node, call("equal", col(on_both, 0), col(on_both, 3)), JoinType.RIGHT)
    assert ordered(rows(spark, node)) == ordered([(2, 2, 1, 2, 2), (None, None, 2, None, None)])


def test_a_shared_subtree_joined_with_itself(spark: SparkSession) -> None:
    import pyspark_substrait as ps

    base = values([INT, INT_], [(1, None), (2, 1), (3, 1)], names=("id", "parent"))
    shared = where(base, call("gt", col(base, 0), number(0)))
    one, other = (Reference(subtree_ordinal=1, subtree=shared) for _ in range(2))
    condition = call("equal", col(both(one, other), 1), col(both(one, other), 2))
    node = join(one, other, condition, JoinType.LEFT, common=emit(0, 2))
    document = plan(node, ("id", "id"), shared)
    assert ordered(tuples(ps.run_query(document, spark=spark))) == ordered([(1, None), (2, 1), (3, 1)])
    assert ps.to_sql(document).count("VALUES") == 1
    loaded = ps.load(document.to_json())
    assert ordered(tuples(ps.run_query(loaded, spark=spark))) == ordered([(1, None), (2, 1), (3, 1)])


@pytest.mark.sweep
@pytest.mark.parametrize("side", ["left", "right"])
def test_150_nested_joins(spark: SparkSession, side: str) -> None:
    import pyspark_substrait as ps

    one = values([INT], [(1,), (2,)])
    node: Any = one
    for _ in range(150):
        left, right = (node, one) if side == "left" else (one, node)
        pair = both(left, right)
        condition = call("equal", col(pair, 0), col(pair, len(left.schema.types)))
        node = join(left, right, condition, JoinType.INNER, common=emit(0))
    loaded = ps.load(plan(node).to_bytes())
    assert ordered(tuples(ps.run_query(loaded, spark=spark))) == [(1,), (2,)]
