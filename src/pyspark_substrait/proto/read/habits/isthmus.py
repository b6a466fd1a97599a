"""Isthmus's habits: Calcite's types, where the specification derives others."""

from __future__ import annotations

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.types import Date, FixedChar, PrecisionTimestamp, String, Type, VarChar
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit

__all__ = ["HABITS", "returned_kind"]

_ISTHMUS = (Producer.ISTHMUS,)

DATE = Habit(
    rule="isthmus-date",
    producers=_ISTHMUS,
    versions="all; before release 0.91 of the specification, every producer",
    writes="`add` or `subtract` of a date and an interval_day with the output type date",
    means="the date of the timestamp that the function gives",
    evidence="Calcite's type of `DATE + INTERVAL DAY` is DATE",
)
CHARACTERS = Habit(
    rule="isthmus-fixedchar",
    producers=_ISTHMUS,
    versions="all",
    writes="`concat` with the output type fixedchar",
    means="the text, as a fixedchar",
    evidence="Calcite's type of `CHAR(2) || CHAR(3)` is CHAR(5)",
)


def returned_kind(stated: Type, derived: Type, key: str, reading: Reading) -> Habit | None:
    """The habit by which a call may state a type of another kind than it gives."""
    match derived, stated:
        case PrecisionTimestamp(), Date() if DATE.of(reading):
            return DATE
        case String() | VarChar(), FixedChar() if CHARACTERS.of(reading) and key.partition(":")[0] == "concat":
            return CHARACTERS
        case _:
            return None


HABITS = (DATE, CHARACTERS)
