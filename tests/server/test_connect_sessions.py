"""A server over Spark Connect has a copy of the session, where that can be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait
from pyspark_substrait.server.backend import Backend
from pyspark_substrait.spark.session import is_connect
from tests.server.clients import RawClient
from tests.server.test_protocol import query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: enough for the client to upload the rows
MANY = pa.table({"a": pa.array(range(300_000), pa.int64())})
SUM = query("SELECT sum(a) AS s FROM given")
FOUND = [{"s": 44999850000}]


@pytest.fixture
def connected(spark: SparkSession) -> SparkSession:
    if not is_connect(spark):
        pytest.skip("TEST_REMOTE asks for a Connect session")
    return spark


@pytest.mark.since("4.1", "copies of Connect sessions")
def test_a_copy_that_has_ended_is_made_again(connected: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backend, "idle_seconds", 0)
    with (
        pyspark_substrait.serve(connected, tables={"given": MANY}, allow_sql=True) as server,
        RawClient(server.uri, server.token) as client,
    ):
        assert client.table(SUM).to_pylist() == FOUND
        copy = server._server._engine.backend.spark
        assert copy is not connected
        copy.client.release_session()
        assert client.table(SUM).to_pylist() == FOUND
        assert "given" not in {found.name for found in connected.catalog.listTables()}
    assert connected.range(3).count() == 3


def test_tables_given_as_frames_are_read_in_their_session(connected: SparkSession) -> None:
    frame = connected.createDataFrame(MANY.to_pandas())
    with (
        pyspark_substrait.serve(connected, tables={"given": frame}, allow_sql=True) as server,
        RawClient(server.uri, server.token) as client,
    ):
        assert client.table(SUM).to_pylist() == FOUND
    assert "given" not in {found.name for found in connected.catalog.listTables()}
