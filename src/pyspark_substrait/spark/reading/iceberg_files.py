"""Read the metadata of an Iceberg table, and the list of files of a snapshot, with PyIceberg.

Metadata is as untrusted as the plan that names it: it may name files anywhere, and classes to read them with. So every
file is checked before it is opened, and the properties in the metadata are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import IcebergTable
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.addresses import Address
from pyspark_substrait.spark.reading.arrow_files import mapped

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

__all__ = ["EqualityDelete", "SnapshotFiles", "metadata_file", "snapshot_files"]


@dataclass(frozen=True, slots=True)
class EqualityDelete:
    """A file whose records delete those that have the same values, from data files older than it.

    Args:
        file: the file.
        sequence_number: the sequence number with which it was added.
        everywhere: whether it applies to all partitions, not only its own.
    """

    file: DataFile
    sequence_number: int
    everywhere: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFiles:
    """The files of a snapshot.

    Args:
        metadata: the table's metadata; ``io`` opens its files.
        schema: the schema of the snapshot.
        snapshot_id: the snapshot; None for a table that has none yet, and so no records.
        tasks: the data files, each with its positional delete files.
        sequence_numbers: the sequence number of each data file, by its path.
        equality_deletes: the equality delete files.
    """

    metadata: TableMetadata
    io: FileIO
    schema: Schema
    snapshot_id: int | None
    tasks: tuple[FileScanTask, ...]
    sequence_numbers: Mapping[str, int]
    equality_deletes: tuple[EqualityDelete, ...]

    def deletes_for(self, file: DataFile) -> tuple[EqualityDelete, ...]:
        """Return the equality delete files that apply to a data file."""
        added = self.sequence_numbers[file.file_path]
        return tuple(
            delete
            for delete in self.equality_deletes
            if delete.sequence_number > added
            and (delete.everywhere or (delete.file.spec_id, delete.file.partition) == (file.spec_id, file.partition))
        )

    def paths(self) -> Iterator[str]:
        """Yield the paths of all data files and delete files."""
        for task in self.tasks:
            yield task.file.file_path
            yield from (file.file_path for file in task.delete_files)
        yield from (delete.file.file_path for delete in self.equality_deletes)


def snapshot_files(table: IcebergTable, access: Access) -> SnapshotFiles:
    """Return the files of the snapshot that a read names.

    Raises:
        TableError: there is no such table or snapshot, or PyIceberg isn't installed.
        UnsupportedPlanError: the plan may not read one of the files.
    """
    try:
        from pyiceberg.serializers import FromInputFile
    except ImportError as error:
        raise TableError(
            "Iceberg tables are read with PyIceberg, which is not installed",
            hint="pip install 'pyspark-substrait[iceberg]'",
        ) from error
    io = _guarded_io(access)
    with at("metadata_uri"):
        if not table.metadata_uri:
            raise TableError("no metadata file is given")
        file = io.new_input(metadata_file(table.metadata_uri, access))
        try:
            metadata = FromInputFile.table_metadata(file)
        except SubstraitError:
            raise
        except Exception as error:
            raise TableError(
                f"{table.metadata_uri} cannot be read as the metadata of an Iceberg table: {_reason(error)}",
                hint="Name a metadata file, like …/metadata/00003-….metadata.json",
            ) from error
    snapshot = _snapshot(table, metadata)
    try:
        return _files(metadata, io, snapshot)
    except SubstraitError:
        raise
    except Exception as error:
        raise TableError(f"the files of {table.metadata_uri} cannot be listed: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().split("\n", 1)[0]


def metadata_file(uri: str, access: Access) -> str:
    """Return the checked location of the metadata file that a plan names, without escapes, as Iceberg uses it.

    Raises:
        UnsupportedPlanError: the plan may not read it, or the URI has a query.
    """
    place = access.place(uri)
    if isinstance(place, Address):
        if place.query is not None:
            raise UnsupportedPlanError(f"the address {uri!r} has a query", hint="Iceberg's locations have none")
        return str(place)
    return f"file://{place[0]}"


def _guarded_io(access: Access) -> FileIO:
    """Return a file system that opens only the files that the plan may read."""
    from pyarrow.fs import LocalFileSystem
    from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

    class FileOfThisMachine(PyArrowFile):
        def open(self, seekable: bool = True) -> Any:
            with access.opened(self.location) as descriptor:
                return mapped(descriptor)

    class GuardedFileIO(PyArrowFileIO):
        def new_input(self, location: str) -> PyArrowFile:
            place = access.place(location, escapes=False)
            if isinstance(place, Address):
                return super().new_input(str(place))
            path = str(place[0])
            return FileOfThisMachine(location=path, path=path, fs=LocalFileSystem())

        def new_output(self, location: str) -> PyArrowFile:
            raise UnsupportedPlanError(f"a read does not write {location}")

        def delete(self, location: Any) -> None:
            raise UnsupportedPlanError(f"a read does not delete {location}")

    return GuardedFileIO()


def _snapshot(table: IcebergTable, metadata: TableMetadata) -> Snapshot | None:
    """Return the snapshot that the read names; None for the current one of a table without snapshots."""
    if table.snapshot_id is not None:
        with at("snapshot_id"):
            known = ", ".join(str(each.snapshot_id) for each in metadata.snapshots) or "none"
            text = table.snapshot_id.strip()
            found = metadata.snapshot_by_id(int(text)) if text.isascii() and text.isdigit() else None
            if found is None:
                raise TableError(f"the table has no snapshot {table.snapshot_id!r}", hint=f"Its snapshots: {known}")
            return found
    if table.snapshot_timestamp is None:
        return metadata.current_snapshot()
    with at("snapshot_timestamp"):
        # the snapshot that was current then: the log also has rollbacks
        times = [(entry.timestamp_ms, entry.snapshot_id) for entry in metadata.snapshot_log or metadata.snapshots]
        earlier = [entry for entry in times if entry[0] * 1000 <= table.snapshot_timestamp]
        if not earlier:
            first = min((time for time, _ in times), default=None)
            raise TableError(
                f"the table has no snapshot as old as {table.snapshot_timestamp} µs",
                hint="It has none at all" if first is None else f"Its first is of {first * 1000} µs",
            )
        _, latest = max(earlier, key=lambda entry: entry[0])
        found = metadata.snapshot_by_id(latest)
        if found is None:
            raise TableError(f"the snapshot {latest}, current at {table.snapshot_timestamp} µs, has expired")
        return found


def _files(metadata: TableMetadata, io: FileIO, snapshot: Snapshot | None) -> SnapshotFiles:
    from pyiceberg.manifest import DataFileContent, ManifestEntry
    from pyiceberg.table import ManifestGroupPlanner

    sequence_numbers: dict[str, int] = {}
    deletes: list[EqualityDelete] = []
    unpartitioned = {spec.spec_id for spec in metadata.partition_specs if spec.is_unpartitioned()}

    def is_planned(entry: ManifestEntry) -> bool:
        """Record the entry; return False for equality deletes, which PyIceberg can't plan."""
        file, number = entry.data_file, entry.sequence_number or 0
        if file.content == DataFileContent.EQUALITY_DELETES:
            deletes.append(EqualityDelete(file, number, file.spec_id in unpartitioned))
            return False
        if file.content == DataFileContent.DATA:
            sequence_numbers[file.file_path] = number
        return True

    tasks: tuple[FileScanTask, ...] = ()
    schema = metadata.schema()
    if snapshot is not None:
        schema = next((each for each in metadata.schemas if each.schema_id == snapshot.schema_id), schema)
        planner = ManifestGroupPlanner(metadata, io)
        tasks = tuple(planner.plan_files(snapshot.manifests(io), is_planned))
    return SnapshotFiles(
        metadata=metadata,
        io=io,
        schema=schema,
        snapshot_id=None if snapshot is None else snapshot.snapshot_id,
        tasks=tasks,
        sequence_numbers=sequence_numbers,
        equality_deletes=tuple(deletes),
    )
