"""Rewriting correlated subqueries, without running them: what comes out has none that Spark can't run."""

from __future__ import annotations

from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import Expression, InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.relations import Fetch, JoinType, LateralJoin, RelationBase, RelCommon, Set, SetOp, Sort
from pyspark_substrait.model.types import same_type
from pyspark_substrait.sql.decorrelation import decorrelated as rewritten
from pyspark_substrait.sql.decorrelation import needing_decorrelation
from pyspark_substrait.sql.decorrelation.native import runs_natively
from pyspark_substrait.sql.decorrelation.outer import is_closed, resolved
from pyspark_substrait.sql.spark_version import NEWEST, OLDEST, VERSIONS, SparkVersion
from tests.spark.correlated import TABLES, generated
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
    plan,
    project,
    sort,
    values,
    where,
)

R, S, T = (values([INT_, INT_], TABLES[name]) for name in "rst")


def exists(input: RelationBase) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)  # type: ignore[arg-type]


def decorrelated(node: Any, spark: SparkVersion = NEWEST) -> Any:
    """The relation, rewritten where it needs to be for a version of Spark."""
    counted = needing_decorrelation(node, spark)
    return node if counted is None else rewritten(counted, spark)


@pytest.mark.parametrize("spark", (OLDEST, NEWEST), ids=str)
def test_nothing_is_left_that_spark_cannot_run(spark: SparkVersion) -> None:
    changed = 0
    for seed in range(120):
        node = generated(seed).node
        found = decorrelated(node, spark)
        assert runs_natively(resolved(found), spark), seed
        assert decorrelated(found, spark) is found, seed
        assert is_closed(resolved(found)), seed
        assert len(found.schema.types) == len(node.schema.types), seed
        assert all(map(same_type, found.schema.types, node.schema.types)), seed
        assert ps.to_sql(plan(node), version=str(spark)), seed
        errors = ps.validate(plan(node), "spark", version=str(spark)).errors
        assert not any(error.code.name.startswith("TARGET") for error in errors), seed
        changed += found is not node
    assert 40 < changed < 110


r0, r1, s0, s1 = col(R, 0), col(R, 1), col(S, 0), col(S, 1)
up0, up1 = outer(R, 0, steps_out=1), outer(R, 1, steps_out=1)
OWN = where(S, call("equal", s0, up0))
LESS = where(S, call("lt", s0, up0))
PAIR = both(S, T)
ON = call("equal", col(PAIR, 1), col(PAIR, 2))


def scalar(input: RelationBase) -> ScalarSubquery:
    return ScalarSubquery(input=input)  # type: ignore[arg-type]


def among(input: RelationBase) -> InPredicate:
    return InPredicate(needles=(r1,), haystack=input)  # type: ignore[arg-type]


def largest(input: RelationBase) -> RelationBase:
    return group(input, [], [aggregate("max", col(input, 1))])


def limited(input: RelationBase) -> RelationBase:
    return Fetch(input=input, count_expr=number(1))  # type: ignore[arg-type]


def united(*members: RelationBase) -> RelationBase:
    return Set(members=members, op=SetOp.UNION_ALL)  # type: ignore[arg-type]


def shown(*columns: Expression) -> RelationBase:
    return project(R, *columns)


def sorted_by(key: Expression) -> RelationBase:
    return Sort(input=R, sorts=(sort(key),))  # type: ignore[arg-type]


