"""TopN as Spark SQL: the first records of an order, ties included where asked for."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import TopN
from pyspark_substrait.sparksql.compiler.query import Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record

__all__ = ["top_n"]


def top_n(node: TopN, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a top-n."""
    raise UnsupportedPlanError(f"a {type(node).__name__} can't run on Spark yet")
