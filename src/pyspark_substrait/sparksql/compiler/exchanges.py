"""Exchange as Spark SQL: the records distributed anew."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Exchange
from pyspark_substrait.sparksql.compiler.query import Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record

__all__ = ["exchange"]


def exchange(node: Exchange, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of an exchange."""
    raise UnsupportedPlanError(f"a {type(node).__name__} can't run on Spark yet")
