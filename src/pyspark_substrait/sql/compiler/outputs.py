"""The output columns of a statement: under the names that users see, or in types that Arrow supports."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.model.types import NamedStruct, Type, name_count
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.query import Item
from pyspark_substrait.sql.compiler.types import handed_type, named_spark_type, spark_type

__all__ = ["named", "uniform"]


def uniform(items: tuple[Item, ...], schema: NamedStruct) -> Iterator[Item]:
    """Yield the columns in types that Spark can convert to Arrow.

    The fields of structs are nullable, because Arrow has trouble with required ones in a null; intervals of months are
    numbers of months.
    """
    for item, type in zip(items, schema.struct.types, strict=True):
        handed = handed_type(type)
        fits = handed == spark_type(type) and "STRUCT<" not in handed
        yield Item(item.text if fits else f"CAST({item.text} AS {handed})", item.name)


def named(items: tuple[Item, ...], schema: NamedStruct) -> Iterator[Item]:
    """Yield the columns under the user's names, which nested fields get by a cast."""
    names = iter(schema.names)
    for item, type in zip(items, schema.struct.types, strict=True):
        name = quoted(next(names))
        yield Item(_renamed(item.text, type, names), name)


def _renamed(text: str, type: Type, names: Iterator[str]) -> str:
    if name_count(type) == 0:
        return text
    return f"CAST({text} AS {named_spark_type(type, names)})"
