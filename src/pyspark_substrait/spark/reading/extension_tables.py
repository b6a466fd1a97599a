"""Tables and relations of kinds that the specification leaves to others, by what the user registered for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import ExtensionTable, Read
from pyspark_substrait.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["extension_table"]


def extension_table(node: Read, table: ExtensionTable, spark: SparkSession) -> Table:
    """The table that the handler for its type URL gives."""
    raise UnsupportedPlanError(f"the extension table {table.detail.type_url} isn't known here")
