"""Rewriting correlated subqueries, without running them: what comes out has none that Spark can't run."""

from __future__ import annotations

from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import PredicateOp, SetPredicate
from pyspark_substrait.model.relations import JoinType, LateralJoin, RelationBase, RelCommon
from pyspark_substrait.model.types import same_type
from pyspark_substrait.sql.decorrelation import SparkNatives, needing_decorrelation
from pyspark_substrait.sql.decorrelation import decorrelated as rewritten
from pyspark_substrait.sql.decorrelation.native import runs_natively
from pyspark_substrait.sql.decorrelation.outer import is_closed, resolved
from pyspark_substrait.sql.spark_version import NEWEST, OLDEST, VERSIONS, SparkVersion
from tests.spark.correlated import TABLES, generated
from tests.spark.plans import INT_, both, call, col, join, outer, plan, values, where
from tests.spark.subquery_forms import FORMS

R, S, T = (values([INT_, INT_], TABLES[name]) for name in "rst")


def exists(input: RelationBase) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)  # type: ignore[arg-type]


def decorrelated(node: Any, spark: SparkVersion = NEWEST) -> Any:
    """The relation, rewritten where it needs to be for a version of Spark."""
    natives = SparkNatives(spark)
    counted = needing_decorrelation(node, natives)
    return node if counted is None else rewritten(counted, natives)


@pytest.mark.sweep
@pytest.mark.parametrize("spark", (OLDEST, NEWEST), ids=str)
def test_nothing_is_left_that_spark_cannot_run(spark: SparkVersion) -> None:
    changed = 0
    for seed in range(120):
        node = generated(seed).node
        found = decorrelated(node, spark)
        assert runs_natively(resolved(found), SparkNatives(spark)), seed
        assert decorrelated(found, spark) is found, seed
        assert is_closed(resolved(found)), seed
        assert len(found.schema.types) == len(node.schema.types), seed
        assert all(map(same_type, found.schema.types, node.schema.types)), seed
        assert ps.to_sql(plan(node), version=str(spark)), seed
        errors = ps.validate(plan(node), "spark", version=str(spark)).errors
        assert not any(error.code.name.startswith("TARGET") for error in errors), seed
        changed += found is not node
    assert 40 < changed < 110


@pytest.mark.parametrize("form", FORMS)
def test_what_stays_as_it_is_depends_on_the_version(form: str) -> None:
    node, before = FORMS[form].node, FORMS[form].before
    assert decorrelated(node) is node
    for version in VERSIONS:
        found = decorrelated(node, version)
        assert (found is node) == (before or version >= SparkVersion(4, 0)), version
        assert runs_natively(resolved(found), SparkNatives(version)), version


def test_plans_without_such_subqueries_are_left_alone() -> None:
    plain = where(R, call("equal", col(R, 0), col(R, 1)))
    own = where(S, call("equal", col(S, 0), outer(R, 0, steps_out=1)))
    for node in (plain, where(R, exists(own)), where(R, call("not", exists(where(own, exists(T)))))):
        assert decorrelated(node) is node


def test_steps_do_not_count_lateral_records() -> None:
    """One step out of the right input's subquery leads to the right input's record, an anchor to the left one."""
    inner = where(T, call("equal", col(T, 0), outer(S, 0, steps_out=1)))
    right = where(S, call("and", exists(inner), call("equal", col(S, 1), outer(R, 1, rel_reference=4))))
    node = LateralJoin(left=R, right=right, type=JoinType.INNER, common=RelCommon(rel_anchor=4))
    found = decorrelated(node)
    assert found.schema == both(R, S) and runs_natively(resolved(found), SparkNatives())


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
