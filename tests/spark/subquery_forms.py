"""Correlated subqueries of every form that Spark 4 runs as it is, with the same in SQL."""

from __future__ import annotations

from typing import NamedTuple

from pyspark_substrait.model.expressions import Expression, InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.relations import Fetch, JoinType, Relation, Set, SetOp, Sort
from tests.spark.correlated import TABLES
from tests.spark.plans import (
    INT_,
    aggregate,
    both,
    call,
    col,
    group,
    join,
    number,
    outer,
    project,
    sort,
    values,
    where,
)

__all__ = ["FORMS", "Form"]


class Form(NamedTuple):
    """A relation over the tables r, s and t of ``correlated.TABLES``.

    Args:
        node: the relation.
        sql: its query.
        before: whether Spark 3.5 runs the subquery as it is, too.
    """

    node: Relation
    sql: str
    before: bool = True


R, S, T = (values([INT_, INT_], TABLES[name]) for name in "rst")
r1, s0, s1 = col(R, 1), col(S, 0), col(S, 1)
up0, up1 = outer(R, 0, steps_out=1), outer(R, 1, steps_out=1)
OWN = where(S, call("equal", s0, up0))
OWN_T = where(T, call("equal", col(T, 0), up0))
LESS = where(S, call("lt", s0, up0))
PAIR = both(S, T)
ON = call("equal", col(PAIR, 0), col(PAIR, 2))


def exists(input: Relation) -> Expression:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def scalar(input: Relation) -> Expression:
    return ScalarSubquery(input=input)


def among(input: Relation) -> Expression:
    return InPredicate(needles=(r1,), haystack=input)


def no(condition: Expression) -> Expression:
    return call("not", condition)


def largest(input: Relation) -> Relation:
    return group(input, [], [aggregate("max", col(input, 1))])


def count_of(input: Relation) -> Relation:
    return group(input, [], [aggregate("count")])


def limited(input: Relation, most: int = 1) -> Relation:
    return Fetch(input=input, count_expr=number(most))


def ordered_by(input: Relation, *keys: Expression) -> Relation:
    return Sort(input=input, sorts=tuple(map(sort, keys)))


def united(*members: Relation) -> Relation:
    return Set(members=members, op=SetOp.UNION_ALL)


def shown(*columns: Expression) -> Relation:
    return project(R, *columns)