#: relations whose subquery Spark 4 runs, and whether Spark 3.5 does so, as its analyser and optimizer say
FORMS: dict[str, tuple[RelationBase, bool]] = {
    "exists, equal": (where(R, exists(OWN)), True),
    "exists, not equal": (where(R, exists(LESS)), True),
    "exists in a projection": (shown(exists(OWN)), True),
    "in": (where(R, among(project(OWN, s1))), True),
    "not in": (where(R, call("not", among(project(OWN, s1)))), True),
    "exists over a join": (where(R, exists(join(OWN, T, ON, JoinType.INNER))), True),
    "exists over a join that keeps the records": (where(R, exists(join(OWN, T, ON, JoinType.LEFT))), True),
    "exists over a semi join": (where(R, exists(join(OWN, T, ON, JoinType.LEFT_SEMI))), True),
    "exists over a sort": (where(R, exists(Sort(input=OWN, sorts=(sort(s1),)))), True),  # type: ignore[arg-type]
    "exists in exists": (where(R, exists(where(OWN, exists(T)))), True),
    "the largest, equal": (shown(scalar(largest(OWN))), True),
    "the largest, not equal": (shown(scalar(largest(LESS))), True),
    "the largest in a filter": (where(R, call("lt", scalar(largest(OWN)), r1)), True),
    "the largest over a join": (shown(scalar(largest(join(OWN, T, ON, JoinType.INNER)))), True),
    "the outer column in a projection": (where(R, among(project(S, call("add", s1, up1)))), False),
    "the outer column in a join's condition": (
        where(R, exists(join(S, T, call("and", ON, call("equal", col(PAIR, 0), up0)), JoinType.INNER))),
        False,
    ),
    "below a limit": (where(R, exists(limited(OWN))), False),
    "below a union": (where(R, exists(united(OWN, OWN))), False),
    "below an aggregate": (where(R, exists(largest(OWN))), False),
    "below keys": (where(R, exists(group(OWN, [s1], []))), False),
    "a scalar that is no aggregate": (shown(scalar(project(OWN, s1))), False),
    "a scalar with a limit": (shown(scalar(limited(project(OWN, s1)))), False),
    "a scalar with keys": (shown(scalar(project(group(OWN, [s0], [aggregate("max", s1)]), s1))), False),
    "the largest of limited records": (shown(scalar(largest(limited(OWN)))), False),
    "as a sort key": (sorted_by(scalar(largest(OWN))), False),
    "exists as a sort key": (sorted_by(exists(OWN)), False),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_stays_as_it_is_depends_on_the_version(form: str) -> None:
    node, before = FORMS[form]
    assert decorrelated(node) is node
    for version in VERSIONS:
        found = decorrelated(node, version)
        assert (found is node) == (before or version >= SparkVersion(4, 0)), version
        assert runs_natively(resolved(found), version), version


def test_plans_without_such_subqueries_are_left_alone() -> None:
    plain = where(R, call("equal", col(R, 0), col(R, 1)))
    own = where(S, call("equal", col(S, 0), outer(R, 0, steps_out=1)))
    for node in (plain, where(R, exists(own)), where(R, call("not", exists(where(own, exists(T)))))):
        assert decorrelated(node) is node


def test_steps_do_not_count_lateral_records() -> None:
    """One step out of the right input's subquery leads to the right input's record, an anchor to the left one."""
    inner = where(T, call("equal", col(T, 0), outer(S, 0, steps_out=1)))
    right = where(S, call("and", exists(inner), call("equal", col(S, 1), outer(R, 1, rel_reference=4))))
    node = LateralJoin(left=R, right=right, type=JoinType.INNER, common=RelCommon(rel_anchor=4))  # type: ignore[arg-type]
    found = decorrelated(node)
    assert found.schema == both(R, S) and runs_natively(resolved(found))


@pytest.mark.parametrize("kind", list(JoinType))
def test_the_columns_of_a_join_stay_where_they_are(kind: JoinType) -> None:
    """Whatever columns its inputs get for the subqueries in its condition."""
    pair = both(R, S)
    of_left = exists(where(T, call("equal", col(T, 0), outer(pair, 1, steps_out=1))))
    of_right = exists(where(T, call("equal", col(T, 0), outer(pair, 2, steps_out=1))))
    same = call("equal", outer(pair, 0, steps_out=1), col(T, 0))
    sides = call("and", same, call("lt", col(T, 1), outer(pair, 3, steps_out=1)))
    condition = call("or", call("and", of_left, of_right), exists(where(T, sides)))
    node = join(R, S, condition, kind)
    assert decorrelated(node).schema == node.schema
