"""The tables that a caller gives for a plan's names: DataFrames, Arrow tables, paths of Parquet, ORC and Arrow files.

For each table, the columns that surely hold no null are known: Arrow counts nulls, and Parquet files have the counts in
their footers. For other columns, the statement checks while it reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from pyspark_substrait.binding.data_files import LOGS, files_below, first_file_below, log_of, refused_table
from pyspark_substrait.errors import SubstraitError, TableError
from pyspark_substrait.spark.arrow_input import plain_table, stored_schema
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow, spark_schema
from pyspark_substrait.spark.compatibility import is_frame, session_version
from pyspark_substrait.spark.failures import first_message
from pyspark_substrait.spark.reading.footers import Format, file_status, footer, without_nulls
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.session_cache import cache_value, session_cache
from pyspark_substrait.sql.compiler.types import TIME_SINCE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "Given",
    "Table",
    "TableSource",
    "Tables",
    "file_reader",
    "file_table",
    "first_line",
    "given_table",
    "is_illegal_type",
    "local_path",
    "plain_without_nulls",
    "stored_columns",
    "stored_rows",
]

TableSource: TypeAlias = Union["DataFrame", pa.Table, str, "os.PathLike[str]"]
#: The tables that a caller gives: a name, dotted or a tuple of its parts, and the table. The type of the keys isn't
#: narrower, because a ``Mapping`` with keys of type ``tuple[str, str]`` is none with keys of ``tuple[str, ...]``.
Given: TypeAlias = Mapping[Any, TableSource]


@dataclass(frozen=True, slots=True)
class Table:
    """A table in Spark.

    Args:
        frame: the DataFrame.
        without_nulls: the columns that are known to hold no null, nor any inside them.
        arrow: the Arrow schema of the columns, of an Arrow table or a Parquet file; None if unknown.
    """

    frame: DataFrame
    without_nulls: frozenset[str]
    arrow: pa.Schema | None = None


class Tables:
    """The tables of a caller, found by name.

    Args:
        given: the tables by name.
        spark: the session that they are read in.
        case_sensitive: whether names that differ in case are different.

    Raises:
        TableError: a name is given twice, or its value isn't a table.
    """

    def __init__(self, given: Given | None, spark: SparkSession, *, case_sensitive: bool) -> None:
        self._spark = spark
        self._fold: Callable[[str], str] = str if case_sensitive else str.lower
        self._given: dict[tuple[str, ...], TableSource] = {}
        self._read: dict[tuple[str, ...], Table] = {}
        self._dotted: dict[str, tuple[str, ...]] = {}
        for name, table in (given or {}).items():
            key = self._key(tuple(name.split(".")) if isinstance(name, str) else tuple(name))
            if key in self._given:
                raise TableError(f"the table {'.'.join(key)} is given twice")
            self._given[key] = table
            if isinstance(name, str):
                self._dotted[self._fold(name)] = key

    def _key(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._fold(part) for part in names)

    def names(self) -> list[str]:
        """The names that were given, for messages."""
        return [".".join(key) for key in self._given]

    def source(self, names: Sequence[str]) -> TableSource | None:
        """Return the table given under a name, unchanged; None if there is none."""
        return self._given.get(self._named(names))

    def _named(self, names: Sequence[str]) -> tuple[str, ...]:
        key = self._key(names)
        return key if key in self._given else self._dotted.get(".".join(key), key)

    def find(self, names: Sequence[str]) -> Table | None:
        """Return the table given under a name; None if there is none. A dotted name matches any split into parts."""
        key = self._named(names)
        if key not in self._read and key in self._given:
            self._read[key] = given_table(".".join(names), self._given[key], self._spark)
        return self._read.get(key)


def given_table(name: str, source: TableSource, spark: SparkSession) -> Table:
    """Convert a source that a caller gave to a table.

    Raises:
        TableError: it isn't a table, or Spark can't read it.
    """
    if isinstance(source, pa.Table):
        return _arrow_table(name, source, spark)
    if isinstance(source, str | os.PathLike):
        return _path_table(name, os.fspath(source), spark)
    if is_frame(source):
        return Table(source, frozenset())
    if isinstance(source, _dataset().Dataset):
        return _arrow_table(name, source.to_table(), spark)
    if hasattr(source, "__arrow_c_stream__"):
        # a record batch, a reader, a data frame of another library
        return _arrow_table(name, pa.table(source), spark)
    raise TableError(
        f"the table {name} is given as a {type(source).__name__}",
        hint="Give a DataFrame, Arrow data (such as a pyarrow Table) or a path of Parquet, ORC or Arrow files",
    )


def _dataset() -> Any:
    """Return pyarrow's module of datasets, whose import takes as long as all others: it imports pandas."""
    from pyarrow import dataset

    return dataset


