"""Results of millions of rows written to Parquet: the memory of the Python process, by batches and as one table."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.options import Options
from benchmarks.report import Section

__all__ = ["measure"]

_ROWS = (1_000_000, 10_000_000, 50_000_000)
_QUICK_ROWS = (100_000,)
_PARTITION_ROWS = 250_000

_PROGRAM = f"""\
import json, resource, sys, time
from pathlib import Path

import pyarrow.parquet

import pyspark_substrait
from benchmarks.options import Options
from pyspark_substrait.builder import read
from pyspark_substrait.spark.results import write_file

way, rows, master, path = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
spark = Options(master=master).session()
records = spark.range(0, rows, 1, max(2, rows // {_PARTITION_ROWS})).selectExpr(
    "id AS number", "id / 7D AS fraction", "concat('text ', id) AS text"
)
plan = read("t", {{"number": "i64", "fraction": "fp64?", "text": "string?"}}).to_plan()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
start = time.perf_counter()
if way == "batches":
    with pyspark_substrait.run_query(plan, tables={{"t": records}}, spark=spark, batches=True) as reader:
        write_file(reader, path, "parquet")
else:
    pyarrow.parquet.write_table(records.toArrow(), path)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
assert pyarrow.parquet.read_metadata(path).num_rows == rows
print(json.dumps({{"before": before, "peak": peak, "seconds": seconds}}))
"""


def measure(options: Options) -> list[Section]:
    """Write results of several sizes, each in a process of its own, once."""
    memory = Section(
        "A result to Parquet: peak memory of the Python process",
        peer="toArrow",
        about="`run_query(…, batches=True)` written batch by batch, beside `DataFrame.toArrow()` and `write_table`: "
        "rows of a number, a fraction and a text, made by Spark. Java has 6 GB at most.",
    )
    times = Section("A result to Parquet: time", peer="toArrow", about="The same runs, from the session's start on.")
    for rows in _QUICK_ROWS if options.quick else _ROWS:
        ours, theirs = (_run(way, rows, options.master) for way in ("batches", "toArrow"))
        if ours is None:
            raise RuntimeError(f"the run of {rows:,} rows by batches failed")
        note = f"{ours['before'] / 1e6:.0f} MB before the run" + ("" if theirs else "; toArrow failed")
        memory.add(f"{rows:,} rows", ours["peak"], theirs["peak"] if theirs else None, unit="B", note=note)
        times.add(f"{rows:,} rows", ours["seconds"], theirs["seconds"] if theirs else None)
    return [memory, times]


def _run(way: str, rows: int, master: str) -> dict[str, float] | None:
    """Write a result in a process of its own, and return what it measured; None if it failed, which is shown."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _PROGRAM, way, str(rows), master, str(Path(folder) / "rows.parquet")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    found: dict[str, float] | None = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    return found
