"""Large virtual tables: their literals are sent to Spark as Arrow data, not as SQL text of millions of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.errors import TableError, at
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Read, VirtualTable
from pyspark_substrait.model.types import Type
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow, spark_schema
from pyspark_substrait.spark.reading.literal_arrays import UnrepresentableValue, column_array, literal_array
from pyspark_substrait.spark.session import session_with
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.types import TIME_SETTINGS, has_time, spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Values", "virtual_table"]


@dataclass(frozen=True, slots=True)
class Values:
    """The records of a virtual table: a DataFrame, and the expressions that convert its columns to the plan's types."""

    frame: DataFrame
    columns: tuple[str, ...]


def virtual_table(node: Read, table: VirtualTable, spark: SparkSession) -> Values | None:
    """Return the records of a virtual table of literals; None if Arrow can't hold a column.

    Raises:
        InvalidPlanError, UnsupportedPlanError: a value doesn't fit its type, or Spark has no type for it.
    """
    types = node.base_schema.struct.types
    if any(map(has_time, types)):
        spark = session_with(spark, TIME_SETTINGS)
    arrays = [_column(table, position, type) for position, type in enumerate(types)]
    known = [array for array in arrays if array is not None]
    if len(known) < len(arrays):
        return None
    fields = [
        pa.field(f"cell_{n}", array.type, nullable=type.nullable)
        for n, (array, type) in enumerate(zip(known, types, strict=True))
    ]
    data = pa.Table.from_arrays(known, schema=pa.schema(fields))
    schema = spark_schema(data.schema)
    try:
        frame = frame_of_arrow(spark, data, schema)
    except Exception as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise TableError(f"Spark cannot take the {data.num_rows} records of a virtual table: {reason}") from error
    texts = (
        _as_carrier(field.name, field.dataType.simpleString(), type) for field, type in zip(schema, types, strict=True)
    )
    return Values(frame, tuple(texts))


def _column(table: VirtualTable, position: int, type: Type) -> pa.Array | None:
    if table.columns is not None:
        array = column_array(table.columns.columns[position], type)
        if array is not None:
            return array
    cells = [record.fields[position] for record in table.expressions]
    literals = [cell for cell in cells if isinstance(cell, Literal)]
    assert len(literals) == len(cells), "the compiler asks for tables of literals"
    try:
        return literal_array(literals, type)
    except UnrepresentableValue:
        # report the fault and its path like for a small table
        for number, cell in enumerate(literals):
            with at("expressions", number, "fields", position):
                literal(cell)
        return None


def _as_carrier(name: str, found: str, type: Type) -> str:
    """Return the expression that converts a column to the Spark type that carries its type."""
    wanted = spark_type(type)
    same = wanted.replace(" ", "").lower() == found.replace(" ", "").lower()
    return name if same else f"CAST({name} AS {wanted})"
