"""Isthmus's habits: Calcite's types, where the specification derives others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.model.types import (
    I8,
    I16,
    I32,
    I64,
    Date,
    Decimal,
    FixedChar,
    OpenStruct,
    PrecisionTimestamp,
    String,
    Type,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.type_checks import as_type

__all__ = ["HABITS", "returned_kind", "same_columns", "wider_cast", "wider_number"]

_ISTHMUS = (Producer.ISTHMUS,)

DATE = Habit(
    rule="isthmus-date",
    producers=_ISTHMUS,
    versions="all; before release 0.91 of the specification, every producer",
    writes="`add` or `subtract` of a date and an interval_day with the output type date",
    means="the date of the timestamp that the function gives",
    evidence="Calcite's type of `DATE + INTERVAL DAY` is DATE",
)
TEXT = Habit(
    rule="isthmus-text",
    producers=_ISTHMUS,
    versions="all",
    writes="a function of texts with the output type fixedchar or varchar, where the function gives another text type",
    means="the text, as a fixedchar or varchar",
    evidence="Calcite's type of `CHAR(2) || CHAR(3)` is CHAR(5), that of `SUBSTRING` of a CHAR(15) is VARCHAR(15)",
)
DIGITS = Habit(
    rule="isthmus-digits",
    producers=_ISTHMUS,
    versions="all",
    writes="an integer or decimal output type with fewer digits before the point than the function gives; a cast of "
    "such a decimal to one with more digits behind it",
    means="a number with as many digits before the point as the function gives; at most ten more than stated",
    evidence="Calcite's type of `SUM` of DECIMAL(7, 2) is DECIMAL(7, 2), of INTEGER it is INTEGER; times 1.0000 "
    "it is a cast to DECIMAL(12, 6). It computes with BigDecimal, and no value is checked",
)
_MOST = 38
_MORE = 10
_INTEGERS = (I8, I16, I32, I64)


def returned_kind(stated: Type, derived: Type, key: str, reading: Reading) -> Habit | None:
    """The habit by which a call may state a type of another kind than it gives."""
    match derived, stated:
        case PrecisionTimestamp(), Date() if DATE.of(reading):
            return DATE
        case String() | VarChar() | FixedChar(), VarChar() | FixedChar() if TEXT.of(reading):
            return TEXT
        case _:
            return None


def wider_number(stated: Type, derived: Type, key: str, reading: Reading, path: Path) -> Type | None:
    """The type of a call that states a number with fewer digits before the point than it gives; None for others."""
    wider: Type
    match concrete(stated), concrete(derived):
        case Decimal() as one, Decimal() as other if one.precision - one.scale < other.precision - other.scale:
            given = other.precision - other.scale + one.scale
            wider = replace(one, precision=min(given, one.precision + _MORE, _MOST))
        case (I8() | I16() | I32() as one, I16() | I32() | I64() as other) if _INTEGERS.index(
            type(one)
        ) < _INTEGERS.index(type(other)):
            wider = other
        case _:
            return None
    if not DIGITS.of(reading):
        return None
    wider = with_nullability(wider, stated.nullable or derived.nullable)
    DIGITS.note(reading, path, f"`{key}` gives {derived}, but its output_type is {stated}", f"of type {wider}")
    return wider


def wider_cast(source: Type, target: Type, reading: Reading, path: Path) -> Type:
    """The type of a cast: with room for decimals of :data:`DIGITS`, where it adds digits behind the point.

    Calcite writes such a cast for a product with 1.0000, whose type has the digits of the stated types.
    """
    match concrete(source), concrete(target):
        case Decimal() as one, Decimal() as other if one.scale < other.scale:
            more = (one.precision - one.scale) - (other.precision - other.scale)
            if not 0 < more <= _MORE or not DIGITS.of(reading):
                return target
            wider = replace(other, precision=min(other.precision + more, _MOST))
            DIGITS.note(reading, path, f"a cast of {source} to {target}", f"of type {wider}")
            return wider
        case _:
            return target


def same_columns(members: tuple[Relation, ...], reading: Reading, path: Path) -> tuple[Relation, ...]:
    """The inputs of a set operation with the numbers of each column as the type that holds those of all inputs."""
    schemas = [member.schema for member in members]
    if reading.strict or not DIGITS.of(reading) or any(isinstance(schema, OpenStruct) for schema in schemas):
        return members
    if len({len(schema.types) for schema in schemas}) != 1:
        return members
    columns = list(zip(*(schema.types for schema in schemas), strict=True))
    wanted = [_common_number(column) for column in columns]
    for position, (common, column) in enumerate(zip(wanted, columns, strict=True)):
        if common is not None:
            found = f"column {position} of the inputs: {', '.join(map(str, column))}"
            DIGITS.note_once(reading, path, found, f"cast to {common}", key=found)
    return tuple([_as_types(member, wanted) for member in members])


def _common_number(types: Sequence[Type]) -> Type | None:
    """The type that holds numbers of different types; None if they are no such numbers."""
    plain = [concrete(type) for type in types]
    if all(same_type(type, plain[0]) for type in plain):
        return None
    alike = all(isinstance(type, Decimal) for type in plain) or all(isinstance(type, _INTEGERS) for type in plain)
    return common_type(plain) if alike else None


def _as_types(member: Relation, wanted: Sequence[Type | None]) -> Relation:
    columns: list[Expression] = [
        FieldReference(root=RootReference(), reference=(StructField(position),), type=type)
        for position, type in enumerate(member.schema.types)
    ]
    made = [
        column if common is None else as_type(column, with_nullability(common, column.type.nullable))
        for column, common in zip(columns, wanted, strict=True)
    ]
    return member if made == columns else Project.only(member, made)


HABITS = (DATE, TEXT, DIGITS)
