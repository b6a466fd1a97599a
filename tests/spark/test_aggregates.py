"""Aggregates: grouping sets of every shape against DuckDB, and what DuckDB has no word for by the specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Filter, Measure, Read, Relation
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    LONG_,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    call,
    col,
    emit,
    group,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    text,
    truth,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[Any, ...]

DATA = [
    ("x", "p", 1),
    ("x", "p", 2),
    ("x", "q", None),
    ("x", None, 4),
    (None, "p", 4),
    (None, None, 6),
    ("y", "q", 7),
    ("y", "q", 7),
]


@pytest.fixture(scope="module")
def table() -> Read:
    return values([TEXT_, TEXT_, LONG_], DATA)


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a VARCHAR, b VARCHAR, v BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", DATA)
        yield connection


def measures(input: Relation) -> list[Any]:
    return [aggregate("sum", col(input, 2)), aggregate("count")]


def folded(sets: Sequence[Sequence[int]], data: Sequence[Row]) -> list[Row]:
    """The specification's words on grouping sets, over sum(v) and count(*) of keys a and b."""
    found = []
    for index, members in enumerate(sets):
        groups: dict[Row, list[Row]] = {} if members else {(None, None): []}
        for row in data:
            key = tuple(row[position] if position in members else None for position in (0, 1))
            groups.setdefault(key, []).append(row)
        for key, records in groups.items():
            known = [row[2] for row in records if row[2] is not None]
            numbered = (index,) if len(sets) > 1 else ()
            found.append((*key, sum(known) if known else None, len(records), *numbered))
    return found


def test_the_evaluator_agrees_with_duckdb(duck: Any) -> None:
    for sets, sql in (([(0, 1), (0,), ()], "ROLLUP (a, b)"), ([(0, 1), (0,), (1,), ()], "CUBE (a, b)")):
        found = duck.execute(f"SELECT a, b, sum(v), count(*) FROM t GROUP BY {sql}").fetchall()
        assert ordered(found) == ordered(row[:4] for row in folded(sets, DATA))


SETS: list[list[tuple[int, ...]]] = [
    [(0, 1)],
    [(1, 0)],
    [(0, 1), (0,), ()],
    [(), (0,), (0, 1)],
    [(0, 1), (0,), (1,), ()],
    [(1,), (0,)],
    [(1,), (0, 1)],
    [(0,), (1,), (0,)],
    [(0, 1), (1, 0)],
    [(0, 1), (0, 1), (), ()],
    [(), (1, 0), ()],
    [(0, 0, 1), (0,)],
]


def test_grouping_sets(spark: SparkSession, table: Read) -> None:
    keys = [col(table, 0), col(table, 1)]
    empty = where(table, truth(False))
    nodes = [group(table, keys, measures(table), sets) for sets in SETS]
    nodes += [group(empty, keys, measures(table), sets) for sets in SETS]
    found = answers(spark, nodes)
    for sets, of_table, of_nothing in zip(SETS, found, found[len(SETS) :], strict=False):
        assert ordered(of_table) == ordered(folded(sets, DATA)), sets
        assert ordered(of_nothing) == ordered(folded(sets, [])), sets


def test_a_key_that_is_there_twice_is_null_where_its_own_place_is_in_no_set(spark: SparkSession, table: Read) -> None:
    keys = [col(table, 0), col(table, 1), col(table, 0)]
    (found,) = answers(spark, [group(table, keys, [aggregate("count")], [(0, 1), (2,), ()])])
    expected = []
    for a, b, *rest in folded([(0, 1), (0,), ()], DATA):
        expected.append((None, None, a, *rest[1:]) if rest[-1] == 1 else (a, b, None, *rest[1:]))
    assert ordered(found) == ordered(expected)


def test_schema_of_grouping_sets(spark: SparkSession) -> None:
    table = values([TEXT, TEXT], [("a", "b")])
    keys = [col(table, 0), col(table, 1)]
    node = group(table, keys, [aggregate("count")], [(0, 1), (0,)])
    found = run(spark, node)
    assert [field.nullable for field in found.schema] == [False, True, False, False]
    assert [str(field.type) for field in found.schema] == ["string", "string", "int64", "int32"]


def test_without_keys(spark: SparkSession, table: Read) -> None:
    empty = where(table, truth(False))
    nodes = [
        group(table, [], measures(table)),
        group(table, [], measures(table), [()]),
        group(empty, [], measures(table)),
        group(empty, [], measures(table), [()]),
        group(table, [], measures(table), [(), ()]),
        group(empty, [], measures(table), [(), ()]),
        # the record stays, whatever is left of it
        project(group(empty, [], measures(table), common=emit()), number(5)),
        group(group(table, [], measures(table)), [], [aggregate("count")]),
    ]
    assert answers(spark, nodes) == [
        [(31, 8)],
        [(31, 8)],
        [(None, 0)],
        [(None, 0)],
        [(31, 8, 0), (31, 8, 1)],
        [(None, 0, 0), (None, 0, 1)],
        [(5,)],
        [(1,)],
    ]


