"""A Flight SQL server beside the same work in its process: fetching many rows, and many plans of many clients.

Clients are a process of their own, ``python -m benchmarks.flight``, as they are where it matters.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click
import pyarrow as pa
from pyarrow import flight

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import side_by_side
from benchmarks.tpch import files, plan_file, views
from pyspark_substrait.server.messages import make, pack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["measure"]

_ROWS: Final = 10_000_000
_CLIENTS: Final = 64
_PLANS: Final = 1000
#: so that plans, and not the work on their data, are what is measured
_SCALE: Final = "0.01"


def measure(options: Options) -> list[Section]:
    """Rows fetched by one client, and plans sent by 64."""
    spark = options.session()
    views(spark, _SCALE)
    sections = [_fetched(spark, options), _sent(spark, options)]
    spark.stop()
    return sections


def _fetched(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    rows = _ROWS // 100 if options.quick else _ROWS
    section = Section(
        "Flight SQL: fetch rows",
        peer="toArrow",
        about=f"Seconds for {rows:,} rows of a number, a fraction and a text, from the statement to the last row in a "
        "client's process; beside it `toArrow` of the same statement in the server's.",
    )
    text = f"SELECT id, id / 3D AS third, CONCAT('text ', id) AS text FROM range(0, {rows}, 1, 16)"
    with (
        pyspark_substrait.serve(spark, allow_sql=True) as server,
        _client(server.uri, str(server.token), "fetch", text) as ask,
    ):
        fetch, collect = side_by_side([ask, lambda: spark.sql(text).toArrow()], options.rounds)
    section.add(f"{rows:,} rows", fetch, collect)
    section.aim("fetch rows by Flight SQL, by toArrow", 1.2, fetch / collect)
    return section


def _sent(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    plans = _PLANS // 10 if options.quick else _PLANS
    section = Section(
        "Flight SQL: many clients",
        peer="run_query",
        about=f"Seconds for {plans:,} of DataFusion's TPC-H plans over data at scale {_SCALE}, sent by {_CLIENTS} "
        f"clients that wait for the rows; beside it `run_query` of them by {_CLIENTS} threads of the server's process.",
    )
    contents = [plan_file("datafusion", query).read_bytes() for query in options.queries]
    tables = {name: str(path) for name, path in files(_SCALE).items()}

    def run() -> None:
        with ThreadPoolExecutor(_CLIENTS) as pool:
            for _ in pool.map(
                lambda number: pyspark_substrait.run_query(
                    contents[number % len(contents)], spark=spark, tables=tables
                ),
                range(plans),
            ):
                pass

    with TemporaryDirectory() as folder:
        for number, content in enumerate(contents):
            Path(folder, f"{number:02}.pb").write_bytes(content)
        with (
            pyspark_substrait.serve(spark, tables=tables, requests=_CLIENTS, waiting=_CLIENTS) as server,
            _client(server.uri, str(server.token), "plans", folder, str(plans)) as ask,
        ):
            for content in contents * 2:  # Java compiles what is used often
                pyspark_substrait.run_query(content, spark=spark, tables=tables)
            served, called = side_by_side([ask, run], 1, warm=0)
    section.add(f"{plans:,} plans", served, called, note=f"{plans / served:.0f} plans/s beside {plans / called:.0f}")
    section.aim("plans of 64 clients, by run_query of 64 threads", 1 / 0.9, served / called)
    return section


# the process of clients -----------------------------------------------------------------------------------------------


@contextmanager
def _client(*arguments: str) -> Iterator[Any]:
    """Start the process of clients, and yield what lets them do their work once and waits for it."""
    command = [sys.executable, "-m", "benchmarks.flight", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask() -> None:
            stdin.write("go\n")
            stdin.flush()
            if stdout.readline() != "done\n":
                raise RuntimeError("the clients failed")

        try:
            yield ask
        finally:
            stdin.close()


class _Clients:
    """Connections to a server, one for each thread.

    Args:
        uri: the address of the server.
        token: the bearer token.
    """

    def __init__(self, uri: str, token: str) -> None:
        self._uri = uri
        self._options = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])
        self._local = threading.local()

    def rows(self, command: bytes) -> pa.Table:
        """Return the rows of a command."""
        if not hasattr(self._local, "client"):
            self._local.client = flight.FlightClient(self._uri)
        client = self._local.client
        [endpoint] = client.get_flight_info(flight.FlightDescriptor.for_command(command), self._options).endpoints
        return client.do_get(endpoint.ticket, self._options).read_all()


@click.command()
@click.argument("uri")
@click.argument("token")
@click.argument("work", type=click.Choice(["fetch", "plans"]))
@click.argument("rest", nargs=-1)
def main(uri: str, token: str, work: str, rest: Sequence[str]) -> None:
    """Do WORK once for each line that comes in, and then say that it is done."""
    clients = _Clients(uri, token)
    if work == "fetch":
        query = pack(make("CommandStatementQuery", query=rest[0]))
        for _ in sys.stdin:
            clients.rows(query)
            print("done", flush=True)
        return
    commands = [
        pack(make("CommandStatementSubstraitPlan", plan=make("SubstraitPlan", plan=path.read_bytes())))
        for path in sorted(Path(rest[0]).iterdir())
    ]
    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(lambda _: time.sleep(0.01), range(_CLIENTS)))  # the threads are there
        for _ in sys.stdin:
            counts = [
                rows.num_rows
                for rows in pool.map(lambda number: clients.rows(commands[number % len(commands)]), range(int(rest[1])))
            ]
            if any(counts[number] != counts[number % len(commands)] for number in range(len(counts))):
                raise click.ClickException("the plans' results are mixed up")
            print("done", flush=True)


if __name__ == "__main__":
    main()
