"""Run a plan with a relation of one's own: ``python examples/extension_relations/gaps.py``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import pyspark_substrait as substrait
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.types import NamedStruct, Struct, with_nullability

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HERE = Path(__file__).parent


def message_class() -> Any:
    """What ``protoc`` would make of ``message FillGaps { int64 seconds = 1; }``."""
    file = descriptor_pb2.FileDescriptorProto(name="gaps.proto", package="org.example", syntax="proto3")
    field = file.message_type.add(name="FillGaps").field.add(name="seconds", number=1)
    field.type, field.label = field.TYPE_INT64, field.LABEL_OPTIONAL
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("org.example.FillGaps"))


FillGaps = message_class()


def schema(detail: AnyMessage, readings: NamedStruct) -> NamedStruct:
    """The times are those of the input; in a gap, there are no values."""
    time, *values = readings.struct.types
    types = (time, *(with_nullability(type, True) for type in values))
    return NamedStruct(names=readings.names, struct=Struct(types=types))


def rows(detail: AnyMessage, readings: DataFrame) -> DataFrame:
    """A row for each step from the first time to the last."""
    from pyspark.sql import functions as F

    step = F.make_dt_interval(secs=F.lit(FillGaps.FromString(detail.value).seconds))
    time = readings.columns[0]
    whole = readings.agg(F.min(time).alias("first"), F.max(time).alias("last"))
    times = whole.select(F.explode(F.sequence("first", "last", step)).alias(time))
    return times.join(readings, time, "left")


REGISTRY = substrait.Registry.default().with_relation(
    "type.googleapis.com/org.example.FillGaps", schema=schema, rows=rows
)


def main() -> pa.Table:
    """A reading for every hour, in order."""
    hours = [datetime(2026, 3, 1, hour) for hour in (0, 3, 5)]
    readings = pa.table({"at": pa.array(hours, pa.timestamp("us")), "celsius": [7.0, 8.5, 9.0]})
    return substrait.run_query(HERE / "plan.json", tables={"readings": readings}, registry=REGISTRY)


if __name__ == "__main__":
    for row in main().to_pylist():
        print(row)
