"""Rows in formats that programs read, and Markdown."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Final, Literal

import pyarrow as pa
from typing_extensions import assert_never

from pyspark_substrait.errors import SubstraitError, TableError
from pyspark_substrait.message_text import json_text
from pyspark_substrait.spark.results.cells import Cell, cells
from pyspark_substrait.spark.results.values import plain, values

__all__ = ["BINARY", "SUFFIXES", "FileFormat", "write", "write_file"]

FileFormat = Literal["parquet", "arrow", "csv", "json", "markdown"]

SUFFIXES: Final[Mapping[str, FileFormat]] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".md": "markdown",
}
"""The format of a file by its suffix."""

BINARY: Final[frozenset[FileFormat]] = frozenset({"parquet", "arrow"})
"""The binary formats."""

#: a row group of Parquet has so many rows, or as many as have so many bytes in Arrow
_GROUP_ROWS: Final = 1024 * 1024
_GROUP_BYTES: Final = 64 * 1024 * 1024


def write_file(rows: pa.Table | pa.RecordBatchReader, path: Path, form: FileFormat) -> int:
    """Write rows to one file, whole or not at all, replacing what is there; return their number.

    Those of a reader are written batch by batch.

    Raises:
        TableError: the format can't hold a column.
        SubstraitError: the file can't be written, or the reader raises it.
    """
    target = path.resolve()  # a link is kept
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device
            with tempfile.TemporaryFile() as content:
                count = write(rows, content, form, seekable=True)
                content.seek(0)
                with target.open("wb") as sink:
                    shutil.copyfileobj(content, sink)
            return count
        try:
            with beside.open("wb") as sink:
                count = write(rows, sink, form, seekable=True)
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SubstraitError(f"{path} cannot be written: {error.strerror or error}") from error
    return count


def write(rows: pa.Table | pa.RecordBatchReader, sink: IO[bytes], form: FileFormat, *, seekable: bool = False) -> int:
    """Write rows to a stream of bytes, and return their number; text is UTF-8.

    JSON is one object a line; decimals, dates and times are text in it, so that no digit is lost, and binary is base64.
    Markdown is a pipe table, with all markup characters escaped.

    Args:
        rows: the rows; those of a reader are written batch by batch.
        sink: where they go.
        form: the format.
        seekable: whether readers can seek: Arrow has one format for files and one for streams.

    Raises:
        TableError: the format can't hold a column.
    """
    batches = _Counted(rows.to_batches() if isinstance(rows, pa.Table) else rows)
    match form:
        case "parquet":
            _parquet(rows.schema, batches, sink)
        case "arrow":
            new = pa.ipc.new_file if seekable else pa.ipc.new_stream
            with new(sink, rows.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
        case "csv":
            _csv(rows.schema, batches, sink)
        case "json":
            for line in _json(rows.schema, batches):
                sink.write(f"{line}\n".encode())
        case "markdown":
            for line in _markdown(rows.schema, batches):
                sink.write(f"{line}\n".encode())
        case other:
            assert_never(other)
    return batches.rows


class _Counted:
    """Batches, and how many rows those had that were taken."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self.rows = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.rows += batch.num_rows
            yield batch


def _parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], sink: IO[bytes]) -> None:
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetWriter(sink, schema) as writer:
            for group in _row_groups(schema, batches):
                writer.write_table(group, row_group_size=_GROUP_ROWS)
    except pa.ArrowNotImplementedError as error:
        raise TableError(f"Parquet cannot hold the rows: {error}", hint="Choose json") from error


def _row_groups(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Gather batches, which Spark makes small, into tables as large as a row group."""
    gathered: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        gathered.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield pa.Table.from_batches(gathered, schema)
            gathered.clear()
            rows = size = 0
    if gathered:
        yield pa.Table.from_batches(gathered, schema)


def _csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch], sink: IO[bytes]) -> None:
    import pyarrow.csv

    for field in schema:
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            raise TableError(
                f"CSV cannot hold the column {field.name!r} of type {field.type}", hint="Choose parquet or json"
            )
    try:
        with pyarrow.csv.CSVWriter(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"CSV cannot hold the rows: {error}", hint="Choose parquet or json") from error


def _json(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    _refuse_repeated(schema)
    names = schema.names
    for batch in batches:
        columns = [values(column) for column in batch.columns]
        for position in range(batch.num_rows):
            record = {name: plain(column[position]) for name, column in zip(names, columns, strict=True)}
            yield json_text(record)


def _refuse_repeated(schema: pa.Schema | pa.StructType) -> None:
    """Refuse repeated names, which JSON objects can't have."""
    names = [field.name for field in schema]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        what = "columns" if isinstance(schema, pa.Schema) else "fields of a struct"
        raise TableError(f"JSON cannot hold two {what} with the name {twice[0]!r}", hint="Choose parquet or csv")
    for field in schema:
        for type in _inside(field.type):
            _refuse_repeated(type)


def _inside(type: pa.DataType) -> Iterator[pa.StructType]:
    """The outermost structs of a type."""
    if pa.types.is_struct(type):
        yield type
    elif pa.types.is_map(type):
        yield from (*_inside(type.key_type), *_inside(type.item_type))
    elif pa.types.is_nested(type):
        yield from _inside(type.value_type)


def _markdown(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    header, _ = cells(schema.empty_table(), most_characters=None)
    if header:
        yield _bars(_markdown_text(cell.text) for cell in header)
        yield _bars("---:" if cell.kind == "number" else "---" for cell in header)
    for batch in batches:
        _, body = cells(pa.Table.from_batches([batch]), most_characters=None)
        if header:
            for row in body:
                yield _bars(map(_markdown_cell, row))


def _bars(texts: Iterator[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _markdown_cell(cell: Cell) -> str:
    return "*null*" if cell.kind == "null" else _markdown_text(cell.text)


def _markdown_text(text: str) -> str:
    """Escape a text, so that Markdown shows it unchanged: no markup, no HTML, no links."""
    return _MARKUP.sub(r"\\\g<0>", text)


#: an underscore inside a word needs no escape
_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
