"""Results of the evaluator, compared with Arrow tables."""

from __future__ import annotations

import decimal
import math
import uuid

import pyarrow as pa

from pyspark_substrait.model.literals import Compound, DayTime
from pyspark_substrait.model.relations import RelationBase
from pyspark_substrait.model.types import (
    UUID,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
)
from tests.reference import Result, evaluate
from tests.spark import plans
from tests.spark.plans import INT, INT_, REAL_, TEXT, lit, values

NAN = float("nan")
ID = uuid.UUID("c48ffa9e-64f4-44cb-ae47-152b4e60e77b")


def run(relation: RelationBase) -> Result:
    return evaluate(plans.plan(relation), {})


def test_results_are_compared_as_multisets() -> None:
    result = run(values([INT_], [(1,), (1,), (None,)]))
    assert result.difference(pa.table({"n": pa.array([None, 1, 1], pa.int32())})) is None
    assert result.difference(pa.table({"n": pa.array([None, None, 1], pa.int32())})) is not None
    assert result.difference(pa.table({"n": pa.array([1, 1], pa.int32())})) == "2 records instead of 3"
    assert result.difference(pa.table({"n": [1], "m": [2]})) == "2 columns instead of 1"


def test_a_tolerance_is_relative_and_for_finite_numbers() -> None:
    result = run(values([REAL_], [(1000.0,), (math.inf,), (None,), (NAN,), (0.0,)]))

    def near(*items: float | None) -> bool:
        return (
            result.difference(pa.table({"n": pa.array(items, pa.float64(), from_pandas=False)}), tolerance=0.01) is None
        )

    assert near(NAN, None, math.inf, 1009.0, -0.0)
    assert not near(NAN, None, math.inf, 1011.0, 0.0)
    assert not near(NAN, None, 1e300, 1000.0, 0.0)
    assert not near(NAN, 0.0, math.inf, 1000.0, 0.0)


def test_results_of_nested_and_temporal_types() -> None:
    kind: tuple[Type, ...] = (
        Map(key=TEXT, value=INT_),
        List(type=INT_),
        Struct(types=(INT,)),
        PrecisionTimestamp(precision=3),
        PrecisionTimestampTZ(precision=6),
        PrecisionTime(precision=6),
        IntervalDay(precision=6),
        Date(),
        Decimal(precision=5, scale=2),
        IntervalYear(),
        IntervalCompound(precision=6),
        UUID(),
    )
    record = ({"a": 1, "b": None}, [1, None], (3,), 1500, 7, 9, DayTime(1, 0, 1), 3, "1.5", 14)
    cells = [lit(type, cell) for type, cell in zip(kind, (*record, Compound(1, 2, 3, 4), ID), strict=True)]
    result = run(values(kind, [cells]))
    table = pa.table(
        {
            "0": pa.array([[("b", None), ("a", 1)]], pa.map_(pa.string(), pa.int32())),
            "1": pa.array([[1, None]], pa.list_(pa.int32())),
            "2": pa.array([{"x": 3}], pa.struct([("x", pa.int32())])),
            "3": pa.array([1500], pa.timestamp("ms")),
            "4": pa.array([7000], pa.timestamp("ns", "UTC")),
            "5": pa.array([9], pa.time64("us")),
            "6": pa.array([86_400_000_001], pa.duration("us")),
            "7": pa.array([3], pa.date32()),
            "8": pa.array([decimal.Decimal("1.5")], pa.decimal128(9, 1)),
            "9": pa.array([(14, 0, 0)], pa.month_day_nano_interval()),
            "10": pa.array([(1, 2, 3_000_004_000)], pa.month_day_nano_interval()),
            "11": pa.array([ID.bytes], pa.binary(16)),
        }
    )
    assert result.difference(table) is None
    assert result.difference(table.set_column(7, "7", pa.array([4], pa.date32()))) is not None
