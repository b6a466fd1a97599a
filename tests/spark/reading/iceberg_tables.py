"""Iceberg tables for tests, made by PyIceberg; what it doesn't write (files with deletes) is put together by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.table import Table
from pyiceberg.typedef import Record

_numbers = itertools.count(1)


def catalog(folder: Path) -> SqlCatalog:
    """A catalog of its own in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = SqlCatalog("test", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    made.create_namespace("db")
    return made


class _DeleteManifest(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def delete_file(
    table: Table, path: Path, content: DataFileContent, records: int, partition: Sequence[Any] = (), **more: Any
) -> DataFile:
    """A file with deletes, as manifests describe it."""
    file = DataFile.from_args(
        content=content,
        file_path=f"file://{path}",
        file_format=FileFormat.PUFFIN if path.suffix == ".puffin" else FileFormat.PARQUET,
        partition=Record(*partition),
        record_count=records,
        file_size_in_bytes=path.stat().st_size,
        sort_order_id=None,
        **more,
    )
    file.spec_id = table.spec().spec_id
    return file


def by_position(table: Table, folder: Path, gone: dict[str, Sequence[int]], partition: Sequence[Any] = ()) -> DataFile:
    """A file that deletes records by the path of their file and their positions in it."""
    rows = sorted((path, position) for path, positions in gone.items() for position in positions)
    schema = pa.schema(
        [
            pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
            pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
        ]
    )
    path = folder / f"positions-{next(_numbers)}.parquet"
    columns = [[row[0] for row in rows], [row[1] for row in rows]]
    pq.write_table(pa.table(columns, schema=schema), path)
    return delete_file(table, path, DataFileContent.POSITION_DELETES, len(rows), partition)


def by_value(table: Table, folder: Path, values: pa.Table, partition: Sequence[Any] = ()) -> DataFile:
    """A file that deletes the records that have the same values in the same columns."""
    ids = [table.schema().find_field(name).field_id for name in values.column_names]
    fields = [field.with_metadata({"PARQUET:field_id": str(id)}) for field, id in zip(values.schema, ids, strict=True)]
    path = folder / f"values-{next(_numbers)}.parquet"
    pq.write_table(values.cast(pa.schema(fields)), path)
    return delete_file(table, path, DataFileContent.EQUALITY_DELETES, len(values), partition, equality_ids=ids)


def with_deletes(table: Table, folder: Path, files: Sequence[DataFile]) -> Path:
    """The metadata of the table after a snapshot that adds files with deletes."""
    known = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    current = table.current_snapshot()
    assert current is not None
    number, snapshot_id = known["last-sequence-number"] + 1, current.snapshot_id + 1
    spec, schema = table.spec(), table.schema()
    manifest = table.io.new_output(f"file://{folder}/deletes-{next(_numbers)}.avro")
    with _DeleteManifest(spec, schema, manifest, snapshot_id, "null") as writer:
        for file in files:
            entry = ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, data_file=file)
            writer.add_entry(entry)
    manifests: list[ManifestFile] = [writer.to_manifest_file(), *current.manifests(table.io)]
    listed = f"file://{folder}/list-{next(_numbers)}.avro"
    with write_manifest_list(
        2, table.io.new_output(listed), snapshot_id, current.snapshot_id, number, "null"
    ) as list_writer:
        list_writer.add_manifests(manifests)
    time = known["last-updated-ms"] + 1000
    known["snapshots"].append(
        {
            "snapshot-id": snapshot_id,
            "parent-snapshot-id": current.snapshot_id,
            "sequence-number": number,
            "timestamp-ms": time,
            "manifest-list": listed,
            "summary": {"operation": "delete"},
            "schema-id": known["current-schema-id"],
        }
    )
    known["snapshot-log"].append({"snapshot-id": snapshot_id, "timestamp-ms": time})
    known |= {"current-snapshot-id": snapshot_id, "last-sequence-number": number, "last-updated-ms": time}
    known["refs"]["main"]["snapshot-id"] = snapshot_id
    path = folder / f"{next(_numbers):05}-by-hand.metadata.json"
    path.write_text(json.dumps(known))
    return path
