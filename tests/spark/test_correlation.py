"""Correlated subqueries that Spark can't run as they are: at several levels, in every place, around every relation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    ComparisonOp,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    InPredicate,
    MapKey,
    MultiOrList,
    OuterReference,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    StructField,
)
from pyspark_substrait.model.relations import Fetch, Measure, Read, Relation, Sort
from pyspark_substrait.model.types import Map
from tests.spark.correlated import TABLES
from tests.spark.plans import (
    INT,
    INT_,
    aggregate,
    answers,
    call,
    col,
    group,
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

R: Read = values([INT_, INT_], TABLES["r"])
S: Read = values([INT_, INT_], TABLES["s"])
T: Read = values([INT_, INT_], TABLES["t"])


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, records in TABLES.items():
            connection.execute(f"CREATE TABLE {name} (a INT, b INT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", records)
        yield connection


# expressions of one letter's table, of the record around, and of the one around that
ra, rb, sa, sb, ta, tb = col(R, 0), col(R, 1), col(S, 0), col(S, 1), col(T, 0), col(T, 1)
ra1, rb1, sa1, sb1 = (outer(table, place, steps_out=1) for table in (R, S) for place in (0, 1))
ra2, rb2, ra3 = outer(R, 0, steps_out=2), outer(R, 1, steps_out=2), outer(R, 0, steps_out=3)


def scalar(input: Relation) -> ScalarSubquery:
    return ScalarSubquery(input=input)


def among(haystack: Relation, *needles: Expression) -> InPredicate:
    return InPredicate(needles=needles, haystack=haystack)


def exists(input: Relation) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def unique(input: Relation) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=input)


def compared(left: Expression, op: ComparisonOp, reduction: ReductionOp, right: Relation) -> SetComparison:
    return SetComparison(left=left, comparison_op=op, reduction_op=reduction, right=right)


def eq(left: Expression, right: Expression) -> Expression:
    return call("equal", left, right)


def every(*conditions: Expression) -> Expression:
    return call("and", *conditions)


def as_int(node: Expression) -> Expression:
    return Cast(type=INT_, input=node)


def first(input: Relation) -> Relation:
    return project(input, col(input, 0))


def count_of(input: Relation) -> Relation:
    counted = group(input, [], [aggregate("count")])
    return project(counted, as_int(col(counted, 0)))


def largest(input: Relation, value: Expression) -> Relation:
    return group(input, [], [aggregate("max", value)])


# T's records that go with both a record of S, one level out, and one of R, two levels out
NEAR = where(T, every(call("gte", tb, sb1), call("lte", ta, ra2)))
NEAR_SQL = "FROM t WHERE t.b >= s.b AND t.a <= r.a"
# S's records for which there is one
WITH_NEAR = where(S, exists(NEAR))
WITH_NEAR_SQL = f"FROM s WHERE EXISTS (SELECT 1 {NEAR_SQL})"
COUNT_NEAR = scalar(count_of(WITH_NEAR))
COUNT_NEAR_SQL = f"(SELECT CAST(count(*) AS INT) {WITH_NEAR_SQL})"


def two_levels() -> dict[str, tuple[Any, str]]:
    """Every kind of subquery, with an outer reference that goes two queries out."""
    same_a = where(S, every(eq(sa, ra1), among(first(where(T, eq(tb, rb2))), sb)))
    max_near = scalar(largest(NEAR, ta))
    three = where(S, exists(where(T, exists(where(S, every(eq(sa, ra3), call("lte", sb, outer(T, 1, steps_out=1))))))))
    conditions: dict[str, tuple[Expression, str]] = {
        "exists": (exists(WITH_NEAR), f"EXISTS (SELECT 1 {WITH_NEAR_SQL})"),
        "in": (among(first(WITH_NEAR), rb), f"r.b IN (SELECT s.a {WITH_NEAR_SQL})"),
        "in, two columns": (
            among(WITH_NEAR, ra, rb),
            f"CASE WHEN EXISTS (SELECT 1 {WITH_NEAR_SQL} AND s.a = r.a AND s.b = r.b) THEN true "
            f"WHEN EXISTS (SELECT 1 {WITH_NEAR_SQL} AND (s.a = r.a AND s.b = r.b) IS NULL) THEN NULL ELSE false END",
        ),
        "scalar": (call("gt", COUNT_NEAR, number(1)), f"{COUNT_NEAR_SQL} > 1"),
        "in inside": (
            exists(same_a),
            "EXISTS (SELECT 1 FROM s WHERE s.a = r.a AND s.b IN (SELECT t.a FROM t WHERE t.b = r.b))",
        ),
        "scalar inside": (
            exists(where(S, eq(sa, max_near))),
            f"EXISTS (SELECT 1 FROM s WHERE s.a = (SELECT max(t.a) {NEAR_SQL}))",
        ),
        "three levels": (
            exists(three),
            "EXISTS (SELECT 1 FROM s WHERE EXISTS (SELECT 1 FROM t WHERE EXISTS "
            "(SELECT 1 FROM s AS u WHERE u.a = r.a AND u.b <= t.b)))",
        ),
        "unique": (
            unique(first(WITH_NEAR)),
            f"(SELECT count(*) FROM (SELECT s.a {WITH_NEAR_SQL} AND s.a IS NOT NULL "
            "GROUP BY s.a HAVING count(*) > 1)) = 0",
        ),
    }
    for op, reduction in itertools.product(ComparisonOp, ReductionOp):
        sql = f"r.b {op.value} {reduction.name} (SELECT s.a {WITH_NEAR_SQL})"
        conditions[sql] = (compared(rb, op, reduction, first(WITH_NEAR)), sql)
    return conditions


@pytest.mark.sweep
def test_every_kind_two_levels_out(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    listed = list(two_levels().items())
    nodes: list[Relation] = []
    wanted: list[tuple[str, str]] = []
    for start in range(0, len(listed), 5):
        part = listed[start : start + 5]
        nodes.append(project(R, ra, rb, *(node for _, (node, _) in part)))
        wanted.append((str([name for name, _ in part]), f"SELECT r.*, {', '.join(sql for _, (_, sql) in part)} FROM r"))
    for name, (node, sql) in listed[:4]:
        nodes += [where(R, node), where(R, call("not", node))]
        wanted += [(name, f"SELECT * FROM r WHERE {sql}"), (f"not {name}", f"SELECT * FROM r WHERE NOT ({sql})")]
    check(spark, duck, nodes, wanted)


def check(
    spark: SparkSession, duck: duckdb.DuckDBPyConnection, nodes: list[Any], queries: list[tuple[str, str]]
) -> None:
    for found, (name, query) in zip(answers(spark, nodes), queries, strict=True):
        assert ordered(found) == ordered(duck.execute(query).fetchall()), name


def places() -> dict[str, tuple[Any, str]]:
    """A subquery that refers two queries out, wherever an expression may stand."""
    near, near_sql = exists(WITH_NEAR), f"EXISTS (SELECT 1 {WITH_NEAR_SQL})"
    chosen = IfThen(ifs=(IfClause(call("gt", ra, number(1)), COUNT_NEAR),), else_=rb)
    listed = SingularOrList(value=COUNT_NEAR, options=(ra, rb, COUNT_NEAR))
    tupled = MultiOrList(value=(ra, COUNT_NEAR), options=((rb, rb), (ra, number(2))))
    by_count = [Measure(measure=aggregate("sum", COUNT_NEAR)), Measure(measure=aggregate("count"), filter=near)]
    measured = group(R, [ra], by_count)
    keyed = group(R, [COUNT_NEAR], [aggregate("count")])
    sorted_ = Fetch(
        input=Sort(input=R, sorts=(sort(COUNT_NEAR), sort(ra), sort(rb))),
        count_expr=number(3),
    )
    read = values([INT_, INT_], TABLES["r"], filter=near)
    needle = among(first(S), COUNT_NEAR)
    left = compared(COUNT_NEAR, ComparisonOp.GT, ReductionOp.ALL, first(where(T, eq(tb, rb1))))
    doubled = where(R, call("or", near, call("gt", call("add", COUNT_NEAR, COUNT_NEAR), rb)))
    return {
        "if then": (project(R, chosen), f"SELECT CASE WHEN a > 1 THEN {COUNT_NEAR_SQL} ELSE b END FROM r"),
        "options": (project(R, listed), f"SELECT {COUNT_NEAR_SQL} IN (a, b, {COUNT_NEAR_SQL}) FROM r"),
        "tuples": (
            project(R, tupled),
            f"SELECT (a = b AND {COUNT_NEAR_SQL} = b) OR (a = a AND {COUNT_NEAR_SQL} = 2) FROM r",
        ),
        "measures": (
            measured,
            "SELECT a, sum(n), count(*) FILTER (WHERE e) "
            f"FROM (SELECT a, {COUNT_NEAR_SQL} AS n, {near_sql} AS e FROM r) GROUP BY a",
        ),
        "grouping": (keyed, f"SELECT n, count(*) FROM (SELECT {COUNT_NEAR_SQL} AS n FROM r) GROUP BY n"),
        "sort": (
            sorted_,
            f"SELECT a, b FROM r ORDER BY {COUNT_NEAR_SQL} NULLS FIRST, a NULLS FIRST, b NULLS FIRST LIMIT 3",
        ),
        "read": (read, f"SELECT * FROM r WHERE {near_sql}"),
        "needle": (project(R, needle), f"SELECT {COUNT_NEAR_SQL} IN (SELECT a FROM s) FROM r"),
        "left": (project(R, left), f"SELECT {COUNT_NEAR_SQL} > ALL (SELECT a FROM t WHERE t.b = r.b) FROM r"),
        "or": (doubled, f"SELECT * FROM r WHERE {near_sql} OR {COUNT_NEAR_SQL} + {COUNT_NEAR_SQL} > b"),
        "two in a row": (
            where(where(R, near), call("gt", COUNT_NEAR, number(2))),
            f"SELECT * FROM r WHERE {near_sql} AND {COUNT_NEAR_SQL} > 2",
        ),
        "cells": (
            values(
                [INT_, INT_], [(as_int(scalar(group(S, [], [aggregate("count")]))), 7), (scalar(largest(T, ta)), None)]
            ),
            "SELECT (SELECT count(*) FROM s), 7 UNION ALL SELECT (SELECT max(a) FROM t), NULL",
        ),
    }


@pytest.mark.sweep
def test_every_place(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    listed = places()
    check(spark, duck, [node for node, _ in listed.values()], [(name, sql) for name, (_, sql) in listed.items()])


def test_a_scalar_subquery_fails_only_where_its_value_is_used(spark: SparkSession) -> None:
    """S has two records with a = 1 that go with R's (1, null); the branch that needs them isn't taken."""
    own = project(where(S, every(eq(sa, ra1), exists(where(T, every(eq(ta, sa1), call("gte", tb, ra2)))))), sb)
    guarded = IfThen(ifs=(IfClause(eq(ra, number(1)), number(-1)),), else_=scalar(own))
    found = rows(spark, project(R, ra, rb, guarded))
    assert ordered(found) == ordered(
        [(0, 1, None), (1, None, -1), (None, 2, None), (2, 2, None), (2, 2, None), (3, 0, None)]
    )
    with pytest.raises(ExecutionError, match="more than one row"):
        rows(spark, project(R, ra, scalar(own)))


def test_the_order_of_the_records_stays(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """A subquery that becomes a join doesn't disturb it."""
    in_order = Sort(input=R, sorts=(sort(rb), sort(ra)))
    limited = Fetch(input=in_order, offset_expr=number(1), count_expr=number(4))
    order = "ORDER BY b NULLS FIRST, a NULLS FIRST"
    assert (
        rows(spark, project(in_order, ra, rb, COUNT_NEAR))
        == duck.execute(f"SELECT a, b, {COUNT_NEAR_SQL} FROM r {order}").fetchall()
    )
    assert (
        rows(spark, where(limited, call("gte", COUNT_NEAR, number(0))))
        == duck.execute(f"SELECT a, b FROM r {order} LIMIT 4 OFFSET 1").fetchall()
    )


