"""Expand as Spark SQL: each record several times."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Expand
from pyspark_substrait.sparksql.compiler.query import Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record

__all__ = ["expand"]


def expand(node: Expand, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of an expand."""
    raise UnsupportedPlanError(f"a {type(node).__name__} can't run on Spark yet")
