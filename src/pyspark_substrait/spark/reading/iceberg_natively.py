"""Read Iceberg tables with Spark's own Parquet reader: distributed, with filters and projections in the scan.

The data files are grouped by their stored columns: a column may have had another name, a narrower type, or be missing.
Each group is a scan of its own, whose columns are converted to the current schema. Tables with deletes, or with files
in which a nested column has changed, are read otherwise (see ``iceberg_arrow``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from pyspark_substrait.spark.access import Access, escaped
from pyspark_substrait.spark.addresses import Address
from pyspark_substrait.spark.reading.guarded_scans import guarded_scan
from pyspark_substrait.spark.reading.iceberg_files import SnapshotFiles
from pyspark_substrait.spark.tables import Table, parquet_table
from pyspark_substrait.sql.compiler.names import quoted

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask
    from pyiceberg.types import IcebergType, NestedField
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["is_common", "native_table"]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A column as stored in a file: its name, and whether its type is narrower there."""

    name: str
    widened: bool


#: For each column of the table, the stored column; None if the file lacks it.
_Layout = tuple["_Stored | None", ...]


def native_table(files: SnapshotFiles, access: Access, spark: SparkSession) -> Table | None:
    """Read the table's files with Spark; None if Spark can't read them exactly."""
    if files.equality_deletes or not files.tasks:
        return None
    groups: dict[_Layout, list[str]] = {}
    for task in files.tasks:
        layout = None if task.delete_files else _layout(task, files)
        if layout is None:
            return None
        groups.setdefault(layout, []).append(_spark_path(task.file.file_path, access))
    fields = files.schema.fields
    if len(groups) == 1:
        (layout, paths), *_ = groups.items()
        if layout == tuple(_Stored(field.name, False) for field in fields):
            return _read(paths, access, spark)
    if not all(is_common(field.field_type) for field in fields):
        return None
    parts = [_part(_read(paths, access, spark), fields, layout) for layout, paths in groups.items()]
    frame = reduce(lambda one, other: one.unionAll(other), (part.frame for part in parts))
    return Table(frame, frozenset.intersection(*(part.without_nulls for part in parts)))


def _spark_path(location: str, access: Access) -> str:
    """Return the path of a data file for Spark; a local one is remembered, to be checked again."""
    place = access.place(location, escapes=False)
    if isinstance(place, Address):
        return escaped(str(place))
    path = str(place[0])
    access.remember([path])
    # as a URI, the path would be looked up unescaped when the footers are read from here
    return escaped(path) if any(mark in path for mark in "%?#") else f"file://{escaped(path)}"


def _read(paths: Sequence[str], access: Access, spark: SparkSession) -> Table:
    table = parquet_table("the table", paths, spark)
    return replace(table, frame=guarded_scan(table.frame, access, spark))


def _layout(task: FileScanTask, files: SnapshotFiles) -> _Layout | None:
    """Return the stored columns of a file; None if more than names and widths of types differ."""
    from pyiceberg.io.pyarrow import pyarrow_to_schema
    from pyiceberg.manifest import FileFormat

    path = task.file.file_path
    if task.file.file_format != FileFormat.PARQUET or path.rsplit("/", 1)[-1].startswith(("_", ".")):
        # Spark ignores files with such names as hidden
        return None
    with files.io.new_input(path).open() as stream:
        physical = pq.read_schema(stream)
    try:
        stored = pyarrow_to_schema(physical, format_version=files.metadata.format_version)
    except Exception:
        # there are no field ids; a name mapping may identify the columns
        return None
    if len({field.name.lower() for field in stored.fields}) < len(stored.fields):
        return None
    try:
        return tuple([_place(field, stored) for field in files.schema.fields])
    except _Changed:
        return None


class _Changed(Exception):
    """A stored column can't be converted to the current column of the table."""


def _place(field: NestedField, stored: Schema) -> _Stored | None:
    """Return the stored column for a column of the table; None if the file lacks it."""
    found = next((other for other in stored.fields if other.field_id == field.field_id), None)
    if found is None:
        # it may come from a partition value or a default
        if field.required or field.initial_default is not None:
            raise _Changed
        return None
    if str(found.field_type) == str(field.field_type):
        return _Stored(found.name, False)
    if not _widens(found.field_type, field.field_type):
        raise _Changed
    return _Stored(found.name, True)


def _widens(narrow: IcebergType, wide: IcebergType) -> bool:
    from pyiceberg.types import DecimalType, DoubleType, FloatType, IntegerType, LongType

    match narrow, wide:
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
        case DecimalType(), DecimalType():
            return narrow.scale == wide.scale and narrow.precision <= wide.precision
        case _:
            return False


def is_common(type: IcebergType) -> bool:
    """Whether Spark has an equivalent of the type."""
    from pyiceberg.types import (
        BinaryType,
        BooleanType,
        DateType,
        DecimalType,
        DoubleType,
        FloatType,
        IntegerType,
        LongType,
        StringType,
        TimestampType,
        TimestamptzType,
    )

    return isinstance(
        type,
        BooleanType
        | IntegerType
        | LongType
        | FloatType
        | DoubleType
        | DecimalType
        | StringType
        | BinaryType
        | DateType
        | TimestampType
        | TimestamptzType,
    )


def _part(table: Table, fields: Sequence[NestedField], layout: _Layout) -> Table:
    """Return the files of one group with the table's columns."""
    columns = [_column(table.frame, field, stored) for field, stored in zip(fields, layout, strict=True)]
    known = (
        field.name
        for field, stored in zip(fields, layout, strict=True)
        if stored is not None and stored.name in table.without_nulls
    )
    return Table(table.frame.select(*columns), frozenset(known))


def _column(frame: DataFrame, field: NestedField, stored: _Stored | None) -> Column:
    from pyspark.sql import functions as F

    if stored is None:
        return F.lit(None).cast(_spark_name(field.field_type)).alias(field.name)
    column = frame[quoted(stored.name)]
    return (column.cast(_spark_name(field.field_type)) if stored.widened else column).alias(field.name)


def _spark_name(type: IcebergType) -> str:
    """Return Spark's name of a common type."""
    from pyiceberg.types import LongType, TimestampType, TimestamptzType

    match type:
        case LongType():
            return "bigint"
        case TimestampType():
            return "timestamp_ntz"
        case TimestamptzType():
            return "timestamp"
        case _:
            return str(type)
