"""The tables of the session's catalogs whose records a plan changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import Write
from pyspark_substrait.model.types import NamedStruct, Struct, Type, name_count, same_type
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.writing.catalog import CatalogEntry, catalog_entry, dotted, in_jdbc_catalog
from pyspark_substrait.spark.writing.fitting import fitted, positions
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = [
    "StoredTable",
    "depth_first",
    "existing_table",
    "matching_images",
    "matching_input",
    "stored_table",
    "top_level",
]

#: Formats of tables that are plain files in a folder.
FILE_FORMATS = frozenset({"parquet", "orc", "csv", "json", "text", "xml", "avro"})


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """A table of a catalog.

    Args:
        name: its name in messages.
        names: its name in the plan.
        entry: its entry in the catalog.
        case_sensitive: whether names that differ in case are different.
        by_jdbc: whether it is a table in a database, to which Spark writes each partition in a transaction of its own.
        completes: whether it gives values to columns that an INSERT leaves out: it may count or compute them.
    """

    name: str
    names: tuple[str, ...]
    entry: CatalogEntry
    case_sensitive: bool
    by_jdbc: bool = False
    completes: bool = False

    @property
    def path(self) -> str:
        """The name in SQL."""
        return self.entry.path

    @property
    def stored(self) -> StructType:
        """The columns, in Spark."""
        return self.entry.columns

    @property
    def _details(self) -> Mapping[str, object]:
        return self.entry.details or {}

    @property
    def provider(self) -> str:
        """The format, in lower case; empty for a table of another catalog."""
        return str(self._details.get("provider", "")).lower()

    @property
    def of_files(self) -> bool:
        """Whether the table is only plain files, so that its format can't change records by itself."""
        return self.provider in FILE_FORMATS

    @property
    def location(self) -> str:
        """The location of a table of files, as a URI."""
        return str(self._details.get("location", ""))

    @property
    def options(self) -> Mapping[str, str]:
        """The options for writing its files.

        Raises:
            UnsupportedPlanError: Spark hides one.
        """
        found = self._details.get("storage_properties")
        options = {str(key): str(value) for key, value in found.items()} if isinstance(found, Mapping) else {}
        self.entry.check_not_hidden(options)
        return options

    @property
    def partitions(self) -> tuple[str, ...]:
        """The partition columns."""
        found = self._details.get("partition_columns")
        return tuple(map(str, found)) if isinstance(found, Sequence) else ()

    @property
    def null_partitions(self) -> bool:
        """Whether nulls in a partition column of texts are read as such: not where Hive's own classes read them."""
        serde = str(self._details.get("serde_library", "")).lower()
        return self.provider != "hive" or "parquet" in serde or "orc" in serde

    @property
    def catalog_partitions(self) -> bool:
        """Whether the partitions are registered in the catalog."""
        return self._details.get("partition_provider") == "Catalog"

    @property
    def bucketed(self) -> bool:
        """Whether the records are distributed over files by values."""
        return bool(self._details.get("num_buckets"))

    @property
    def fold(self) -> Callable[[str], str]:
        """The function that converts names that are regarded as equal to the same text."""
        return str if self.case_sensitive else str.lower

    def check_replaceable(self) -> None:
        """Check that a statement can put other records in the place of all that there are.

        Raises:
            UnsupportedPlanError: Spark would do it in several steps, the first of which empties the table.
        """
        if self.by_jdbc:
            raise UnsupportedPlanError(
                f"{self.name} is in a database, and Spark would empty it before it adds the new records",
                hint="Empty it in the database, and let the plan insert",
            )

    def columns(self, schema: NamedStruct) -> tuple[str, ...]:
        """Return the columns of an INSERT, each as an expression with its name, over a plan's records (:func:`fitted`).

        These are all columns of the table, but those that its format gives values to.
        """
        sensitive = self.case_sensitive
        texts = fitted(self.name, self.stored, schema, case_sensitive=sensitive, completed=not self.completes)
        found = zip(texts, self.stored.fields, strict=True)
        return tuple(f"{text} AS {quoted(field.name)}" for text, field in found if text is not None)

    def left_out(self, schema: NamedStruct) -> tuple[str, ...]:
        """Return the names of the columns that a plan's schema lacks."""
        found = positions(self.name, self.stored, schema, case_sensitive=self.case_sensitive)
        return tuple(field.name for place, field in enumerate(self.stored.fields) if place not in found)

    def check_whole(self, schema: NamedStruct) -> None:
        """Check that a plan's schema has all columns of the table.

        Raises:
            TableError: one is missing.
        """
        if missing := self.left_out(schema):
            raise TableError(
                f"table_schema does not have the columns {', '.join(missing)} of {self.name}",
                hint="To change or remove records, a plan must name all columns of the table",
            )


