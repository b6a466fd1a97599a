"""Convert records of a plan to the columns of a stored table: matched by name, of exactly its types and nullability.

This is the inverse of ``spark/columns.py``. Types aren't cast: a column must have the Spark type of the plan's type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError
from pyspark_substrait.model.types import (
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    NamedStruct,
    Struct,
    Type,
    UserDefined,
    concrete,
    name_count,
)
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import field_name, spark_type, unsigned_bits

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, MapType, StructField, StructType

__all__ = ["fitted", "fitted_value", "limited_text", "positions", "sql_type"]

_TEXT = re.compile(r"(var)?char\((\d+)\)", re.IGNORECASE)
_TEXT_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
_DEFAULT = "CURRENT_DEFAULT"


def positions(table: str, stored: StructType, schema: NamedStruct, *, case_sensitive: bool) -> tuple[int, ...]:
    """Return the positions in the table of the columns of a plan's schema.

    Raises:
        TableError: the table has no column of a name, or the schema has the name twice.
    """
    found: list[int] = []
    for name in schema.top_level_names():
        position = _position(name, stored.fields, table, case_sensitive)
        if position in found:
            raise TableError(f"the plan's schema of {table} has the column {name} twice")
        found.append(position)
    return tuple(found)


def fitted(
    table: str, stored: StructType, schema: NamedStruct, *, case_sensitive: bool, completed: bool = True
) -> tuple[str | None, ...]:
    """Return an expression for each column of a table, over records with fields ``c0``, ``c1``, … depth first.

    Columns that the schema doesn't have get their default, or null.

    Args:
        table: its name in errors.
        stored: the table's columns.
        schema: the plan's schema, of some or all of the columns.
        case_sensitive: whether names that differ in case are different.
        completed: whether to give values to columns that the schema doesn't have; else they are None.

    Raises:
        TableError: the table has no column of a name, or one of another type, or requires one that the schema lacks.
    """
    texts: dict[int, str] = {}
    places = positions(table, stored, schema, case_sensitive=case_sensitive)
    number = 0
    for position, (place, type) in enumerate(zip(places, schema.struct.types, strict=True)):
        text, field = f"c{number}", stored.fields[place]
        texts[place] = fitted_value(table, field, schema, position, text, case_sensitive=case_sensitive)
        number += 1 + name_count(type)
    return tuple(
        _default(field, f"{table}.{field.name}") if completed and place not in texts else texts.get(place)
        for place, field in enumerate(stored.fields)
    )


def fitted_value(
    table: str, field: StructField, schema: NamedStruct, position: int, text: str, *, case_sensitive: bool
) -> str:
    """Return the expression for a value of one column of the plan's schema; arguments as for :func:`fitted`."""
    fitting, types = _Fitting(table, case_sensitive), schema.struct.types
    type, start = types[position], position + sum(map(name_count, types[:position]))
    below, name = range(start + 1, start + 1 + name_count(type)), f"{table}.{field.name}"
    value = fitting.value(text, field.dataType, type, schema.names, below, name)
    value = _short_enough(value, field, name)
    # columns that are required in the plan are checked, even if the table's column is nullable
    return fitting.required(value, field.nullable and type.nullable, name)


def _default(field: StructField, name: str) -> str:
    default = (field.metadata or {}).get(_DEFAULT)
    if default is None and not field.nullable:
        raise TableError(
            f"{name} is required and has no default, but the plan gives no value for it", hint="Add it to table_schema"
        )
    return f"CAST({'NULL' if default is None else f'({default})'} AS {sql_type(field.dataType)})"


def _short_enough(value: str, field: StructField, name: str) -> str:
    """Check, and for CHAR pad, a value for a column of limited length."""
    described = limited_text(field, name)
    if described is None:
        return value
    found = _TEXT.fullmatch(described)
    assert found is not None
    length = int(found[2])
    if found[1] is None:
        # pad shorter values, as Spark does
        value = f"rpad({value}, greatest({length}, char_length({value})), ' ')"
    error = f"raise_error({string_literal(f'{name} takes {length} characters, and a value has more')})"
    return f"if(char_length({value}) > {length}, CAST({error} AS STRING), {value})"


def limited_text(field: StructField, name: str) -> str | None:
    """Return the type of a column of limited length, as it was declared; None for others.

    Raises:
        TableError: only something inside the column has a limited length.
    """
    described: str | None = (field.metadata or {}).get(_TEXT_TYPE)
    if described is not None and _TEXT.fullmatch(described) is None:
        raise TableError(f"{name} has a string of limited length inside it, which is unsupported")
    return described