def test_keys_alone(spark: SparkSession, table: Read, duck: Any) -> None:
    keys = [col(table, 1), col(table, 0)]
    distinct = duck.execute("SELECT DISTINCT b, a FROM t").fetchall()
    one, several, empty = answers(
        spark,
        [
            group(table, keys, []),
            group(table, keys, [], [(0, 1), (), (0,)]),
            group(where(table, truth(False)), keys, [], [(0, 1), (), (0,)]),
        ],
    )
    assert ordered(one) == ordered(distinct)
    wanted = [(*row, 0) for row in distinct] + [(None, None, 1)]
    wanted += [(*row, None, 2) for row in duck.execute("SELECT DISTINCT b FROM t").fetchall()]
    assert ordered(several) == ordered(wanted)
    assert empty == [(None, None, 1)]


def test_filters_and_distinct(spark: SparkSession, table: Read, duck: Any) -> None:
    a, b, v = (col(table, position) for position in range(3))
    large = call("gt", v, values([LONG_], [(3,)]).read_type.expressions[0].fields[0])  # type: ignore[union-attr]
    listed: list[AggregateFunction | Measure] = [
        aggregate("count", v, distinct=True),
        aggregate("count", v),
        aggregate("sum", v, distinct=True),
        aggregate("sum", v),
        Measure(measure=aggregate("count"), filter=large),
        Measure(measure=aggregate("sum", v), filter=call("is_null", b)),
        Measure(measure=aggregate("count", b, distinct=True), filter=large),
        Measure(measure=aggregate("count", b), filter=truth(None)),
    ]
    sql = """count(DISTINCT v), count(v), sum(DISTINCT v), sum(v), count(*) FILTER (v > 3), sum(v) FILTER (b IS NULL),
        count(DISTINCT b) FILTER (v > 3), count(b) FILTER (CAST(NULL AS BOOLEAN))"""
    keyed, alone, rolled = answers(
        spark, [group(table, [a], listed), group(table, [], listed), group(table, [a, b], listed, [(0, 1), (0,), ()])]
    )
    assert ordered(keyed) == ordered(duck.execute(f"SELECT a, {sql} FROM t GROUP BY a").fetchall())
    assert alone == duck.execute(f"SELECT {sql} FROM t").fetchall()
    both = duck.execute(f"SELECT a, b, {sql} FROM t GROUP BY ROLLUP (a, b)").fetchall()
    assert ordered(row[:-1] for row in rolled) == ordered(both)


def test_keys_that_are_the_same_or_constant_or_measured(spark: SparkSession, table: Read, duck: Any) -> None:
    a, b, v = (col(table, position) for position in range(3))
    doubled = call("add", v, v)
    nodes: list[Aggregate] = [
        group(table, [a, a], [aggregate("count")]),
        group(table, [a, a], [aggregate("count")], [(0, 1), (1,)]),
        group(table, [number(1), a], [aggregate("count")]),
        group(table, [number(1), text("k")], [aggregate("count")], [(0,), (1,), (0, 1)]),
        group(table, [doubled, doubled], [aggregate("sum", v)]),
        group(table, [v, a], [aggregate("sum", v), aggregate("max", v)], [(0,), (1,), (0, 1), ()]),
        group(table, [number(2)], [aggregate("count")], [(), (0,)]),
        group(where(table, truth(False)), [number(2)], [aggregate("count")]),
        group(table, [b], [aggregate("count")], common=emit(1)),
        group(table, [b, a], [aggregate("count")], common=emit(2, 0, 2)),
    ]
    found = [ordered(records) for records in answers(spark, nodes)]
    by_a = duck.execute("SELECT a, count(*) FROM t GROUP BY a").fetchall()
    assert found[0] == ordered((key, key, count) for key, count in by_a)
    wanted = [(key, key, count, 0) for key, count in by_a] + [(None, key, count, 1) for key, count in by_a]
    assert found[1] == ordered(wanted)
    assert found[2] == ordered((1, key, count) for key, count in by_a)
    assert found[3] == ordered([(1, None, 8, 0), (None, "k", 8, 1), (1, "k", 8, 2)])
    by_doubled = duck.execute("SELECT v + v, v + v, sum(v) FROM t GROUP BY ALL").fetchall()
    assert found[4] == ordered(by_doubled)
    query = "SELECT v, a, sum(v), max(v) FROM t GROUP BY GROUPING SETS ((v), (a), (v, a), ())"
    assert ordered(row[:4] for row in found[5]) == ordered(duck.execute(query).fetchall())
    assert found[6] == ordered([(None, 8, 0), (2, 8, 1)])
    assert found[7] == []
    assert found[8] == ordered(duck.execute("SELECT count(*) FROM t GROUP BY b").fetchall())
    assert found[9] == ordered(
        (n, b, n) for b, a, n in duck.execute("SELECT b, a, count(*) FROM t GROUP BY b, a").fetchall()
    )


