"""Correlated subqueries as columns over a union: Spark alone fails on them, wherever it moves the projection down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from pyspark_substrait.model.expressions import InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.relations import Fetch, JoinType, Relation, Set, SetOp, Sort
from tests.spark.correlated import TABLES, generated
from tests.spark.plans import (
    INT_,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    number,
    ordered,
    outer,
    project,
    sort,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

R, S, T = (values([INT_, INT_], TABLES[name]) for name in "rst")


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, records in TABLES.items():
            connection.execute(f"CREATE TABLE {name} (a INT, b INT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", records)
        yield connection


def union(*members: Relation) -> Set:
    return Set(members=members, op=SetOp.UNION_ALL)


BOTH = union(R, project(S, col(S, 1), col(S, 0)))
BOTH_SQL = "(SELECT a, b FROM r UNION ALL SELECT b, a FROM s)"

a1, b1 = (outer(R, place, steps_out=1) for place in (0, 1))
ABOVE = where(T, call("lt", col(T, 0), b1))
ABOVE_SQL = "FROM t WHERE t.a < u.b"
EXISTS = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=ABOVE)
EXISTS_SQL = f"EXISTS (SELECT 1 {ABOVE_SQL})"
LARGEST = ScalarSubquery(input=group(ABOVE, [], [aggregate("max", col(T, 1))]))
LARGEST_SQL = f"(SELECT max(t.b) {ABOVE_SQL})"
AMONG = InPredicate(needles=(col(R, 0),), haystack=project(T, col(T, 0)))
# a cell that Spark can't evaluate on the spot: the records of the table become a union
AS_CELL = ScalarSubquery(input=group(T, [], [aggregate("max", col(T, 1))]))
PAIR = both(R, T)


def shapes() -> dict[str, tuple[Any, str]]:
    shown = f"u.a, {EXISTS_SQL}, {LARGEST_SQL}"
    found: dict[str, tuple[Any, str]] = {}
    common = call("equal", col(R, 0), col(PAIR, 2))
    below: dict[str, tuple[Relation, str]] = {
        "union": (BOTH, BOTH_SQL),
        "filter": (where(BOTH, call("gt", col(R, 0), number(1))), f"(SELECT * FROM {BOTH_SQL} WHERE a > 1)"),
        "project": (
            project(BOTH, call("add", col(R, 0), number(1)), col(R, 1)),
            f"(SELECT a + 1 AS a, b FROM {BOTH_SQL})",
        ),
        "limit": (Fetch(input=BOTH, count_expr=number(99)), BOTH_SQL),
        "no offset": (Fetch(input=BOTH, offset_expr=number(0), count_expr=number(99)), BOTH_SQL),
        "semi": (
            join(BOTH, T, common, JoinType.LEFT_SEMI),
            f"(SELECT * FROM {BOTH_SQL} AS v WHERE EXISTS (SELECT 1 FROM t WHERE t.a = v.a))",
        ),
        "anti": (
            join(T, BOTH, call("equal", col(PAIR, 0), col(PAIR, 2)), JoinType.RIGHT_ANTI),
            f"(SELECT * FROM {BOTH_SQL} AS v WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.a = v.a))",
        ),
        "cells": (
            values([INT_, INT_], [(number(1), call("add", number(1), number(1))), (number(2), AS_CELL), (3, 0)]),
            "(SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 3 UNION ALL SELECT 3, 0)",
        ),
    }
    for name, (node, sql) in below.items():
        found[name] = (project(node, col(R, 0), EXISTS, LARGEST), f"SELECT {shown} FROM {sql} AS u")
    found["in"] = (project(BOTH, AMONG), f"SELECT u.a IN (SELECT t.a FROM t) FROM {BOTH_SQL} AS u")
    marked = join(BOTH, T, call("lt", col(PAIR, 1), col(PAIR, 3)), JoinType.LEFT_MARK)
    found["mark"] = (marked, f"SELECT u.a, u.b, u.b < ANY (SELECT t.b FROM t) FROM {BOTH_SQL} AS u")
    found["group"] = (
        group(BOTH, [LARGEST], [aggregate("count")]),
        f"SELECT n, count(*) FROM (SELECT {LARGEST_SQL} AS n FROM {BOTH_SQL} AS u) GROUP BY n",
    )
    in_order = Sort(input=BOTH, sorts=(sort(LARGEST), sort(col(R, 0)), sort(col(R, 1))))
    found["sort"] = (
        Fetch(input=in_order, count_expr=number(4)),
        f"SELECT a, b FROM {BOTH_SQL} AS u ORDER BY {LARGEST_SQL} NULLS FIRST, a NULLS FIRST, b NULLS FIRST LIMIT 4",
    )
    return found


def test_columns_over_a_union(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    listed = shapes()
    found = answers(spark, [node for node, _ in listed.values()])
    for rows, (name, (_, sql)) in zip(found, listed.items(), strict=True):
        assert ordered(rows) == ordered(duck.execute(sql).fetchall()), name


def test_inside_of_correlated_queries(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """Also where the union's members refer to the record around."""
    members = union(where(R, call("equal", col(R, 1), b1)), where(S, call("lte", col(S, 0), a1)))
    members_sql = "(SELECT a, b FROM r WHERE r.b = o.b UNION ALL SELECT a, b FROM s WHERE s.a <= o.a)"
    largest = project(members, LARGEST)
    summed = ScalarSubquery(input=group(largest, [], [aggregate("max", col(largest, 0))]))
    closed = project(BOTH, col(R, 0), LARGEST)
    same = where(closed, call("equal", col(closed, 0), a1))
    kept = ScalarSubquery(input=group(same, [], [aggregate("max", col(closed, 1))]))
    nodes = [project(T, col(T, 0), summed), project(T, col(T, 0), kept), generated(2088).node]
    queries = [
        f"SELECT o.a, (SELECT max(n) FROM (SELECT {LARGEST_SQL} AS n FROM {members_sql} AS u)) FROM t AS o",
        f"SELECT o.a, (SELECT max(n) FROM (SELECT u.a, {LARGEST_SQL} AS n FROM {BOTH_SQL} AS u) AS v "
        "WHERE v.a = o.a) FROM t AS o",
        generated(2088).sql,
    ]
    for rows, sql in zip(answers(spark, nodes), queries, strict=True):
        assert ordered(rows) == ordered(duck.execute(sql).fetchall()), sql
