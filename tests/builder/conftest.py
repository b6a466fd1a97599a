"""Built queries beside the same queries in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import duckdb
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.builder import Frame
from tests.builder.tables import TABLES, rows

Results: TypeAlias = Callable[[Frame, str], tuple[list[Any], list[Any]]]


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection with the tables that built plans run over."""
    with duckdb.connect() as connection:
        for name, table in TABLES.items():
            connection.register(name, table)
        yield connection


@pytest.fixture
def results(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> Results:
    """The rows of a built query in Spark, whose plan is read back without a note, and those of SQL in DuckDB."""

    def run(frame: Frame, sql: str) -> tuple[list[Any], list[Any]]:
        plan = frame.to_plan()
        again = ps.load(plan.to_bytes(), strict=True)
        assert again.notes == ()
        assert again == plan
        return rows(ps.run_query(plan, tables=TABLES, spark=spark)), rows(duck.sql(sql).to_arrow_table())

    return run
