"""The schemas of the tables of a query, in Spark's types."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from pyspark_substrait.binding.schemas import of_source
from pyspark_substrait.binding.tables import Names
from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    List,
    Map,
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    concrete,
)
from pyspark_substrait.spark.arrow_types import arrow_type
from pyspark_substrait.spark.producer.types import names_of, type_of

__all__ = ["arrow_of", "schemas"]


def schemas(tables: Mapping[Any, Any] | None) -> dict[Names, NamedStruct]:
    """Return the schemas of tables by their names, in parts.

    Raises:
        TableError: a table is none, or can't be read; or two have the same name apart from case.
    """
    found: dict[Names, NamedStruct] = {}
    folded: set[Names] = set()
    for name, source in (tables or {}).items():
        parts = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
        lowered = tuple(part.lower() for part in parts)
        if lowered in folded:
            raise TableError(f"the table {'.'.join(parts)} is given twice")
        folded.add(lowered)
        found[parts] = _schema(".".join(parts), source)
    return found


def _schema(name: str, source: Any) -> NamedStruct:
    if isinstance(source, str) and not os.path.exists(source) and re.search(r"[\s:]", source.strip()):
        return _Columns(name, source).schema()
    if hasattr(source, "jsonValue"):
        return _of_json(name, source.jsonValue())
    if hasattr(source, "sparkSession"):
        return _of_json(name, source.schema.jsonValue())
    return _in_spark(name, of_source(name, source))


def _of_json(name: str, json: Any) -> NamedStruct:
    try:
        type = type_of(json, False)
    except UnsupportedPlanError as error:
        raise TableError(f"a column of {name} has no type in plans: {error.message}", hint=error.hint) from error
    assert isinstance(type, Struct), "the schema of a table"
    return NamedStruct(names=tuple(names_of(json)), struct=type)


def _in_spark(name: str, schema: NamedStruct) -> NamedStruct:
    """Return a schema in the types that Spark reads a table with."""
    types = tuple(_type_in_spark(name, type) for type in schema.struct.types)
    return NamedStruct(names=schema.names, struct=replace(schema.struct, types=types))


def _type_in_spark(name: str, type: Type) -> Type:
    kind = concrete(type)
    match kind:
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return replace(kind, precision=6) if precision <= 9 else _refused(name, type)
        case VarChar() | FixedChar():
            return String(nullable=type.nullable)
        case List(type=element):
            return replace(kind, type=_type_in_spark(name, element))
        case Map(key=key, value=value):
            return replace(kind, key=_type_in_spark(name, key), value=_type_in_spark(name, value))
        case Struct(types=types):
            return replace(kind, types=tuple(_type_in_spark(name, one) for one in types))
        case PrecisionTime() | UserDefined() | IntervalCompound() | IntervalDay() | FixedBinary():
            return _refused(name, type)
        case _:
            return kind


def _refused(name: str, type: Type) -> Type:
    raise TableError(
        f"a column of {name} is {type}, which is not planned without Spark", hint="Give a schema without it"
    )


def arrow_of(schema: NamedStruct, *, lowered: bool = True) -> pa.Schema:
    """Return a schema for DataFusion, with names in lower case for Spark's dialect."""
    names: Iterator[str] = iter([name.lower() for name in schema.names] if lowered else schema.names)
    fields = []
    for type in schema.struct.types:
        name = next(names)
        fields.append(pa.field(name, arrow_type(type, names), nullable=type.nullable))
    return pa.schema(fields)


_TOKEN: Final = re.compile(r"\s*(?:(`(?:[^`]|``)+`|\w+)|([<>(),:])|('(?:[^'\\]|\\.)*'))")
_SIMPLE: Final = {
    "boolean": "boolean",
    "tinyint": "byte",
    "byte": "byte",
    "smallint": "short",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}


class _Columns:
    """Reads columns like ``id BIGINT NOT NULL, name STRING``."""

    def __init__(self, table: str, text: str) -> None:
        self._table = table
        self._text = text
        self._tokens: list[str] = []
        position = 0
        text = text.strip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._fault(text[position:])
            self._tokens.append(match[0].strip())
            position = match.end()
        self._at = 0

    def schema(self) -> NamedStruct:
        """Return the schema."""
        json = {"type": "struct", "fields": self._fields("")}
        if self._at < len(self._tokens):
            raise self._fault(self._tokens[self._at])
        return _of_json(self._table, json)

    def _fault(self, near: str) -> TableError:
        return TableError(
            f"the columns of {self._table} are not understood at {near!r}: {self._text!r}",
            hint="Write them like `id BIGINT NOT NULL, name STRING`",
        )

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise self._fault("")
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _taken(self, *words: str) -> bool:
        found = [token.lower() for token in self._tokens[self._at : self._at + len(words)]]
        if found != list(words):
            return False
        self._at += len(words)
        return True

    def _fields(self, end: str) -> list[dict[str, Any]]:
        fields: list[dict[str, Any]] = []
        while self._peek() != end:
            name = self._next()
            if name[0] == "`":
                name = name[1:-1].replace("``", "`")
            elif not re.fullmatch(r"\w+", name):
                raise self._fault(name)
            self._taken(":")
            type = self._type()
            nullable = not self._taken("not", "null")
            if self._taken("comment"):
                self._next()
            fields.append({"name": name, "type": type, "nullable": nullable, "metadata": {}})
            if not self._taken(","):
                break
        return fields

    def _type(self) -> Any:
        word = self._next().lower()
        if word in _SIMPLE:
            return _SIMPLE[word]
        match word:
            case "decimal" | "dec" | "numeric":
                numbers = self._numbers()
                precision, scale = (*numbers, *(10, 0)[len(numbers) :])
                self._check_decimal(precision, scale)
                return f"decimal({precision},{scale})"
            case "varchar" | "char" | "character":
                self._numbers()
                return "string"
            case "array":
                self._expect("<")
                element = self._type()
                self._expect(">")
                return {"type": "array", "elementType": element, "containsNull": True}
            case "map":
                self._expect("<")
                key = self._type()
                self._expect(",")
                value = self._type()
                self._expect(">")
                return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
            case "struct":
                self._expect("<")
                fields = self._fields(">")
                self._expect(">")
                return {"type": "struct", "fields": fields}
            case _:
                raise self._fault(word)

    def _check_decimal(self, precision: int, scale: int) -> None:
        try:
            Decimal(precision=precision, scale=scale)
        except (ValueError, InvalidPlanError) as error:
            raise self._fault(f"decimal({precision}, {scale})") from error
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise self._fault(f"decimal({precision}, {scale})")

    def _numbers(self) -> list[int]:
        if not self._taken("("):
            return []
        numbers = []
        while True:
            number = self._next()
            if not number.isdecimal():
                raise self._fault(number)
            numbers.append(int(number))
            if self._taken(")"):
                return numbers
            self._expect(",")

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise self._fault(found)
