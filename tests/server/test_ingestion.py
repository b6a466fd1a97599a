"""Bulk ingestion by ADBC's driver: the rows of a table are those that were sent."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait
from tests.server.clients import RawClient, command, field, fields_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UTC = datetime.timezone.utc
D = decimal.Decimal
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "flag": (pa.bool_(), [True, None, False]),
    "tiny": (pa.int8(), [-128, None, 127]),
    "long number": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "float`s": (pa.float32(), [1.5, None, float("inf")]),
    "dou.ble": (pa.float64(), [float("nan"), None, -0.0]),
    "money": (pa.decimal128(38, 6), [D("12345678901234567890123456789012.123456"), None, D("-0.000001")]),
    "moment": (
        pa.timestamp("us", "UTC"),
        [datetime.datetime(1, 1, 1, tzinfo=UTC), None, datetime.datetime(2024, 2, 29, 23, 59, 59, 999999, UTC)],
    ),
    "local": (pa.timestamp("us"), [datetime.datetime(1500, 2, 28, 1), None, datetime.datetime(9999, 12, 31)]),
    "day": (pa.date32(), [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]),
    "blob": (pa.binary(), [b"\x00\xff", None, b""]),
    "text": (pa.string(), ["ä\n'`\"", None, ""]),
    "list": (pa.list_(pa.int32()), [[1, None], None, []]),
    "pair": (
        pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]),
        [{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}],
    ),
}
TABLE = pa.table({name: pa.array(values, type) for name, (type, values) in COLUMNS.items()})


@pytest.fixture
def name(raw: RawClient) -> Any:
    """The name of a table, which is dropped."""
    yield "ingested"
    raw.put(command("CommandStatementUpdate", field(1, "DROP TABLE IF EXISTS ingested")))


def rows(table: pa.Table) -> list[str]:
    """The rows in any order, as texts: NaN is no NaN in Python."""
    return sorted(map(repr, table.to_pylist()))


def stored(cursor: Any) -> pa.Table:
    cursor.execute("SELECT * FROM ingested")
    return cursor.fetch_arrow_table()


def test_rows_are_those_sent(cursor: Any, name: str) -> None:
    assert cursor.adbc_ingest(name, TABLE, mode="create") == 3
    found = stored(cursor)
    assert found.schema.names == TABLE.schema.names
    assert rows(found.cast(TABLE.schema)) == rows(TABLE)


def test_modes(cursor: Any, name: str) -> None:
    small = pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", "y"]})
    with pytest.raises(Exception, match="there is no table"):
        cursor.adbc_ingest(name, small, mode="append")
    assert cursor.adbc_ingest(name, small, mode="create_append") == 2
    with pytest.raises(Exception, match=r"there is a table .*ingested already\. Ask to append"):
        cursor.adbc_ingest(name, small, mode="create")
    other = pa.table({"B": ["z"], "A": pa.array([3], pa.int16())})  # by name, and an integer that becomes wider
    assert cursor.adbc_ingest(name, other, mode="append") == 1
    assert cursor.adbc_ingest(name, other, mode="create_append") == 1
    assert rows(stored(cursor)) == rows(pa.table({"a": [1, 2, 3, 3], "b": ["x", "y", "z", "z"]}))
    assert cursor.adbc_ingest(name, pa.table({"c": [1.5]}), mode="replace") == 1
    assert stored(cursor).to_pylist() == [{"c": 1.5}]


def test_many_batches(cursor: Any, name: str) -> None:
    batches = [pa.record_batch({"id": pa.array(range(n * 1000, n * 1000 + 1000), pa.int64())}) for n in range(200)]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    assert cursor.adbc_ingest(name, reader, mode="create") == 200_000
    cursor.execute("SELECT count(*), count(DISTINCT id), sum(id) FROM ingested")
    assert cursor.fetchall() == [(200_000, 200_000, sum(range(200_000)))]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"a": pa.array(["x"])}, r"a is string\? in the table the records of the client, and i32\? in the plan"),
        ({"a": pa.array([2**31], pa.int64())}, "OVERFLOW|overflow"),
        ({"a": pa.array([1.0])}, r"a is fp64\? in the table the records of the client"),
        ({"b": pa.array([1], pa.int32())}, "has no column b, which the records have"),
        ({"a": pa.array([1], pa.timestamp("ns"))}, "a value cannot be kept as it is by Spark"),
        ({"a": pa.array([1], pa.duration("s"))}, "cannot be ingested as it is"),
        ({"a": pa.array([[1]], pa.list_(pa.timestamp("ns")))}, "cannot be ingested as it is"),
    ],
)
def test_what_does_not_fit(column: dict[str, pa.Array], message: str, cursor: Any, name: str) -> None:
    cursor.adbc_ingest(name, pa.table({"a": pa.array([7], pa.int32())}), mode="create")
    with pytest.raises(Exception, match=message):
        cursor.adbc_ingest(name, pa.table(column), mode="append")
    assert stored(cursor).to_pylist() == [{"a": 7}]


def test_a_client_that_is_killed_has_changed_nothing(raw: RawClient, server: Any, name: str) -> None:
    program = [sys.executable, "-m", "tests.server.slow_client_program", server.uri, str(server.token), "--put", name]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "writing\n"
    finally:
        process.kill()
        process.communicate()
    time.sleep(2)
    [found] = raw.table(command("CommandStatementQuery", field(1, f"SHOW TABLES LIKE '{name}'"))).to_batches() or [None]
    assert found is None or found.num_rows == 0


def test_what_is_refused(raw: RawClient, spark: SparkSession, connect: Callable[[], Any]) -> None:
    record = pa.record_batch({"a": [1]})
    create = field(1, field(1, 1) + field(2, 1))
    for fields, message in (
        ([field(2, "t")], "it is not said how to handle that the table exists"),
        ([create], "have no table to go to"),
        ([create, field(2, "t"), field(5, 1)], "has no temporary tables"),
        ([create, field(2, "t"), field(6, "x")], "has no transactions"),
        ([create, field(2, "t"), field(1000, field(1, "k") + field(2, "v"))], "has no option 'k'"),
        ([create, field(2, "t"), field(3, "no_such_schema")], "no_such_schema"),
    ):
        with pytest.raises(Exception, match=message):
            raw.put(command("CommandStatementIngest", *fields), record)
    with (
        pyspark_substrait.serve(spark, allow_sql=True) as server,
        RawClient(server.uri, server.token) as client,
        pytest.raises(Exception, match="takes no records"),
    ):
        client.put(command("CommandStatementIngest", create, field(2, "t")), record)
    assert fields_of(
        raw.put(command("CommandStatementIngest", field(1, field(1, 1) + field(2, 3)), field(2, "t")), record)
    )
    raw.put(command("CommandStatementUpdate", field(1, "DROP TABLE t")))


def test_records_that_are_too_large(spark: SparkSession) -> None:
    """Nothing of them is written, and the server goes on."""
    driver = pytest.importorskip("adbc_driver_flightsql.dbapi")
    few, many = (pa.table({"n": pa.array(range(count), pa.int64())}) for count in (1000, 200_000))
    with pyspark_substrait.serve(spark, allow_sql=True, allow_writes=True, ingestion_bytes=100_000) as server:
        options = {"adbc.flight.sql.authorization_header": f"Bearer {server.token}"}
        with driver.connect(server.uri, options, autocommit=True) as connection, connection.cursor() as cursor:
            with pytest.raises(Exception, match=r"more than 100,000 bytes, .*\(--ingestion-bytes, ingestion_bytes"):
                cursor.adbc_ingest("limited", many, mode="create")
            try:
                cursor.adbc_ingest("limited", few, mode="create")
                cursor.execute("SELECT count(*) FROM limited")
                assert cursor.fetchall() == [(1000,)]
            finally:
                cursor.execute("DROP TABLE IF EXISTS limited")
