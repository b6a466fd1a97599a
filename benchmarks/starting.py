"""Commands in processes of their own, from their start to their end: with Spark, and without."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.tpch import files, plan_file, sql

__all__ = ["measure"]

_ROWS = 10_000
_FEWEST_ROUNDS = 5
_GONE_SECONDS = 60
#: of the tables that queries are planned for; a plan needs only their schemas
_PLANNED_SCALE = "0.01"
_COMMAND = (sys.executable, "-m", "pyspark_substrait")

_PLAIN = """\
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

spark = SparkSession.builder.master({master!r}).getOrCreate()
orders = spark.read.parquet({table!r})
orders.where("price > 10").groupBy("product").agg(f.sum("price").alias("total")).sort("product").show()
"""

_SESSION = """\
import time
start = time.perf_counter()
{body}
print(time.perf_counter() - start)
"""
_OURS_STARTED = (
    "from pyspark_substrait.spark.session_start import embedded_session; embedded_session({master!r}).range(1).count()"
)
_PLAIN_STARTED = (
    "from pyspark.sql import SparkSession; SparkSession.builder.master({master!r}).getOrCreate().range(1).count()"
)


def measure(options: Options) -> list[Section]:
    """Run a small plan, and look at plans, each time in a new process."""
    rounds = 1 if options.quick else max(options.rounds, _FEWEST_ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = _Machine(folder)
        return [_running(machine, folder, options.master, rounds), _looking(machine, options, rounds)]


@dataclass
class _Machine:
    """Where commands run: with a cache folder of their own, and Python's compiled files kept as an installation does.

    Args:
        folder: everything is in there.
        environment: the variables of the commands.
    """

    folder: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        told = ("PYTHONDONTWRITEBYTECODE", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "PYSPARK_SUBSTRAIT_ARCHIVE")
        kept = {name: value for name, value in os.environ.items() if name not in told}
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPYCACHEPREFIX": str(self.folder / "compiled")}
        self.environment = {**kept, **cache, "CI": "1"}  # so that nothing is made in the background

    def run(self, command: Sequence[str | Path], archive: bool = True, keep: bool = False) -> tuple[float, str]:
        """The seconds from the start of a process to its end, and what it printed.

        Comes back when the Java process is gone too, which nobody waits for otherwise, so that the next one has the
        machine for itself; unless it is kept for the next command.
        """
        switches = {"PYSPARK_SUBSTRAIT_ARCHIVE": str(int(archive)), "PYSPARK_SUBSTRAIT_KEEP": str(600 * keep)}
        environment = {**self.environment, **switches}
        # files, not pipes: Java holds on to those for longer than the process that is measured
        with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
            start = time.perf_counter()
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=said,
                start_new_session=True,
            )
            code = process.wait()
            seconds = time.perf_counter() - start
            if not keep:
                _wait_for_group(process.pid)
            for file in (printed, said):
                file.seek(0)
            if code:
                raise RuntimeError(f"{' '.join(map(str, command))}: {said.read()}")
            return seconds, printed.read()

    def medians(self, commands: Sequence[tuple[Sequence[str | Path], bool]], rounds: int) -> list[float]:
        """The median of each of several commands, run in turn, after one run of each that doesn't count."""
        for command, archive in commands if rounds > 1 else ():
            self.run(command, archive)
        times = [[self.run(command, archive)[0] for command, archive in commands] for _ in range(rounds)]
        return [statistics.median(each) for each in zip(*times, strict=True)]

    def medians_told(self, commands: Sequence[tuple[Sequence[str | Path], bool]], rounds: int) -> list[float]:
        """The same of the seconds that the commands print."""
        times = [[float(self.run(command, archive)[1]) for command, archive in commands] for _ in range(rounds)]
        return [statistics.median(each) for each in zip(*times, strict=True)]


def _wait_for_group(group: int) -> None:
    end = time.monotonic() + _GONE_SECONDS
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.05)


