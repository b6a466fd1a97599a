"""Projections in the SELECT of an aggregate, columns that nobody needs, semi joins that are inner joins: same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.relations import Cross, Fetch, JoinType, Reference, Relation, Set, SetOp, Sort
from tests.spark.plans import (
    LONG,
    LONG_,
    TEXT_,
    aggregate,
    answers,
    both,
    both_true,
    call,
    col,
    group,
    join,
    long,
    ordered,
    outer,
    plan,
    project,
    sort,
    stored,
    text,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = stored("t", {"k": LONG_, "v": LONG_, "w": TEXT_, "x": LONG_})
S = stored("s", {"j": LONG_, "u": LONG_, "z": TEXT_})
EMPTY = stored("empty", {"k": LONG_, "v": LONG_, "w": TEXT_, "x": LONG_})
ROWS = {
    "t": {
        "k": [1, 1, 2, 2, None, None, 3, 1],
        "v": [10, 20, 5, None, 7, 8, None, 10],
        "w": ["a", "b", "a", None, "c", "c", "d", "a"],
        "x": [1, 2, 3, 4, 5, 6, 7, 8],
    },
    "s": {"j": [1, 1, 2, 4, None, 3], "u": [5, 9, 5, 1, 2, None], "z": ["p", "q", "r", "s", "t", "u"]},
}


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    types = {"w": pa.string(), "z": pa.string()}
    made = {
        name: pa.table({column: pa.array(cells, types.get(column, pa.int64())) for column, cells in columns.items()})
        for name, columns in ROWS.items()
    }
    return {**made, "empty": made["t"].slice(0, 0)}


@pytest.fixture(scope="module")
def duck(tables: dict[str, pa.Table]) -> Any:
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        yield connection


def totals(input: Relation) -> Relation:
    """k, sum(v), count(v)."""
    return group(input, [col(input, 0)], [aggregate("sum", col(input, 1)), aggregate("count", col(input, 1))])


def overall(input: Relation) -> Relation:
    """sum(v), count(v)."""
    return group(input, [], [aggregate("sum", col(input, 1)), aggregate("count", col(input, 1))])


def projections() -> list[tuple[Relation, str]]:
    by_key, over_all, of_none = totals(T), overall(T), overall(EMPTY)
    twice = call("add", col(by_key, 1), col(by_key, 1))
    only_keys = project(by_key, col(by_key, 0), long(1))
    reordered = project(by_key, col(by_key, 2), call("add", col(by_key, 1), long(1)), col(by_key, 0), col(by_key, 0))
    kept = project(by_key, call("add", col(by_key, 2), long(1)), keep=True)
    above = project(reordered, call("add", col(reordered, 0), long(1)))
    return [
        (reordered, "SELECT count(v), sum(v) + 1, k, k FROM t GROUP BY k"),
        (kept, "SELECT k, sum(v), count(v), count(v) + 1 FROM t GROUP BY k"),
        (project(by_key, twice), "SELECT sum(v) + sum(v) FROM t GROUP BY k"),
        (only_keys, "SELECT k, 1 FROM t GROUP BY k"),
        (above, "SELECT count(v) + 1 FROM t GROUP BY k"),
        (
            where(reordered, call("gt", col(reordered, 1), long(9))),
            "SELECT count(v), sum(v) + 1, k, k FROM t GROUP BY k HAVING sum(v) + 1 > 9",
        ),
        (project(over_all, call("add", col(over_all, 1), long(1))), "SELECT count(v) + 1 FROM t"),
        (project(over_all, long(7)), "SELECT 7"),
        (project(of_none, long(7)), "SELECT 7"),
        (project(over_all, text("count(c2)")), "SELECT 'count(c2)'"),
        (project(of_none, call("add", col(of_none, 1), long(1)), col(of_none, 0)), "SELECT 1, NULL"),
        (Fetch(input=project(over_all, col(over_all, 1)), count_expr=long(1)), "SELECT count(v) FROM t"),
    ]


@pytest.mark.sweep
def test_projections_over_aggregates(spark: SparkSession, tables: dict[str, pa.Table], duck: Any) -> None:
    cases = projections()
    found = answers(spark, [relation for relation, _ in cases], tables=tables)
    for rows, (_, query) in zip(found, cases, strict=True):
        assert ordered(rows) == ordered(duck.sql(query).fetchall()), query


def test_a_correlated_aggregate_with_a_projection_is_one_select() -> None:
    inner = where(S, call("equal", col(S, 0), outer(T, 0, steps_out=1)))
    counted = overall(inner)
    value = ScalarSubquery(input=project(counted, call("add", col(counted, 1), long(1))))
    made = ps.to_sql(plan(project(T, value)))
    assert made.count("SELECT") == 4  # the root, the two reads, and the aggregate with what is computed of it


def test_correlated_aggregates(spark: SparkSession, tables: dict[str, pa.Table], duck: Any) -> None:
    """An outer record without any inner one has a count of zero, and no sum."""
    inner = where(S, call("equal", col(S, 0), outer(T, 0, steps_out=1)))
    counted = overall(inner)
    expressions = (call("add", col(counted, 1), long(1)), call("add", col(counted, 0), long(1)))
    both_of = [project(T, col(T, 3), ScalarSubquery(input=project(counted, one))) for one in expressions]
    found = answers(spark, both_of, tables=tables)
    for rows, value in zip(found, ("count(u) + 1", "sum(u) + 1"), strict=True):
        query = f"SELECT x, (SELECT {value} FROM s WHERE j = k) FROM t"
        assert ordered(rows) == ordered(duck.sql(query).fetchall())


def pruned() -> list[tuple[Relation, str, str]]:
    """Relations, their SQL, and the columns that they need."""
    right = where(S, call("gt", col(S, 1), long(1)))
    pair = both(T, S)
    equal = call("equal", col(pair, 0), col(pair, 4))
    left_join = join(T, right, equal, JoinType.LEFT)
    semi = join(T, S, both_true(equal, call("lt", col(pair, 1), col(pair, 5))), JoinType.LEFT_SEMI)
    other_way = both(S, T)
    right_semi = join(S, T, call("equal", col(other_way, 0), col(other_way, 3)), JoinType.RIGHT_SEMI)
    anti = join(T, S, equal, JoinType.LEFT_ANTI)
    crossed = Cross(left=T, right=S)
    exists = SetPredicate(
        predicate_op=PredicateOp.EXISTS, tuples=where(S, call("equal", col(S, 0), outer(T, 0, steps_out=1)))
    )
    inside = where(S, call("equal", col(S, 1), outer(T, 1, steps_out=2)))
    nested = SetPredicate(
        predicate_op=PredicateOp.EXISTS,
        tuples=where(S, SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=inside)),
    )
    among = InPredicate(needles=(col(T, 0),), haystack=project(S, col(S, 0)))
    first = Fetch(input=Sort(input=T, sorts=(sort(col(T, 3)),)), count_expr=long(2))
    filtered = stored("t", {"k": LONG_, "v": LONG_, "w": TEXT_, "x": LONG_}, filter=call("gt", col(T, 1), long(5)))
    union = Set(members=(T, T), op=SetOp.UNION_ALL)
    shared = Reference(subtree_ordinal=0, subtree=T)
    return [
        (
            project(left_join, col(left_join, 3), col(left_join, 6)),
            "SELECT x, z FROM t LEFT JOIN s ON k = j AND u > 1",
            "kxjuz",
        ),
        (project(semi, col(semi, 3)), "SELECT x FROM t WHERE EXISTS (FROM s WHERE k = j AND v < u)", "kvxju"),
        (project(right_semi, col(right_semi, 3)), "SELECT x FROM t WHERE k IN (SELECT j FROM s)", "kxj"),
        (project(anti, col(anti, 2)), "SELECT w FROM t WHERE NOT EXISTS (FROM s WHERE k = j)", "kwj"),
        (project(crossed, col(crossed, 3), col(crossed, 6)), "SELECT x, z FROM t, s", "xz"),
        (project(where(T, exists), col(T, 3)), "SELECT x FROM t WHERE EXISTS (FROM s WHERE j = k)", "kxj"),
        (project(where(T, nested), col(T, 3)), "SELECT x FROM t WHERE EXISTS (FROM s WHERE u = v)", ""),
        (project(where(T, among), col(T, 3)), "SELECT x FROM t WHERE k IN (SELECT j FROM s)", "kxj"),
        (project(first, col(first, 0)), "SELECT k FROM t ORDER BY x LIMIT 2", "kx"),
        (project(filtered, col(filtered, 0)), "SELECT k FROM t WHERE v > 5", "kv"),
        (group(T, [], [aggregate("count", col(T, 2))]), "SELECT count(w) FROM t", "w"),
        (project(T, long(1)), "SELECT 1 FROM t", ""),
        (project(union, col(union, 0)), "SELECT k FROM t UNION ALL SELECT k FROM t", ""),
        (project(shared, col(shared, 0)), "SELECT k FROM t", ""),
        (totals(T), "SELECT k, sum(v), count(v) FROM t GROUP BY k", "kv"),
    ]


def test_columns_that_nothing_needs(spark: SparkSession, tables: dict[str, pa.Table], duck: Any) -> None:
    cases = pruned()
    found = answers(spark, [relation for relation, _, _ in cases], tables=tables)
    for rows, (relation, query, needed) in zip(found, cases, strict=True):
        assert ordered(rows) == ordered(duck.sql(query).fetchall()), query
        made = ps.to_sql(plan(relation))
        if needed:
            assert {name for name in "kvwxjuz" if f"`{name}`" in made} == set(needed), made


def test_a_column_that_is_checked_for_nulls_is_checked_only_where_it_is_needed(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, None), (2, 3)], "a bigint, b bigint")
    read = stored("q", {"a": LONG, "b": LONG})
    found = ps.run_query(plan(project(read, col(read, 0))), spark=spark, tables={"q": frame})
    assert sorted(found.column(0).to_pylist()) == [1, 2]
    with pytest.raises(ps.ExecutionError, match="b is null"):
        ps.run_query(plan(project(read, col(read, 1))), spark=spark, tables={"q": frame})


@pytest.mark.parametrize("type", [JoinType.LEFT_SEMI, JoinType.RIGHT_SEMI])
def test_semi_joins_with_one_record_a_key(
    spark: SparkSession, tables: dict[str, pa.Table], duck: Any, type: JoinType
) -> None:
    by_key = totals(T)
    sums_first = project(by_key, col(by_key, 1), col(by_key, 0))  # sum(v), k
    no_key = project(by_key, col(by_key, 1), col(by_key, 2))
    cases: list[tuple[Relation, str]] = []
    for other, width, conditions, query in (
        (sums_first, 2, ((0, 1, "equal"), (1, 0, "lt")), "j = k AND u < a"),
        (sums_first, 2, ((0, 1, "equal"), (1, 0, "equal")), "j = k AND u = a"),
        (sums_first, 2, ((0, 1, "equal"),), "j = k"),
        (no_key, 2, ((1, 1, "gt"), (1, 0, "lt")), "u > b AND u < a"),
        (overall(T), 2, ((1, 0, "lt"),), "u < (SELECT sum(v) FROM t)"),
    ):
        left = type is JoinType.LEFT_SEMI
        pair = both(S, other) if left else both(other, S)
        mine, theirs = (0, 3) if left else (width, 0)
        parts = [call(name, col(pair, mine + one), col(pair, theirs + two)) for one, two, name in conditions]
        condition = parts[0] if len(parts) == 1 else both_true(*parts)
        joined = join(S, other, condition, type) if left else join(other, S, condition, type)
        source = "(SELECT k, sum(v) AS a, count(v) AS b FROM t GROUP BY k)"
        cases.append((joined, f"SELECT * FROM s WHERE EXISTS (FROM {source} WHERE {query})"))
    found = answers(spark, [relation for relation, _ in cases], tables=tables)
    for rows, (_, query) in zip(found, cases, strict=True):
        assert ordered(rows) == ordered(duck.sql(query).fetchall()), query


def test_only_a_semi_join_with_one_record_a_key_is_an_inner_join() -> None:
    by_key = totals(T)
    pair = both(S, by_key)
    on_key, on_sum = call("equal", col(pair, 0), col(pair, 3)), call("lt", col(pair, 1), col(pair, 4))
    assert "INNER JOIN" in ps.to_sql(plan(join(S, by_key, both_true(on_key, on_sum), JoinType.LEFT_SEMI)))
    assert "LEFT SEMI JOIN" in ps.to_sql(plan(join(S, by_key, on_sum, JoinType.LEFT_SEMI)))
    assert " IN (" in ps.to_sql(plan(join(S, by_key, on_key, JoinType.LEFT_SEMI)))
