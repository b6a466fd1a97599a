"""Arithmetic of DataFusion's unsigned numbers on Spark, beside DataFusion's own results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.comparison import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

ITEMS = pa.table({"id": pa.array([1, 2, 3, 4, 5], pa.int64()), "kind": ["a", "b", "a", None, "a"]})
RANK = "rank() OVER (PARTITION BY kind ORDER BY id)"


@pytest.mark.parametrize(
    "expression",
    [f"{RANK} + 1", f"id - {RANK}", f"{RANK} - 3", f"{RANK} * id", f"{RANK} % 2", f"{RANK} + CAST(1 AS INT)"],
)
@pytest.mark.parametrize("optimized", [False, True])
def test_the_rows_are_datafusions(expression: str, optimized: bool, spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("items", [ITEMS.to_batches()])
    frame = context.sql(f"SELECT id, {expression} AS value FROM items")
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    rows = ps.run_query(plan, tables={"items": ITEMS}, spark=spark)
    assert difference(frame.to_arrow_table(), rows) is None


def test_strict_reading_refuses_it() -> None:
    context = datafusion.SessionContext()
    context.register_record_batches("items", [ITEMS.to_batches()])
    logical = context.sql(f"SELECT {RANK} + 1 FROM items").logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    with pytest.raises(ps.SubstraitError):
        ps.load(plan, strict=True)
