"""Plans of several roots: each is a result of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Reference
from tests.spark.plans import INT, call, col, number, tuples, values, where

SHARED = values([INT], [[1], [2], [3]])
LARGE = where(
    Reference(subtree_ordinal=0, subtree=SHARED),
    call("gt", col(Reference(subtree_ordinal=0, subtree=SHARED), 0), number(1)),
)
PLAN = Plan(
    relations=(
        SHARED,
        RelRoot(input=Reference(subtree_ordinal=0, subtree=SHARED), names=("all",)),
        RelRoot(input=LARGE, names=("large",)),
    )
)


def test_each_root_is_a_result(spark: SparkSession) -> None:
    every = ps.run_query(PLAN, spark=spark, root=0)
    large = ps.run_query(PLAN, spark=spark, root=1)
    assert (every.column_names, sorted(tuples(every))) == (["all"], [(1,), (2,), (3,)])
    assert (large.column_names, sorted(tuples(large))) == (["large"], [(2,), (3,)])
    assert ps.from_substrait(PLAN, spark, root=1).count() == 2
    assert "large" in ps.to_sql(PLAN, root=1)


def test_one_must_be_chosen(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match=r"2 roots.*root=0 to root=1"):
        ps.run_query(PLAN, spark=spark)
    with pytest.raises(InvalidPlanError, match="no root 2; the plan has 2"):
        ps.run_query(PLAN, spark=spark, root=2)


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    PLAN.save(file)
    text = CliRunner().invoke(main, ["sql", str(file), "--root", "1"])
    assert text.exit_code == 0 and "large" in text.output
    refused = CliRunner().invoke(main, ["sql", str(file)])
    assert refused.exit_code == 1 and "--root" in refused.output
