"""Carry out the changes of a plan: write and update tables; create, alter and drop tables and views.

The writing relations are carried out one after the other, the innermost first, before the query above them is compiled,
which reads the output records of a write from a bound table.
"""

from __future__ import annotations

from pyspark_substrait.spark.writing.carrying_out import WRITING, carried_out
from pyspark_substrait.spark.writing.session import Session

__all__ = ["WRITING", "Session", "carried_out"]
