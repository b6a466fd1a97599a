"""Arithmetic of DataFusion's unsigned numbers, which its plans have as signed ones: ranks, row numbers, lengths."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import I8, I16, I32, I64, Decimal, Type, concrete, with_nullability
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant, cast, values

__all__ = ["CALLS", "UNSIGNED"]

UNSIGNED = Habit(
    rule="datafusion-unsigned",
    producers=(Producer.DATAFUSION,),
    versions="all",
    writes="arithmetic of a signed number and an unsigned one (`rank() + 1`) with the output type decimal<20, 0>",
    means="both are decimals of 20 digits",
    evidence="DataFusion 55, tried",
)
_WIDEST = Decimal(precision=20, scale=0)


def arithmetic(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The arithmetic of decimals, which only the output type shows."""
    given = values(arguments)
    if stated is None or with_nullability(stated, False) != _WIDEST or given is None or len(given) != 2:
        return None
    if not all(isinstance(concrete(value.type), I8 | I16 | I32 | I64) for value in given):
        return None
    before = f"{given[0].type} and {given[1].type} with the output type {stated}"
    UNSIGNED.note(reading, path, before, "decimals of 20 digits")
    return Meant([cast(value, _WIDEST) for value in given])


CALLS: dict[str, CallRule] = dict.fromkeys(("add", "subtract", "multiply", "modulus"), arithmetic)
