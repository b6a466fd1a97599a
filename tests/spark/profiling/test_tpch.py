"""Profiles of TPC-H plans: each figure beside the count of the same subtree, run as a plan of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.analysis.profile import Basis, Profile
from pyspark_substrait.analysis.profile.rows import relations_of
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Cross, Project, Relation
from pyspark_substrait.model.types import name_count
from pyspark_substrait.sql.decorrelation.outer import is_closed
from tests.agreement import assert_same_rows

pytestmark = pytest.mark.sweep

#: joins below semi joins, a fetch above a sort; filters over cross products with queries in them, correlated ones too
PLANS = ("datafusion/q04.pb", "datafusion/q05.pb", "datafusion/q18.pb", "isthmus/q02.json", "isthmus/q16.json")


def tree_of(profile: Profile) -> Relation:
    (root,) = (tree for tree in profile.document.relations if isinstance(tree, RelRoot))
    return root.input


def counted(profile: Profile, node: Relation, spark: SparkSession, tables: dict[str, str]) -> DataFrame:
    names = tuple(f"c{number}" for number in range(sum(1 + name_count(type) for type in node.schema.types)))
    plan = replace(profile.document, relations=(RelRoot(input=node, names=names),))
    return ps.from_substrait(plan, spark, tables=tables).agg(F.count(F.lit(1)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PLANS)
def test_rows_are_those_of_the_subtrees(name: str, shared: Path, spark: SparkSession, tpch: dict[str, Path]) -> None:
    tables = {table: str(path) for table, path in tpch.items()}
    plan = ps.load(shared / "plans" / "tpch" / name)
    profile = ps.profile(plan, spark, tables=tables)
    assert_same_rows(profile.rows, ps.run_query(plan, spark=spark, tables=tables))
    compared = []
    for node in relations_of(tree_of(profile)):
        relation = profile.at(profile.places.path(node) or "")
        assert relation is not None
        figure = relation.rows_out
        # products aren't made, and projections, of which there are many, are compared with their inputs
        if figure is None or figure.basis is Basis.ESTIMATED or isinstance(node, Cross | Project):
            continue
        if not is_closed(node):
            continue  # it has rows for each record around it
        compared.append((node, figure.value))
    assert len(compared) >= 4
    both = reduce(DataFrame.unionAll, [counted(profile, node, spark, tables) for node, _ in compared])
    assert [row[0] for row in both.collect()] == [value for _, value in compared]
    for relation in profile.relations:
        inputs = [figure.value for figure in relation.rows_in if figure is not None]
        if relation.rows_out is not None and relation.name == "Cross":
            assert relation.rows_out.value == inputs[0] * inputs[1]
        if relation.rows_out is not None and relation.name == "Project":
            assert [relation.rows_out.value] == inputs
