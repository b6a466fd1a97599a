"""The catalog and the schema of a login, set by real clients; others keep theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.builder import read
from pyspark_substrait.cli import main
from tests.server.clients import RawClient, command, field

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.serving import Server

driver = pytest.importorskip("adbc_driver_flightsql.dbapi")

QUERY = "SELECT current_catalog(), current_schema(), * FROM places ORDER BY 3"
VIEW = pa.table({"n": pa.array([1, 2], pa.int64())})


@pytest.fixture(scope="module")
def logins(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with passwords, over a session with a table of the same name in two schemas."""
    spark.sql("CREATE SCHEMA IF NOT EXISTS elsewhere")
    for schema in ("default", "elsewhere"):
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW made AS SELECT '{schema}' AS place, 1L AS n")
        spark.sql(f"DROP TABLE IF EXISTS {schema}.places")
        spark.sql(f"CREATE TABLE {schema}.places USING parquet AS SELECT * FROM made")
    line = CliRunner().invoke(main, ["serve-user", "ana"], input="secret\nsecret\n").stdout.splitlines()[-1]
    users = tmp_path_factory.mktemp("users") / "users"
    users.write_text(f"{line}\n")
    with pyspark_substrait.serve(
        spark, tables={"shown": VIEW}, password_file=users, allow_sql=True, allow_writes=True
    ) as server:
        yield server
    for schema in ("default", "elsewhere"):
        spark.sql(f"DROP TABLE IF EXISTS {schema}.places")
    spark.sql("DROP SCHEMA elsewhere CASCADE")


def login(server: Server) -> Any:
    return driver.connect(server.uri, db_kwargs={"username": "ana", "password": "secret"}, autocommit=True)


def asked(connection: Any, text: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        found: list[Any] = cursor.fetchall()
        return found


@pytest.fixture(autouse=True)
def only_classic(spark: SparkSession) -> None:
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        pytest.skip("a session of Spark Connect can't be copied")


def test_one_login_has_another_schema(logins: Server) -> None:
    with login(logins) as mine, login(logins) as other:
        mine.adbc_connection.set_options(**{"adbc.connection.db_schema": "elsewhere"})
        expected = [("spark_catalog", "elsewhere", "elsewhere", 1)]
        assert asked(mine, QUERY) == expected
        assert asked(other, QUERY) == [("spark_catalog", "default", "default", 1)]
        assert asked(mine, "SELECT sum(n) FROM shown") == [(3,)]  # the server's own tables stay
        assert mine.adbc_current_db_schema == "elsewhere"
        with mine.cursor() as cursor:
            cursor.adbc_ingest("places", pa.table({"place": ["new"], "n": pa.array([2], pa.int64())}), mode="append")
        assert asked(mine, QUERY) == [*expected, ("spark_catalog", "elsewhere", "new", 2)]
        with mine.cursor() as cursor:
            plan = read("places", {"place": "string?", "n": "i64?"}).filter(lambda t: t.n > 1).select("place").to_plan()
            cursor.execute(plan.to_bytes())
            assert cursor.fetchall() == [("new",)]
        assert len(asked(other, QUERY)) == 1


def test_what_cannot_be_set(logins: Server) -> None:
    with login(logins) as connection:
        for name in ("adbc.connection.db_schema", "adbc.connection.catalog"):
            with pytest.raises(Exception, match=r"(?i)invalid|session option"):
                connection.adbc_connection.set_options(**{name: "missing"})
        assert asked(connection, QUERY) == [("spark_catalog", "default", "default", 1)]


def test_options_end_with_the_login(logins: Server) -> None:
    client = flight.FlightClient(logins.uri)
    found = []
    for value in ("elsewhere", ""):
        _, header = client.authenticate_basic_token("ana", "secret")
        raw = RawClient(logins.uri, header.decode().removeprefix("Bearer "))
        assert raw.action("SetSessionOptions", field(1, field(1, "schema") + field(2, field(1, value)))) == [b""]
        query = command("CommandStatementQuery", field(1, "SELECT current_schema() AS s"))
        found.append(raw.table(query).column("s").to_pylist())
        assert raw.action("SetSessionOptions", field(1, field(1, "schema") + field(2, field(1, "")))) == [b""]
        found.append(raw.table(query).column("s").to_pylist())
        assert raw.action("CloseSession") == [b"\x08\x01"]
    assert found == [["elsewhere"], ["default"], ["default"], ["default"]]
