"""Clients that send broken messages, far too large ones, or nothing at all: errors, and a server that goes on."""

from __future__ import annotations

import random
import re
import resource
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import flight

from pyspark_substrait.builder import lit, read
from pyspark_substrait.server import messages
from tests.server.clients import RawClient, command
from tests.server.test_protocol import plan_command, query

if TYPE_CHECKING:
    from pyspark_substrait.server.serving import Server

PROTO = Path(messages.__file__).with_name("flight_sql.proto").read_text()
COMMANDS = re.findall(r"^message ((?:Action|Command|Ticket)\w+)", PROTO, re.MULTILINE)
ACTIONS = [
    *("CreatePreparedStatement", "CreatePreparedSubstraitPlan", "ClosePreparedStatement", "CancelQuery"),
    *("CancelFlightInfo", "CloseSession", "GetSessionOptions", "SetSessionOptions", "BeginTransaction"),
]


@pytest.mark.parametrize(
    ("seed", "count"), [(26, 1000), pytest.param(27, 10_000, marks=pytest.mark.sweep)], ids=["few", "many"]
)
def test_random_bytes_are_errors_and_end_nothing(seed: int, count: int, raw: RawClient) -> None:
    """Bytes alone, and bytes in messages of the standard, to each call that takes one."""
    dice = random.Random(seed)
    answered = 0
    for number in range(count):
        noise = dice.randbytes(dice.randrange(1, 60))
        content = noise if number % 4 == 0 else command(dice.choice(COMMANDS), noise)
        call = number % 5
        try:
            if call == 0:
                raw.info(content)
            elif call == 1:
                raw.schema(content)
            elif call == 2:
                raw.client.do_get(flight.Ticket(content), raw.options).read_all()
            elif call == 3:
                raw.action(dice.choice(ACTIONS), content)
            else:
                raw.put(content)
        except (pa.ArrowException, ValueError, KeyError, NotImplementedError) as error:
            assert "its log says why" not in str(error), (number, content)
        else:
            answered += 1  # bytes that happen to be right
    assert answered < count / 10
    assert raw.table(query("SELECT 1 AS a")).to_pylist() == [{"a": 1}]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["noise", "plan", "text"])
def test_messages_of_100_megabytes(kind: str, raw: RawClient) -> None:
    size = 100 * 1024 * 1024
    match kind:
        case "noise":
            content = plan_command(random.Random(1).randbytes(size))
        case "plan":
            plan = read("nation", {"n_name": "string?"}).select(long=lit("x" * size)).to_plan()
            content = plan_command(plan.to_bytes())
        case _:
            content = query(f"SELECT '{'x' * size}'")
    for ask in (raw.info, raw.schema) if kind == "text" else (raw.info, raw.schema, raw.put):
        with pytest.raises(pa.ArrowInvalid, match=r"more than 16,777,216"):
            ask(content)
    assert raw.table(query("SELECT 1 AS a")).to_pylist() == [{"a": 1}]


def test_a_thousand_connections_that_say_nothing(server: Server, raw: RawClient) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this machine allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        with ExitStack() as stack:
            for number in range(1000):
                idle = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
                if number % 2:
                    idle.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")  # and no more
            assert raw.table(query("SELECT 1 AS a")).to_pylist() == [{"a": 1}]
            with RawClient(server.uri, server.token) as another:
                assert another.table(command("CommandGetCatalogs")).num_rows == 2
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
