"""The tables that a caller gives for a plan's names: DataFrames, Arrow tables, Parquet paths.

A table comes with what is known of it: which of its columns surely hold no null. Arrow counts nulls, Parquet files keep
the counts in their footers; where nothing is known, the statement checks while it reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import pyarrow as pa

from pyspark_substrait.errors import TableError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Given", "Table", "TableName", "TableSource", "Tables", "local_path"]

TableName: TypeAlias = Union[str, "tuple[str, ...]"]
TableSource: TypeAlias = Union["DataFrame", pa.Table, str, "os.PathLike[str]"]
#: What a caller gives: a name, dotted or in parts, and the table.
Given: TypeAlias = Union[
    Mapping[TableName, TableSource],
    Mapping[str, TableSource],
    Mapping[str, str],
    Mapping[str, "DataFrame"],
    Mapping["tuple[str, ...]", TableSource],
]


@dataclass(frozen=True, slots=True)
class Table:
    """A table in Spark.

    Args:
        frame: the DataFrame.
        without_nulls: the columns that are known to hold no null, nor any inside them.
    """

    frame: DataFrame
    without_nulls: frozenset[str]


class Tables:
    """The tables of a caller, found by name.

    Args:
        given: the tables by name.
        spark: the session that they are read in.
        case_sensitive: whether names that differ in case are different.

    Raises:
        TableError: a name is given twice, or what is given for it isn't a table.
    """

    def __init__(self, given: Given | None, spark: SparkSession, *, case_sensitive: bool) -> None:
        self._spark = spark
        self._fold: Callable[[str], str] = str if case_sensitive else str.lower
        self._given: dict[tuple[str, ...], TableSource] = {}
        self._read: dict[tuple[str, ...], Table] = {}
        for name, table in (given or {}).items():
            key = self._key(tuple(name.split(".")) if isinstance(name, str) else tuple(name))
            if key in self._given:
                raise TableError(f"the table {'.'.join(key)} is given twice")
            self._given[key] = table

    def _key(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._fold(part) for part in names)

    def names(self) -> list[str]:
        """The names that were given, for messages."""
        return [".".join(key) for key in self._given]

    def find(self, names: Sequence[str]) -> Table | None:
        """The table given under a name; None when there is none."""
        key = self._key(names)
        if key not in self._read and key in self._given:
            self._read[key] = _table(".".join(names), self._given[key], self._spark)
        return self._read.get(key)


def _table(name: str, source: TableSource, spark: SparkSession) -> Table:
    if isinstance(source, pa.Table):
        return _arrow_table(name, source, spark)
    if isinstance(source, str | os.PathLike):
        return parquet_table(name, [os.fspath(source)], spark)
    if hasattr(source, "toArrow"):
        return Table(source, frozenset())
    raise TableError(
        f"the table {name} is given as a {type(source).__name__}",
        hint="Give a DataFrame, a pyarrow Table or a path of Parquet files",
    )


def _arrow_table(name: str, table: pa.Table, spark: SparkSession) -> Table:
    from pyspark.sql.pandas.types import from_arrow_schema

    counts = {field: table.column(position).null_count for position, field in enumerate(table.schema.names)}
    simple = {field.name for field in table.schema if not pa.types.is_nested(field.type)}
    plain = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
    try:
        # a timestamp without a zone stays one, whatever the session prefers
        schema = from_arrow_schema(plain, prefer_timestamp_ntz=True)
        frame = spark.createDataFrame(table if plain.equals(table.schema) else table.cast(plain), schema)
    except Exception as error:
        raise TableError(f"Spark can't take the Arrow table given for {name}: {_first_line(error)}") from error
    return Table(frame, frozenset(field for field, count in counts.items() if count == 0 and field in simple))


def _plain(type: pa.DataType) -> pa.DataType:
    """The type that Spark takes instead of one it doesn't know, though it can hold the values."""
    if pa.types.is_string_view(type):
        return pa.string()
    if pa.types.is_binary_view(type):
        return pa.binary()
    return _plain(type.value_type) if pa.types.is_dictionary(type) else type


def parquet_table(name: str, paths: Sequence[str], spark: SparkSession) -> Table:
    """The table in Parquet files.

    Args:
        name: what to call it in errors.
        paths: files or folders, as paths or URIs; glob characters have their meaning for Spark.
        spark: the session.

    Raises:
        TableError: there is no such file, or it isn't Parquet.
    """
    for path in paths:
        local = local_path(path)
        if local is not None and not any(mark in path for mark in "*?[{") and not local.exists():
            raise TableError(f"there is no file {path} for the table {name}")
    files = _data_files(paths)
    opened = _opened.setdefault(spark, {})
    key = (tuple(paths), files)
    if files is None or key not in opened:
        try:
            frame = spark.read.parquet(*paths)
            frame.schema  # noqa: B018 - Connect reads nothing before it is asked
        except Exception as error:
            raise TableError(f"{', '.join(paths)} can't be read as Parquet: {_first_line(error)}") from error
        table = Table(frame, _without_nulls(files or ()))
        if files is None:
            return table
        if len(opened) >= _MOST_OPENED:
            opened.pop(next(iter(opened)))
        opened[key] = table
    return opened[key]


#: A data file: its path, when it was changed (ns), its size in bytes.
_DataFile: TypeAlias = "tuple[str, int, int]"
_Key: TypeAlias = "tuple[tuple[str, ...], tuple[_DataFile, ...] | None]"

#: The tables that were opened in each session. Opening costs Spark a job that reads the footers; as long as the files
#: are the same, so is the table.
_opened: WeakKeyDictionary[SparkSession, dict[_Key, Table]] = WeakKeyDictionary()
_MOST_OPENED = 256


def _data_files(paths: Sequence[str]) -> tuple[_DataFile, ...] | None:
    """The data files below local paths; None when not all of them can be told."""
    found: list[_DataFile] = []
    for path in paths:
        local = local_path(path)
        if local is None or not local.exists():
            return None
        files = [local] if local.is_file() else sorted(file for file in local.rglob("*") if _is_data(file))
        for file in files:
            status = file.stat()
            found.append((str(file), status.st_mtime_ns, status.st_size))
    return tuple(found)


def _without_nulls(files: Sequence[_DataFile]) -> frozenset[str]:
    """The columns that hold no null in any of the files, by their footers."""
    known: frozenset[str] | None = None
    for file, changed, size in files:
        columns = _columns_without_nulls(file, changed, size)
        known = columns if known is None else known & columns
    return known or frozenset()


def _is_data(file: Path) -> bool:
    return file.is_file() and not file.name.startswith(("_", "."))


@lru_cache(maxsize=4096)
def _columns_without_nulls(file: str, changed: int, size: int) -> frozenset[str]:
    """The columns of one file that hold no null, by its footer. The time and size only key the cache."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(file)
    except (OSError, pa.ArrowException):
        return frozenset()
    nulls: dict[str, int | None] = {}
    for group in range(metadata.num_row_groups):
        for position in range(metadata.num_columns):
            column = metadata.row_group(group).column(position)
            name = column.path_in_schema.split(".")[0]
            statistics = column.statistics
            counted = statistics is not None and statistics.has_null_count
            before = nulls.get(name, 0)
            nulls[name] = before + statistics.null_count if counted and before is not None else None
    return frozenset(name for name, count in nulls.items() if count == 0)


def local_path(path: str) -> Path | None:
    """A path or ``file:`` URI as a path of this machine; None for what is somewhere else."""
    parts = urlsplit(path)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    # a drive letter isn't a scheme
    return Path(path) if len(parts.scheme) <= 1 else None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
