"""A Flight SQL server beside the same work in its process: fetching many rows, and many plans of many clients.

And the memory that a server takes for a result of millions of rows.

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
from benchmarks.tpch import files, views
from pyspark_substrait.builder import call, lit, read
from pyspark_substrait.server.messages import make, pack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait import Plan

__all__ = ["measure"]

_ROWS: Final = 10_000_000
_STREAMED: Final = (1_000_000, 10_000_000, 50_000_000)
_PARTITION_ROWS: Final = 250_000
_CLIENTS: Final = 64
_PLANS: Final = 1000
#: so that plans, and not the work on their data, are what is measured
_SCALE: Final = "0.01"


def measure(options: Options) -> list[Section]:
    """Rows fetched by one client, and plans that many clients send."""
    spark = options.session()
    views(spark, _SCALE)
    sections = [_fetched(spark, options), _sent(spark, options)]
    spark.stop()
    return [*sections, _streamed(options)]


def _fetched(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    rows = _ROWS // 100 if options.quick else _ROWS
    section = Section(
        "Flight SQL: fetch rows",
        peer="toArrow",
        about=f"Seconds for {rows:,} rows of a number, a fraction and a text, from the statement to the last row in a "
        "client's process; beside it `toArrow` of the same statement in the server's.",
    )
    text = _text(rows)
    with (
        pyspark_substrait.serve(spark, allow_sql=True) as server,
        _client(server.uri, str(server.token), "fetch", text, str(rows)) as ask,
    ):
        fetch, collect = side_by_side([ask, lambda: spark.sql(text).toArrow()], options.rounds)
    section.add(f"{rows:,} rows", fetch, collect)
    section.aim("fetch rows by Flight SQL, by toArrow", 1.2, fetch / collect)
    return section


def _text(rows: int, partitions: int = 16) -> str:
    return f"SELECT id, id / 3D AS third, CONCAT('text ', id) AS text FROM range(0, {rows}, 1, {partitions})"


def _sent(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    plans = _PLANS // 10 if options.quick else _PLANS
    section = Section(
        "Flight SQL: many clients",
        peer="run_query",
        about=f"Seconds for {plans:,} plans (a join of tables at scale {_SCALE}, a filter by another number each, an "
        f"aggregate) of {_CLIENTS} clients, which look whether the rows are theirs; beside it `run_query` of them by "
        f"{_CLIENTS} threads of the server's process.",
    )
    contents = [_plan(number).to_bytes() for number in range(plans)]
    tables = {name: str(path) for name, path in files(_SCALE).items()}

    def run() -> None:
        with ThreadPoolExecutor(_CLIENTS) as pool:
            found = pool.map(lambda plan: pyspark_substrait.run_query(plan, spark=spark, tables=tables), contents)
            _check(list(found))

    with TemporaryDirectory() as folder:
        for number, content in enumerate(contents):
            Path(folder, f"{number:05}.pb").write_bytes(content)
        with (
            pyspark_substrait.serve(spark, tables=tables, requests=_CLIENTS, waiting=_CLIENTS) as server,
            _client(server.uri, str(server.token), "plans", folder) as ask,
        ):
            served, called = side_by_side([ask, run], options.rounds)
    section.add(f"{plans:,} plans", served, called, note=f"{plans / served:.0f} plans/s beside {plans / called:.0f}")
    section.aim("plans of 64 clients, by run_query of 64 threads", 1 / 0.9, served / called)
    return section


#: says the peak of its own memory for each line that comes in; ``ru_maxrss`` would begin with that of its parent
_SERVER: Final = """\
import sys
from pathlib import Path

import pyspark_substrait
from benchmarks.options import Options

with pyspark_substrait.serve(Options(master=sys.argv[1]).session(), allow_sql=True) as server:
    print(server.uri, server.token, flush=True)
    for _ in sys.stdin:
        _, _, rest = Path("/proc/self/status").read_text().partition("VmHWM:")
        print(int(rest.split()[0]) * 1024, flush=True)
