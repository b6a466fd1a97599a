"""The habits of substrait-spark: Spark's types, where the specification derives others."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import FP64, I8, I16, I32, I64, Type, concrete
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant, cast, values

__all__ = ["CALLS", "HABITS"]

AVERAGE = Habit(
    rule="spark-average",
    producers=(Producer.SUBSTRAIT_SPARK,),
    versions="all",
    writes="`avg` of integers with the output type fp64",
    means="the average of fp64",
    evidence="Spark's `avg(1)` is a double; [FunctionMappings.scala](https://github.com/substrait-io/substrait-java/"
    "blob/main/spark/src/main/scala/io/substrait/spark/expression/FunctionMappings.scala)",
)


def average(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The average of floating-point numbers, which only the output type shows."""
    given = values(arguments)
    if not isinstance(stated, FP64) or given is None or len(given) != 1:
        return None
    if not isinstance(concrete(given[0].type), I8 | I16 | I32 | I64):
        return None
    AVERAGE.note(reading, path, f"the average of {given[0].type} as {stated}", "the average of fp64")
    return Meant([cast(given[0], FP64())])


CALLS: dict[str, CallRule] = {"avg": average}
HABITS = (AVERAGE,)
