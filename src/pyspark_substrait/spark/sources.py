"""What the reads of a plan read from: tables of the caller, tables of the session's catalog, files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from pyspark_substrait.errors import TableError, at
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    VirtualTable,
)
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.columns import columns
from pyspark_substrait.spark.reading.extension_tables import extension_table
from pyspark_substrait.spark.reading.files import file_table
from pyspark_substrait.spark.reading.iceberg import iceberg_table
from pyspark_substrait.spark.reading.virtual import virtual_table
from pyspark_substrait.spark.tables import Given, Table, Tables
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
        access: the files that the plan itself may name.
    """

    def __init__(self, spark: SparkSession, tables: Given | None, access: Access) -> None:
        self._spark = spark
        self._case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        #: the caller's tables
        self.tables = Tables(tables, spark, case_sensitive=self._case_sensitive)
        self._access = access
        self._names = NameSource()
        #: the DataFrames that stand in the statement, by the names they have there
        self.frames: dict[str, DataFrame] = {}
        self._bound: dict[int, str] = {}
        self._catalog: dict[tuple[str, ...], Table] = {}
        self._made: dict[tuple[str, ...], Table] = {}

    def __call__(self, node: Read) -> Source:
        """The source of one read.

        Raises:
            TableError: there is no such table, or it isn't what the plan says.
            UnsupportedPlanError: the plan names files that it may not read, or something that can't be read.
        """
        match node.read_type:
            case NamedTable(names=names):
                with at("named_table"):
                    table = self._made.get(names) or self.tables.find(names)
                    if table is None:
                        return self._from_catalog(node, names)
                    return self._read(node, ".".join(names), table)
            case LocalFiles() as files:
                with at("local_files"):
                    return self._read(node, "the file", file_table(node, files, self._access, self._spark))
            case IcebergTable() as iceberg:
                with at("iceberg_table"):
                    return self._read(node, "the table", iceberg_table(node, iceberg, self._access, self._spark))
            case VirtualTable() as values:
                return self._read(node, "the virtual table", virtual_table(node, values, self._spark))
            case ExtensionTable() as other:
                with at("extension_table"):
                    return self._read(node, other.detail.type_url, extension_table(node, other, self._spark))
            case _:
                assert_never(node.read_type)

    def bind(self, table: Table) -> tuple[str, ...]:
        """Make a table known, and the name under which a :class:`NamedTable` reads it; no other table has it."""
        names = ("", str(len(self._made)))
        self._made[names] = table
        return names

    def _read(self, node: Read, name: str, table: Table) -> Source:
        return self._source(node, name, table, self._frame(table))

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
            given = ", ".join(self.tables.names()) or "none"
            raise TableError(
                f"there is no table {'.'.join(names)}",
                hint=f"Tables given: {given}; the session's catalog has none of that name either",
            ) from error
        return Table(table, frozenset())
