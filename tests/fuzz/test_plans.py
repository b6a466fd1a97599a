"""The generator of plans: valid, the same for a seed, of every kind; and what the shrinker leaves of one."""

from __future__ import annotations

import os
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyspark_substrait as ps
from fuzz.laws import filter_split, joins_swapped
from fuzz.plans import OF_RELATIONS, plan
from fuzz.shrink import is_determined, shrunk, size
from fuzz.tables import SCHEMAS, TABLES
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import all_expressions, relations_within

SEEDS = range(300)
ROOT = Path(__file__).resolve().parents[2]

#: relations that change tables, are of one engine's or only say how another one is done
OTHER_RELATIONS = {
    r.BrokenRelation, r.ConsistentPartitionWindow, r.Ddl, r.DetachedRel, r.Exchange, r.ExtensionLeaf, r.ExtensionMulti,
    r.ExtensionSingle, r.Generate, r.HashJoin, r.MergeJoin, r.NestedLoopJoin, r.Update, r.Write,
}  # fmt: skip
#: expressions that have no value of their own here
OTHER_EXPRESSIONS = {
    e.BrokenExpression, e.DetachedExpression, e.DynamicParameter, e.ExecutionContextVariable, e.Lambda,
    e.LambdaInvocation, e.NamedLambdaReference,
}  # fmt: skip


@pytest.fixture(scope="module")
def plans() -> list[Plan]:
    return [plan(seed) for seed in SEEDS]


@pytest.mark.sweep
@pytest.mark.parametrize("first", [0, OF_RELATIONS])
def test_plans_are_valid_and_determined(first: int) -> None:
    plans = {seed: plan(seed) for seed in range(first, first + len(SEEDS))}
    some = list(plans.items())[:80]
    assert [(seed, f"{report}") for seed, made in some if not (report := ps.validate(made)).ok] == []
    assert [seed for seed, made in plans.items() if not is_determined(made)] == []


def test_every_kind_of_relation_and_expression_is_made(plans: list[Plan]) -> None:
    relations = {type(node) for made in plans for node in relations_within(*made.trees)}
    expressions = {type(node) for made in plans for node in all_expressions(*made.trees)}
    assert set(typing.get_args(Relation)) - relations == OTHER_RELATIONS
    assert set(typing.get_args(e.Expression)) - expressions == OTHER_EXPRESSIONS


def test_every_type_of_join_and_set_operation_is_made(plans: list[Plan]) -> None:
    nodes = [node for made in plans for node in relations_within(*made.trees)]
    kinds = {node.type for node in nodes if isinstance(node, r.Join)}
    assert kinds == {kind for kind in r.JoinType if "SINGLE" not in kind.name}
    assert {node.op for node in nodes if isinstance(node, r.Set)} == set(r.SetOp)


def test_subqueries_refer_to_the_records_around_them(plans: list[Plan]) -> None:
    roots = [
        item.root
        for made in plans
        for item in all_expressions(*made.trees)
        if isinstance(item, e.FieldReference) and isinstance(item.root, e.OuterReference)
    ]
    assert {root.steps_out is None for root in roots} == {True, False}


@pytest.mark.sweep
def test_a_seed_makes_the_same_plan_in_every_process() -> None:
    seeds = [*range(30), *range(OF_RELATIONS, OF_RELATIONS + 30)]
    program = f"from fuzz.plans import plan\nfor seed in {seeds}: print(plan(seed).to_bytes().hex())"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    run = subprocess.run([sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, check=True)
    assert run.stdout.decode().split() == [plan(seed).to_bytes().hex() for seed in seeds]


def test_the_tables_have_what_makes_engines_differ() -> None:
    values = [value for table in TABLES.values() for column in table.columns for value in column.to_pylist()]
    texts = {repr(value) for value in values}
    assert {"None", "nan", "-0.0", "inf", "-inf", "''", "[]", str(-(2**63)), str(2**63 - 1)} <= texts
    assert any(isinstance(value, str) and not value.isascii() for value in values)
    assert TABLES["empty"].num_rows == 0
    for name, table in TABLES.items():
        assert table.column_names == list(SCHEMAS[name].top_level_names())


def joins(made: Plan) -> Iterator[r.Join]:
    return (node for node in relations_within(*made.trees) if isinstance(node, r.Join))


def test_a_plan_is_shrunk_to_what_it_fails_for(plans: list[Plan]) -> None:
    def fails(made: Plan) -> bool:
        return any(node.type is r.JoinType.LEFT_ANTI for node in joins(made))

    large = max((made for made in plans if fails(made)), key=size)
    small = shrunk(large, fails)
    assert fails(small)
    assert ps.validate(small).ok
    assert size(small) < size(large) / 3
    assert len(list(relations_within(*small.trees))) == 3  # the join and its inputs


def test_laws_make_valid_plans_with_the_same_columns(plans: list[Plan]) -> None:
    swapped = 0
    for seed, made in enumerate(plans[:60]):
        for other in (filter_split(made, seed), joins_swapped(made, seed)):
            if other is None:
                continue
            swapped += other.relations != made.relations
            assert ps.validate(other).ok, seed
            assert [f"{type}".replace("?", "") for type in other.trees[-1].schema.types] == [
                f"{type}".replace("?", "") for type in made.trees[-1].schema.types
            ], seed
    assert swapped > 60
