"""The TPC-H queries, as DataFusion plans them, through each dialect: DuckDB's rows of the SQL text."""

from __future__ import annotations

import datetime
import decimal
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from tests.dialects.engines import Engine, SQLite

if TYPE_CHECKING:
    import duckdb

QUERIES = [f"q{number:02}" for number in range(1, 23)]
#: the queries that need neither decimals nor dates, which SQLite lacks
IN_SQLITE = {"q13", "q16"}


@pytest.fixture(scope="module")
def loaded(engine: Engine, larger_tpch: dict[str, Path]) -> Engine:
    """An engine with the tables; SQLite has only those of their columns that have its types."""
    for name, path in larger_tpch.items():
        engine.load_parquet(name, str(path))
    return engine


def _close(found: Any, wanted: Any) -> bool:
    """Whether two values are the same; averages of decimals are cut off after six digits."""
    if isinstance(wanted, datetime.date):
        wanted = (wanted - datetime.date(1970, 1, 1)).days
    if isinstance(wanted, float | decimal.Decimal) and found is not None:
        return math.isclose(float(found), float(wanted), rel_tol=1e-12, abs_tol=1.01e-6)
    return bool(found == wanted)


@pytest.mark.sweep
@pytest.mark.parametrize("query", QUERIES)
def test_rows(query: str, loaded: Engine, shared: Path, larger_tpch: dict[str, Path]) -> None:
    duckdb = pytest.importorskip("duckdb")
    plan = ps.load(shared / "plans" / "tpch" / "datafusion" / f"{query}.pb")
    if isinstance(loaded, SQLite) and query not in IN_SQLITE:
        with pytest.raises(ps.UnsupportedPlanError, match="SQLite 3"):
            ps.to_sql(plan, dialect="sqlite")
        return
    found = loaded.rows(ps.to_sql(plan, dialect=loaded.name), plan.trees[0].schema.types)
    with duckdb.connect() as connection:
        for name, path in larger_tpch.items():
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        expected = connection.sql((shared / "plans" / "tpch" / "sql" / f"{query}.sql").read_text())
        assert rows_differ(found, expected) == []


def rows_differ(found: list[tuple[Any, ...]], expected: duckdb.DuckDBPyRelation) -> list[Any]:
    """Return pairs of rows that differ; the numbers of rows, if these do."""
    wanted = expected.fetchall()
    if len(found) != len(wanted):
        return [len(found), len(wanted)]
    return [pair for pair in zip(found, wanted, strict=True) if not all(map(_close, *pair))]
