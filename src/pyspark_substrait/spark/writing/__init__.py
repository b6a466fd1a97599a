"""What a plan changes: tables written and updated, tables and views made, altered and dropped.

The relations that write are carried out one after the other, the innermost first, before the query above them is
compiled; in it, the records that a write puts out stand as a bound table.
"""

from __future__ import annotations

from pyspark_substrait.spark.writing.carrying_out import WRITING, carried_out
from pyspark_substrait.spark.writing.session import Session

__all__ = ["WRITING", "Session", "carried_out"]
