"""Convert the columns of a table that a plan defines to Spark SQL: types, NOT NULL, defaults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Ddl
from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, concrete, name_count, same_type
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import named_spark_type, spark_type

__all__ = ["Defined", "defined", "stored_type"]


@dataclass(frozen=True, slots=True)
class Defined:
    """A column as a plan defines it.

    Args:
        name: its name.
        type: the Spark type that it is stored as, including NOT NULL of nested fields.
        required: whether it must not be null.
        default: the SQL text of its default; None without one.
    """

    name: str
    type: str
    required: bool
    default: str | None

    def __str__(self) -> str:
        """The column definition in CREATE TABLE."""
        required = " NOT NULL" if self.required else ""
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{quoted(self.name)} {self.type}{required}{default}"

    @property
    def has_required(self) -> bool:
        """Whether it, or a field inside it, must not be null."""
        return self.required or " NOT NULL" in self.type


def defined(node: Ddl) -> tuple[Defined, ...]:
    """Return the columns that a DDL relation defines.

    Raises:
        InvalidPlanError: the schema is missing, or the defaults don't fit it.
        UnsupportedPlanError: Spark can't store a type, or a table without columns.
    """
    schema = node.table_schema
    if schema is None:
        raise InvalidPlanError("the columns of the table are missing", path="table_schema")
    if not schema.struct.types:
        raise UnsupportedPlanError("Spark does not support tables without columns", path="table_schema")
    defaults = _defaults(node, schema)
    found: list[Defined] = []
    names = iter(schema.names)
    for position, type in enumerate(schema.struct.types):
        name = next(names)
        below = [next(names) for _ in range(name_count(type))]
        with at("table_schema", "struct", "types", position):
            stored = stored_type(type, iter(below))
        default = None if defaults is None else _default(defaults[position], type, below, position)
        found.append(Defined(name, stored, not type.nullable, default))
    return tuple(found)


def stored_type(type: Type, names: Iterator[str]) -> str:
    """Return the Spark type that stores a type, with the names and NOT NULL of nested fields.

    SQL has no syntax for required elements of lists and values of maps.
    """
    spark_type(type)  # refuses what Spark can't carry
    type = concrete(type)
    match type:
        case Struct(types=types):
            fields = []
            for field in types:
                name = quoted(next(names))
                required = "" if field.nullable else " NOT NULL"
                fields.append(f"{name}: {stored_type(field, names)}{required}")
            return f"STRUCT<{', '.join(fields)}>"
        case List(type=element):
            return f"ARRAY<{stored_type(element, names)}>"
        case Map(key=key, value=value):
            return f"MAP<{stored_type(key, names)}, {stored_type(value, names)}>"
        case _:
            return named_spark_type(type, names)


def _defaults(node: Ddl, schema: NamedStruct) -> tuple[Literal, ...] | None:
    defaults, width = node.table_defaults, len(schema.struct.types)
    if defaults is not None and len(defaults) != width:
        raise InvalidPlanError(
            f"there are {len(defaults)} defaults for {width} columns",
            path="table_defaults.fields",
            hint="Use null for a column without a default",
        )
    return defaults


def _default(value: Literal, type: Type, below: list[str], position: int) -> str | None:
    """Return the SQL text of a default. A null is NULL, or no default for a required column."""
    with at("table_defaults", "fields", position):
        if not same_type(value.type, type):
            raise InvalidPlanError(f"the default is a {value.type}, and the column a {type}")
        if value.value is None:
            return "NULL" if type.nullable else None
        text = literal(value)
    return f"CAST({text} AS {stored_type(type, iter(below))})" if below else text
