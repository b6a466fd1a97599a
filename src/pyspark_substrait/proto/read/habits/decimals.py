"""Decimals with more digits behind the point than the specification gives: those that the producer computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Decimal, Type, concrete
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import cast, values

__all__ = ["HABITS", "in_stated_digits"]

SCALE = Habit(
    rule="decimal-scale",
    producers=(
        Producer.DATAFUSION,
        Producer.DUCKDB,
        Producer.ISTHMUS,
        Producer.SUBSTRAIT_SPARK,
    ),
    versions="all",
    writes="`avg`, `multiply` or `divide` of decimals with an output type that has more digits behind the point",
    means="so many digits are computed; values that leave no room for them are errors",
    evidence="`typeof(avg(CAST(1 AS DECIMAL(15, 2))))` in Spark is decimal(19,6); the product of DECIMAL(18, 2) and "
    "DECIMAL(18, 10) in DuckDB is a DECIMAL(36,12)",
)
_MOST = 38


def in_stated_digits(
    found: Resolved, arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path
) -> list[Argument] | None:
    """The arguments of a call, cast so that the result has the digits of the stated type; None if it has them."""
    derived, given = found.output_type, values(arguments)
    if not isinstance(stated, Decimal) or not isinstance(derived, Decimal) or stated.scale <= derived.scale:
        return None
    if found.definition is None or not found.definition.urn.startswith(OFFICIAL) or given is None:
        return None
    types = [concrete(value.type) for value in given]
    decimals = [type for type in types if isinstance(type, Decimal)]
    if not SCALE.of(reading) or len(decimals) < len(types):
        return None
    wanted = _wanted(found.definition.name, decimals, stated.scale)
    if wanted is None or wanted == decimals:
        return None
    key = found.definition.key
    SCALE.note(reading, path, f"`{key}` gives {derived}, but its output_type is {stated}", f"{stated.scale} digits")
    return [cast(value, type) for value, type in zip(given, wanted, strict=True)]


def _wanted(name: str, types: list[Decimal], scale: int) -> list[Decimal] | None:
    match name, types:
        case "avg", [type]:
            more = scale - type.scale
            return [replace(type, precision=min(type.precision + more, _MOST), scale=scale)]
        case "multiply", [left, right] if left.scale + right.scale >= scale:
            return _product(left, right)
        case "divide", [left, right]:
            return _quotient(left, right, scale)
        case _:
            return None


def _product(left: Decimal, right: Decimal) -> list[Decimal] | None:
    """The types of two factors whose product has the digits of both behind the point."""
    excess = left.precision + right.precision + 1 - _MOST
    wider, other = (left, right) if left.precision - left.scale >= right.precision - right.scale else (right, left)
    precision = wider.precision - max(excess, 0)
    if precision < max(wider.scale, 1):
        return None
    narrowed = replace(wider, precision=precision)
    return [narrowed, other] if wider is left else [other, narrowed]


def _quotient(left: Decimal, right: Decimal, scale: int) -> list[Decimal] | None:
    """The types of a dividend and a divisor whose quotient has so many digits behind the point.

    All digits of the divisor count as such before the point of the quotient (the definition of ``divide``).
    """
    room, whole = _MOST - scale, left.precision - left.scale
    if whole + right.precision > room:
        right = replace(right, precision=min(right.precision, (room + right.scale + 1) // 2))
        whole = min(whole, room - right.precision)
    first = max(left.scale, scale - right.precision - 1)
    if first > left.scale and scale <= 6:
        first = left.scale
    return (
        None
        if right.precision <= right.scale or whole + first < max(first, 1)
        else [replace(left, precision=min(whole + first, _MOST), scale=first), right]
    )


HABITS = (SCALE,)
