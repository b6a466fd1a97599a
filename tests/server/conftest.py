"""One server over the session of the tests, with the tables of TPC-H, for plans and SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait
from tests.server.clients import RawClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.serving import Server


@pytest.fixture(scope="session")
def server(spark: SparkSession, tpch: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server; everything is allowed."""
    tables = {name: str(path) for name, path in tpch.items()}
    with pyspark_substrait.serve(spark, tables=tables, allow_sql=True, allow_writes=True) as found:
        yield found


@pytest.fixture
def raw(server: Server) -> Iterator[RawClient]:
    """A client that sends messages as they are given."""
    with RawClient(server.uri, server.token) as client:
        yield client


@pytest.fixture
def connect(server: Server) -> Callable[[], Any]:
    """Makes connections of ADBC's driver."""
    driver = pytest.importorskip("adbc_driver_flightsql.dbapi")
    options = {"adbc.flight.sql.authorization_header": f"Bearer {server.token}"}
    return lambda: driver.connect(server.uri, options, autocommit=True)


@pytest.fixture
def cursor(connect: Callable[[], Any]) -> Iterator[Any]:
    """A cursor of ADBC."""
    with connect() as connection, connection.cursor() as found:
        yield found


@pytest.fixture
def classic(spark: SparkSession) -> SparkSession:
    """The session, if it is a classic one."""
    if not hasattr(spark, "sparkContext") or type(spark).__module__.startswith("pyspark.sql.connect"):
        pytest.skip("only a classic session tells its jobs")
    return spark
