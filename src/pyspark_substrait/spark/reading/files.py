"""Files that a plan names: paths, globs and folders, of several formats, whole or in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import LocalFiles, ParquetReadOptions, Read
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.tables import Table, parquet_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["file_table"]


def file_table(node: Read, files: LocalFiles, access: Access, spark: SparkSession) -> Table:
    """The table that the files of a read are.

    Raises:
        TableError: there is no such file, or it isn't what the plan says.
        UnsupportedPlanError: the plan may not read a file, or it can't be read.
    """
    paths = []
    for position, item in enumerate(files.items):
        with at("items", position):
            if not isinstance(item.file_format, ParquetReadOptions):
                format = "no format" if item.file_format is None else type(item.file_format).__name__
                raise UnsupportedPlanError(f"only Parquet files can be read yet; the item has {format}")
            if item.start or item.length or item.partition_index:
                raise UnsupportedPlanError("a part of a file can't be read yet", path="start")
            paths += access.readable(item.path, glob=item.path_type == "uri_path_glob")
    if not paths:
        raise TableError("there are no files to read", path="items")
    return parquet_table("the read", paths, spark)
