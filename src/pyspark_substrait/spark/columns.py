"""The columns of a stored table as a plan has them: found by name, of exactly the type, null only where allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FixedBinary,
    FixedChar,
    List,
    Map,
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    VarChar,
    concrete,
    name_count,
)
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.compiler.names import quoted
from pyspark_substrait.sparksql.compiler.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

__all__ = ["Columns", "columns"]


@dataclass(frozen=True, slots=True)
class Columns:
    """The expressions over a table's columns that give those of the plan's schema.

    ``required`` has, for each column that must not be null and isn't known to be so, its text and what it is called.
    """

    texts: tuple[str, ...]
    required: tuple[tuple[str, str] | None, ...]


def columns(
    table: str, found: StructType, schema: NamedStruct, without_nulls: frozenset[str], *, case_sensitive: bool
) -> Columns:
    """Match a table's columns to a schema.

    Args:
        table: the table's name, for errors.
        found: the schema that the table has in Spark.
        schema: the schema that the plan says it has.
        without_nulls: the columns known to hold no null.
        case_sensitive: whether names that differ in case are different.

    Raises:
        TableError: a column is missing or its name is ambiguous, or its type can't hold what the plan says.
    """
    matching = _Matching(table, case_sensitive)
    texts: list[str] = []
    required: list[tuple[str, str] | None] = []
    position = 0
    for type in schema.struct.types:
        name, width = schema.names[position], name_count(type)
        field = matching.field(name, found.fields, "")
        text = quoted(field.name)
        below = schema.names[position + 1 : position + 1 + width]
        texts.append(matching.value(text, field.dataType, type, below, name, field.name in without_nulls))
        certain = type.nullable or not field.nullable or field.name in without_nulls
        required.append(None if certain else (text, f"{table}.{name}"))
        position += 1 + width
    return Columns(tuple(texts), tuple(required))


class _Matching:
    """How values of one table become values of the plan's types."""

    def __init__(self, table: str, case_sensitive: bool) -> None:
        self._table = table
        self._case_sensitive = case_sensitive
        self._variables = count(1)

    def field(self, name: str, fields: Sequence[StructField], inside: str) -> StructField:
        """The only field of a name."""
        place = f"{inside} of {self._table}" if inside else self._table
        wanted = name if self._case_sensitive else name.lower()
        matches = [field for field in fields if (field.name if self._case_sensitive else field.name.lower()) == wanted]
        if len(matches) == 1:
            return matches[0]
        names = ", ".join(field.name for field in fields)
        if matches:
            raise TableError(f"{place} has {len(matches)} columns named {name}", hint=f"Its columns: {names}")
        raise TableError(f"{place} has no column {name}", hint=f"Its columns: {names}")

    def _null_error(self, name: str) -> str:
        return f"raise_error({string_literal(f'{self._table}.{name} is null, but the plan says it never is')})"

    def value(self, text: str, found: DataType, type: Type, names: Sequence[str], name: str, certain: bool) -> str:
        """A value of the plan's type; its own nullness is checked elsewhere."""
        wanted = concrete(type)
        match wanted:
            case Struct():
                return self._struct(text, found, wanted, names, name, certain)
            case List():
                return self._list(text, found, wanted, names, name, certain)
            case Map():
                return self._map(text, found, wanted, names, name, certain)
            case _:
                return self._simple(text, found, wanted, name)

    def _part(
        self, text: str, found: DataType, nullable: bool, type: Type, names: Sequence[str], name: str, certain: bool
    ) -> str:
        """A value inside another one, checked on the spot."""
        value = self.value(text, found, type, names, name, certain)
        if type.nullable or not nullable or certain:
            return value
        return f"coalesce({value}, CAST({self._null_error(name)} AS {spark_type(type)}))"

    def _struct(self, text: str, found: DataType, type: Struct, names: Sequence[str], name: str, certain: bool) -> str:
        from pyspark.sql.types import StructType

        if not isinstance(found, StructType):
            raise self._misfit(found, type, name)
        fields, position = [], 0
        for number, child in enumerate(type.types):
            child_name, width = names[position], name_count(child)
            field = self.field(child_name, found.fields, name)
            part = self._part(
                f"{text}.{quoted(field.name)}",
                field.dataType,
                field.nullable,
                child,
                names[position + 1 : position + 1 + width],
                f"{name}.{child_name}",
                certain,
            )
            fields.append(f"'f{number}', {part}")
            position += 1 + width
        made = f"named_struct({', '.join(fields)})"
        return f"(CASE WHEN {text} IS NOT NULL THEN {made} END)"

    def _list(self, text: str, found: DataType, type: List, names: Sequence[str], name: str, certain: bool) -> str:
        from pyspark.sql.types import ArrayType

        if not isinstance(found, ArrayType):
            raise self._misfit(found, type, name)
        variable = f"x{next(self._variables)}"
        element = self._part(
            variable, found.elementType, found.containsNull, type.type, names, f"{name}.element", certain
        )
        return text if element == variable else f"transform({text}, {variable} -> {element})"

    def _map(self, text: str, found: DataType, type: Map, names: Sequence[str], name: str, certain: bool) -> str:
        from pyspark.sql.types import MapType

        if not isinstance(found, MapType):
            raise self._misfit(found, type, name)
        key_variable, value_variable = f"x{next(self._variables)}", f"x{next(self._variables)}"
        keys, values = names[: name_count(type.key)], names[name_count(type.key) :]
        key = self._part(key_variable, found.keyType, False, type.key, keys, f"{name}.key", certain)
        value = self._part(
            value_variable, found.valueType, found.valueContainsNull, type.value, values, f"{name}.value", certain
        )
        both = f"({key_variable}, {value_variable})"
        if key != key_variable:
            text = f"transform_keys({text}, {both} -> {key})"
        return text if value == value_variable else f"transform_values({text}, {both} -> {value})"

    def _simple(self, text: str, found: DataType, type: Type, name: str) -> str:
        wanted = spark_type(type)
        here = found.simpleString().upper()
        match type:
            case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision) if precision < 6:
                raise UnsupportedPlanError(
                    f"{self._table}.{name} can't be read as {type} yet; Spark's has microseconds"
                )
            case PrecisionTime(precision=precision) if here.startswith("TIME("):
                if int(here[5:-1]) > precision:
                    raise self._misfit(found, type, name)
                return text if here == wanted else f"CAST({text} AS {wanted})"
        if here.split("(")[0] in ("VARCHAR", "CHAR"):
            here = "STRING"
        if here != wanted.replace(" ", "") and here != wanted:
            if not _converts(here, wanted):
                raise self._misfit(found, type, name)
            text = f"CAST({text} AS {wanted})"
        match type:
            case VarChar(length=length):
                return self._checked(text, f"char_length({text}) <= {length}", type, name, text)
            case FixedChar(length=length):
                padded = f"rpad({text}, {length}, ' ')"
                return self._checked(text, f"char_length({text}) <= {length}", type, name, padded)
            case FixedBinary(length=length):
                return self._checked(text, f"octet_length({text}) = {length}", type, name, text)
            case _:
                return text

    def _checked(self, text: str, condition: str, type: Type, name: str, value: str) -> str:
        error = f"raise_error({string_literal(f'{self._table}.{name} has a value that is no {type}')})"
        return f"(CASE WHEN {text} IS NULL OR {condition} THEN {value} ELSE CAST({error} AS {spark_type(type)}) END)"

    def _misfit(self, found: DataType, type: Type, name: str) -> TableError:
        return TableError(
            f"{self._table}.{name} is {found.simpleString()}, which can't be read as {type}",
            hint="Give a table whose column has that type",
        )


_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def _converts(found: str, wanted: str) -> bool:
    """Whether a cast of one Spark type to the other keeps every value, or raises for one that doesn't fit."""
    whole = found in _INTEGERS or (found.startswith("DECIMAL") and _decimal(found)[1] == 0)
    if wanted in _INTEGERS:
        return whole
    if wanted.startswith("DECIMAL"):
        return found in _INTEGERS or (found.startswith("DECIMAL") and _decimal(wanted)[1] >= _decimal(found)[1])
    return (found, wanted) == ("FLOAT", "DOUBLE")


def _decimal(text: str) -> tuple[int, int]:
    precision, scale = text[len("DECIMAL(") : -1].split(",")
    return int(precision), int(scale)
