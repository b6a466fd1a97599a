"""Plans of the TPC-H queries become what Spark makes of the queries themselves: the same reads and the same joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from benchmarks.shapes import Shape, shape
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = [f"q{number:02}" for number in range(1, 23)]

#: Plans of DataFusion's whose conditions are others than those of the query: an IN of two values became two equalities.
OTHER_FILTERS = {"q12": {"lineitem"}, "q19": {"lineitem"}}


@pytest.fixture(scope="module")
def views(spark: SparkSession, tpch: dict[str, Path]) -> Iterator[SparkSession]:
    """A session with the TPC-H tables as views."""
    if is_connect(spark):
        pytest.skip("a physical plan is seen in a classic session only")
    for name, path in tpch.items():
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
    yield spark
    for name in tpch:
        spark.catalog.dropTempView(name)


def text_of(shared: Path, query: str) -> str:
    return (shared / "plans" / "tpch" / "sql" / f"{query}.sql").read_text().strip().rstrip(";")


def columns(found: Shape) -> Counter[tuple[str, frozenset[str]]]:
    counted: Counter[tuple[str, frozenset[str]]] = Counter()
    for scan, count in found.scans.items():
        counted[scan.table, scan.columns] += count
    return counted


def filters(found: Shape, left_out: set[str]) -> dict[str, set[str]]:
    """The conditions that reach the scans of each table."""
    reached: dict[str, set[str]] = {}
    for scan in found.scans:
        if scan.table not in left_out:
            reached.setdefault(scan.table, set()).update(scan.filters)
    return reached


def assert_alike(found: Shape, expected: Shape, other_filters: set[str]) -> None:
    assert columns(found) == columns(expected)
    mine, theirs = filters(found, other_filters), filters(expected, other_filters)
    # more of "is not null" than in the query comes from joins that the other producer chose, and costs nothing
    assert {table: items - mine[table] for table, items in theirs.items() if items - mine[table]} == {}
    assert found.joins == expected.joins
    assert found.steps == expected.steps


@pytest.mark.parametrize("query", QUERIES)
def test_our_own_plan_of_a_query_is_carried_out_like_the_query(
    views: SparkSession, shared: Path, tpch: dict[str, Path], query: str
) -> None:
    frame = views.sql(text_of(shared, query))
    plan = ps.load(ps.to_substrait(frame, tables=tuple(tpch)).to_bytes())
    assert_alike(shape(ps.from_substrait(plan, views)), shape(frame), set())


@pytest.mark.parametrize("query", QUERIES)
def test_the_plan_of_datafusion_is_carried_out_like_the_query(views: SparkSession, shared: Path, query: str) -> None:
    frame = views.sql(text_of(shared, query))
    plan = ps.load(shared / "plans" / "tpch" / "datafusion" / f"{query}.pb")
    assert_alike(shape(ps.from_substrait(plan, views)), shape(frame), OTHER_FILTERS.get(query, set()))
