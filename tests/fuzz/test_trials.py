"""Plans tried on Spark: a planted fault is found, shrunk and kept, and right plans agree with their laws."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from fuzz import run
from fuzz.comparison import difference
from fuzz.plans import plan, rooted
from fuzz.trials import Engines, outcomes
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import mapped, relations_within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def outer_joins_lost(made: Plan, seed: int) -> Plan | None:
    """A copy of the plan with a fault: left joins are inner ones."""

    def changed(node: Relation) -> Relation:
        if isinstance(node, r.Join) and node.type is r.JoinType.LEFT:
            return replace(node, type=r.JoinType.INNER)
        return node

    faulty = rooted(*mapped(*made.trees, change=changed))
    return None if faulty.relations == made.relations else faulty


@pytest.mark.sweep
def test_a_planted_fault_is_found_shrunk_and_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("fuzz.trials.LAWS", {"planted": outer_joins_lost})
    with_fault = [seed for seed in range(400) if outer_joins_lost(plan(seed), seed) is not None]
    found = None
    for found in run.tried(iter(with_fault), Engines(lambda: spark), ("planted",), folder=tmp_path):
        if found.failures:
            break
    assert found is not None
    (seed, outcome, path), *_ = found.failures
    assert (outcome.trial, outcome.outcome) == ("planted", "differs")
    kept = ps.load(path)
    assert isinstance(kept, Plan)
    kinds = [type(node) for node in relations_within(*kept.trees)]
    assert r.Join in kinds
    assert len(kinds) <= 4, ps.explain(kept)
    assert f"seed {seed}" in path.with_suffix(".txt").read_text(encoding="utf-8")


def test_right_plans_agree(spark: SparkSession) -> None:
    there = Engines(lambda: spark)
    for seed in (4,):
        found = outcomes(plan(seed), seed, there, ("forms", "filter split", "joins swapped"))
        assert [item for item in found if item.failed] == []
        assert ("Spark", "agrees") in [(item.trial, item.outcome) for item in found]


def test_rows_are_compared_as_bags() -> None:
    table = pa.table({"a": [1.0, None, float("nan")], "b": [{"x": 1}, None, {"x": 2}]})
    assert difference(table, table.take([2, 0, 1])) is None
    assert difference(table, table.take([0, 1])) is not None
    assert difference(table, table.take([0, 1, 1])) is not None
    maps = pa.map_(pa.string(), pa.int64())
    one, other = ([[("a", 1), ("b", 2)]], [[("b", 2), ("a", 1)]])
    assert difference(pa.table({"m": pa.array(one, maps)}), pa.table({"m": pa.array(other, maps)})) is None
