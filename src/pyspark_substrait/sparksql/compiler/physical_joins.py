"""Hash, merge and nested-loop joins as Spark SQL: joins with a hint to Spark."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import HashJoin, MergeJoin, NestedLoopJoin
from pyspark_substrait.sparksql.compiler.query import Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record

__all__ = ["physical_join"]


def physical_join(
    node: HashJoin | MergeJoin | NestedLoopJoin, outer: tuple[Record, ...], compilation: Compilation
) -> Query:
    """The query of a physical join, post-join filter included."""
    raise UnsupportedPlanError(f"a {type(node).__name__} can't run on Spark yet")
