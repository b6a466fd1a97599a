"""Read Parquet files: whole, or the row groups of a slice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.file_slices import FileSlice
from pyspark_substrait.spark.reading.footers import RowGroup, row_groups
from pyspark_substrait.spark.reading.scans import Records, scans
from pyspark_substrait.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["chosen", "parquet_tables"]


def parquet_tables(
    pieces: Iterable[FileSlice], schema: NamedStruct, access: Access, spark: SparkSession, *, case_sensitive: bool
) -> list[tuple[str, Table]]:
    """Return the records of Parquet files. A row group is read by the slice that contains its middle byte.

    Raises:
        TableError: a file can't be read.
        UnsupportedPlanError: a sliced file can't be read from this machine.
    """
    groups = lru_cache(maxsize=64)(row_groups)
    records: list[Records] = []
    for piece in pieces:
        records += [Records(piece.path)] if piece.is_whole else chosen(piece, groups(piece.path))
    return scans("parquet", records, schema, access, spark, case_sensitive=case_sensitive)


def chosen(piece: FileSlice, groups: Iterable[RowGroup]) -> list[Records]:
    """Return the records of the row groups that belong to a slice."""
    found: list[Records] = []
    for group in groups:
        if group.first == group.end or not piece.holds(group.midpoint):
            continue
        if found and found[-1].end == group.first:
            found[-1] = replace(found[-1], end=group.end)
        else:
            found.append(Records(piece.path, group.first, group.end))
    return found
