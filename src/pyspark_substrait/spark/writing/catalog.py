"""Look up tables and views in the session's catalogs, and run statements about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pyspark_substrait.errors import (
    ExecutionError,
    InvalidPlanError,
    NewerSparkError,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.spark.compatibility import HIDDEN, error_condition, session_version, table_description
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted, quoted_path
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

__all__ = [
    "NOT_NULL_SETTING",
    "CatalogEntry",
    "assignments",
    "carry_out",
    "catalog_entry",
    "catalog_of",
    "default_of",
    "dotted",
    "in_jdbc_catalog",
    "in_session_catalog",
]

#: with this setting, tables of files store which columns are required, and refuse nulls in them
NOT_NULL_SETTING: Final = {"spark.sql.fileSource.insert.enforceNotNull": "true"}

_MISSING = {
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "REQUIRES_SINGLE_PART_NAMESPACE",
    "CATALOG_NOT_FOUND",
    "_LEGACY_ERROR_TEMP_1321",
    "INVALID_SCHEMA_OR_RELATION_NAME",
    "INVALID_ATTRIBUTE_NAME_SYNTAX",
}
_NO_SCHEMA = {"SCHEMA_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE", "CATALOG_NOT_FOUND"}
_BAD_NAME = {"INVALID_SCHEMA_OR_RELATION_NAME", "INVALID_ATTRIBUTE_NAME_SYNTAX", "INVALID_IDENTIFIER"}


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A table or view in a catalog.

    Args:
        path: the full name, quoted, so that it is unambiguous.
        kind: ``session view`` is a view that only this session has.
        schema: the columns in Spark.
        details: the description in Spark's own catalog; None for a table of another catalog.
    """

    path: str
    kind: Literal["table", "view", "session view"]
    schema: StructType
    details: Mapping[str, Any] | None

    @property
    def columns(self) -> StructType:
        """The columns, including NOT NULL, which the catalog has and a DataFrame doesn't."""
        return self.schema if self.details is None else _with_required(self.schema, self.details["columns"])

    @property
    def format(self) -> str:
        """The format of the files of a table of Spark's own catalog; empty for others."""
        return "" if self.details is None else str(self.details.get("provider", ""))

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """The partition columns; only for tables of Spark's own catalog."""
        return () if self.details is None else tuple(self.details.get("partition_columns", ()))

    def clauses(self, names: Mapping[str, str], properties: Mapping[str, str]) -> str:
        """Return the clauses after the columns in a CREATE TABLE of a table like this one, of Spark's own catalog.

        Args:
            names: the new names of the columns that are kept, by their names here.
            properties: further properties of the table.

        Raises:
            UnsupportedPlanError: the records are bucketed or sorted by a column that isn't kept, or Spark hides a
                property.
        """
        details = self.details or {}
        for kind in ("storage_properties", "table_properties"):
            self.check_not_hidden(details.get(kind) or {})
        parts = [f"USING {quoted(self.format)}"]
        if details.get("storage_properties"):
            parts.append(f"OPTIONS ({assignments(details['storage_properties'])})")
        if self.partitioned_by:
            parts.append(f"PARTITIONED BY ({', '.join(map(quoted, self.partitioned_by))})")
        if details.get("bucket_columns"):
            buckets, order = details["bucket_columns"], details["sort_columns"]
            if gone := [column for column in (*buckets, *order) if column not in names]:
                raise UnsupportedPlanError(
                    f"the column {gone[0]} cannot be dropped: the table's records are bucketed or sorted by it"
                )
            parts.append(f"CLUSTERED BY ({', '.join(quoted(names[column]) for column in buckets)})")
            if order:
                parts.append(f"SORTED BY ({', '.join(quoted(names[column]) for column in order)})")
            parts.append(f"INTO {int(details['num_buckets'])} BUCKETS")
        if details.get("comment"):
            parts.append(f"COMMENT {string_literal(details['comment'])}")
        if properties := {**details.get("table_properties", {}), **properties}:
            parts.append(f"TBLPROPERTIES ({assignments(properties)})")
        return " ".join(parts)

    def check_not_hidden(self, properties: Mapping[str, str]) -> None:
        """Check that properties are what the catalog has, not what Spark Connect shows instead of secrets.

        Raises:
            UnsupportedPlanError: Spark hides one.
        """
        if hidden := [key for key, value in properties.items() if value == HIDDEN]:
            raise UnsupportedPlanError(
                f"Spark hides the property {hidden[0]} of {self.path} from a client, and files without it would be "
                "others",
                hint="Run the plan in a classic session",
            )

    @property
    def external(self) -> bool:
        """Whether the table is external, so that the catalog doesn't own its files."""
        return self.details is not None and self.details.get("type") == "EXTERNAL"


def assignments(properties: Mapping[str, str]) -> str:
    """Format properties for TBLPROPERTIES and OPTIONS."""
    return ", ".join(f"{string_literal(key)} = {string_literal(value)}" for key, value in properties.items())


