"""Arrow IPC files, of the file format and of the stream format: pyarrow reads them here, and Spark gets the table.

The files of a read become one table. Where a column isn't of the same type in all of them, it has the narrowest type
that holds every value.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.arrow_types import common_type, decoded_type
from pyspark_substrait.spark.reading.file_slices import FileSlice, named, uri_of_address
from pyspark_substrait.spark.tables import Table, first_line, given_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["arrow_table"]

_MAGIC = b"ARROW1"
#: where the messages begin in the file format, after its magic bytes; in the stream format, they begin at 0
_FIRST_MESSAGE = 8
_FEATHER_1 = b"FEA1"


def arrow_table(pieces: Sequence[FileSlice], schema: NamedStruct, access: Access, spark: SparkSession) -> Table:
    """Read the records in Arrow IPC files. Of a slice, the record batches are read whose middle byte is in it.

    Only the columns of the schema are read. A nullable column that a file lacks is null.

    Raises:
        TableError: a file is missing, isn't Arrow IPC or lacks a column, or a column is of different types.
        UnsupportedPlanError: a file is in a file system that pyarrow doesn't know.
    """
    columns = _Columns(schema, spark)
    return given_table(named(pieces), _united([_read(piece, columns, access) for piece in pieces]), spark)


class _Columns:
    """The columns that a plan reads from files."""

    def __init__(self, schema: NamedStruct, spark: SparkSession) -> None:
        case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        self._fold: Callable[[str], str] = str if case_sensitive else str.lower
        self._wanted = list(zip(schema.top_level_names(), schema.struct.types, strict=True))

    def places(self, found: pa.Schema, path: str) -> list[int | None]:
        """Return the positions of the columns in a file; None for a nullable column that is missing.

        Raises:
            TableError: a required column is missing, or a name is ambiguous.
        """
        known: dict[str, list[int]] = {}
        for position, name in enumerate(found.names):
            known.setdefault(self._fold(name), []).append(position)
        places: list[int | None] = []
        for name, type in self._wanted:
            here = known.get(self._fold(name), [])
            if len(here) > 1 or (not here and not type.nullable):
                number = f"{len(here)} columns named" if here else "no column"
                raise TableError(f"{path} has {number} {name}", hint=f"Its columns: {', '.join(found.names)}")
            places.append(here[0] if here else None)
        return places

    def named(self, columns: Sequence[pa.Field | None]) -> pa.Schema:
        """Return the schema of columns, renamed as in the plan."""
        pairs = zip(self._wanted, columns, strict=True)
        return pa.schema(
            [pa.field(name, pa.null()) if found is None else found.with_name(name) for (name, _), found in pairs]
        )


def _read(piece: FileSlice, columns: _Columns, access: Access) -> pa.Table:
    """Read the wanted columns of the records in a file or a slice of it."""
    try:
        with _opened(piece, access) as source:
            magic = source.read(len(_MAGIC))
            if magic.startswith(_FEATHER_1):
                raise TableError(f"{piece.path} is a Feather file of the first version", hint="Write it as Arrow IPC")
            open_reader = pa.ipc.open_file if magic == _MAGIC else pa.ipc.open_stream
            source.seek(0)
            found = open_reader(source).schema
            places = columns.places(found, piece.path)
            wanted = sorted({place for place in places if place is not None})
            source.seek(0)
            reader = open_reader(source, options=pa.ipc.IpcReadOptions(included_fields=wanted))
            batches = list(_batches(reader))
            if not piece.is_whole:
                spans = _spans(source, _FIRST_MESSAGE if magic == _MAGIC else 0, len(batches))
                batches = [
                    batch for batch, (first, end) in zip(batches, spans, strict=True) if piece.holds((first + end) // 2)
                ]
            schema = pa.schema([found.field(place) for place in wanted]) if wanted else found
            table = pa.Table.from_batches(batches, schema)
            # the file may be damaged; later reads of the values would trust its offsets
            table.validate(full=True)
            read = dict(zip(wanted, table.columns, strict=False))  # without wanted columns, all are read
            arrays = [pa.nulls(table.num_rows) if place is None else read[place] for place in places]
            fields = [None if place is None else found.field(place) for place in places]
            return pa.Table.from_arrays(arrays, schema=columns.named(fields))
    except FileNotFoundError as error:
        raise TableError(f"there is no file {piece.path}") from error
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{piece.path} cannot be read as Arrow IPC: {first_line(error)}") from error


@contextmanager
def _opened(piece: FileSlice, access: Access) -> Iterator[pa.NativeFile]:
    from pyarrow.fs import FileSystem

    if piece.path.startswith("/"):
        with access.opened(piece.path) as descriptor:
            yield mapped(descriptor)
        return
    try:
        system, place = FileSystem.from_uri(uri_of_address(piece.path, piece.query))
    except pa.ArrowInvalid as error:
        raise UnsupportedPlanError(
            f"{piece.path} cannot be reached: {first_line(error)}", hint="Arrow files are read by pyarrow, not by Spark"
        ) from error
    with system.open_input_file(place) as file:
        yield file


def mapped(descriptor: int) -> pa.NativeFile:
    """Map an open file into memory. Its bytes are read on use, and stay valid after the descriptor is closed."""
    if os.fstat(descriptor).st_size == 0:
        return pa.BufferReader(b"")
    return pa.BufferReader(pa.py_buffer(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)))


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        return (reader.get_batch(position) for position in range(reader.num_record_batches))
    return iter(reader)


def _spans(source: pa.NativeFile, first: int, count: int) -> list[tuple[int, int]]:
    """Return the byte ranges of the messages of the first ``count`` record batches of a file."""
    source.seek(first)
    spans: list[tuple[int, int]] = []
    while len(spans) < count:
        begin = source.tell()
        if pa.ipc.read_message(source).type == "record batch":
            spans.append((begin, source.tell()))
    return spans


def _united(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables whose columns have the same names."""
    first = tables[0].schema
    if all(table.schema.equals(first) for table in tables[1:]):
        return pa.concat_tables(tables)
    fields = []
    for position, name in enumerate(first.names):
        kinds = {table.schema.field(position).type: None for table in tables}
        common = reduce(lambda one, other: one and common_type(one, other), map(decoded_type, kinds))
        if len(kinds) > 1 and common is None:
            raise TableError(f"the column {name} is {' and '.join(map(str, kinds))} in files of one read")
        fields.append(pa.field(name, common if len(kinds) > 1 else next(iter(kinds))))
    return pa.concat_tables([_as(table, pa.schema(fields)) for table in tables])


def _as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = []
    for column, field in zip(table.columns, schema, strict=True):
        if pa.types.is_run_end_encoded(column.type) and column.type != field.type:
            column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], column.type.value_type)
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)