def test_a_total_of_no_records_that_a_filter_drops(spark: SparkSession, table: Read, duck: Any) -> None:
    zero = Literal(value=0, type=LONG)
    sums = [aggregate("count"), aggregate("sum", col(table, 2)), aggregate("count", col(table, 2))]
    sets = [(0, 1), (0,), ()]
    cases: list[tuple[Filter, str]] = []
    for records, condition in ((table, "true"), (where(table, truth(False)), "false")):
        keys = [col(records, 0), col(records, 1)]
        whole = group(records, keys, sums, sets)
        few = group(records, keys, sums, sets, common=emit(2, 3))
        some = group(records, keys, [Measure(measure=aggregate("count"), filter=call("is_null", keys[0]))], sets)
        cases += [
            (where(whole, call("gt", col(whole, 2), zero)), f"ALL|count(*) > 0|{condition}"),
            (where(few, call("gt", col(few, 0), zero)), f"count(*), sum(v)|count(*) > 0|{condition}"),
            (where(whole, call("gte", col(whole, 2), zero)), f"ALL|count(*) >= 0|{condition}"),
            (where(whole, call("gt", col(whole, 4), zero)), f"ALL|count(v) > 0|{condition}"),
            (where(some, call("gte", col(some, 2), zero)), f"a, b, count(*) FILTER (a IS NULL)|true|{condition}"),
        ]
    every = "a, b, count(*), sum(v), count(v)"
    for (_, wanted), found in zip(cases, answers(spark, [node for node, _ in cases]), strict=True):
        columns, having, condition = wanted.replace("ALL", every).split("|")
        query = f"SELECT {columns} FROM t WHERE {condition} GROUP BY ROLLUP (a, b) HAVING {having}"
        width = columns.count(", ") + 1
        assert ordered(row[:width] for row in found) == ordered(duck.execute(query).fetchall()), wanted
    assert ps.to_sql(plan(cases[0][0])).count("VALUES") == 1
    assert ps.to_sql(plan(cases[2][0])).count("VALUES") == 2


def test_floating_keys_by_value(spark: SparkSession) -> None:
    from tests.spark.plans import REAL_

    nan = float("nan")
    table = values([REAL_], [(nan,), (nan,), (0.0,), (-0.0,), (None,), (None,)])
    found = rows(spark, group(table, [col(table, 0)], [aggregate("count")]))
    assert sorted(count for _, count in found) == [2, 2, 2]


def test_an_aggregate_of_an_aggregate_and_of_sorted_records(spark: SparkSession, table: Read) -> None:
    from pyspark_substrait.model.relations import Fetch, Sort
    from tests.spark.plans import sort

    inner = group(table, [col(table, 0), col(table, 1)], [aggregate("count")])
    outer = group(inner, [col(inner, 0)], [aggregate("sum", col(inner, 2)), aggregate("count")])
    first = Fetch(input=Sort(input=table, sorts=(sort(col(table, 2)),)), count_expr=number(3))
    node = group(first, [], [aggregate("sum", col(first, 2))])  # null, 1, 2
    found = answers(spark, [outer, node])
    assert ordered(found[0]) == ordered([("x", 4, 3), (None, 2, 2), ("y", 2, 1)])
    assert found[1] == [(3,)]


def test_what_is_no_aggregate_is_refused(spark: SparkSession) -> None:
    table = values([INT, INT_], [(1, 2)])
    with pytest.raises(InvalidPlanError, match="at least one grouping expression or measure"):
        rows(spark, group(table, [], [], [()]))
    with pytest.raises(
        InvalidPlanError, match=r"groupings\[1\].expression_references: it refers to grouping expression 3"
    ):
        rows(spark, group(table, [col(table, 0)], [], [(0,), (3,)]))
    with pytest.raises(InvalidPlanError, match=r"grouping_expressions\[1\]: no grouping set refers"):
        rows(spark, group(table, [col(table, 0), col(table, 1)], [], [(0,)]))


def test_spark_knows_that_the_number_of_a_grouping_set_is_never_null(spark: SparkSession, table: Read) -> None:
    """The DataFrame says so, too, without anything computed for it."""
    keys = [col(table, 0), col(table, 1)]
    for sets in ([[0, 1], [0], []], [[0, 1], [1]], [[0], [1], [0]]):
        made = group(table, keys, [aggregate("count")], sets=sets)
        assert made.schema.types[-1] == INT
        frame = ps.from_substrait(plan(made), spark)
        assert not frame.schema[-1].nullable
