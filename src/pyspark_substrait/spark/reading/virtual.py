"""Large virtual tables: their literals travel to Spark as Arrow data, not as a text of millions of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Read, VirtualTable
from pyspark_substrait.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["virtual_table"]


def virtual_table(node: Read, table: VirtualTable, spark: SparkSession) -> Table:
    """The records of a virtual table, all of them literals."""
    raise UnsupportedPlanError("a virtual table stands in the text")