FORMS: dict[str, Form] = {
    "exists, equal": Form(where(R, exists(OWN)), "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a)"),
    "exists, less": Form(where(R, exists(LESS)), "FROM r WHERE EXISTS (FROM s WHERE s.a < r.a)"),
    "not exists": Form(where(R, no(exists(OWN))), "FROM r WHERE NOT EXISTS (FROM s WHERE s.a = r.a)"),
    "exists as a value": Form(shown(exists(OWN)), "SELECT EXISTS (FROM s WHERE s.a = r.a) FROM r"),
    "exists or": Form(
        where(R, call("or", exists(OWN), call("equal", r1, number(2)))),
        "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a) OR r.b = 2",
    ),
    "in": Form(where(R, among(project(OWN, s0))), "FROM r WHERE r.b IN (SELECT s.a FROM s WHERE s.a = r.a)"),
    "not in": Form(
        where(R, no(among(project(OWN, s1)))), "FROM r WHERE r.b NOT IN (SELECT s.b FROM s WHERE s.a = r.a)"
    ),
    "in as a value": Form(shown(among(project(OWN, s1))), "SELECT r.b IN (SELECT s.b FROM s WHERE s.a = r.a) FROM r"),
    "exists over a join": Form(
        where(R, exists(join(OWN, T, ON, JoinType.INNER))),
        "FROM r WHERE EXISTS (FROM s JOIN t ON s.a = t.a WHERE s.a = r.a)",
    ),
    "exists over a left join": Form(
        where(R, exists(join(OWN, T, ON, JoinType.LEFT))), "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a)"
    ),
    "exists over a semi join": Form(
        where(R, exists(join(OWN, T, ON, JoinType.LEFT_SEMI))),
        "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a AND s.a IN (SELECT a FROM t))",
    ),
    "exists over two": Form(
        where(R, exists(join(OWN, OWN_T, ON, JoinType.INNER))),
        "FROM r WHERE EXISTS (FROM s JOIN t ON s.a = t.a WHERE s.a = r.a AND t.a = r.a)",
    ),
    "exists over a sort": Form(where(R, exists(ordered_by(OWN, s1))), "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a)"),
    "exists in exists": Form(
        where(R, exists(where(OWN, exists(where(T, call("equal", col(T, 0), outer(S, 1, steps_out=1))))))),
        "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a AND EXISTS (FROM t WHERE t.a = s.b))",
    ),
    "the largest": Form(shown(scalar(largest(OWN))), "SELECT (SELECT max(b) FROM s WHERE s.a = r.a) FROM r"),
    "the largest, less": Form(shown(scalar(largest(LESS))), "SELECT (SELECT max(b) FROM s WHERE s.a < r.a) FROM r"),
    "the largest in a filter": Form(
        where(R, call("gte", scalar(largest(OWN)), r1)), "FROM r WHERE (SELECT max(b) FROM s WHERE s.a = r.a) >= r.b"
    ),
    "the largest over a join": Form(
        shown(scalar(largest(join(OWN, T, ON, JoinType.INNER)))),
        "SELECT (SELECT max(s.b) FROM s JOIN t ON s.a = t.a WHERE s.a = r.a) FROM r",
    ),
    "a count": Form(shown(scalar(count_of(OWN))), "SELECT (SELECT count(*) FROM s WHERE s.a = r.a) FROM r"),
    "a count, less": Form(shown(scalar(count_of(LESS))), "SELECT (SELECT count(*) FROM s WHERE s.a < r.a) FROM r"),
    "an outer column in a projection": Form(
        where(R, among(project(S, call("add", s1, up1)))), "FROM r WHERE r.b IN (SELECT s.b + r.b FROM s)", False
    ),
    "an outer column in a join's condition": Form(
        where(R, exists(join(S, T, call("and", ON, call("equal", col(PAIR, 1), up0)), JoinType.INNER))),
        "FROM r WHERE EXISTS (FROM s JOIN t ON s.a = t.a AND s.b = r.a)",
        False,
    ),
    "below a limit": Form(
        where(R, exists(limited(OWN))), "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a LIMIT 1)", False
    ),
    "below a limit of none": Form(where(R, exists(limited(OWN, 0))), "FROM r WHERE false", False),
    "below a union": Form(
        where(R, exists(united(OWN, OWN_T))),
        "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a UNION ALL FROM t WHERE t.a = r.a)",
        False,
    ),
    "below a count": Form(where(R, exists(count_of(OWN))), "FROM r", False),
    "below keys": Form(where(R, exists(group(OWN, [s1], []))), "FROM r WHERE EXISTS (FROM s WHERE s.a = r.a)", False),
    "a scalar that is no aggregate": Form(
        shown(scalar(project(OWN_T, col(OWN_T, 1)))), "SELECT (SELECT t.b FROM t WHERE t.a = r.a) FROM r", False
    ),
    "a scalar with a limit": Form(
        shown(scalar(limited(ordered_by(project(OWN, s1), col(project(OWN, s1), 0))))),
        "SELECT (SELECT s.b FROM s WHERE s.a = r.a ORDER BY s.b NULLS FIRST LIMIT 1) FROM r",
        False,
    ),
    "a scalar with keys": Form(
        shown(scalar(project(group(OWN, [s0], [aggregate("max", s1)]), s1))),
        "SELECT (SELECT max(b) FROM s WHERE s.a = r.a GROUP BY s.a) FROM r",
        False,
    ),
    "the largest below a limit": Form(
        shown(scalar(largest(limited(OWN, 9)))), "SELECT (SELECT max(b) FROM s WHERE s.a = r.a) FROM r", False
    ),
    "a sort key": Form(ordered_by(R, scalar(largest(OWN))), "FROM r", False),
    "exists as a sort key": Form(ordered_by(R, exists(OWN)), "FROM r", False),
    "a condition of a join": Form(
        join(R, T, call("and", exists(OWN), call("equal", col(R, 0), col(both(R, T), 2))), JoinType.INNER),
        "SELECT r.*, t.* FROM r JOIN t ON r.a = t.a WHERE EXISTS (FROM s WHERE s.a = r.a)",
        False,
    ),
}
