"""List the files that the items of a read name: local files in Python, all others with Spark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark_substrait.binding.data_files import files_below, is_hidden
from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import ArrowReadOptions, FileOrFiles
from pyspark_substrait.spark.access import Access, escaped
from pyspark_substrait.spark.addresses import Address
from pyspark_substrait.spark.reading.file_slices import FileSlice, path_of_uri
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["listed"]


def listed(item: FileOrFiles, access: Access, spark: SparkSession) -> list[FileSlice]:
    """Return the files of an item, or the slice of its only file. A pattern may match none, a folder may be empty.

    Raises:
        TableError: there is no such file or folder, or a file is where a folder should be, or vice versa.
        UnsupportedPlanError: the plan may not read a file, or Spark would ignore it.
    """
    glob = item.path_type == "uri_path_glob"
    place = access.place(item.path, glob=glob)
    query = None
    if isinstance(place, Address):
        query = place.query
        paths = [str(place)] if query is not None else _listed_by_spark(str(place), item, spark)
        if query is not None:
            _check_query(item)
    elif any(map(os.path.exists, place)) or not is_connect(spark):
        try:
            paths = [file for path in place for file in _files(path, item, access)]
        except OSError as error:
            raise TableError(f"{item.path} cannot be read: {error.strerror}") from error
        access.remember(paths)
    else:
        seen = access.pattern(item.path) if glob else str(place[0])
        paths = _listed_by_spark(seen, item, spark)
    if item.start == 0 and item.length == 0:
        return [FileSlice(path, query=query) for path in paths]
    if len(paths) != 1 or item.path_type == "uri_folder":
        raise UnsupportedPlanError(
            f"a slice is a part of one file, and {item.path} stands for {len(paths)}",
            path="start",
            hint="Name the file as uri_file",
        )
    return [FileSlice(paths[0], item.start, item.length or None, query)]


def _check_query(item: FileOrFiles) -> None:
    """Refuse an address with a query, unless it is one file that pyarrow opens, which reads settings from it."""
    if not isinstance(item.file_format, ArrowReadOptions) or item.path_type == "uri_folder":
        raise UnsupportedPlanError(
            f"the address {item.path!r} has a query, which Spark takes for a part of the name",
            hint="Only the address of an Arrow IPC file may have one; in a name, write ? as %3F",
        )


def _files(path: Path, item: FileOrFiles, access: Access) -> list[str]:
    """Return the file at a local path, or the files in a local folder."""
    if not os.path.exists(path):
        raise TableError(f"there is no file {path}")
    if not path.is_dir():
        if item.path_type == "uri_folder":
            raise TableError(f"{path} is not a folder")
        return _unless_hidden(str(path), item)
    if item.path_type == "uri_file":
        raise TableError(f"{path} is a folder", hint="An item of a folder is a uri_folder or a uri_path")
    if item.path_type == "uri_path_glob" and is_hidden(path.name):
        return []
    return sorted(files_below(str(path), access.check))


def _listed_by_spark(path: str, item: FileOrFiles, spark: SparkSession) -> list[str]:
    """Return the files at a path in a file system that only Spark can access."""
    from pyspark.errors import AnalysisException

    glob = item.path_type == "uri_path_glob"
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    try:
        files = sorted(map(path_of_uri, reader.load(path if glob else escaped(path)).inputFiles()))
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise TableError(f"Spark cannot list {path}: {str(error).splitlines()[0]}") from error
        if glob:
            return []
        raise TableError(f"there is no file {path}") from error
    is_file = [_below_host(file) for file in files] == [_below_host(path)]
    if item.path_type == "uri_folder" and is_file:
        raise TableError(f"{path} is not a folder")
    if item.path_type == "uri_file" and not is_file:
        return _unless_hidden(path, item) if not files else _refuse_folder(path)
    return files


def _below_host(path: str) -> str:
    """Return the path without the host: Spark may return another name for the default host."""
    _, colon, rest = path.partition("://")
    return f"/{rest.partition('/')[2]}" if colon else path


def _refuse_folder(path: str) -> list[str]:
    raise TableError(f"{path} is a folder", hint="An item of a folder is a uri_folder or a uri_path")


def _unless_hidden(path: str, item: FileOrFiles) -> list[str]:
    """Return the file, unless its name marks it as hidden, so that Spark would ignore it."""
    if not is_hidden(path.rpartition("/")[2]):
        return [path]
    if item.path_type == "uri_path_glob":
        return []
    raise UnsupportedPlanError(
        f"Spark passes over the file {path}, because its name starts with _ or .", hint="Give the file another name"
    )
