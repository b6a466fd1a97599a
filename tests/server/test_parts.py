"""The parts of the server that need neither Spark nor a client, and its command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from importlib.resources import files

import pytest
from click.testing import CliRunner
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from pyspark_substrait.cli import main
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.server.messages import described, make, pack, parse, unpack
from pyspark_substrait.server.refusals import InvalidArgument, Unimplemented
from pyspark_substrait.spark.sql_statements import Kind, kind_of, markers
from tests.server.clients import RawClient, command, field, fields_of, inside

# messages -------------------------------------------------------------------------------------------------------------


def test_messages_are_those_of_bytes_written_by_hand() -> None:
    found = unpack(command("CommandGetTables", field(1, ""), field(3, "a%"), field(4, "VIEW"), field(4, "TABLE")))
    assert (found.HasField("catalog"), found.catalog, found.HasField("db_schema_filter_pattern")) == (True, "", False)
    assert (found.table_name_filter_pattern, list(found.table_types)) == ("a%", ["VIEW", "TABLE"])
    plan = unpack(command("CommandStatementSubstraitPlan", field(1, field(1, b"\x01") + field(2, "0.1"))))
    assert (plan.plan.plan, plan.plan.version, plan.HasField("transaction_id")) == (b"\x01", "0.1", False)
    result = make("ActionCreatePreparedStatementResult", prepared_statement_handle=b"h", is_update=False)
    assert inside(pack(result)) == {1: b"h", 4: 0}
    assert fields_of(make("DoPutUpdateResult", record_count=7).SerializeToString()) == {1: 7}


def test_messages_that_are_not_known_are_refused() -> None:
    for content, kind in (
        (b"\xff", InvalidArgument),
        (command("CommandStatementQuery", b"\x0a\xff"), InvalidArgument),
        (command("CommandOfTomorrow"), Unimplemented),
        (command("CommandStatementQuery", field(9, "x")), Unimplemented),
        (command("CommandStatementSubstraitPlan", field(1, field(3, "x"))), Unimplemented),
    ):
        with pytest.raises(kind):
            unpack(content)
    with pytest.raises(InvalidArgument):
        parse("CancelFlightInfoRequest", b"\x0a\xff")


def test_the_file_is_read_as_it_stands() -> None:
    """The fields are counted by another way of reading."""
    text = (files("pyspark_substrait.server") / "flight_sql.proto").read_text()
    file = described(text)
    lines = re.findall(r"^  (?:(?:optional|repeated) )?\w+ (\w+) = (\d+);", text, re.MULTILINE)
    assert [(f.name, str(f.number)) for message in file.message_type for f in message.field] == lines
    assert len(file.message_type) == len(re.findall(r"^message ", text, re.MULTILINE))
    [info] = [message for message in file.message_type if message.name == "CommandGetSqlInfo"]
    assert info.field[0].label == FieldDescriptorProto.LABEL_REPEATED
    for wrong in ("message A {\n  map<string, string> a = 1;\n}", "string a = 1;", "import 'x';"):
        with pytest.raises(ValueError, match="is not understood"):
            described(wrong)


# SQL ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("select 1", Kind.QUERY),
        ("  -- SET a\n/* DROP /* x */ TABLE */ Select 1", Kind.QUERY),
        ("(select 1) union (select 2)", Kind.QUERY),
        ("with a as (select 'insert' as `update`) select * from a", Kind.QUERY),
        ("from t |> where a > 1", Kind.QUERY),
        ("with a as (select 1) insert into t select * from a", Kind.CHANGE),
        ("from t insert into u select *", Kind.CHANGE),
        ("show tables", Kind.LISTING),
        ("explain select 1", Kind.LISTING),
        ("create table temp (a int)", Kind.CHANGE),
        ("create or replace view v as select temporary from t", Kind.CHANGE),
        ("merge into t using u on t.a = u.a when matched then delete", Kind.CHANGE),
    ],
)
def test_kinds(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


@pytest.mark.parametrize(
    "text",
    [
        "set x = 1",
        "use d",
        "create or replace temp view v as select 1",
        "drop temporary function f",
        "begin select 1; end",
    ],
)
def test_statements_that_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedPlanError, match="would change the session"):
        kind_of(text)


def test_markers() -> None:
    assert markers("select ?, '?', \"?\", `?`, r'\\', ? -- ?\n, /* ? /* ? */ ? */ ?") == 3
    assert markers("select 'it\\'s ?', ?") == 1
    with pytest.raises(InvalidPlanError, match="there is no SQL statement"):
        kind_of(" -- nothing\n")


# the command ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "--view", "a"], "is not of the form NAME=PLAN"),
        (["serve", "--view", "a=/no/such"], "/no/such does not exist"),
        (["serve", "--master", "local", "--remote", "sc://h"], "cannot be used together"),
        (["serve-user", "a:b"], "a name is not empty, has no colon"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.sweep
def test_the_command_serves_until_it_is_told_to_stop() -> None:
    command_ = [
        sys.executable,
        "-m",
        "pyspark_substrait",
        "serve",
        "--port",
        "0",
        "--master",
        "local[1]",
        "--allow-sql",
    ]
    process = subprocess.Popen(command_, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    assert process.stderr is not None
    found = None
    while found is None:
        line = process.stderr.readline()
        assert line, "it ended"
        found = re.search(r"serving at (\S+) with the token (\S+)", line)
    with RawClient(found[1], found[2]) as client:
        assert client.table(command("CommandStatementQuery", field(1, "SELECT 1 AS a"))).to_pylist() == [{"a": 1}]
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read()
    assert process.wait() == 0
    assert "method=DoGet subject=sql:" in rest and rest.strip().endswith("stopping")
