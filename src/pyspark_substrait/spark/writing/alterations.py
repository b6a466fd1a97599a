"""Derive the alterations of a table from the columns that a plan states: add, drop, rename, move and widen columns.

A plan only states the resulting columns. A column of the same name is kept. A missing column and a new one at its
position, of the same type, are a renamed column. Other missing columns are dropped, other new ones are added. The same
applies to the fields of structs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.names import quoted, quoted_path

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

__all__ = [
    "Added",
    "Alteration",
    "Dropped",
    "Moved",
    "Renamed",
    "Required",
    "Retyped",
    "additions",
    "alterations",
    "kept_positions",
    "sql_type",
    "statement",
    "value",
]

#: Converts names that Spark regards as equal to the same text.
Fold = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A column, or a field inside one, is dropped."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A column or field gets another name."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Retyped:
    """A column or field gets a wider type."""

    path: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Required:
    """A column or field becomes required, or nullable."""

    path: tuple[str, ...]
    required: bool


@dataclass(frozen=True, slots=True)
class Added:
    """A column, or a field inside one, is added."""

    path: tuple[str, ...]
    type: str
    required: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """A column or field is moved after another one; None for the first position."""

    path: tuple[str, ...]
    after: str | None


Alteration = Dropped | Renamed | Retyped | Required | Added | Moved


def kept_positions(old: StructType, new: StructType, fold: Fold) -> list[int | None]:
    """Return, for each new column, the position of its old one; None for an added column."""
    positions = {fold(field.name): position for position, field in enumerate(old.fields)}
    names = {fold(field.name) for field in new.fields}
    found: list[int | None] = []
    for position, field in enumerate(new.fields):
        same = positions.get(fold(field.name))
        if same is None and position < len(old.fields):
            before = old.fields[position]
            if fold(before.name) not in names and sql_type(before.dataType) == sql_type(field.dataType):
                same = position
        found.append(same)
    return found


def alterations(old: StructType, new: StructType, fold: Fold, path: tuple[str, ...] = ()) -> Iterator[Alteration]:
    """Yield the alterations from the old columns to the new ones, in an order in which they can be carried out.

    Raises:
        UnsupportedPlanError: a type would have to change to one that can't hold all its values.
    """
    sources = kept_positions(old, new, fold)
    stay = set(sources)
    for position, field in enumerate(old.fields):
        if position not in stay:
            yield Dropped((*path, field.name))
    order = [field.name for position, field in enumerate(old.fields) if position in stay]
    for field, source in zip(new.fields, sources, strict=True):
        here = (*path, field.name)
        if source is None:
            yield Added(here, sql_type(field.dataType, required=True), not field.nullable)
            order.append(field.name)
            continue
        before = old.fields[source]
        if before.name != field.name:
            yield Renamed((*path, before.name), field.name)
            order[order.index(before.name)] = field.name
        yield from _inside(before.dataType, field.dataType, fold, here)
        if before.nullable != field.nullable:
            yield Required(here, not field.nullable)
    for position, field in enumerate(new.fields):
        if order[position] != field.name:
            order.remove(field.name)
            order.insert(position, field.name)
            yield Moved((*path, field.name), new.fields[position - 1].name if position else None)


def _inside(old: DataType, new: DataType, fold: Fold, path: tuple[str, ...]) -> Iterator[Alteration]:
    """Yield the alterations from one type to another."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(old, StructType) and isinstance(new, StructType):
        yield from alterations(old, new, fold, path)
    elif isinstance(old, ArrayType) and isinstance(new, ArrayType):
        yield from _inside(old.elementType, new.elementType, fold, (*path, "element"))
    elif isinstance(old, MapType) and isinstance(new, MapType):
        yield from _inside(old.keyType, new.keyType, fold, (*path, "key"))
        yield from _inside(old.valueType, new.valueType, fold, (*path, "value"))
    elif sql_type(old) != sql_type(new):
        if not _widens(old, new):
            raise UnsupportedPlanError(
                f"{'.'.join(path)} is a {sql_type(old)}, which cannot become a {sql_type(new)}",
                hint="A type can become a wider one; to begin anew, drop the column and add one of another name",
            )
        yield Retyped(path, sql_type(new))


_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_TIMES = tuple(f"TIME({precision})" for precision in range(7))


