"""The engines of dialects, each with the tables that a test gives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dialects.engines import DataFusion, DuckDB, Engine, Postgres, SQLite
from tests.integration.postgresql import server


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of its own."""
    with server() as found:
        yield Postgres(found)


@pytest.fixture(scope="module", params=["duckdb", "datafusion", "sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine without tables."""
    if request.param == "postgres":
        found: Engine = request.getfixturevalue("postgres")
        return found
    if request.param == "sqlite":
        return SQLite()
    pytest.importorskip(request.param)
    return DuckDB() if request.param == "duckdb" else DataFusion()
