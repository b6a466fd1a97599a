"""Relations of others: what the user registered for their type URL makes them."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import ExtensionLeaf, ExtensionMulti, ExtensionSingle
from pyspark_substrait.sparksql.compiler.query import Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record

__all__ = ["extension_relation"]


def extension_relation(
    node: ExtensionLeaf | ExtensionSingle | ExtensionMulti, outer: tuple[Record, ...], compilation: Compilation
) -> Query:
    """The query of an extension relation."""
    raise UnsupportedPlanError(f"a {type(node).__name__} can't run on Spark yet")