def _widens(old: DataType, new: DataType) -> bool:
    """Whether every value of the old type fits the new one."""
    from pyspark.sql.types import DecimalType

    before, after = sql_type(old), sql_type(new)
    if before in _DIGITS:
        if after in _DIGITS:
            return _DIGITS[before] <= _DIGITS[after]
        if isinstance(new, DecimalType):
            return new.precision - new.scale >= _DIGITS[before]
        return after == "DOUBLE" and before != "BIGINT"
    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
    if before.startswith("TIME(") and after.startswith("TIME("):  # a class that pyspark has since 4.1
        return _TIMES.index(before) <= _TIMES.index(after)
    return (before, after) == ("FLOAT", "DOUBLE")


def sql_type(type: DataType, *, required: bool = False) -> str:
    """Return a type as SQL text; with ``required``, including NOT NULL of nested fields."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type, StructType):
        fields = []
        for field in type.fields:
            more = " NOT NULL" if required and not field.nullable else ""
            fields.append(f"{quoted(field.name)}: {sql_type(field.dataType, required=required)}{more}")
        return f"STRUCT<{', '.join(fields)}>"
    if isinstance(type, ArrayType):
        return f"ARRAY<{sql_type(type.elementType, required=required)}>"
    if isinstance(type, MapType):
        return f"MAP<{sql_type(type.keyType, required=required)}, {sql_type(type.valueType, required=required)}>"
    return type.simpleString().upper()


# statements -----------------------------------------------------------------------------------------------------------


def statement(table: str, change: Alteration, default: str | None) -> str:
    """Return the ALTER TABLE statement for one alteration; an added column gets the default."""
    head = f"ALTER TABLE {table}"
    match change:
        case Dropped(path=path):
            return f"{head} DROP COLUMN {quoted_path(path)}"
        case Renamed(path=path, name=name):
            return f"{head} RENAME COLUMN {quoted_path(path)} TO {quoted(name)}"
        case Retyped(path=path, type=type):
            return f"{head} ALTER COLUMN {quoted_path(path)} TYPE {type}"
        case Required(path=path, required=required):
            return f"{head} ALTER COLUMN {quoted_path(path)} {'SET' if required else 'DROP'} NOT NULL"
        case Added():
            return additions(table, [(change, default)])
        case Moved(path=path, after=after):
            return f"{head} ALTER COLUMN {quoted_path(path)} {'FIRST' if after is None else f'AFTER {quoted(after)}'}"
        case _:
            assert_never(change)


def additions(table: str, changes: Iterable[tuple[Added, str | None]]) -> str:
    """Return one ALTER TABLE statement that adds columns, each with its default."""
    columns = (
        f"{quoted_path(change.path)} {change.type}"
        + (" NOT NULL" if change.required else "")
        + ("" if default is None else f" DEFAULT {default}")
        for change, default in changes
    )
    return f"ALTER TABLE {table} ADD COLUMNS ({', '.join(columns)})"


# records --------------------------------------------------------------------------------------------------------------


def value(text: str, old: DataType, new: DataType, fold: Fold) -> str:
    """Return the expression that converts a value of the old type to the new one, as :func:`alterations` allows."""
    return _value(text, old, new, fold, count(1))


def _value(text: str, old: DataType, new: DataType, fold: Fold, variables: Iterator[int]) -> str:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if sql_type(old) == sql_type(new):
        return text
    if isinstance(old, StructType) and isinstance(new, StructType):
        fields = []
        for field, source in zip(new.fields, kept_positions(old, new, fold), strict=True):
            fields.append(_field(text, old, field, source, fold, variables))
        packed = f"struct({', '.join(fields)})"
        return f"if({text} IS NULL, NULL, {packed})"
    variable = f"v{next(variables)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        inner = _value(variable, old.elementType, new.elementType, fold, variables)
        return f"transform({text}, {variable} -> {inner})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        other = f"v{next(variables)}"
        key = _value(variable, old.keyType, new.keyType, fold, variables)
        inner = _value(other, old.valueType, new.valueType, fold, variables)
        keys = f"transform_keys({text}, ({variable}, {other}) -> {key})"
        return f"transform_values({keys}, ({variable}, {other}) -> {inner})"
    return f"CAST({text} AS {sql_type(new)})"


def _field(
    text: str, old: StructType, field: StructField, source: int | None, fold: Fold, variables: Iterator[int]
) -> str:
    if source is None:
        return f"CAST(NULL AS {sql_type(field.dataType)}) AS {quoted(field.name)}"
    before = old.fields[source]
    inner = _value(f"{text}.{quoted(before.name)}", before.dataType, field.dataType, fold, variables)
    return f"{inner} AS {quoted(field.name)}"
