"""Convert the columns of a stored table to those of a plan: matched by name, of exactly the type and nullability."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

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
from pyspark_substrait.spark.conversions import Column, converted
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import spark_type, unsigned_bits

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

__all__ = ["Columns", "columns"]


@dataclass(frozen=True, slots=True)
class Columns:
    """The expressions over a table's columns that compute the columns of the plan's schema.

    ``required`` has the text and the name of each column that must not be null and may be.
    """

    texts: tuple[str, ...]
    required: tuple[tuple[str, str] | None, ...]


def columns(
    table: str,
    found: StructType,
    schema: NamedStruct,
    without_nulls: frozenset[str],
    *,
    case_sensitive: bool,
    arrow: pa.Schema | None = None,
    of_files: bool = False,
) -> Columns:
    """Match a table's columns to a schema.

    Args:
        table: the table's name, for errors.
        found: the schema that the table has in Spark.
        schema: the schema that the plan states for it.
        without_nulls: the columns known to hold no null.
        case_sensitive: whether names that differ in case are different.
        arrow: the Arrow schema of the columns, if they come from Arrow.
        of_files: whether the table is made of files, which may lack a column: it is null then, if it is nullable.

    Raises:
        TableError: a column is missing or its name is ambiguous, or its type can't be converted to the plan's.
    """
    matching = _Matching(table, case_sensitive, of_files)
    texts: list[str] = []
    required: list[tuple[str, str] | None] = []
    position = 0
    for type in schema.struct.types:
        name, width = schema.names[position], name_count(type)
        below = schema.names[position + 1 : position + 1 + width]
        position += 1 + width
        field = matching.field(name, type, found.fields, "")
        if field is None:
            texts.append(_null(type))
            required.append(None)
            continue
        own = quoted(field.name)
        # what isn't the column itself isn't sent to the database
        text = f"elt(1, {own})" if _compares_otherwise(field) else own
        column = Column(text, field.dataType, _child(arrow, field.name), matching.called(name))
        value = matching.value(column, type, below, field.name in without_nulls)
        # Spark pads what is compared with a bare CHAR column; the plan's strings are compared as they are
        texts.append(f"CAST({own} AS STRING)" if value == own and _is_char(field) else value)
        certain = type.nullable or not field.nullable or field.name in without_nulls
        required.append(None if certain else (own, column.name))
    return Columns(tuple(texts), tuple(required))


class _Matching:
    """Converts values of one table to the types of the plan."""

    def __init__(self, table: str, case_sensitive: bool, of_files: bool) -> None:
        self._table = table
        self._case_sensitive = case_sensitive
        self._of_files = of_files
        self._variables = count(1)
        #: the fields of each struct by name, keyed by the identity of the list of fields, which is kept alive
        self._indexes: dict[int, tuple[Sequence[StructField], dict[str, list[StructField]]]] = {}

    def field(self, name: str, type: Type, fields: Sequence[StructField], inside: str) -> StructField | None:
        """Return the only field of a name; None if it is missing and may be.

        ``inside`` names the column that has the fields, if it isn't the table.
        """
        matches = self._by_name(fields).get(self._fold(name), [])
        if len(matches) == 1:
            return matches[0]
        if not matches and self._of_files and type.nullable:
            return None
        place = f"{inside} of {self._table}" if inside else self._table
        names = ", ".join(field.name for field in fields)
        if matches:
            raise TableError(f"{place} has {len(matches)} columns named {name}", hint=f"Its columns: {names}")
        raise TableError(f"{place} has no column {name}", hint=f"Its columns: {names}")

    def _by_name(self, fields: Sequence[StructField]) -> dict[str, list[StructField]]:
        """The fields of a struct by their names; a table may have thousands."""
        if id(fields) not in self._indexes:
            index: dict[str, list[StructField]] = {}
            for field in fields:
                index.setdefault(self._fold(field.name), []).append(field)
            self._indexes[id(fields)] = (fields, index)
        return self._indexes[id(fields)][1]

    def _fold(self, name: str) -> str:
        return name if self._case_sensitive else name.lower()

    def called(self, name: str) -> str:
        """Return the full name of a column, for messages."""
        return f"{name} of {self._table}" if self._of_files else f"{self._table}.{name}"

    def _bare(self, name: str) -> str:
        """The name of a column without that of the table."""
        return name.removesuffix(f" of {self._table}") if self._of_files else name.removeprefix(f"{self._table}.")

    def _child_name(self, name: str, child: str) -> str:
        """Return the full name of a part of a column, for messages."""
        return self.called(f"{self._bare(name)}.{child}")

    def value(self, column: Column, type: Type, names: Sequence[str] | None, certain: bool) -> str:
        """Return the expression for a value of the plan's type; whether it is null itself is checked elsewhere.

        Args:
            column: the value in the table.
            type: the plan's type.
            names: the plan's names for the fields in it; None if it has none, and fields match by position.
            certain: whether no value inside it is null.
        """
        from pyspark.sql.types import NullType, StructType

        wanted = concrete(type)
        if isinstance(column.found, NullType) or column.origin == pa.null():
            return _null(wanted)
        match wanted:
            case Struct():
                return self._struct(column, wanted, names, certain)
            case List():
                return self._list(column, wanted, names, certain)
            case Map():
                return self._map(column, wanted, names, certain)
            case UserDefined(structure=structure) if structure is not None and unsigned_bits(wanted) is None:
                return self.value(column, structure, None, certain)
            case IntervalCompound(precision=precision) if column.origin != pa.month_day_nano_interval() and isinstance(
                column.found, StructType
            ):
                column = _with_months(column, column.found)
                parts = Struct(types=(IntervalYear(), IntervalDay(precision=precision)))
                return self._struct(column, parts, None, certain)
            case _:
                text = converted(column, wanted)
                if text is None:
                    raise self._misfit(column, wanted)
                return text

    def _part(self, column: Column, nullable: bool, type: Type, names: Sequence[str] | None, certain: bool) -> str:
        """Return the expression for a value inside another one, with the check for null."""
        value = self.value(column, type, names, certain)
        if type.nullable or not nullable or certain:
            return value
        error = f"raise_error({string_literal(f'{column.name} is null, but the plan says it never is')})"
        return f"coalesce({value}, CAST({error} AS {spark_type(type)}))"

    def _struct(self, column: Column, type: Struct, names: Sequence[str] | None, certain: bool) -> str:
        from pyspark.sql.types import StructType

        found = column.found
        if not isinstance(found, StructType) or (names is None and len(found.fields) != len(type.types)):
            raise self._misfit(column, type)
        fields, position = [], 0
        for number, child in enumerate(type.types):
            if names is None:
                field, below, child_name = found.fields[number], None, found.fields[number].name
            else:
                width = name_count(child)
                child_name, below = names[position], names[position + 1 : position + 1 + width]
                position += 1 + width
                known = self.field(child_name, child, found.fields, self._bare(column.name))
                if known is None:
                    fields.append(f"'f{number}', {_null(child)}")
                    continue
                field = known
            inside = Column(
                f"{column.text}.{quoted(field.name)}",
                field.dataType,
                _child(column.origin, field.name),
                self._child_name(column.name, child_name),
            )
            fields.append(f"'f{number}', {self._part(inside, field.nullable, child, below, certain)}")
        made = f"named_struct({', '.join(fields)})"
        return f"(CASE WHEN {column.text} IS NOT NULL THEN {made} END)"

    def _list(self, column: Column, type: List, names: Sequence[str] | None, certain: bool) -> str:
        from pyspark.sql.types import ArrayType

        found = column.found
        if not isinstance(found, ArrayType):
            raise self._misfit(column, type)
        variable = f"x{next(self._variables)}"
        inside = Column(variable, found.elementType, _element(column.origin), self._child_name(column.name, "element"))
        element = self._part(inside, found.containsNull, type.type, names, certain)
        return column.text if element == variable else f"transform({column.text}, {variable} -> {element})"

    def _map(self, column: Column, type: Map, names: Sequence[str] | None, certain: bool) -> str:
        from pyspark.sql.types import MapType

        found, origin = column.found, column.origin
        if not isinstance(found, MapType):
            raise self._misfit(column, type)
        key_variable, value_variable = f"x{next(self._variables)}", f"x{next(self._variables)}"
        width = name_count(type.key)
        keys, values = (None, None) if names is None else (names[:width], names[width:])
        key_origin, value_origin = _entry(origin)
        key_column = Column(key_variable, found.keyType, key_origin, self._child_name(column.name, "key"))
        key = self._part(key_column, False, type.key, keys, certain)
        value_column = Column(value_variable, found.valueType, value_origin, self._child_name(column.name, "value"))
        value = self._part(value_column, found.valueContainsNull, type.value, values, certain)
        text, both = column.text, f"({key_variable}, {value_variable})"
        if key != key_variable:
            text = f"transform_keys({text}, {both} -> {key})"
        return text if value == value_variable else f"transform_values({text}, {both} -> {value})"

    def _misfit(self, column: Column, type: Type) -> TableError:
        here = column.found.simpleString() if column.origin is None else str(column.origin)
        return TableError(
            f"{column.name} is {here}, which cannot be read as {type}",
            hint="Give a table whose column has that type",
        )


def _is_char(field: StructField) -> bool:
    """Whether a column is a CHAR, which Spark treats as a text with a note."""
    return str((field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", "")).lower().startswith("char")


#: the types of databases whose values are compared as the texts that they are
_TEXTS = re.compile(
    r"(bp|n|n?var|long|longvar|tiny|medium)?(char|text)2?|((national )?char(acter)?|nchar)( varying| large object)?"
    r"|n?clob|string|name",
    re.IGNORECASE,
)


def _compares_otherwise(field: StructField) -> bool:
    """Whether a column of texts is one of another type in a database (a uuid, an enumeration), which compares it so.

    Spark has said so in the column's metadata since 4.1.
    """
    described = (field.metadata or {}).get("jdbcClientType")
    return (
        described is not None
        and field.dataType.typeName() == "string"
        and not _TEXTS.fullmatch(described.split("(")[0])
    )


def _null(type: Type) -> str:
    """A null of a type."""
    return f"CAST(NULL AS {spark_type(type)})"


def _with_months(column: Column, found: StructType) -> Column:
    """Return the parts of an interval_compound, with the months converted to an interval if they are a number."""
    from pyspark.sql.types import IntegerType, StructField, StructType, YearMonthIntervalType

    if len(found.fields) != 2 or not isinstance(found.fields[0].dataType, IntegerType):
        return column
    rest = found.fields[1]
    text = f"CAST({column.text} AS STRUCT<f0: INTERVAL YEAR TO MONTH, f1: {rest.dataType.simpleString()}>)"
    parts = StructType([StructField("f0", YearMonthIntervalType()), StructField("f1", rest.dataType)])
    origin = _child(column.origin, rest.name)
    arrow = None if origin is None else pa.field("", pa.struct([("f0", pa.int32()), origin.with_name("f1")]))
    return replace(column, text=text, found=parts, arrow=arrow)


def _child(origin: pa.Schema | pa.DataType | None, name: str) -> pa.Field | None:
    """The field of a name; None where there isn't exactly one."""
    if origin is None or (isinstance(origin, pa.DataType) and not pa.types.is_struct(origin)):
        return None
    position = origin.get_field_index(name)
    return origin.field(position) if position >= 0 else None


def _element(origin: pa.DataType | None) -> pa.Field | None:
    """The element of a list."""
    field = getattr(origin, "value_field", None)
    return field if isinstance(field, pa.Field) else None


def _entry(origin: pa.DataType | None) -> tuple[pa.Field | None, pa.Field | None]:
    """The key and the value of a map."""
    if origin is None or not pa.types.is_map(origin):
        return None, None
    return origin.key_field, origin.item_field