def stored_table(names: tuple[str, ...], session: WriteContext) -> StoredTable | None:
    """Return the table of a name; None if there is none.

    Raises:
        UnsupportedPlanError: the name is that of a view or of a given table, which can't be changed.
    """
    if session.tables.find(names) is not None:
        raise UnsupportedPlanError(
            f"{dotted(names)} was passed in `tables`, and these tables are only read",
            hint="Remove it from `tables`, so that the name refers to the session's catalog",
        )
    if len(names) == 2 and "/" in names[1]:
        # some formats accept a path as a name, like delta.`/data/t`
        place = session.access.writable(names[1])
        if str(place) != names[1]:
            raise UnsupportedPlanError(f"{dotted(names)} refers to {place}", hint="Name the table by that path")
    found = catalog_entry(session.spark, names)
    if found is None:
        return None
    if found.kind != "table":
        raise UnsupportedPlanError(
            f"{dotted(names)} is a {found.kind}, whose records cannot be changed", hint="Name the table behind it"
        )
    sensitive = str(session.spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    by_jdbc = found.format.lower() == "jdbc" or (found.details is None and in_jdbc_catalog(session.spark, names))
    completes = found.details is None and not by_jdbc
    if completes and session_version(session.spark) < SparkVersion(4, 1):
        # Delta, in Spark's own catalog, completes records itself; for Iceberg, in another one, Spark wants all values
        catalog = names[0] if len(names) > 2 else session.spark.catalog.currentCatalog()
        completes = catalog.lower() == "spark_catalog"
    return StoredTable(
        name=dotted(names),
        names=names,
        entry=found,
        case_sensitive=sensitive,
        by_jdbc=by_jdbc,
        completes=completes,
    )


def existing_table(names: tuple[str, ...], session: WriteContext) -> StoredTable:
    """Return the existing table of a name.

    Raises:
        TableError: there is none.
        UnsupportedPlanError: as :func:`stored_table`.
    """
    found = stored_table(names, session)
    if found is None:
        raise TableError(
            f"there is no table {dotted(names)} in the session's catalog", hint="Create it first, or write it by a CTAS"
        )
    return found


def matching_input(node: Write) -> None:
    """Check that the columns of a write's input are those of its schema.

    Raises:
        InvalidPlanError: they aren't.
    """
    _check_matching(node, node.table_schema.struct.types, node.table_schema.top_level_names())


def matching_images(node: Write) -> None:
    """Check that the input of an update has the columns of its schema twice.

    Raises:
        InvalidPlanError: it hasn't.
    """
    _check_matching(node, node.table_schema.struct.types * 2, node.table_schema.top_level_names() * 2)


def _check_matching(node: Write, wanted: Sequence[Type], names: Sequence[str]) -> None:
    given = node.input.schema.types
    if len(given) != len(wanted):
        raise InvalidPlanError(
            f"the input has {len(given)} columns, table_schema {len(wanted)}", hint="They are matched by position"
        )
    for position, (found, type) in enumerate(zip(given, wanted, strict=True)):
        if not same_type(found, type):
            raise InvalidPlanError(
                f"column {position} of the input is {found}, but {names[position]} of table_schema is {type}",
                hint="Cast it in the plan",
            )


def depth_first(schema: Struct, prefix: str = "c") -> tuple[str, ...]:
    """Return names for all fields of a schema, nested ones included: depth-first numbers, with a prefix for columns."""
    names: list[str] = []
    for type in schema.types:
        names.append(f"{prefix}{len(names)}")
        below = len(names)
        names.extend(f"c{below + number}" for number in range(name_count(type)))
    return tuple(names)


def top_level(schema: Struct, prefix: str = "c") -> tuple[str, ...]:
    """Return the names of the top-level columns among those of :func:`depth_first`."""
    names, position = [], 0
    for type in schema.types:
        names.append(f"{prefix}{position}")
        position += 1 + name_count(type)
    return tuple(names)
