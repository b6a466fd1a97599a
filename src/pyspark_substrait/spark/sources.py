"""What the reads of a plan read from: tables of the caller, tables of the session's catalog, files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import iglob
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

_INTERNAL = re.compile("[a-z][0-9]+", re.IGNORECASE)


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
        self._catalog: dict[tuple[str, ...], Table] = {}

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
            arrow=table.arrow,
        )
        return Source(text, found.texts, found.required)

    def _from_catalog(self, node: Read, names: tuple[str, ...]) -> Source:
        path = quoted_path(names)
        if names not in self._catalog:
            self._catalog[names] = self._looked_up(names, path)
        known = self._catalog[names]
        # a bare name of the form that the statement itself gives out would be taken for one of those
        text = self._frame(known) if len(names) == 1 and _INTERNAL.fullmatch(names[0]) else path
        return self._source(node, ".".join(names), known, text)

    def _looked_up(self, names: tuple[str, ...], path: str) -> Table:
        from pyspark.errors import AnalysisException

        try:
            table = self._spark.table(path)
            table.schema  # noqa: B018 - Connect asks the catalog only now
        except AnalysisException as error:
            given = ", ".join(self._tables.names()) or "none"
            raise TableError(
                f"there is no table {'.'.join(names)}",
                hint=f"Tables given: {given}; the session's catalog has none of that name either",
            ) from error
        return Table(table, frozenset())

    def _files(self, items: Sequence[FileOrFiles]) -> Table:
        paths = []
        for position, item in enumerate(items):
            with at("items", position):
                if not isinstance(item.file_format, ParquetReadOptions):
                    format = "no format" if item.file_format is None else type(item.file_format).__name__
                    raise UnsupportedPlanError(f"only Parquet files can be read yet; the item has {format}")
                if item.start or item.length or item.partition_index:
                    raise UnsupportedPlanError("a part of a file can't be read yet", path="start")
                paths += self._permitted(item)
        if not paths:
            raise TableError("there are no files to read", path="items")
        return parquet_table("the read", paths, self._spark)

    def _permitted(self, item: FileOrFiles) -> list[str]:
        """The paths of an item as Spark is to read them: those of this machine resolved, so that what was checked is
        what is read.

        Raises:
            UnsupportedPlanError: a path isn't below the allowed ones.
        """
        glob = item.path_type == "uri_path_glob"
        if glob and any(mark in item.path for mark in ("{", "\\", "[^")):
            raise UnsupportedPlanError(f"the pattern {item.path} can't be read", hint="It may hold *, ? and [...]")
        local = local_path(item.path)
        if local is None:
            if ".." in item.path.split("/") or not any(_below(item.path, allowed) for allowed in self._allowed):
                raise self._not_allowed(item.path)
            return [item.path if glob else _escaped(item.path)]
        scheme = "file://" if item.path.lower().startswith("file:") else ""
        roots = [root.resolve() for root in map(local_path, self._allowed) if root is not None]
        found = sorted(map(Path, iglob(str(local)))) if glob else [local]
        links = [link for folder in found for link in _links(folder)]
        for path in (local, *found, *links):
            if not any(path.resolve().is_relative_to(root) for root in roots):
                raise self._not_allowed(str(path))
        if not found:
            raise TableError(f"no file matches {item.path}")
        return [scheme + _escaped(str(path.resolve())) for path in found]

    def _not_allowed(self, path: str) -> UnsupportedPlanError:
        return UnsupportedPlanError(
            f"the plan reads {path}, which isn't among the allowed paths",
            hint="A plan may read only files below the paths named in allowed_paths (--allow-path)",
        )


def _below(path: str, allowed: str) -> bool:
    return local_path(allowed) is None and (path == allowed or path.startswith(allowed.rstrip("/") + "/"))


def _links(folder: Path) -> Iterator[Path]:
    """The symbolic links in a folder, which may lead anywhere."""
    return (path for path in folder.rglob("*") if path.is_symlink())


def _escaped(path: str) -> str:
    """The path with the characters that Spark takes for a glob taken as they are."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)
