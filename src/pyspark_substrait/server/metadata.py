"""The answers to commands that ask for metadata: their schemas, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pyspark_substrait.server.sql_info import SQL_INFO, TYPE_INFO, Fact, sql_info, type_info
from pyspark_substrait.spark import catalog_listing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["answer", "is_metadata", "schema_of"]

_CATALOGS: Final = pa.schema([pa.field("catalog_name", pa.string(), False)])
_SCHEMAS: Final = pa.schema([pa.field("catalog_name", pa.string()), pa.field("db_schema_name", pa.string(), False)])
_TABLES: Final = pa.schema(
    [
        pa.field("catalog_name", pa.string()),
        pa.field("db_schema_name", pa.string()),
        pa.field("table_name", pa.string(), False),
        pa.field("table_type", pa.string(), False),
    ]
)
_TABLES_WITH_SCHEMAS: Final = _TABLES.append(pa.field("table_schema", pa.binary(), False))
_TABLE_TYPES: Final = pa.schema([pa.field("table_type", pa.string(), False)])
_PRIMARY_KEYS: Final = pa.schema(
    [
        pa.field("catalog_name", pa.string()),
        pa.field("db_schema_name", pa.string()),
        pa.field("table_name", pa.string(), False),
        pa.field("column_name", pa.string(), False),
        pa.field("key_name", pa.string()),
        pa.field("key_sequence", pa.int32(), False),
    ]
)
_FOREIGN_KEYS: Final = pa.schema(
    [
        pa.field("pk_catalog_name", pa.string()),
        pa.field("pk_db_schema_name", pa.string()),
        pa.field("pk_table_name", pa.string(), False),
        pa.field("pk_column_name", pa.string(), False),
        pa.field("fk_catalog_name", pa.string()),
        pa.field("fk_db_schema_name", pa.string()),
        pa.field("fk_table_name", pa.string(), False),
        pa.field("fk_column_name", pa.string(), False),
        pa.field("key_sequence", pa.int32(), False),
        pa.field("fk_key_name", pa.string()),
        pa.field("pk_key_name", pa.string()),
        pa.field("update_rule", pa.uint8(), False),
        pa.field("delete_rule", pa.uint8(), False),
    ]
)
_SCHEMA_OF: Final[Mapping[str, pa.Schema]] = {
    "CommandGetCatalogs": _CATALOGS,
    "CommandGetDbSchemas": _SCHEMAS,
    "CommandGetTables": _TABLES,
    "CommandGetTableTypes": _TABLE_TYPES,
    "CommandGetPrimaryKeys": _PRIMARY_KEYS,
    "CommandGetExportedKeys": _FOREIGN_KEYS,
    "CommandGetImportedKeys": _FOREIGN_KEYS,
    "CommandGetCrossReference": _FOREIGN_KEYS,
    "CommandGetSqlInfo": SQL_INFO,
    "CommandGetXdbcTypeInfo": TYPE_INFO,
}


def is_metadata(command: Any) -> bool:
    """Whether a message asks for metadata."""
    return command.DESCRIPTOR.name in _SCHEMA_OF


def schema_of(command: Any) -> pa.Schema:
    """Return the schema of the answer to a command."""
    name = command.DESCRIPTOR.name
    return _TABLES_WITH_SCHEMAS if name == "CommandGetTables" and command.include_schema else _SCHEMA_OF[name]


def answer(command: Any, spark: SparkSession, facts: Mapping[int, Fact]) -> pa.RecordBatch:
    """Return the answer to a command."""
    schema = schema_of(command)
    match command.DESCRIPTOR.name:
        case "CommandGetSqlInfo":
            return sql_info(facts, command.info)
        case "CommandGetXdbcTypeInfo":
            return type_info(command.data_type if command.HasField("data_type") else None)
        case "CommandGetCatalogs":
            rows = [{"catalog_name": name} for name in catalog_listing.catalogs(spark)]
        case "CommandGetDbSchemas":
            found = catalog_listing.schemas(spark, _catalog(command), _pattern(command, "db_schema_filter_pattern"))
            rows = [{"catalog_name": catalog, "db_schema_name": name} for catalog, name in found]
        case "CommandGetTableTypes":
            rows = [{"table_type": name} for name in catalog_listing.TABLE_TYPES]
        case "CommandGetTables":
            rows = _tables(command, spark)
        case _:
            rows = []  # Spark knows no keys that hold
    return pa.RecordBatch.from_pylist(rows, schema)


def _tables(command: Any, spark: SparkSession) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for entry in catalog_listing.tables(
        spark,
        _catalog(command),
        _pattern(command, "db_schema_filter_pattern"),
        _pattern(command, "table_name_filter_pattern"),
    ):
        if command.table_types and entry.type not in command.table_types:
            continue
        row: dict[str, Any] = {
            "catalog_name": entry.catalog,
            "db_schema_name": entry.schema,
            "table_name": entry.name,
            "table_type": entry.type,
        }
        if command.include_schema:
            row["table_schema"] = catalog_listing.schema_of_entry(spark, entry).serialize().to_pybytes()
        rows.append(row)
    return rows


def _catalog(command: Any) -> str | None:
    """Return the catalog to look in; None for all. An empty one is that of tables without a catalog: there are none."""
    return command.catalog if command.HasField("catalog") else None


def _pattern(command: Any, field: str) -> Callable[[str], bool]:
    """Return whether a name matches a pattern of the command: % stands for any characters, and _ for one."""
    if not command.HasField(field):
        return lambda name: True
    marks = {"%": ".*", "_": "."}
    pattern = re.compile(
        "".join(marks.get(letter) or re.escape(letter) for letter in getattr(command, field)), re.DOTALL
    )
    return lambda name: pattern.fullmatch(name) is not None
