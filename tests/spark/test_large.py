"""Large plans and large inputs run, and give the right rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from tests.spark.large import GROWTH
from tests.spark.plans import tuples

pytestmark = pytest.mark.sweep


@pytest.mark.parametrize("what", GROWTH)
def test_the_largest_runs(spark: SparkSession, what: str, tmp_path: Path) -> None:
    made, sizes = GROWTH[what]
    large = made(sizes[-1], tmp_path)
    found = ps.run_query(large.plan, spark=spark, tables=large.tables, allowed_paths=large.allowed)
    assert sorted(tuples(found), key=lambda row: row[0]) == large.rows
