"""The habits of ibis-substrait."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import Argument, EnumArgument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Type
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant, values

__all__ = ["CALLS", "HABITS"]

MEDIAN = Habit(
    rule="ibis-median",
    producers=(Producer.IBIS,),
    versions="all",
    writes="`median` of one argument, for Ibis's `approx_median`",
    means="the exact median, which is as near as an approximate one may be",
    evidence="[mapping.py](https://github.com/ibis-project/ibis-substrait/blob/main/ibis_substrait/compiler/mapping.py)",
)


def median(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The median with a precision."""
    given = values(arguments)
    if given is None or len(given) != 1:
        return None
    MEDIAN.note(reading, path, "a median without a precision", "EXACT")
    return Meant([EnumArgument("EXACT"), given[0]])


CALLS: dict[str, CallRule] = {"median": median}
HABITS = (MEDIAN,)
