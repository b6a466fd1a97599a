"""The columns of VALUES, with the names that they have in Spark, and the types of their literals there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["with_spark_types"]


def with_spark_types(message: Any) -> None:
    """Change the BIGINT columns of a plan's VALUES whose literals are INTs in Spark.

    Raises:
        UnsupportedPlanError: a value isn't a literal, so that DataFusion's type for it may be another one.
    """
    for table in _virtual_tables(message):
        rows = table.virtual_table.expressions
        names = table.base_schema.names
        names[:] = [f"col{number}" if name == f"column{number}" else name for number, name in enumerate(names, 1)]
        for position, type in enumerate(table.base_schema.struct.types):
            cells = [row.fields[position] for row in rows]
            if not all(cell.HasField("literal") for cell in cells):
                raise UnsupportedPlanError(
                    "VALUES of computed values, or of values of several types, are not planned without Spark",
                    hint="Use SELECT and UNION ALL",
                )
            numbers = [cell.literal.i64 for cell in cells if cell.literal.WhichOneof("literal_type") == "i64"]
            if type.WhichOneof("kind") == "i64" and all(-(1 << 31) <= number < 1 << 31 for number in numbers):
                _narrow(type, cells)


def _narrow(type: Any, cells: list[Any]) -> None:
    nullability = type.i64.nullability
    type.i32.nullability = nullability
    for cell in cells:
        if cell.literal.WhichOneof("literal_type") == "i64":
            cell.literal.i32 = cell.literal.i64
        else:
            cell.literal.null.i32.nullability = nullability


def _virtual_tables(message: Any) -> Iterator[Any]:
    """Yield the reads of virtual tables in a message."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for part in value if hasattr(value, "add") or isinstance(value, list) else _listed(value):
            if part.DESCRIPTOR.name == "ReadRel" and part.HasField("virtual_table"):
                yield part
            yield from _virtual_tables(part)


def _listed(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "__len__") else [value]
