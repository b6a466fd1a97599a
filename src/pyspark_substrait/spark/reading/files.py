"""Files that a plan names: paths, globs and folders, of several formats, whole or in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import assert_never

from pyspark_substrait.errors import TableError, at
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    FileFormat,
    LocalFiles,
    OrcReadOptions,
    ParquetReadOptions,
)
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.arrow_files import arrow_table
from pyspark_substrait.spark.reading.file_slices import FileSlice, named
from pyspark_substrait.spark.reading.listing import listed
from pyspark_substrait.spark.reading.orc import orc_tables
from pyspark_substrait.spark.reading.parquet import parquet_tables
from pyspark_substrait.spark.reading.text import text_table
from pyspark_substrait.spark.tables import Table
from pyspark_substrait.sql.compiler.file_formats import readable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["file_tables"]


def file_tables(
    files: LocalFiles, schema: NamedStruct, access: Access, spark: SparkSession, *, case_sensitive: bool
) -> list[tuple[str, Table]]:
    """Return the tables whose union is the files of a read, each with its name for errors; empty without files.

    The ``partition_index`` of an item is ignored: it determines where records are processed, which Spark decides
    itself.

    Raises:
        TableError: there is no such file, or it doesn't fit the plan.
        UnsupportedPlanError: the plan may not read a file, or it can't be read.
    """
    if not files.items:
        raise TableError("there are no files to read", path="items")
    pieces: dict[FileFormat, list[FileSlice]] = {}
    places: dict[FileFormat, list[int]] = {}
    for position, item in enumerate(files.items):
        with at("items", position):
            format = readable(item.file_format)
            pieces.setdefault(format, []).extend(listed(item, access, spark))
            places.setdefault(format, []).append(position)
    tables: list[tuple[str, Table]] = []
    for format, found in pieces.items():
        if found:
            with at("items", *(places[format] if len(places[format]) == 1 else ())):
                tables += _tables(format, found, schema, access, spark, case_sensitive)
    return tables


def _tables(
    format: FileFormat,
    pieces: list[FileSlice],
    schema: NamedStruct,
    access: Access,
    spark: SparkSession,
    case_sensitive: bool,
) -> list[tuple[str, Table]]:
    match format:
        case ParquetReadOptions():
            return parquet_tables(pieces, schema, access, spark, case_sensitive=case_sensitive)
        case OrcReadOptions():
            return orc_tables(pieces, schema, access, spark, case_sensitive=case_sensitive)
        case ArrowReadOptions():
            return [(named(pieces), arrow_table(pieces, schema, access, spark))]
        case DelimiterSeparatedTextReadOptions():
            return [(named(pieces), text_table(pieces, format, schema, access, spark))]
        case DwrfReadOptions() | AnyMessage():
            raise AssertionError("refused before")
        case _:
            assert_never(format)
