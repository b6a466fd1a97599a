"""One random query tried: Spark's as a plan on Spark and in other engines, DataFusion's as a plan on Spark and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import pyspark_substrait as ps
from fuzz import spark_sql
from fuzz.comparison import difference
from fuzz.trials import Outcome, alone, beside_datafusion, compared, failed, short
from pyspark_substrait.documents import Plan
from tests.peers import plan_outcomes, random_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["QUERIES", "TRIALS", "QueryEngines", "query_outcomes"]

TRIALS: Mapping[str, tuple[str, ...]] = {
    "Spark": ("produced", "optimized", "DataFusion", "DuckDB"),
    "DataFusion": ("logical", "logical, back", "optimized", "optimized, back"),
}
"""By the engine whose SQL a query is: what is tried of it."""

QUERIES: Mapping[str, Callable[[int], str]] = {"Spark": spark_sql.query, "DataFusion": random_sql.query}
"""By the engine: the query of a seed."""

#: what Spark's own conversion to Arrow can't do
_NO_ARROW = re.compile(r"null type field may not be non-nullable|cannot be viewed as non-nullable")


@dataclass
class QueryEngines:
    """Spark, and the engines beside it, with the tables of the queries."""

    start: Callable[[], SparkSession]

    @cached_property
    def spark(self) -> SparkSession:
        """The session, in which the tables are views."""
        made = self.start()
        for name, table in spark_sql.TABLES.items():
            path = Path(self.files.name, f"{name}.parquet")
            pq.write_table(table, path)
            made.read.parquet(str(path)).createOrReplaceTempView(name)
        return made

    @cached_property
    def files(self) -> TemporaryDirectory[str]:
        """The folder with the tables' files."""
        return TemporaryDirectory()

    @cached_property
    def datafusion(self) -> Any:
        """A DataFusion session."""
        return plan_outcomes.context(spark_sql.TABLES)

    @cached_property
    def duckdb(self) -> Any:
        """A connection to DuckDB."""
        import duckdb

        made = duckdb.connect()
        made.execute("SET TimeZone = 'UTC'")
        for name, table in spark_sql.TABLES.items():
            made.register(name, table)
        return made


def query_outcomes(engine: str, text: str, there: QueryEngines) -> list[Outcome]:
    """Try a query.

    Args:
        engine: whose SQL it is, Spark's or DataFusion's.
        text: the query.
        there: the engines.
    """
    return _of_spark(text, there) if engine == "Spark" else _of_datafusion(text, there)


def _of_spark(text: str, there: QueryEngines) -> list[Outcome]:
    try:
        frame = there.spark.sql(text)
    except Exception as error:
        return [Outcome("Spark", "refused by Spark", _code(error))]
    try:
        expected = frame.toArrow()
    except Exception as error:
        return [Outcome("Spark", "not read" if _NO_ARROW.search(str(error)) else "fails on its data", _code(error))]
    made = _produced(frame, there, optimized=False)
    optimized = _produced(frame, there, optimized=True)
    found = [_on_spark("produced", expected, made, there), _on_spark("optimized", expected, optimized, there)]
    if not isinstance(made, Plan):
        return found
    there_too = beside_datafusion("DataFusion", made, expected, there.datafusion, spark_sql.TABLES)
    return [*found, there_too, _in_duckdb(expected, made, there)]


def _code(error: Exception) -> str:
    named = re.search(r"\[([A-Z_0-9.]+)\]", str(error))
    return named[1] if named else short(error)


def _produced(frame: DataFrame, there: QueryEngines, *, optimized: bool) -> Plan | Exception:
    try:
        # the optimizer's plans read files; they don't know the names of views
        made = ps.to_substrait(frame, tables=() if optimized else [*spark_sql.TABLES], optimized=optimized)
        loaded = ps.load(made.to_bytes())
        assert isinstance(loaded, Plan)
        return loaded
    except Exception as error:
        return error


def _on_spark(trial: str, expected: pa.Table, plan: Plan | Exception, there: QueryEngines) -> Outcome:
    if not isinstance(plan, Plan):
        return failed(trial, plan)
    try:
        found = ps.run_query(plan, spark=there.spark, allowed_paths=[there.files.name], progress=False)
    except Exception as error:
        return alone(failed(trial, error))
    if found.schema.names != expected.schema.names:
        return Outcome(trial, "differs", f"columns {found.schema.names} instead of {expected.schema.names}")
    return compared(trial, difference(found, expected))


def _in_duckdb(expected: pa.Table, plan: Plan, there: QueryEngines) -> Outcome:
    try:
        statement = ps.to_sql(plan, dialect="duckdb")
    except Exception as error:
        return failed("DuckDB", error)
    try:
        found = there.duckdb.sql(statement).to_arrow_table()
    except Exception as error:
        return Outcome("DuckDB", "not run", short(error))
    if any("interval" in str(field.type) for field in found.schema):
        return Outcome("DuckDB", "not compared", "intervals have other forms in Arrow")
    return compared("DuckDB", difference(found, expected))


def _of_datafusion(text: str, there: QueryEngines) -> list[Outcome]:
    found = []
    for trial in ("logical", "optimized"):
        pair = plan_outcomes.outcomes(text, there.datafusion, there.spark, optimized=trial == "optimized")
        for name, one in zip((trial, f"{trial}, back"), pair, strict=True):
            if one is not None:
                found.append(Outcome(name, one.outcome, one.why))
    return found
