"""The engines of dialects, each with the tables that a test gives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dialects.engines import DataFusion, DuckDB, Engine, Postgres, SQLite, Trino
from tests.integration import trino_server
from tests.integration.postgresql import server


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of its own."""
    with server() as found:
        yield Postgres(found)


@pytest.fixture(scope="module")
def trino() -> Iterator[Trino]:
    """A Trino server of its own."""
    with trino_server.server() as found:
        yield Trino(found)


@pytest.fixture(scope="module")
def trino_if_fetched(request: pytest.FixtureRequest) -> list[Trino]:
    """A Trino server, where there can be one."""
    return [] if trino_server.lacking() else [request.getfixturevalue("trino")]


@pytest.fixture(scope="module", params=["duckdb", "datafusion", "sqlite", "postgres", "trino"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine without tables."""
    if request.param in ("postgres", "trino"):
        found: Engine = request.getfixturevalue(request.param)
        return found
    if request.param == "sqlite":
        return SQLite()
    pytest.importorskip(request.param)
    return DuckDB() if request.param == "duckdb" else DataFusion()
