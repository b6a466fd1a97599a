"""Read ORC files. A sliced file is read as a whole, by the slice that contains its middle byte."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.file_slices import FileSlice, is_here
from pyspark_substrait.spark.reading.scans import Records, scans
from pyspark_substrait.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["orc_tables"]


def orc_tables(
    pieces: Iterable[FileSlice], schema: NamedStruct, access: Access, spark: SparkSession, *, case_sensitive: bool
) -> list[tuple[str, Table]]:
    """Return the records of ORC files. Spark can't distinguish their stripes, so a file is never divided.

    Raises:
        TableError: a file can't be read.
    """
    chosen = [piece for piece in pieces if piece.is_whole or piece.holds(_size(piece, spark) // 2)]
    return scans("orc", (Records(piece.path) for piece in chosen), schema, access, spark, case_sensitive=case_sensitive)


def _size(piece: FileSlice, spark: SparkSession) -> int:
    """Return the size of a file in bytes; from Spark if the file isn't on this machine."""
    if is_here(piece.path):
        return os.path.getsize(piece.path)
    found = spark.read.format("binaryFile").load(piece.spark_path).select("length").first()
    return 0 if found is None else int(found[0])