def _running(machine: _Machine, folder: Path, master: str, rounds: int) -> Section:
    plan, table, script = _small(folder, master)
    section = Section(
        "Start",
        "plain PySpark",
        f"A plan over {_ROWS:,} rows of Parquet (filter, aggregate, sort) with `pyspark-substrait run`, from the start "
        "of the process to its end, beside a PySpark script of five lines that does the same; and the time from the "
        "first import to the first count of a session. Python's compiled files are there, as after an installation.",
    )
    made = machine.run([*_COMMAND, "warmup"])[0]
    ours: Sequence[str | Path] = [*_COMMAND, "run", plan, "--table", f"orders={table}", "--master", master]
    plain: Sequence[str | Path] = [sys.executable, script]
    with_archive, without, peer = machine.medians([(ours, True), (ours, False), (plain, True)], rounds)
    section.add("run a small plan", with_archive, peer)
    section.add("without the archive", without, peer)
    machine.run(ours, keep=True)
    section.add(
        "again, in the session kept", statistics.median(machine.run(ours, keep=True)[0] for _ in range(rounds)), peer
    )
    machine.run([*_COMMAND, "sessions", "--stop"], keep=True)

    bodies = (_OURS_STARTED, _PLAIN_STARTED)
    ours, plain = ([sys.executable, "-c", _SESSION.format(body=body.format(master=master))] for body in bodies)
    with_archive, without, peer = machine.medians_told([(ours, True), (ours, False), (plain, True)], rounds)
    section.add("start a session", with_archive, peer)
    section.add("start a session without the archive", without, peer)
    section.add("make the archive, once", made)
    [archive] = (folder / "cache").rglob("spark.jsa")
    section.add("the archive", archive.stat().st_size, unit="B")
    section.aim("run a small plan, by plain PySpark", 0.45, section.figures[0].ratio or 0.0)
    section.aim("run it again, by plain PySpark", 0.12, section.figures[2].ratio or 0.0)
    return section


def _small(folder: Path, master: str) -> tuple[Path, Path, Path]:
    """A plan, its table, and a script that does what the plan does."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pyspark_substrait.builder import fn, read

    numbers = range(_ROWS)
    table, plan, script = folder / "orders.parquet", folder / "plan.pb", folder / "plain.py"
    columns = {
        "product": pa.array([number % 13 for number in numbers], pa.int64()),
        "price": pa.array([number / 8 for number in numbers], pa.float64()),
    }
    pq.write_table(pa.table(columns), table)
    dear = read("orders", {"product": "i64?", "price": "fp64?"}).filter(lambda order: order.price > 10.0)
    totals = dear.group_by("product").agg(total=lambda order: fn.sum(order.price)).sort("product")
    totals.to_plan("product", "total").save(plan)
    script.write_text(_PLAIN.format(master=master, table=str(table)), encoding="utf-8")
    return plan, table, script


def _looking(machine: _Machine, options: Options, rounds: int) -> Section:
    section = Section(
        "Commands without Spark",
        about="DataFusion's TPC-H plans, each command from the start of its process to its end.",
    )
    explained = [plan_file("datafusion", query) for query in options.queries]
    times = machine.medians([([*_COMMAND, "explain", plan], False) for plan in explained], rounds)
    for query, seconds in zip(options.queries, times, strict=True):
        section.add(f"explain {query}", seconds)
    section.aim("explain a TPC-H plan, cold, the slowest", 0.25, max(times), "s")
    first, other = plan_file("datafusion", "q03"), plan_file("datafusion", "q05")
    commands: dict[str, list[str | Path]] = {
        "validate q03": ["validate", first],
        "upgrade q03": ["upgrade", first, "-o", machine.folder / "upgraded.pb"],
        "convert q03 to JSON": ["convert", first, "-", "--to", "json"],
        "diff q03 with itself": ["diff", first, first],
        "lineage q03": ["lineage", first],
        "sql q05": ["sql", other],
        "plan q03 by DataFusion": ["plan", sql("q03"), "--engine", "datafusion", "-o", machine.folder / "q03.pb"],
    }
    for name, file in files(_PLANNED_SCALE).items():
        commands["plan q03 by DataFusion"] += ["--table", f"{name}={file}"]
    times = machine.medians([([*_COMMAND, *command], False) for command in commands.values()], rounds)
    for what, seconds in zip(commands, times, strict=True):
        section.add(what, seconds)
    section.aim("plan a TPC-H query by DataFusion, cold", 0.6, times[-1], "s")
    return section
