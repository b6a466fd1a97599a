"""What the reads of a plan read from: tables of the caller, tables of the session's catalog, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import FileOrFiles, LocalFiles, NamedTable, ParquetReadOptions, Read
from pyspark_substrait.spark.columns import columns
from pyspark_substrait.spark.tables import Given, Table, Tables, local_path, parquet_table
from pyspark_substrait.sparksql.compiler.names import NameSource, quoted_path
from pyspark_substrait.sparksql.compiler.query import frame
from pyspark_substrait.sparksql.compiler.scope import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SessionSources"]


class SessionSources:
    """The sources of a plan in a session, and the DataFrames that its statement binds.

    Args:
        spark: the session.
        tables: the caller's tables.
        allowed_paths: the files and folders that a plan itself may name; it may read nothing else.
    """

    def __init__(
        self, spark: SparkSession, tables: Given | None, allowed_paths: Sequence[str | os.PathLike[str]]
    ) -> None:
        self._spark = spark
        self._case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        self._tables = Tables(tables, spark, case_sensitive=self._case_sensitive)
        self._allowed = [os.fspath(path) for path in allowed_paths]
        self._names = NameSource()
        #: the DataFrames that stand in the statement, by the names they have there
        self.frames: dict[str, DataFrame] = {}
        self._bound: dict[int, str] = {}

    def __call__(self, node: Read) -> Source:
        """The source of one read.

        Raises:
            TableError: there is no such table, or it isn't what the plan says.
            UnsupportedPlanError: the plan names files that it may not read, or that can't be read yet.
        """
        match node.read_type:
            case NamedTable(names=names):
                with at("named_table"):
                    table = self._tables.find(names)
                    if table is None:
                        return self._from_catalog(node, names)
                    return self._source(node, ".".join(names), table, self._frame(table))
            case LocalFiles(items=items):
                with at("local_files"):
                    table = self._files(items)
                    return self._source(node, "the file", table, self._frame(table))
            case _:
                raise UnsupportedPlanError(f"a {type(node.read_type).__name__} can't be read yet")

    def _frame(self, table: Table) -> str:
        """The text that stands for a table, which is bound once however often it is read."""
        key = id(table.frame)
        if key not in self._bound:
            self._bound[key] = self._names.fresh("t")
            self.frames[self._bound[key]] = table.frame
        return frame(self._bound[key])

    def _source(self, node: Read, name: str, table: Table, text: str) -> Source:
        found = columns(
            name,
            table.frame.schema,
            node.base_schema,
            table.without_nulls,
            case_sensitive=self._case_sensitive,
        )
        return Source(text, found.texts, found.checks)

    def _from_catalog(self, node: Read, names: Sequence[str]) -> Source:
        from pyspark.errors import AnalysisException

        path = quoted_path(names)
        try:
            table = self._spark.table(path)
            table.schema  # noqa: B018 - Connect asks the catalog only now
        except AnalysisException as error:
            given = ", ".join(self._tables.names()) or "none"
            raise TableError(
                f"there is no table {'.'.join(names)}",
                hint=f"Tables given: {given}; the session's catalog has none of that name either",
            ) from error
        return self._source(node, ".".join(names), Table(table, frozenset()), path)

    def _files(self, items: Sequence[FileOrFiles]) -> Table:
        paths = []
        for position, item in enumerate(items):
            with at("items", position):
                if not isinstance(item.file_format, ParquetReadOptions):
                    format = "no format" if item.file_format is None else type(item.file_format).__name__
                    raise UnsupportedPlanError(f"only Parquet files can be read yet; the item has {format}")
                if item.start or item.length or item.partition_index:
                    raise UnsupportedPlanError("a part of a file can't be read yet", path="start")
                self._refuse_other_path(item.path)
                paths.append(item.path if item.path_type == "uri_path_glob" else _escaped(item.path))
        if not paths:
            raise TableError("there are no files to read", path="items")
        return parquet_table("the read", paths, self._spark)

    def _refuse_other_path(self, path: str) -> None:
        local = local_path(path)
        for allowed in self._allowed:
            root = local_path(allowed)
            if local is None:
                if (
                    root is None
                    and (path == allowed or path.startswith(allowed.rstrip("/") + "/"))
                    and ".." not in path
                ):
                    return
            elif root is not None and _inside(local, root):
                return
        raise UnsupportedPlanError(
            f"the plan reads {path}, which isn't among the allowed paths",
            hint="A plan may read only files below the paths named in allowed_paths (--allow-path)",
        )


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _escaped(path: str) -> str:
    """The path with the characters that Spark takes for a glob taken as they are."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)
