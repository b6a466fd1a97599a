"""Iceberg tables by their metadata file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import IcebergTable, Read
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["iceberg_table"]


def iceberg_table(node: Read, table: IcebergTable, access: Access, spark: SparkSession) -> Table:
    """The snapshot of an Iceberg table that a read names.

    Raises:
        TableError: there is no such table or snapshot.
        UnsupportedPlanError: the plan may not read it.
    """
    raise UnsupportedPlanError("Iceberg tables can't be read yet")