def sql_type(type: DataType) -> str:
    """Return a stored type in SQL, with any names of fields."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type:
        case StructType(fields=fields):
            return f"STRUCT<{', '.join(f'{quoted(field.name)}: {sql_type(field.dataType)}' for field in fields)}>"
        case ArrayType(elementType=element):
            return f"ARRAY<{sql_type(element)}>"
        case MapType(keyType=key, valueType=value):
            return f"MAP<{sql_type(key)}, {sql_type(value)}>"
        case _:
            return type.simpleString().upper()


def _position(name: str, fields: Sequence[StructField], inside: str, case_sensitive: bool) -> int:
    wanted = name if case_sensitive else name.lower()
    found = [
        place for place, field in enumerate(fields) if (field.name if case_sensitive else field.name.lower()) == wanted
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(field.name for field in fields)
    has = "has no column" if not found else f"has {len(found)} columns named"
    raise TableError(f"{inside} {has} {name}", hint=f"Its columns: {names}")


class _Fitting:
    """Converts values of the plan's types to those of one table."""

    def __init__(self, table: str, case_sensitive: bool) -> None:
        self._table = table
        self._case_sensitive = case_sensitive
        self._variables = count(1)

    def required(self, text: str, nullable: bool, name: str) -> str:
        """Return the expression for a value, with an error for null unless it is nullable."""
        if nullable:
            return text
        error = f"raise_error({string_literal(f'{name} is required, and a value is null')})"
        return f"coalesce({text}, {error})"

    def value(self, text: str, stored: DataType, type: Type, names: Sequence[str], below: range, name: str) -> str:
        """Return the expression for a value of the table's type.

        Args:
            text: the value, an atom of the plan's type.
            stored: the table's type.
            type: the plan's type.
            names: the names of the plan's schema.
            below: the positions of the names of its nested fields.
            name: its name in errors.
        """
        from pyspark.sql.types import ArrayType, MapType, StructType

        wanted = concrete(type)
        match wanted:
            case Struct() if isinstance(stored, StructType):
                return self._struct(text, stored, wanted, names, below, name)
            case List(type=element) if isinstance(stored, ArrayType):
                variable = f"x{next(self._variables)}"
                item = self.value(variable, stored.elementType, element, names, below, f"{name}.element")
                item = self.required(item, stored.containsNull, f"{name}.element")
                return text if item == variable else f"transform({text}, {variable} -> {item})"
            case Map(key=key, value=value) if isinstance(stored, MapType):
                return self._map(text, stored, key, value, names, below, name)
            case UserDefined(structure=structure) if structure is not None and unsigned_bits(wanted) is None:
                return self._unnamed(text, stored, structure, name)
            case IntervalCompound(precision=precision):
                parts = Struct(types=(IntervalYear(), IntervalDay(precision=precision)))
                return self._unnamed(text, stored, parts, name)
        if stored.simpleString().upper() != spark_type(wanted).replace(", ", ","):
            raise TableError(
                f"{name} is {stored.simpleString()}, which does not hold {type}",
                hint=f"The plan's schema and input must have its type; {type} is {spark_type(wanted)} in Spark",
            )
        return text

    def _struct(
        self, text: str, stored: StructType, type: Struct, names: Sequence[str], below: range, name: str
    ) -> str:
        inner: dict[int, tuple[str, Type, range]] = {}
        position = below.start
        for child in type.types:
            width = name_count(child)
            place = _position(names[position], stored.fields, name, self._case_sensitive)
            inner[place] = (f"{text}.c{position}", child, range(position + 1, position + 1 + width))
            position += 1 + width
        fields = []
        for place, field in enumerate(stored.fields):
            if place not in inner:
                raise TableError(f"{name}.{field.name} has no value in the plan's schema", hint="Add it there")
            inside, child, under = inner[place]
            value = self.value(inside, field.dataType, child, names, under, f"{name}.{field.name}")
            value = self.required(value, field.nullable, f"{name}.{field.name}")
            fields.append(f"{string_literal(field.name)}, {value}")
        return f"(CASE WHEN {text} IS NOT NULL THEN named_struct({', '.join(fields)}) END)"

    def _map(
        self, text: str, stored: MapType, key: Type, value: Type, names: Sequence[str], below: range, name: str
    ) -> str:
        key_variable, value_variable = f"x{next(self._variables)}", f"x{next(self._variables)}"
        middle = below.start + name_count(key)
        keys = self.value(key_variable, stored.keyType, key, names, range(below.start, middle), f"{name}.key")
        values = self.value(value_variable, stored.valueType, value, names, range(middle, below.stop), f"{name}.value")
        values = self.required(values, stored.valueContainsNull, f"{name}.value")
        both = f"({key_variable}, {value_variable})"
        if keys != key_variable:
            text = f"transform_keys({text}, {both} -> {keys})"
        return text if values == value_variable else f"transform_values({text}, {both} -> {values})"

    def _unnamed(self, text: str, stored: DataType, type: Type, name: str) -> str:
        """Return the expression for a value whose parts have no names in the plan; fields match by position."""
        from pyspark.sql.types import StructType

        carrier = concrete(type)
        if not isinstance(carrier, Struct):
            return self.value(text, stored, carrier, (), range(0), name)
        if not isinstance(stored, StructType) or len(stored.fields) != len(carrier.types):
            raise TableError(f"{name} is {stored.simpleString()}, which does not hold {spark_type(carrier)}")
        fields = []
        for position, (field, part) in enumerate(zip(stored.fields, carrier.types, strict=True)):
            inside = f"{name}.{field.name}"
            value = self._unnamed(f"{text}.{field_name(position)}", field.dataType, part, inside)
            fields.append(f"{string_literal(field.name)}, {self.required(value, field.nullable, inside)}")
        return f"(CASE WHEN {text} IS NOT NULL THEN named_struct({', '.join(fields)}) END)"