def _with_required(schema: StructType, described: Sequence[Mapping[str, Any]]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    fields = []
    for field, column in zip(schema.fields, described, strict=True):
        type = _inside(field.dataType, column["type"])
        fields.append(StructField(field.name, type, column.get("nullable", True), field.metadata))
    return StructType(fields)


def _inside(type: DataType, described: Mapping[str, Any]) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type, StructType):
        return _with_required(type, described["fields"])
    if isinstance(type, ArrayType):
        return ArrayType(_inside(type.elementType, described["element_type"]))
    if isinstance(type, MapType):
        return MapType(_inside(type.keyType, described["key_type"]), _inside(type.valueType, described["value_type"]))
    return type


def default_of(field: StructField) -> str | None:
    """Return the text of a stored column's default; None without one."""
    default = field.metadata.get("CURRENT_DEFAULT")
    return None if default is None else str(default)


def dotted(names: Sequence[str]) -> str:
    """Format a name for messages, on one line; a very long one is cut."""
    whole = ".".join(names)
    text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in whole)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


_LONGEST = 200


#: the first version of Spark that describes tables as JSON
_JSON_SINCE: Final = SparkVersion(4, 0)


def catalog_entry(spark: SparkSession, names: Sequence[str]) -> CatalogEntry | None:
    """Look up a table or view by its name, session views first, as in Spark; None if there is none.

    Raises:
        InvalidPlanError: the name has no parts.
    """
    if not names:
        raise InvalidPlanError("the name is empty", path="names", hint="Give the parts of a name")
    if not all(names):
        raise TableError(f"the name {dotted(names)!r} has a part that is empty", path="names")
    if session_version(spark) < _JSON_SINCE and is_connect(spark):
        raise NewerSparkError(
            f"writing to {dotted(names)} with Spark Connect needs Spark {_JSON_SINCE}, which says what a table is as "
            "JSON",
            feature="writing to tables with Spark Connect",
            since=_JSON_SINCE,
            path="names",
            hint="Run the plan in a classic session; or run the query without the write, and write its DataFrame",
        )
    path = quoted_path(names)
    try:
        details = table_description(spark, path)
    except spark_errors() as error:
        condition = error_condition(error) or ""
        if condition in _MISSING or condition.split(".")[0] in _MISSING:
            return None
        raise TableError(f"Spark cannot describe {dotted(names)}: {_first_line(error)}") from error
    schema = spark.table(path).schema
    if details is None:
        return CatalogEntry(path=path, kind="table", schema=schema, details=None)
    if details.get("type") != "VIEW":
        return CatalogEntry(path=_full(details), kind="table", schema=schema, details=details)
    if details.get("catalog_name") == "system":
        return CatalogEntry(path=path, kind="session view", schema=schema, details=details)
    return CatalogEntry(path=_full(details), kind="view", schema=schema, details=details)


def _full(details: Mapping[str, Any]) -> str:
    return quoted_path([details["catalog_name"], *details["namespace"], details["table_name"]])


def in_session_catalog(spark: SparkSession, names: Sequence[str]) -> bool:
    """Whether a table of this name would belong to Spark's own catalog."""
    return catalog_of(spark, names) == _SESSION_CATALOG


def in_jdbc_catalog(spark: SparkSession, names: Sequence[str]) -> bool:
    """Whether a table of this name would belong to a catalog of tables in a database."""
    found = spark.conf.get(f"spark.sql.catalog.{catalog_of(spark, names)}", None)
    return found is not None and found.rpartition(".")[2] == "JDBCTableCatalog"


def catalog_of(spark: SparkSession, names: Sequence[str]) -> str:
    """The name of the catalog that a table of this name would belong to."""
    first = names[0]
    named = len(names) > 2 or (first.isidentifier() and spark.conf.get(f"spark.sql.catalog.{first}", None) is not None)
    return first if len(names) > 1 and named else spark.catalog.currentCatalog()


_SESSION_CATALOG = "spark_catalog"


def carry_out(spark: SparkSession, text: str, names: Sequence[str], doing: str) -> None:
    """Run a statement about a table or view.

    Raises:
        TableError: something of that name is there already, or the place for it isn't.
        ExecutionError: a column that must not be null is.
        UnsupportedPlanError: Spark, or the catalog, refuses it for another reason.
    """
    try:
        spark.sql(text).collect()
    except spark_errors() as error:
        condition = error_condition(error) or ""
        if condition in _NO_SCHEMA:
            raise TableError(
                f"there is no database for {dotted(names)}", hint="Create the database first; a plan cannot"
            ) from error
        if condition == "TABLE_OR_VIEW_ALREADY_EXISTS":
            raise TableError(f"a table or view named {dotted(names)} already exists") from error
        if condition in _BAD_NAME:
            raise UnsupportedPlanError(
                f"the catalog does not allow the name {dotted(names)!a}",
                hint="Spark's own catalog allows letters (a to z), digits and _; column names may be anything",
            ) from error
        if condition.startswith("NOT_NULL_ASSERT_VIOLATION"):
            raise ExecutionError(f"{dotted(names)} has nulls in columns that would become required") from error
        raise UnsupportedPlanError(f"Spark cannot {doing} {dotted(names)}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    line = str(error).strip().split("\n", 1)[0].split(" SQLSTATE:", 1)[0].rstrip(". ")
    return line if len(line) <= 2 * _LONGEST else f"{line[: 2 * _LONGEST]}…"
