"""The messages of the standard, one by one: what comes back, and what is refused with which code."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.builder import read, values
from tests.server.clients import RawClient, command, field, fields_of, inside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.serving import Server

#: schemas as the standard words them (arrow.apache.org/docs/format/FlightSql.html and its protobuf file)
KEYS = (
    "pk_catalog_name: string, pk_db_schema_name: string, pk_table_name: string not null, "
    "pk_column_name: string not null, fk_catalog_name: string, fk_db_schema_name: string, "
    "fk_table_name: string not null, fk_column_name: string not null, key_sequence: int32 not null, "
    "fk_key_name: string, pk_key_name: string, update_rule: uint8 not null, delete_rule: uint8 not null"
)
SCHEMAS = {
    "CommandGetCatalogs": "catalog_name: string not null",
    "CommandGetDbSchemas": "catalog_name: string, db_schema_name: string not null",
    "CommandGetTables": (
        "catalog_name: string, db_schema_name: string, table_name: string not null, table_type: string not null"
    ),
    "CommandGetTableTypes": "table_type: string not null",
    "CommandGetPrimaryKeys": (
        "catalog_name: string, db_schema_name: string, table_name: string not null, column_name: string not null, "
        "key_name: string, key_sequence: int32 not null"
    ),
    "CommandGetExportedKeys": KEYS,
    "CommandGetImportedKeys": KEYS,
    "CommandGetCrossReference": KEYS,
    "CommandGetXdbcTypeInfo": (
        "type_name: string not null, data_type: int32 not null, column_size: int32, literal_prefix: string, "
        "literal_suffix: string, create_params: list<item: string not null>, nullable: int32 not null, "
        "case_sensitive: bool not null, searchable: int32 not null, unsigned_attribute: bool, "
        "fixed_prec_scale: bool not null, auto_increment: bool, local_type_name: string, minimum_scale: int32, "
        "maximum_scale: int32, sql_data_type: int32 not null, datetime_subcode: int32, num_prec_radix: int32, "
        "interval_precision: int32"
    ),
}
UNION = (
    "dense_union<string_value: string=0, bool_value: bool=1, bigint_value: int64=2, int32_bitmask: int32=3, "
    "string_list: list<string_data: string>=4, int32_to_int32_list_map: map<int32, list<$data$: int32>>=5>"
)
SLOW = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) WHERE sqrt(id) < 0"


def worded(schema: pa.Schema) -> str:
    """A schema as the standard words it."""
    return ", ".join(str(field).removeprefix("pyarrow.Field<")[:-1] for field in schema)


def query(text: str) -> bytes:
    return command("CommandStatementQuery", field(1, text))


def plan_command(plan: bytes, version: str = "") -> bytes:
    return command("CommandStatementSubstraitPlan", field(1, field(1, plan) + (field(2, version) if version else b"")))


def nations() -> bytes:
    return read("nation", {"n_nationkey": "i64?", "n_name": "string?"}).to_plan().to_bytes()


# metadata -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_of_metadata(name: str, raw: RawClient) -> None:
    found = raw.table(command(name))
    assert worded(raw.schema(command(name))) == SCHEMAS[name]
    if name.endswith(("Keys", "Reference")):
        assert found.num_rows == 0


def test_sql_info(raw: RawClient) -> None:
    table = raw.table(command("CommandGetSqlInfo"))
    assert str(table.schema.field("info_name")) == "pyarrow.Field<info_name: uint32 not null>"
    assert str(table.schema.field("value").type) == UNION
    found = dict(zip(table["info_name"].to_pylist(), table["value"].to_pylist(), strict=True))
    limits = pyspark_substrait.capabilities()
    assert [found[number] for number in (3, 4, 5, 8, 9)] == [False, True, True, 0, True]
    assert f"of {found[6]} to {found[7]}" in repr(limits)
    assert raw.table(command("CommandGetSqlInfo", field(1, b"\x08")))["value"].to_pylist() == [0]  # packed: 8
    assert raw.table(command("CommandGetSqlInfo", field(1, b"\xe7\x07"))).num_rows == 0  # 999


def test_tables(raw: RawClient, tpch: dict[str, Any]) -> None:
    session = [field(1, "system"), field(2, "sess%")]
    found = raw.table(command("CommandGetTables", *session)).to_pylist()
    assert [row["table_name"] for row in found] == sorted(tpch)
    assert {(row["catalog_name"], row["db_schema_name"], row["table_type"]) for row in found} == {
        ("system", "session", "LOCAL TEMPORARY")
    }
    assert raw.table(command("CommandGetTables", *session, field(3, "part_"))).num_rows == 0
    some = raw.table(command("CommandGetTables", field(3, "part%"), field(5, 1)))
    assert some["table_name"].to_pylist() == ["part", "partsupp"]
    schema = pa.ipc.read_schema(pa.py_buffer(some["table_schema"][0].as_py()))
    assert schema.equals(raw.info(query("SELECT * FROM part")).schema)
    assert raw.table(command("CommandGetTables", field(4, "VIEW"), *session)).num_rows == 0
    assert raw.table(command("CommandGetTables", field(1, ""))).num_rows == 0  # without a catalog
    assert raw.table(command("CommandGetDbSchemas", field(1, "system")))["db_schema_name"].to_pylist() == ["session"]


def test_types(raw: RawClient) -> None:
    all_ = raw.table(command("CommandGetXdbcTypeInfo")).to_pylist()
    assert [(row["data_type"], row["type_name"]) for row in all_] == sorted(
        (row["data_type"], row["type_name"]) for row in all_
    )
    decimal = raw.table(command("CommandGetXdbcTypeInfo", field(1, 3))).to_pylist()
    assert [(row["type_name"], row["column_size"], row["create_params"]) for row in decimal] == [
        ("DECIMAL", 38, ["precision", "scale"])
    ]


# statements -----------------------------------------------------------------------------------------------------------


def test_a_plan_is_analysed_and_not_run_until_it_is_fetched(raw: RawClient) -> None:
    failing = values([(1,), (0,)], {"a": "i32"}).select(b=lambda r: 1 / r.a).to_plan().to_bytes()
    info = raw.info(plan_command(failing, "0.108.0"))
    assert info.schema.names == ["b"]
    with pytest.raises(pa.ArrowInvalid, match="failed on its data"):
        raw.reader(info).read_all()
    assert raw.schema(plan_command(nations())).names == ["n_nationkey", "n_name"]
    with pytest.raises(pa.ArrowNotImplementedError, match=r"takes plans of 0\.10\.0 to 0\.108\.0"):
        raw.info(plan_command(nations(), "0.999.0"))
    with pytest.raises(pa.ArrowInvalid, match="it has three numbers"):
        raw.info(plan_command(nations(), "new"))


def test_a_ticket_is_fetched_again_and_is_of_its_user_only(raw: RawClient, server: Server) -> None:
    info = raw.info(query("SELECT 1 AS a"))
    assert [raw.reader(info).read_all().to_pylist() for _ in range(2)] == [[{"a": 1}]] * 2
    with pytest.raises(KeyError, match="there is no such ticket"):
        raw.client.do_get(flight.Ticket(command("TicketStatementQuery", field(1, "guess"))), raw.options)
    with pytest.raises(pa.ArrowInvalid, match="a CommandStatementQuery is no ticket"):
        raw.client.do_get(flight.Ticket(query("SELECT 1")), raw.options)


def test_changes_run_once(raw: RawClient, spark: SparkSession) -> None:
    connect = type(spark).__module__.startswith("pyspark.sql.connect")
    assert fields_of(raw.put(command("CommandStatementUpdate", field(1, "CREATE TABLE once (a INT) USING parquet"))))
    try:
        info = raw.info(query("INSERT INTO once VALUES (1)"))
        assert raw.table(query("SELECT count(*) AS n FROM once")).to_pylist() == [{"n": 0}]
        assert raw.reader(info).read_all().num_columns == 0
        more = command("CommandStatementUpdate", field(1, "INSERT INTO once VALUES (7), (8), (9)"))
        if not connect:
            assert fields_of(raw.put(more)) == {1: 3}
        with pytest.raises(KeyError, match="there is no such ticket"):
            raw.reader(info).read_all()
        rows = values([(5,), (6,)], {"a": "i32?"})
        raw.put(plan_command(rows.insert_into("once").to_plan().to_bytes()))
        expected = [1, 5, 6] if connect else [1, 5, 6, 7, 8, 9]
        assert raw.table(query("SELECT a FROM once ORDER BY a"))["a"].to_pylist() == expected
        with pytest.raises(pa.ArrowInvalid, match="the plan changes nothing"):
            raw.put(plan_command(nations()))
        with pytest.raises(pa.ArrowInvalid, match="is a query, which changes nothing"):
            raw.put(command("CommandStatementUpdate", field(1, "SELECT 1")))
        with pytest.raises(pa.ArrowInvalid, match="has a word like INSERT, but is a query"):
            raw.put(command("CommandStatementUpdate", field(1, "WITH a AS (SELECT 1 AS insert) SELECT * FROM a")))
    finally:
        raw.put(command("CommandStatementUpdate", field(1, "DROP TABLE once")))


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("SELECT 1 FROM nation WHERE n_nationkey = ? AND n_name LIKE ?", [pa.int64(), pa.string()]),
        ("SELECT 1 FROM nation WHERE n_nationkey IN (?, 3, ?) LIMIT ? OFFSET ?", [pa.int64()] * 2 + [pa.int32()] * 2),
        ("SELECT DATE'2020-01-01' < ?, TIMESTAMP'2020-01-01 00:00:00Z' > ?", [pa.date32(), pa.timestamp("us", "UTC")]),
        ("SELECT CAST(? AS DECIMAL(10,2)), coalesce(?, 1L)", [pa.decimal128(10, 2), pa.int64()]),
        ("SELECT upper(?), ? AS b", [pa.string(), pa.string()]),
        ("SELECT 'cast(nullif(substrait_parameter_0_, substrait_parameter_0_) as no type)', ?", [pa.null()]),
        ("INSERT INTO nation VALUES (?)", [pa.null()]),  # a view
    ],
)
def test_types_of_parameters(text: str, types: list[pa.DataType], raw: RawClient, classic: SparkSession) -> None:
    """They are those of what a parameter stands beside."""
    create = command("ActionCreatePreparedStatementRequest", field(1, text))
    result = inside(raw.action("CreatePreparedStatement", create)[0])
    assert pa.ipc.read_schema(pa.py_buffer(result[3])).types == types


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("INSERT INTO typed VALUES (?, ?, ?, ?)", [pa.int32(), pa.string(), pa.date32(), pa.decimal128(10, 2)]),
        ("INSERT INTO TABLE typed (c, a) VALUES (?, 1), (?, 2)", [pa.date32(), pa.date32()]),
        ("INSERT INTO typed (c, a) VALUES (?, ?)", [pa.date32(), pa.int32()]),
        pytest.param(
            *("INSERT INTO typed VALUES (1, upper(?), ?, 1 + ?)", [pa.null()] * 3),
            marks=pytest.mark.since("4.0", "before, Spark keeps the expressions in VALUES"),
        ),
        (
            "INSERT INTO typed (b) SELECT b FROM typed WHERE c < ? AND b < ? LIMIT ?",
            [pa.date32(), pa.string(), pa.int32()],
        ),
        ("INSERT INTO typed (b) SELECT col1 FROM VALUES (?) WHERE col1 > ''", [pa.null()]),
        ("CREATE TABLE other USING parquet AS SELECT * FROM typed WHERE a = ?", [pa.int64()]),
    ],
)
def test_types_of_parameters_of_changes(
    text: str, types: list[pa.DataType], raw: RawClient, classic: SparkSession
) -> None:
    """They are those of the columns that values go to, and of what a parameter stands beside; nothing is changed."""
    classic.sql("CREATE TABLE typed (a INT, b STRING, c DATE, d DECIMAL(10, 2)) USING parquet")
    try:
        create = command("ActionCreatePreparedStatementRequest", field(1, text))
        result = inside(raw.action("CreatePreparedStatement", create)[0])
        assert pa.ipc.read_schema(pa.py_buffer(result[3])).types == types
        assert not classic.table("typed").count()
        assert not classic.catalog.tableExists("other")
    finally:
        classic.sql("DROP TABLE typed")


def test_prepared_statements(raw: RawClient) -> None:
    [body] = raw.action(
        "CreatePreparedStatement", command("ActionCreatePreparedStatementRequest", field(1, "SELECT ? * 2 AS a"))
    )
    result = inside(body)
    assert pa.ipc.read_schema(pa.py_buffer(result[3])) == pa.schema([("parameter_1", pa.int64())])
    assert not result.get(4)
    handle = field(1, result[1])
    with pytest.raises(pa.ArrowInvalid, match="the statement has 1 parameters, and 0 have a value"):
        raw.info(command("CommandPreparedStatementQuery", handle))
    for number in (4, 5):
        record = pa.record_batch({"x": pa.array([number], pa.int32())})
        answer = raw.put(command("CommandPreparedStatementQuery", handle), record)
        assert fields_of(answer) == {1: result[1]}
        assert raw.table(command("CommandPreparedStatementQuery", handle))["a"].to_pylist() == [2 * number]
    raw.put(command("CommandPreparedStatementQuery", handle), pa.record_batch({"x": [1, None, 3]}))
    assert raw.table(command("CommandPreparedStatementQuery", handle))["a"].to_pylist() == [2, None, 6]
    raw.put(command("CommandPreparedStatementQuery", handle), pa.record_batch({"x": [1, 2**40, 3]}))
    with pytest.raises(pa.ArrowInvalid, match="the rows for the record 2 of the parameters have other types"):
        raw.table(command("CommandPreparedStatementQuery", handle))
    with pytest.raises(pa.ArrowInvalid, match="the record has 2 columns"):
        raw.put(command("CommandPreparedStatementQuery", handle), pa.record_batch({"x": [1], "y": [2]}))
    assert raw.action("ClosePreparedStatement", command("ActionClosePreparedStatementRequest", handle)) == []
    with pytest.raises(KeyError, match="there is no such prepared statement"):
        raw.info(command("CommandPreparedStatementQuery", handle))


def test_prepared_plans(raw: RawClient) -> None:
    body = command("ActionCreatePreparedSubstraitPlanRequest", field(1, field(1, nations())))
    result = inside(raw.action("CreatePreparedSubstraitPlan", body)[0])
    assert pa.ipc.read_schema(pa.py_buffer(result[2])).names == ["n_nationkey", "n_name"]
    assert 3 not in result
    assert raw.table(command("CommandPreparedStatementQuery", field(1, result[1]))).num_rows == 25
    [body] = raw.action(
        "CreatePreparedStatement", command("ActionCreatePreparedStatementRequest", field(1, "DROP TABLE IF EXISTS no"))
    )
    result = inside(body)
    assert (result.get(2), result[4]) == (None, 1)
    assert raw.put(command("CommandPreparedStatementUpdate", field(1, result[1])))


# sessions, transactions, what is not there ----------------------------------------------------------------------------


def test_sessions(raw: RawClient) -> None:
    [options] = raw.action("GetSessionOptions")
    assert b"spark_catalog" in options and b"default" in options

    def setting(name: str, value: str) -> bytes:
        return field(1, field(1, name) + field(2, field(1, value)))

    assert raw.action("SetSessionOptions", setting("schema", "default")) == [b""]
    [refused] = raw.action("SetSessionOptions", setting("schema", "default") + setting("colour", "red"))
    assert refused.endswith(b"colour\x12\x02\x08\x01")  # 1: there is no such option
    with pytest.raises(pa.ArrowNotImplementedError, match="set for a login"):  # the token may be that of many clients
        raw.action("SetSessionOptions", setting("schema", "other"))
    assert raw.action("CloseSession") == [b"\x08\x03"]  # the token isn't of a login


def test_what_the_server_does_not_do(raw: RawClient) -> None:
    begun = command("CommandStatementQuery", field(1, "SELECT 1"), field(2, "t"))
    with pytest.raises(pa.ArrowNotImplementedError, match="has no transactions"):
        raw.info(begun)
    for name in ("BeginTransaction", "EndTransaction", "BeginSavepoint", "EndSavepoint"):
        with pytest.raises(pa.ArrowNotImplementedError, match="has no transactions"):
            raw.action(name, command(f"Action{name}Request"))
    with pytest.raises(pa.ArrowNotImplementedError, match="has no action 'Dance'"):
        raw.action("Dance")
    with pytest.raises(pa.ArrowNotImplementedError, match="lists no flights"):
        list(raw.client.list_flights(b"", raw.options))
    with pytest.raises(pa.ArrowInvalid, match="and no paths"):
        raw.client.get_flight_info(flight.FlightDescriptor.for_path("a"), raw.options)
    with pytest.raises(pa.ArrowNotImplementedError, match="has a field that this server does not know"):
        raw.info(command("CommandStatementQuery", field(1, "SELECT 1"), field(77, "x")))
    assert {action.type for action in raw.client.list_actions(raw.options)} >= {"CancelFlightInfo", "CloseSession"}


@pytest.mark.parametrize(
    "text", ["SET a = b", "USE other", "CREATE TEMP VIEW v AS SELECT 1", "ADD JAR 'x'", "BEGIN END"]
)
def test_sql_that_would_change_the_session(text: str, raw: RawClient) -> None:
    with pytest.raises(pa.ArrowNotImplementedError, match="would change the session"):
        raw.info(query(text))


def test_errors_have_no_stack_trace(raw: RawClient) -> None:
    bad = (
        query("SELECT * FROM missing"),
        query("SELECT nope("),
        plan_command(b"\xff\xff"),
        plan_command(read("missing", {"a": "i64"}).to_plan().to_bytes()),
        b"\xff",
    )
    for content in bad:
        for ask in (raw.info, raw.schema, raw.put):
            with pytest.raises(Exception) as found:
                ask(content)
            text = str(found.value)
            assert not any(word in text for word in ("Traceback", ".py", "\tat ", "java.", "File ")), text


# cancelling -----------------------------------------------------------------------------------------------------------


def jobs(spark: SparkSession) -> int:
    return len(spark.sparkContext.statusTracker().getActiveJobsIds())


def until(condition: Any) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never happened")


def fetched(client: RawClient, info: Any, errors: list[Exception]) -> None:
    """Fetch rows, and note the error. (With ``read_all``, pyarrow interrupts the main thread for a cancelled call.)"""
    try:
        for _ in client.reader(info):
            pass
    except Exception as error:
        errors.append(error)


@pytest.mark.parametrize("how", ["CancelFlightInfo", "CancelQuery", "the client goes away", "deadline"])
def test_cancelling_ends_the_job(how: str, classic: SparkSession, raw: RawClient, server: Server) -> None:
    until(lambda: jobs(classic) == 0)
    info, errors = raw.info(query(SLOW)), []
    other = RawClient(server.uri, server.token)
    if how == "deadline":
        other.options = flight.FlightCallOptions(
            headers=[(b"authorization", f"Bearer {server.token}".encode())], timeout=3
        )
    readers: list[Any] = []

    def fetch() -> None:
        try:
            readers.append(other.reader(info))
            for _ in readers[0]:
                pass
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=fetch)
    thread.start()
    until(lambda: jobs(classic) > 0)
    match how:
        case "CancelFlightInfo":
            [answer] = raw.action("CancelFlightInfo", field(1, info.serialize()))
            assert answer in (b"\x08\x01", b"\x08\x02")
        case "CancelQuery":
            [answer] = raw.action("CancelQuery", command("ActionCancelQueryRequest", field(1, info.serialize())))
            assert inside(answer)[1] in (1, 2)
        case "the client goes away":
            until(lambda: readers)
            readers[0].cancel()
    until(lambda: jobs(classic) == 0)
    thread.join()
    assert len(errors) == 1
    if how == "CancelFlightInfo":
        assert "the query was cancelled" in str(errors[0])
        with pytest.raises(KeyError, match="no such ticket"):
            raw.action("CancelFlightInfo", field(1, info.serialize()))


@pytest.mark.sweep
def test_rows_come_in_their_order(raw: RawClient) -> None:
    """Partitions run beside each other, and one may be empty, or be ready before those that come first."""
    text = "SELECT id FROM range(0, 1000, 1, 23) WHERE id < 100 OR id > 900 AND id % 3 = 0"
    assert raw.table(query(text))["id"].to_pylist() == [*range(100), *range(903, 1000, 3)]
    slow = "SELECT IF(id < 10, id + 0 * length(repeat(md5(string(id)), 300000)), id) AS id FROM range(0, 64, 1, 16)"
    assert raw.table(query(slow))["id"].to_pylist() == [*range(64)]
    ordered = "SELECT id FROM (SELECT id FROM range(0, 5000, 1, 7)) ORDER BY id % 97, id DESC"
    assert raw.table(query(ordered))["id"].to_pylist() == sorted(range(5000), key=lambda n: (n % 97, -n))
    failing = "SELECT IF(id = 700, raise_error('bad'), id) AS id FROM range(0, 1000, 1, 10)"
    with pytest.raises(pa.ArrowInvalid, match="bad"):
        raw.table(query(failing))


@pytest.mark.sweep
def test_a_client_that_is_killed_ends_its_job_and_its_threads(classic: SparkSession) -> None:
    until(lambda: jobs(classic) == 0)
    others = {thread for thread in threading.enumerate() if thread.name.startswith("substrait-")}
    with pyspark_substrait.serve(classic, allow_sql=True) as server:
        text = "SELECT id, uuid() AS u FROM range(0, 4000000000, 1, 40000)"
        program = [sys.executable, "-m", "tests.server.slow_client_program", server.uri, str(server.token), text]
        process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None and process.stdout.readline() == "reading\n"
            mine = [
                thread
                for thread in threading.enumerate()
                if thread.name.startswith("substrait-request") and thread not in others
            ]
            assert mine
        finally:
            process.kill()
            process.communicate()
        until(lambda: not any(thread.is_alive() for thread in mine))
        until(lambda: jobs(classic) == 0)
        with RawClient(server.uri, server.token) as client:
            assert client.table(query("SELECT 1 AS a")).to_pylist() == [{"a": 1}]


@pytest.mark.sweep
def test_requests_end_after_their_time_and_when_the_server_stops(classic: SparkSession) -> None:
    errors: list[Exception] = []
    with pyspark_substrait.serve(classic, allow_sql=True, seconds=5) as server:
        client = RawClient(server.uri, server.token)
        fetched(client, client.info(query(SLOW)), errors)
    assert [type(error) for error in errors] == [flight.FlightTimedOutError]
    assert "took more than 5 seconds" in str(errors.pop())
    until(lambda: jobs(classic) == 0)
    with pyspark_substrait.serve(classic, allow_sql=True) as server:
        client = RawClient(server.uri, server.token)
        thread = threading.Thread(target=fetched, args=(client, client.info(query(SLOW)), errors))
        thread.start()
        until(lambda: jobs(classic) > 0)
    thread.join()
    until(lambda: jobs(classic) == 0)
    assert "the server stops" in str(errors[0])


def test_too_many_requests_are_refused(classic: SparkSession) -> None:
    with pyspark_substrait.serve(classic, allow_sql=True, requests=1, waiting=0) as server:
        client = RawClient(server.uri, server.token)
        info = client.info(query(SLOW))
        reader = threading.Thread(target=fetched, args=(client, info, []))
        reader.start()
        until(lambda: jobs(classic) > 0)
        with pytest.raises(flight.FlightUnavailableError, match="the server is busy: 1 requests run"):
            client.info(query("SELECT 1"))
        server.stop()
        reader.join()