def _arrow_table(name: str, table: pa.Table, spark: SparkSession) -> Table:
    counts = {field: table.column(position).null_count for position, field in enumerate(table.schema.names)}
    simple = {field.name for field in table.schema if not pa.types.is_nested(field.type)}
    try:
        plain = plain_table(table, has_times=session_version(spark) >= TIME_SINCE)
        frame = frame_of_arrow(spark, plain, spark_schema(plain.schema))
    except SubstraitError:
        raise
    except Exception as error:
        raise TableError(f"Spark cannot take the Arrow table given for {name}: {first_line(error)}") from error
    known = frozenset(field for field, count in counts.items() if count == 0 and field in simple)
    return Table(frame, known, table.schema)


def _path_table(name: str, path: str, spark: SparkSession) -> Table:
    """Return the table in the files of a path, by their suffix."""
    try:
        logged = _log_of(path, spark)
        suffix = _suffix(path)
    except OSError as error:
        raise TableError(f"{path} cannot be read: {first_line(error)}") from error
    if logged is not None:
        return _table_with_log(name, path, *logged, spark)
    if suffix in _ARROW_SUFFIXES:
        local = local_path(path)
        try:
            return _arrow_table(name, _dataset().dataset(local or path, format="ipc").to_table(), spark)
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"{path} cannot be read as Arrow IPC: {first_line(error)}") from error
    return file_table(name, [path], spark, "orc" if suffix == ".orc" else "parquet")


def _log_of(path: str, spark: SparkSession) -> tuple[str, str] | None:
    """Return the format and the folder of a table with a log. A Connect session can't look at files elsewhere."""
    local = local_path(path)
    if local is not None:
        found = log_of(local)
        return None if found is None else (found[0], path if found[1] == local else str(found[1]))
    if is_connect(spark):
        return None
    folder = re.sub(r"(/[^/]*=[^/]*)+/*$", "", path)  # without partitions
    formats = (format for format, log in LOGS.items() if _is_there(f"{folder.rstrip('/')}/{log}", spark))
    return next(((format, folder) for format in formats), None)


def _table_with_log(name: str, path: str, format: str, folder: str, spark: SparkSession) -> Table:
    """Return the table in a folder with a log, which the session's own source of the format reads."""
    if folder != path:
        raise refused_table(name, path, format, "it is a part of one", f"Give {folder}, and filter by the partition")
    try:
        frame = spark.read.format(format).load(path)
        frame.schema  # noqa: B018 - Connect reads nothing before the schema is requested
    except spark_errors() as error:
        reason = first_message(error)
        lacks = "DefaultSource" in reason or "DATA_SOURCE_NOT_FOUND" in reason  # the class that isn't there; in Connect
        what = "this session has no source of that format" if lacks else f"this session can't read it: {reason}"
        raise refused_table(name, path, format, what, "Start Spark with that format: docs/lakes.md") from error
    return Table(frame, frozenset())


def _is_there(pattern: str, spark: Any) -> bool:
    """Whether something has a path in a file system of Spark's; False if it can't say, as reading reports that."""
    place = spark._jvm.org.apache.hadoop.fs.Path(pattern)
    try:
        return bool(place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).globStatus(place))
    except spark_errors():
        return False


_ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")


def _suffix(path: str) -> str:
    """The suffix of a file's name; of a folder, that of the first file in it."""
    local = local_path(path)
    if local is not None and local.is_dir():
        local = first_file_below(local)
    return Path(path if local is None else local).suffix.lower()


def file_table(name: str, paths: Sequence[str], spark: SparkSession, format: Format = "parquet") -> Table:
    """The table in Parquet or ORC files.

    Args:
        name: its name in errors.
        paths: files or folders, as paths or URIs; Spark interprets glob characters.
        spark: the session.
        format: what the files are.

    Raises:
        TableError: there is no such file, or it isn't of that format.
    """
    for path in paths:
        local = local_path(path)
        if local is not None and not any(mark in path for mark in "*?[{") and not local.exists():
            raise TableError(f"there is no file {path} for the table {name}")
    files = _data_files(paths)
    opened: dict[_Key, Table] = session_cache(spark, "tables")
    key = (format, tuple(paths), files)
    table = None if files is None else opened.get(key)
    if table is None:
        schema = _arrow_schema(files or (), format)
        try:
            frame = _frame(paths, schema, spark, format)
        except Exception as error:
            kind = {"parquet": "Parquet", "orc": "ORC"}[format]
            raise TableError(f"{', '.join(paths)} cannot be read as {kind}: {first_line(error)}") from error
        table = Table(frame, _without_nulls(files or (), format), schema)
        if files is not None:
            cache_value(opened, key, table, _MOST_OPENED)
    return table


