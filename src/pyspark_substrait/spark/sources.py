"""The sources of a plan's reads: tables of the caller, tables of the session's catalog, files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, TableError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    Relation,
    VirtualTable,
)
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.columns import columns
from pyspark_substrait.spark.reading.extension_tables import extension_table
from pyspark_substrait.spark.reading.files import file_tables
from pyspark_substrait.spark.reading.iceberg import iceberg_table
from pyspark_substrait.spark.reading.union import union_of
from pyspark_substrait.spark.reading.virtual import Values, virtual_table
from pyspark_substrait.spark.schemas import Catalog, schema_of
from pyspark_substrait.spark.settings import Settings
from pyspark_substrait.spark.tables import Given, Table, Tables, plain_without_nulls
from pyspark_substrait.spark.writing.replacing import recover
from pyspark_substrait.sql.compiler.names import NameSource, quoted_path
from pyspark_substrait.sql.compiler.query import frame
from pyspark_substrait.sql.compiler.scope import Source
from pyspark_substrait.sql.compiler.types import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["SessionSources"]

_T = TypeVar("_T")

_INTERNAL = re.compile("[a-z][0-9]+", re.IGNORECASE)


class SessionSources:
    """The sources of a plan in a session, and the DataFrames that its statement binds.

    Args:
        spark: the session.
        tables: the caller's tables.
        access: the files that the plan itself may name.
        registry: has the handlers of the user's extension tables.
    """

    def __init__(
        self, spark: SparkSession, tables: Given | None, access: Access, registry: Registry | None = None
    ) -> None:
        self._spark = spark
        self._registry = registry or Registry.default()
        #: the session's settings
        self.settings = Settings(spark)
        #: the caller's tables
        self.tables = Tables(tables, spark, case_sensitive=self._case_sensitive if tables else True)
        self._access = access
        self._names = NameSource()
        #: the DataFrames that the statement refers to, by their names there
        self.frames: dict[str, DataFrame] = {}
        self._bound: dict[int, str] = {}
        self._catalog = Catalog(spark, self.settings)
        self._looked_up: dict[tuple[str, ...], StructType] = {}
        self._named: dict[str, Table] = {}
        self._made: dict[tuple[str, ...], Table] = {}
        self._virtual: dict[int, tuple[VirtualTable, Values | None]] = {}
        self._extension_tables: dict[AnyMessage, Table] = {}
        self._iceberg: dict[tuple[IcebergTable, tuple[str, ...]], Table] = {}

    def __call__(self, node: Read) -> Source | None:
        """Return the source of one read; None for a virtual table that is to be written out as SQL.

        Raises:
            TableError: there is no such table, or it isn't what the plan says.
            UnsupportedPlanError: the plan names files that it may not read, or something that can't be read.
        """
        match node.read_type:
            case NamedTable(names=names):
                with at("named_table"):
                    if not names:
                        raise InvalidPlanError("the table has no name", path="names")
                    table = self._made.get(names) or self.tables.find(names)
                    if table is None:
                        return self._from_catalog(node, names)
                    return self._read(node, ".".join(names), table)
            case LocalFiles() as files:
                with at("local_files"):
                    return self._of_files(node.base_schema, files)
            case IcebergTable() as iceberg:
                with at("iceberg_table"):
                    return self._read(node, "the table", self._iceberg_table(node, iceberg))
            case VirtualTable() as values:
                return self._values(node, values)
            case ExtensionTable() as other:
                with at("extension_table"):
                    return self._read(node, other.detail.type_url, self._extension_table(other))
            case _:
                assert_never(node.read_type)

    @computed_once
    def _case_sensitive(self) -> bool:
        """Whether names that differ in case are different. Read together with the tables, unless needed earlier."""
        return self.settings.case_sensitive

    @computed_once
    def _suited(self) -> SparkSession:
        """The session in which files are read, whose values may have to be cast: it has the settings for that."""
        return self.settings.session(SETTINGS)

    def look_up_anew(self) -> None:
        """Forget the tables found in the catalog, because something has changed."""
        self._catalog.forget()
        self._looked_up.clear()
        self._named.clear()

    def expect(self, tree: Relation) -> None:
        """Look up all tables of the catalog that the reads of a tree name, and the settings, at once."""
        self._catalog.expect(
            names
            for names in _names_read(tree)
            if names and all(names) and not _may_be_files(names) and self.tables.source(names) is None
        )

    def check_catalog(self) -> None:
        """Look up each table from the catalog again, after Spark refused a statement.

        Raises:
            TableError: a table is missing, or can't be read.
        """
        self._catalog.forget()
        for names in self._looked_up:
            with self._there(names):
                schema_of(self._spark.table(quoted_path(names)))

    def bind(self, table: Table) -> tuple[str, ...]:
        """Add a table, and return the unique name under which a :class:`NamedTable` reads it."""
        names = ("", str(len(self._made)))
        self._made[names] = table
        return names

    def matched(self, name: str, table: Table, schema: NamedStruct) -> Source:
        """Return a table as a source whose columns are those of a schema."""
        return self._source(schema, name, table, self._frame(table))

    def _read(self, node: Read, name: str, table: Table) -> Source:
        return self.matched(name, table, node.base_schema)

    def _extension_table(self, read: ExtensionTable) -> Table:
        """Return the table of an extension table's detail; its handler is called once."""
        if read.detail not in self._extension_tables:
            self._extension_tables[read.detail] = extension_table(read, self._registry, self._spark)
        return self._extension_tables[read.detail]

    def _iceberg_table(self, node: Read, read: IcebergTable) -> Table:
        """Return the snapshot that a read names; one that is read several times is looked up once."""
        key = (read, node.base_schema.top_level_names())
        if key not in self._iceberg:
            self._iceberg[key] = iceberg_table(node, read, self._access, self._suited)
        return self._iceberg[key]

    def _values(self, node: Read, table: VirtualTable) -> Source | None:
        """Return the records of a virtual table; they are sent to Spark once, however often the table is compiled."""
        if id(table) not in self._virtual:
            self._virtual[id(table)] = (table, virtual_table(node, table, self._spark))
        values = self._virtual[id(table)][1]
        return (
            None if values is None else Source(self._bind(values.frame), values.columns, (None,) * len(values.columns))
        )

    def _frame(self, table: Table) -> str:
        """Return the text that refers to a table, which is bound once however often it is read."""
        return self._bind(table.frame)

    def _bind(self, found: DataFrame) -> str:
        key = id(found)
        if key not in self._bound:
            self._bound[key] = self._names.fresh("t")
            self.frames[self._bound[key]] = found
        return frame(self._bound[key])

    def _of_files(self, schema: NamedStruct, files: LocalFiles) -> Source:
        """Return files as one source: the union of tables, each of files with the same columns."""
        tables = file_tables(files, schema, self._access, self._suited, case_sensitive=self._case_sensitive)
        return union_of(
            [self._source(schema, name, table, self._frame(table), of_files=True) for name, table in tables], schema
        )

    def _source(self, schema: NamedStruct, name: str, table: Table, text: str, *, of_files: bool = False) -> Source:
        found = columns(
            name,
            schema_of(table.frame),
            schema,
            table.without_nulls,
            case_sensitive=self._case_sensitive,
            arrow=table.arrow,
            of_files=of_files,
        )
        return Source(text, found.texts, found.required)

    def _from_catalog(self, node: Read, names: tuple[str, ...]) -> Source:
        if not all(names):
            with at("names"):
                raise TableError(f"the table is called {'.'.join(names)!r}, of which a part is empty")
        path, name = quoted_path(names), ".".join(names)
        if len(names) == 1 and _INTERNAL.fullmatch(name):
            # the statement itself uses names of this form, so that a bare one would be ambiguous
            with self._there(names):
                if name not in self._named:
                    self._named[name] = self._found(names, lambda: Table(self._spark.table(path), frozenset()))
                return self._read(node, name, self._named[name])
        if names not in self._looked_up:
            with self._there(names):
                schema = self._found(names, lambda: self._catalog.schema(names))
                if _may_be_files(names) and not self._spark.catalog.tableExists(path):
                    raise self._missing(names)
                self._looked_up[names] = schema
        found = columns(
            name,
            self._looked_up[names],
            node.base_schema,
            plain_without_nulls(self._catalog.files(names)),
            case_sensitive=self._case_sensitive,
        )
        return Source(path, found.texts, found.required)

    def _found(self, names: tuple[str, ...], look: Callable[[], _T]) -> _T:
        """The result of a catalog lookup; if the table is missing, finish an interrupted replacement and look again."""
        from pyspark.errors import AnalysisException

        try:
            return look()
        except AnalysisException:
            if not recover(self._spark, names):
                raise
        self._catalog.forget()
        return look()

    @contextmanager
    def _there(self, names: tuple[str, ...]) -> Iterator[None]:
        from pyspark.errors import AnalysisException

        try:
            yield
        except AnalysisException as error:
            raise self._missing(names) from error

    def _missing(self, names: tuple[str, ...]) -> TableError:
        given = ", ".join(self.tables.names()) or "none"
        return TableError(
            f"there is no table {'.'.join(names)}",
            hint=f"Tables given: {given}; the session's catalog has none of that name either. Add it "
            "(--table NAME=PATH, or tables={name: path})",
        )


def _names_read(tree: Relation) -> Iterator[tuple[str, ...]]:
    """The names of the tables that a tree reads, its subqueries included."""
    for node in relations_within(tree):
        if isinstance(node, Read) and isinstance(node.read_type, NamedTable):
            yield node.read_type.names


def _may_be_files(names: tuple[str, ...]) -> bool:
    """Whether Spark may interpret a name as a format and a path, which would bypass the checks of files."""
    return len(names) == 2 and names[0].lower() != "session"
