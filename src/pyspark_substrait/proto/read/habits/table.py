"""The table of producers' habits."""

from __future__ import annotations

from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.habits import (
    datafusion,
    decimals,
    duckdb,
    ibis,
    isthmus,
    substrait_spark,
    unambiguous,
)
from pyspark_substrait.proto.read.habits.habit import Habit

__all__ = ["HABITS", "markdown"]

HABITS: tuple[Habit, ...] = (
    *arrow.HABITS,
    *datafusion.HABITS,
    *duckdb.HABITS,
    *ibis.HABITS,
    *isthmus.HABITS,
    *substrait_spark.HABITS,
    *decimals.HABITS,
    *unambiguous.HABITS,
)


def markdown() -> str:
    """The table of habits as a page of the documentation has it."""
    lines = ["| producer | versions | it writes | which means | evidence | note |", "|---|---|---|---|---|---|"]
    for habit in HABITS:
        makers = ", ".join(producer.value for producer in habit.producers) or "any"
        cells = (makers, habit.versions, habit.writes, habit.means, habit.evidence, f"`{habit.rule}`")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