"""


def _streamed(options: Options) -> Section:
    section = Section(
        "Flight SQL: memory of the server",
        about="The peak memory of a server's Python process, before and after a client has fetched results of rows as "
        "above, batch by batch, as Linux counts it. Java has 6 GB at most.",
    )
    command = [sys.executable, "-c", _SERVER, options.master]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        uri, token = server.stdout.readline().split()
        section.add("before", int(_answer(server)), unit="B")
        for rows in (_STREAMED[0] // 10,) if options.quick else _STREAMED:
            with _client(uri, token, "stream", _text(rows, max(16, rows // _PARTITION_ROWS)), str(rows)) as ask:
                ask()
            section.add(f"{rows:,} rows", int(_answer(server)), unit="B")
        server.stdin.close()
    return section


def _plan(number: int) -> Plan:
    """Return a plan that counts what a customer ordered, beside the number of the customer."""
    orders = read("orders", {"o_orderkey": "i64", "o_custkey": "i64"})
    items = read("lineitem", {"l_orderkey": "i64", "l_quantity": "decimal<15,2>"})
    own = orders.filter(lambda o: o.o_custkey == number)
    joined = own.join(items, on=lambda o, item: o.o_orderkey == item.l_orderkey)
    counted = joined.agg(items=lambda t: call("count", t.l_orderkey), quantity=lambda t: call("sum", t.l_quantity))
    return counted.select("items", "quantity", number=lit(number, "i64")).to_plan()


def _check(tables: Sequence[pa.Table]) -> None:
    """Refuse rows that are not those of the plans, in order."""
    if [table["number"].to_pylist() for table in tables] != [[number] for number in range(len(tables))]:
        raise click.ClickException("plans were lost or mixed up")


# the process of clients -----------------------------------------------------------------------------------------------


@contextmanager
def _client(*arguments: str) -> Iterator[Any]:
    """Start the process of clients, and yield what lets them do their work once and waits for it."""
    command = [sys.executable, "-m", "benchmarks.flight", "--", *arguments]  # a token may begin with a hyphen
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask() -> None:
            if _answer(process) != "done\n":
                raise RuntimeError("the clients failed")

        try:
            yield ask
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _answer(process: subprocess.Popen[str]) -> str:
    """Return the line with which a process answers one."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return process.stdout.readline()


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
        return self._reader(command).read_all()

    def count(self, command: bytes) -> int:
        """Return the number of rows of a command, of which one batch at a time is kept."""
        return sum(chunk.data.num_rows for chunk in self._reader(command))

    def _reader(self, command: bytes) -> flight.FlightStreamReader:
        if not hasattr(self._local, "client"):
            self._local.client = flight.FlightClient(self._uri)
        client = self._local.client
        [endpoint] = client.get_flight_info(flight.FlightDescriptor.for_command(command), self._options).endpoints
        return client.do_get(endpoint.ticket, self._options)


@click.command()
@click.argument("uri")
@click.argument("token")
@click.argument("work", type=click.Choice(["fetch", "stream", "plans"]))
@click.argument("rest", nargs=-1)
def main(uri: str, token: str, work: str, rest: Sequence[str]) -> None:
    """Do WORK once for each line that comes in, and then say that it is done."""
    clients = _Clients(uri, token)
    if work != "plans":
        query = pack(make("CommandStatementQuery", query=rest[0]))
        for _ in sys.stdin:
            found = clients.rows(query).num_rows if work == "fetch" else clients.count(query)
            if found != int(rest[1]):
                raise click.ClickException(f"{found:,} rows came")
            print("done", flush=True)
        return
    commands = [
        pack(make("CommandStatementSubstraitPlan", plan=make("SubstraitPlan", plan=path.read_bytes())))
        for path in sorted(Path(rest[0]).iterdir())
    ]
    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(lambda _: time.sleep(0.01), range(_CLIENTS)))  # the threads are there
        for _ in sys.stdin:
            _check(list(pool.map(clients.rows, commands)))
            print("done", flush=True)


if __name__ == "__main__":
    main()
