"""Read the metadata of Parquet and ORC files: schema, columns without nulls, row groups."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa
import pyarrow.fs

from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.spark.reading.file_slices import uri_of_address

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["Footer", "Format", "RowGroup", "file_status", "footer", "row_groups", "without_nulls"]

#: Spark's name for a format.
Format: TypeAlias = Literal["parquet", "orc"]


@dataclass(frozen=True, slots=True)
class Footer:
    """The metadata of a file.

    Args:
        schema: its Arrow schema; None if Arrow can't read the file.
        spark_types: the types of columns that Spark recorded, if it wrote the file.
        without_nulls: the columns that hold no null, nor any inside them.
        rows: how many records it has; None where that isn't known.
    """

    schema: pa.Schema | None = None
    spark_types: Mapping[str, str] = field(default_factory=dict)
    without_nulls: frozenset[str] = frozenset()
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The records of a file from ``first`` to before ``end``, and the position of their middle byte."""

    midpoint: int
    first: int
    end: int


def file_status(path: str) -> os.stat_result:
    """Return the status of a local file that was found before.

    Raises:
        TableError: it has vanished, or can't be reached.
    """
    try:
        return os.stat(path)
    except OSError as error:
        raise TableError(
            f"the file {path} has vanished during the run, or cannot be reached: {error.strerror or error}",
            hint="Another process may have changed the table. Run the plan again",
        ) from error


def footer(path: str, format: Format) -> Footer:
    """Return the metadata of a local file; empty if Arrow can't read it.

    Args:
        path: the file.
        format: its format.

    Raises:
        TableError: it has vanished.
    """
    status = file_status(path)
    return _footer(path, format, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _footer(path: str, format: Format, changed: int, size: int) -> Footer:
    """Read the metadata of a file; the time and the size are only part of the cache key."""
    try:
        return _of_parquet(path) if format == "parquet" else _of_orc(path)
    except (OSError, pa.ArrowException, ImportError):
        return Footer()


def without_nulls(footers: Sequence[Footer], *, nested: bool = True) -> frozenset[str]:
    """The columns that hold no null in any of some files, nor any inside them.

    A nested column counts only if it has the same type in all files: Spark reads nulls for nested fields that one of
    the files lacks.

    Args:
        footers: the metadata of files that are read together, with the types of one of them.
        nested: whether nested columns count at all.
    """
    if not footers:
        return frozenset()
    known = frozenset.intersection(*(each.without_nulls for each in footers))
    return frozenset(name for name in known if _alike(name, footers, nested))


def _alike(name: str, footers: Sequence[Footer], nested: bool) -> bool:
    """Whether a column isn't nested, or may be nested and has the same type in all files."""
    places = [(each.schema, each.schema.get_field_index(name)) for each in footers if each.schema is not None]
    if len(places) < len(footers) or any(place < 0 for _, place in places):
        return False  # unknown, or twice in a file
    first, *others = [schema.field(place).type for schema, place in places]
    if not any(pa.types.is_nested(type) for type in (first, *others)):
        return True
    return nested and all(first.equals(other) for other in others)


def _of_parquet(path: str) -> Footer:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    schema = metadata.schema.to_arrow_schema()
    spark = (metadata.metadata or {}).get(b"org.apache.spark.sql.parquet.row.metadata", b"")
    return Footer(schema, _spark_types(spark), _without_nulls(metadata), metadata.num_rows)


def _without_nulls(metadata: pq.FileMetaData) -> frozenset[str]:
    nulls: dict[str, int | None] = {}
    names = [metadata.schema.column(position).path.split(".")[0] for position in range(metadata.num_columns)]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for position, name in enumerate(names):
            before = nulls.get(name, 0)
            if before != 0:
                continue
            statistics = group.column(position).statistics
            counted = statistics is not None and statistics.has_null_count
            nulls[name] = statistics.null_count if counted else None
    return frozenset(name for name in names if nulls.get(name, 0) == 0)


@lru_cache(maxsize=256)
def _spark_types(text: bytes) -> Mapping[str, str]:
    try:
        return {entry["name"]: json.dumps(entry["type"]) for entry in json.loads(text)["fields"]}
    except (ValueError, KeyError, TypeError):
        return {}


def _of_orc(path: str) -> Footer:
    import pyarrow.orc as orc

    file = orc.ORCFile(path)
    return Footer(file.schema, rows=file.nrows)


def row_groups(path: str) -> list[RowGroup]:
    """The row groups of a Parquet file, in order.

    A row group begins with its first column chunk (with the dictionary of that chunk, if it has one), and is as long as
    its column chunks together.

    Raises:
        UnsupportedPlanError: the file can't be read from this machine.
    """
    import pyarrow.parquet as pq

    try:
        if path.startswith("/"):
            metadata = pq.read_metadata(path)
        else:
            system, inside = pa.fs.FileSystem.from_uri(uri_of_address(path))
            metadata = pq.read_metadata(inside, filesystem=system)
    except (OSError, pa.ArrowException) as error:
        raise UnsupportedPlanError(
            f"the footer of {path} cannot be read here, and without it the slice is not known",
            hint="Slices of Parquet files need a file system that this machine sees as well",
        ) from error
    found, first = [], 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = [group.column(position) for position in range(metadata.num_columns)]
        size = sum(chunk.total_compressed_size for chunk in chunks)
        found.append(RowGroup(min(map(_start, chunks), default=0) + size // 2, first, first + group.num_rows))
        first += group.num_rows
    return found


def _start(chunk: pq.ColumnChunkMetaData) -> int:
    """The start of a column chunk. Some writers state a dictionary offset of 0 if there is none."""
    dictionary = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
    data: int = chunk.data_page_offset
    return min(data, dictionary) if dictionary else data