def file_reader(spark: SparkSession, format: Format) -> DataFrameReader:
    """Return a reader of Parquet or ORC files, which reads dates and times as they are stored.

    Before 4.0, Spark by default fails on dates before 1582-10-15 in Parquet files that do not say which calendar they
    are of, and settings of the session can make it take them for dates of the Julian calendar. Files that
    Spark itself wrote say it.
    """
    reader = spark.read.format(format)
    return (
        reader.options(datetimeRebaseMode="CORRECTED", int96RebaseMode="CORRECTED") if format == "parquet" else reader
    )


def parquet_table(name: str, paths: Sequence[str], spark: SparkSession) -> Table:
    """:func:`file_table` of Parquet files."""
    return file_table(name, paths, spark)


def is_illegal_type(error: Exception) -> bool:
    """Whether Spark reports a type of Parquet that it does not read."""
    return "PARQUET_TYPE_ILLEGAL" in str(error) or "Illegal Parquet type" in str(error)


def stored_columns(schema: pa.Schema, spark: SparkSession) -> StructType:
    """Return the types with which Spark reads such a file: nanoseconds, milliseconds of the day and uuids as stored."""
    return spark_schema(stored_schema(schema, has_times=session_version(spark) >= TIME_SINCE))


def _frame(paths: Sequence[str], schema: pa.Schema | None, spark: SparkSession, format: Format) -> DataFrame:
    """Read files with Spark; with a schema converted from Arrow's if Spark doesn't support a type in them."""
    try:
        frame = file_reader(spark, format).load(list(paths))
        frame.schema  # noqa: B018 - Connect reads nothing before the schema is requested
        return frame
    except spark_errors() as error:
        if schema is None or not is_illegal_type(error):
            raise
    return file_reader(spark, format).schema(stored_columns(schema, spark)).load(list(paths))


#: A data file: its path, when it was changed (ns), its size in bytes.
_DataFile: TypeAlias = "tuple[str, int, int]"
_Key: TypeAlias = "tuple[str, tuple[str, ...], tuple[_DataFile, ...] | None]"

#: Opening a table takes a Spark job that reads the footers; the table is cached until its files change.
_MOST_OPENED = 256


def _data_files(paths: Sequence[str]) -> tuple[_DataFile, ...] | None:
    """The data files below local paths; None if one of the paths isn't local or doesn't exist."""
    found: list[_DataFile] = []
    for path in paths:
        local = local_path(path)
        if local is None or not local.exists():
            return None
        for file in [str(local)] if local.is_file() else sorted(filter(os.path.isfile, files_below(str(local)))):
            status = file_status(file)
            found.append((file, status.st_mtime_ns, status.st_size))
    return tuple(found)


def plain_without_nulls(paths: Sequence[str]) -> frozenset[str]:
    """The columns of non-nested types without nulls in Parquet files; empty if the files aren't on this machine."""
    return _without_nulls(_data_files(paths) or (), "parquet", nested=False)


@lru_cache(maxsize=_MOST_OPENED)
def _without_nulls(files: tuple[_DataFile, ...], format: Format, *, nested: bool = True) -> frozenset[str]:
    """The columns without nulls, by the footers; not those that Spark reads from the names of folders."""
    known = without_nulls([footer(file, format) for file, _, _ in files], nested=nested)
    folders = {folder for file, _, _ in files for folder in Path(file).parts[:-1] if "=" in folder}
    taken = {unquote(folder.partition("=")[0]).lower() for folder in folders}
    return frozenset(name for name in known if name.lower() not in taken) if taken else known


def _arrow_schema(files: Sequence[_DataFile], format: Format) -> pa.Schema | None:
    """The schema that Arrow sees in the files; None where they don't have one in common."""
    schemas = [footer(file, format).schema for file, _, _ in files]
    first = schemas[0] if schemas else None
    return first if first is not None and all(first.equals(schema) for schema in schemas[1:]) else None


def stored_rows(source: TableSource) -> int | None:
    """The number of records of a table, if known without reading it: from memory or the footers of files; else None."""
    if isinstance(source, pa.Table):
        return int(source.num_rows)
    if not isinstance(source, str | os.PathLike):
        return None
    path = os.fspath(source)
    local = local_path(path)
    if local is not None and log_of(local) is not None:
        return None
    suffix = _suffix(path)
    files = _data_files([path])
    if files is None or suffix in _ARROW_SUFFIXES:
        return None
    counts = [footer(file, "orc" if suffix == ".orc" else "parquet").rows for file, _, _ in files]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def local_path(path: str) -> Path | None:
    """Convert a path or ``file:`` URI to a path of this machine; None for other URIs."""
    parts = urlsplit(path)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    # a drive letter isn't a scheme
    return Path(path) if len(parts.scheme) <= 1 else None


def first_line(error: Exception) -> str:
    """The first line of the message of another library's error."""
    return str(error).strip().split("\n", 1)[0]
