"""The catalogs, schemas and tables that a session sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from pyspark_substrait.errors import SubstraitError, TableError
from pyspark_substrait.spark.batches import handed_schema
from pyspark_substrait.spark.session import private_session, spark_errors
from pyspark_substrait.spark.tables import first_line
from pyspark_substrait.sql.compiler.names import quoted, quoted_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["TABLE_TYPES", "Entry", "catalogs", "current", "placed", "schema_of_entry", "schemas", "tables"]

#: the place of the session's own views, by which statements can name them
SESSION: Final = ("system", "session")

_TYPES: Final = {"MANAGED": "TABLE", "EXTERNAL": "TABLE", "VIEW": "VIEW", "TEMPORARY": "LOCAL TEMPORARY"}
TABLE_TYPES: Final = tuple(sorted(set(_TYPES.values())))
"""The types of tables that :func:`tables` has."""

#: says whether a name is wanted
Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Entry:
    """A table or view, its place, and its type, one of :data:`TABLE_TYPES`."""

    catalog: str
    schema: str
    name: str
    type: str


def current(spark: SparkSession) -> tuple[str, str]:
    """Return the catalog and the schema in which names without a place are looked up."""
    return spark.catalog.currentCatalog(), spark.catalog.currentDatabase()


def placed(spark: SparkSession, catalog: str, schema: str) -> SparkSession:
    """Return a copy of a classic session in which a catalog and a schema are the current ones.

    Args:
        spark: the session.
        catalog: the catalog.
        schema: the schema; empty for the one with which the catalog begins.

    Raises:
        TableError: there is no such catalog or schema.
    """
    found = private_session(spark)
    try:
        if catalog != found.catalog.currentCatalog():
            found.catalog.setCurrentCatalog(catalog)
        if schema:
            found.catalog.setCurrentDatabase(str(quoted(schema)))
    except spark_errors() as error:
        raise TableError(f"the current schema cannot be {catalog}.{schema}: {first_line(error)}") from error
    return found


def catalogs(spark: SparkSession) -> list[str]:
    """Return the names of the catalogs that are in use, and of that of the session's views, in order."""
    return sorted({SESSION[0], *(found.name for found in spark.catalog.listCatalogs())})


def schemas(spark: SparkSession, catalog: str | None, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """The schemas of a catalog, or of all where it is None, in order."""
    for name in catalogs(spark) if catalog is None else [found for found in catalogs(spark) if found == catalog]:
        if name == SESSION[0]:
            found = [SESSION[1]]
        else:
            rows = spark.sql(f"SHOW DATABASES IN {quoted_path((name,))}").collect()
            found = sorted(row[0].replace("`", "") for row in rows)
        yield from ((name, schema) for schema in found if wanted(schema))


def tables(spark: SparkSession, catalog: str | None, schema: Wanted, table: Wanted) -> Iterator[Entry]:
    """The tables and views of a catalog, or of all where it is None, in order."""
    for place in schemas(spark, catalog, schema):
        own = place == SESSION
        listed = spark.catalog.listTables() if own else spark.catalog.listTables(quoted_path(place))
        entries = [
            Entry(*place, found.name, _TYPES.get(found.tableType, found.tableType))
            for found in listed
            if found.isTemporary is own and table(found.name)
        ]
        yield from sorted(entries, key=lambda entry: (entry.name, entry.type))


def schema_of_entry(spark: SparkSession, entry: Entry) -> pa.Schema:
    """Return the Arrow schema of a table. Of one that can't be read, it has no fields, and its metadata says why."""
    name = (entry.name,) if (entry.catalog, entry.schema) == SESSION else (entry.catalog, entry.schema, entry.name)
    try:
        return handed_schema(spark.table(quoted_path(name)))
    except SubstraitError as error:
        reason = str(error)
    except spark_errors() as error:
        reason = first_line(error)
    return pa.schema([], {"error": reason})
