"""Read Iceberg tables with PyIceberg, on the driver: supports all deletes and every schema evolution.

PyIceberg applies positional deletes and deletion vectors. Equality deletes are applied here, file by file: a record is
deleted if a delete file that is newer than the record's own file has the same values (specification of Iceberg,
"Equality Delete Files"); null equals null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.reading.iceberg_files import EqualityDelete, SnapshotFiles

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask

__all__ = ["arrow_table"]


def arrow_table(files: SnapshotFiles, names: Sequence[str]) -> pa.Table:
    """Read the records of a snapshot, with the named columns.

    Raises:
        UnsupportedPlanError: a file deletes by a column that the table doesn't have any more, or by a nested one.
    """
    schema = files.schema.select(*names)
    whole = [task for task in files.tasks if not files.deletes_for(task.file)]
    parts = [_read(files, schema, whole)]
    deleting = _Deleting(files)
    for task in files.tasks:
        deletes = files.deletes_for(task.file)
        if deletes:
            keys = {field_id for delete in deletes for field_id in delete.file.equality_ids or ()}
            wider = files.schema.select(
                *names, *(files.schema.find_column_name(id) or "" for id in deleting.known(keys))
            )
            found = _read(files, wider, [task])
            parts.append(deleting.remaining(found, deletes).select(schema.column_names))
    return pa.concat_tables(part.cast(parts[0].schema) for part in parts)


def _read(files: SnapshotFiles, schema: Schema, tasks: Iterable[FileScanTask]) -> pa.Table:
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    return ArrowScan(files.metadata, files.io, schema, AlwaysTrue()).to_table(tasks)


class _Deleting:
    """Applies equality deletes. Each delete file is read once."""

    def __init__(self, files: SnapshotFiles) -> None:
        self._files = files
        self._values: dict[str, set[tuple[Any, ...]]] = {}

    def known(self, field_ids: Iterable[int]) -> list[int]:
        """Check that columns are top-level columns of the table, and return their sorted ids."""
        found = sorted(field_ids)
        own = {field.field_id for field in self._files.schema.fields}
        if not own.issuperset(found):
            raise UnsupportedPlanError(
                "records are deleted by the value of a column that is nested, or that the table does not have any more",
                path="metadata_uri",
                hint="Rewrite the table's data files, or read it in a session that has Iceberg's own support",
            )
        return found

    def remaining(self, table: pa.Table, deletes: Iterable[EqualityDelete]) -> pa.Table:
        """Return the records that no delete applies to."""
        for delete in deletes:
            gone = self._deleted(delete)
            kept = [record not in gone for record in _records(table.select(self._names(delete)))]
            table = table.filter(pa.array(kept, pa.bool_()))
        return table

    def _names(self, delete: EqualityDelete) -> list[str]:
        schema = self._files.schema
        return [schema.find_field(field_id).name for field_id in sorted(delete.file.equality_ids or ())]

    def _deleted(self, delete: EqualityDelete) -> set[tuple[Any, ...]]:
        from pyiceberg.table import FileScanTask

        path = delete.file.file_path
        if path not in self._values:
            schema = self._files.schema.select(*self._names(delete))
            found = _read(self._files, schema, [FileScanTask(delete.file)])
            self._values[path] = set(_records(found.select(self._names(delete))))
        return self._values[path]


def _records(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Yield the values of each record, with all NaN values replaced by the same value."""
    columns = [
        ["NaN" if isinstance(value, float) and value != value else value for value in column.to_pylist()]
        for column in table.columns
    ]
    return zip(*columns, strict=True)
