"""A plan after `lint --fix` gives the rows that it gave before, on Spark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait
from pyspark_substrait.documents import as_document
from tests.agreement import assert_same_rows
from tests.lint.cases import CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0.05)

PLANS = Path(__file__).resolve().parents[3] / "shared" / "plans"
FOUND = [path for pattern in ("tpch/*/q*", "relations/*/*.json") for path in sorted(PLANS.glob(pattern))]
SHARED = [path.relative_to(PLANS).as_posix() for path in FOUND if path.suffix != ".sql"]
FIXED = [name for name, case in CASES.items() if case.fixes]

TABLES = {
    "t": pa.table(
        {
            "a": pa.array([1, 2, 3, 3, 5, -1], pa.int32()),
            "b": pa.array([1, None, 3, None, 2, 1], pa.int32()),
            "s": pa.array(["one", None, "x", "one", "", "y"], pa.string()),
            "f": pa.array([1.0, math.nan, None, 0.0, -0.0, math.inf], pa.float64()),
            "g": pa.array([True, False, None, True, None, False], pa.bool_()),
        }
    ),
    "u": pa.table({"k": pa.array([1, 3, 3, 7], pa.int32()), "v": pa.array(["a", None, "b", "c"], pa.string())}),
}


@pytest.mark.parametrize("name", FIXED)
def test_case(name: str, spark: SparkSession) -> None:
    plan = as_document(CASES[name].plan, deep=False)
    better, _ = pyspark_substrait.fixed(plan)
    before = pyspark_substrait.run_query(plan, tables=TABLES, spark=spark)
    after = pyspark_substrait.run_query(better.to_bytes(), tables=TABLES, spark=spark)
    assert after.schema == before.schema
    assert_same_rows(after, before, tolerance=0)


@pytest.fixture(scope="session")
def few(tpch: dict[str, Path]) -> dict[str, pa.Table]:
    """The first rows of each table: enough for every kind of relation, few enough for cross products."""
    import pyarrow.parquet as pq

    return {name: pa.Table.from_batches([next(pq.ParquetFile(path).iter_batches(300))]) for name, path in tpch.items()}


@pytest.mark.parametrize(
    "name", SHARED or [pytest.param("", marks=pytest.mark.skip(reason="no ../shared beside the repository"))]
)
def test_shared_plan(name: str, spark: SparkSession, few: dict[str, pa.Table], tpch: dict[str, Path]) -> None:
    whole = {table: str(path) for table, path in tpch.items()}
    tables: dict[str, str] | dict[str, pa.Table] = whole if name.startswith("tpch") else few
    better, done = pyspark_substrait.fixed(PLANS / name)
    # a plan of today is written anew for more than its old forms
    if all(finding.code in (100, 3010) for finding in done):
        pytest.skip("only its form is fixed")
    before = pyspark_substrait.run_query(PLANS / name, tables=tables, spark=spark)
    after = pyspark_substrait.run_query(better.to_bytes(), tables=tables, spark=spark)
    assert after.schema == before.schema
    assert_same_rows(after, before)
