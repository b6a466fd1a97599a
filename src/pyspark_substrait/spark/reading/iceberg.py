"""Iceberg tables by their metadata file.

There are three ways to read the records; the first one that is exact is used: Spark's own Parquet reader
(``iceberg_natively``), the support that the session itself has for Iceberg, and PyIceberg's reader (``iceberg_arrow``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyspark_substrait.errors import SubstraitError, TableError
from pyspark_substrait.model.relations import IcebergTable, Read
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.addresses import Address
from pyspark_substrait.spark.reading.iceberg_arrow import arrow_table
from pyspark_substrait.spark.reading.iceberg_files import SnapshotFiles, metadata_file, snapshot_files
from pyspark_substrait.spark.reading.iceberg_natively import is_common, native_table
from pyspark_substrait.spark.tables import Table, given_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["iceberg_table"]


def iceberg_table(node: Read, table: IcebergTable, access: Access, spark: SparkSession) -> Table:
    """Return the snapshot of an Iceberg table that a read names.

    Raises:
        TableError: there is no such table or snapshot.
        UnsupportedPlanError: the plan may not read it, or one of its files.
    """
    files = snapshot_files(table, access)
    try:
        found = native_table(files, access, spark)
        if found is None:
            found = _by_session(table.metadata_uri, files, access, spark)
        if found is None:
            found = given_table("the Iceberg table", arrow_table(files, _wanted(node, files)), spark)
        return found
    except SubstraitError:
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).strip().split("\n", 1)[0]
        raise TableError(f"the Iceberg table {table.metadata_uri} cannot be read: {reason}") from error


def _wanted(node: Read, files: SnapshotFiles) -> list[str]:
    """Return the columns that the plan's schema names, at least one; all columns if one of the names is missing."""
    names = {name.lower() for name in node.base_schema.top_level_names()}
    every = [field.name for field in files.schema.fields]
    found = [name for name in every if name.lower() in names]
    return (found or every[:1]) if names.issubset(map(str.lower, found)) else every


#: Whether sessions have a working data source for Iceberg.
_support: WeakKeyDictionary[SparkSession, bool] = WeakKeyDictionary()


def _by_session(uri: str, files: SnapshotFiles, access: Access, spark: SparkSession) -> Table | None:
    """Read the snapshot with the session's own data source; None if it has none."""
    if files.snapshot_id is None or not _support.get(spark, True):
        return None
    if not all(is_common(field.field_type) for field in files.schema.fields):
        return None
    location = metadata_file(uri, access)
    for path in (location, *files.paths()):
        place = access.place(path, escapes=False)
        if not isinstance(place, Address):
            access.remember([str(place[0])])
    try:
        frame: DataFrame = spark.read.format("iceberg").option("snapshot-id", str(files.snapshot_id)).load(location)
        frame.schema  # noqa: B018 - Connect looks for the data source only now
    except Exception:
        # it is missing, or made for another version of Spark; PyIceberg reads the same records
        _support[spark] = False
        return None
    _support[spark] = True
    return Table(frame, frozenset())
