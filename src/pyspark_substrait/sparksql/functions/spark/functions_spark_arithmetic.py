"""Arithmetic as only Spark has it (``functions_spark_arithmetic.yaml``): with null, or wrapped around, for an error."""

from __future__ import annotations

from pyspark_substrait.sparksql.functions.catalyst import try_
from pyspark_substrait.sparksql.functions.table import Table, row

__all__ = ["TABLE"]

TABLE = Table(
    "extension:pyspark_substrait:functions_spark_arithmetic",
    (row("try_add", "try_add({x}, {y})", catalyst=try_("Add")),),
)
