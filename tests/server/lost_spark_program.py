"""Kill the Spark behind a server, and say what its clients get.

Run as ``python -m tests.server.lost_spark_program HOW`` in a process of its own, whose Spark it kills. HOW says whose
Spark it is: the `own` of the server, one `given` to it, that of a Connect `server`, or one that comes back (`again`).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa

import pyspark_substrait
from pyspark_substrait.spark.session_start import embedded_session
from tests.server.clients import RawClient, command, field, inside
from tests.server.test_protocol import query, until
from tests.spark.server_program import server as connect_server

SLOW = "SELECT id, sqrt(id) AS root FROM range(0, 4000000000, 1, 40000)"
TABLE = pa.table({"a": [1, 2, 3]})


def outcome(ask: Callable[[], Any]) -> dict[str, Any]:
    """The rows that a call gives, or its error."""
    try:
        return {"rows": ask().to_pylist()}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


def asked(server: Any, kill: Callable[[], None], revive: Callable[[], None]) -> dict[str, Any]:
    """The outcome for a client that reads while Spark is killed, and those of calls after it."""
    found: dict[str, Any] = {}
    with RawClient(server.uri, server.token) as client:
        prepare = command("ActionCreatePreparedStatementRequest", field(1, "SELECT sum(a) AS s FROM given"))
        [prepared] = client.action("CreatePreparedStatement", prepare)
        again = command("CommandPreparedStatementQuery", field(1, inside(prepared)[1]))
        found["before"] = outcome(lambda: client.table(again))
        kept = client.info(query("SELECT count(*) AS n FROM given"))
        reader = client.reader(client.info(query(SLOW)))
        reader.read_chunk()
        lost: list[dict[str, Any]] = []

        def rest() -> Any:
            while True:
                reader.read_chunk()

        thread = threading.Thread(target=lambda: lost.append(outcome(rest)))
        thread.start()
        kill()
        thread.join()
        found["reading"] = lost[0]
        found["next"] = outcome(lambda: client.table(query("SELECT 1 AS a")))
        revive()
        found["tables"] = outcome(lambda: client.table(command("CommandGetTables", field(3, "given"))))
        found["kept"] = outcome(lambda: client.reader(kept).read_all())
        found["prepared"] = outcome(lambda: client.table(again))
        threads = [t for t in threading.enumerate() if t.name.startswith("substrait-")]
        until(lambda: not any(t.is_alive() for t in threads))
    return found


def main(how: str) -> None:
    options: dict[str, Any] = {"tables": {"given": TABLE}, "allow_sql": True}

    def nothing() -> None:
        pass

    if how in ("own", "given"):
        spark = embedded_session("local[2]") if how == "given" else None
        with pyspark_substrait.serve(spark, **options) as server:
            process = server_java()
            found = asked(server, lambda: os.kill(process.pid, signal.SIGKILL), nothing)
    else:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        processes = [connect_server(port)]

        def kill() -> None:
            with suppress(ProcessLookupError):
                os.killpg(processes[-1].pid, signal.SIGKILL)
            processes[-1].wait()

        def revive() -> None:
            if how == "again":
                processes.append(connect_server(port))

        try:
            remote = f"sc://127.0.0.1:{port}"
            start = (lambda: embedded_session(remote=remote)) if how == "again" else embedded_session(remote=remote)
            with pyspark_substrait.serve(start, **options) as server:
                found = asked(server, kill, revive)
        finally:
            kill()
    print(json.dumps(found))


def server_java() -> Any:
    """The Java process of the session that runs."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    return gateway.proc


if __name__ == "__main__":
    main(sys.argv[1])