def test_faults_stay_where_they_are_in_the_plan(spark: SparkSession) -> None:
    """Also in a plan that is rewritten, and also where what is said of it comes from the rewritten one."""
    wrong = where(S, every(exists(NEAR), among(S, sb)))
    with pytest.raises(InvalidPlanError, match="there are 1 needles, but the haystack has 2 columns") as caught:
        rows(spark, where(R, exists(wrong)))
    assert caught.value.path.startswith(
        "relations[0].root.input.filter.condition.subquery.set_predicate.tuples.filter."
    )
    with pytest.raises(InvalidPlanError, match="goes 4 queries out, but there are 2"):
        rows(spark, where(R, exists(where(S, exists(where(T, eq(ta, outer(R, 0, steps_out=4))))))))
    with pytest.raises(InvalidPlanError, match="no enclosing relation has the rel_anchor 77"):
        rows(spark, where(R, exists(where(S, exists(where(T, eq(ta, outer(R, 0, rel_reference=77))))))))


def test_what_is_refused(spark: SparkSession) -> None:
    maps = values([Map(key=INT, value=INT), INT_], [({1: 2}, 1)])
    element = FieldReference(root=OuterReference(steps_out=2), reference=(StructField(0), MapKey(number(1))), type=INT_)
    inside = where(S, exists(where(T, eq(ta, element))))
    with pytest.raises(UnsupportedPlanError, match="Spark cannot compare maps"):
        rows(spark, where(maps, exists(inside)))


def test_queries_that_spark_runs_are_left_alone() -> None:
    """Their text has their subqueries as they stand."""
    own = where(S, eq(sa, ra1))
    inner = where(S, every(eq(sa, ra1), exists(where(T, eq(ta, sa1)))))
    for condition in (
        exists(own),
        among(project(own, sb), rb),
        call("gt", scalar(largest(own, sb)), rb),
        exists(inner),
        unique(own),
        compared(rb, ComparisonOp.LT, ReductionOp.ALL, project(own, sb)),
    ):
        text = ps.to_sql(plan(where(R, condition)), formatted=False)
        assert " JOIN " not in text and not text.startswith("WITH"), text
