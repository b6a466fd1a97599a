"""The Substrait schemas of a session's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import NamedStruct, Struct, Type
from pyspark_substrait.spark.producer.types import names_of, type_of
from pyspark_substrait.spark.schemas import schema_of
from pyspark_substrait.sql.compiler.names import quoted_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["SessionTables", "of_spark"]


class SessionTables:
    """The tables and views of a session, by name."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def names(self) -> Sequence[tuple[str, ...]]:
        """Return the names of the tables and views in the current database.

        ``catalog.listTables`` would describe each of them, and fail where that can't be done for one.
        """
        return [(row.tableName,) for row in self._spark.sql("SHOW TABLES").collect()]

    def table(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], NamedStruct] | None:
        """Return a table's name and its schema; None if there is none of this name."""
        if not all(names) or not self._spark.catalog.tableExists(quoted_path(names)):
            return None
        return names, of_spark(schema_of(self._spark.table(quoted_path(names))))


def of_spark(schema: StructType) -> NamedStruct:
    """Return the schema of a Spark schema, without the columns whose types Substrait doesn't have."""
    names: list[str] = []
    types: list[Type] = []
    for field in schema.fields:
        json: Any = field.dataType.jsonValue()
        try:
            type = type_of(json, field.nullable)
        except UnsupportedPlanError:
            continue
        names += [field.name, *names_of(json)]
        types.append(type)
    return NamedStruct(names=tuple(names), struct=Struct(types=tuple(types)))
