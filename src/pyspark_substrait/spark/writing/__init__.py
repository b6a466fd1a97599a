"""Carry out the changes of a plan: write and update tables; create, alter and drop tables and views.

The writing relations are carried out one after the other, the innermost first, before the query above them is compiled,
which reads the output records of a write from a bound table.
"""

from __future__ import annotations

from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.spark.writing.write_execution import WRITING, with_writes_executed

__all__ = ["WRITING", "WriteContext", "with_writes_executed"]
