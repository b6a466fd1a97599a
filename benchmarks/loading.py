"""Plans to a bound plan, and to a checked one: warm in one process, and cold in a new one."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import anew, side_by_side
from benchmarks.tpch import plan_file

__all__ = ["measure"]

#: prints how long the imports take that loading needs, and how long the first plan takes after them
_COLD = """
import sys, time
from pathlib import Path
content = Path(sys.argv[1]).read_bytes()
start = time.perf_counter()
import pyspark_substrait
import pyspark_substrait.api.loading
imported = time.perf_counter()
plan = pyspark_substrait.load(content)
loaded = time.perf_counter()
pyspark_substrait.validate(plan)
print(imported - start, loaded - imported, time.perf_counter() - loaded)
"""


def measure(options: Options) -> list[Section]:
    """Load, and load and check, each TPC-H plan of DataFusion and of Isthmus; and the first plan of a process."""
    return [_warm("datafusion", options), _warm("isthmus", options), _cold(options)]


def _warm(producer: str, options: Options) -> Section:
    import pyspark_substrait

    form = "Bytes of DataFusion's" if producer == "datafusion" else "JSON of Isthmus'"
    section = Section(
        "Load and check" if producer == "datafusion" else "Load and check JSON",
        about=f"{form} TPC-H plans: to a bound plan (`load`), to a plan and its findings (`load`, then `validate` of "
        "that plan), and to the findings of what came in (`validate`).",
    )
    together = []
    for query in options.queries:
        file = plan_file(producer, query)
        if not file.is_file():
            continue
        content = file.read_bytes()
        load, both, checked = side_by_side(
            [
                anew(pyspark_substrait.load, content),
                anew(lambda content: pyspark_substrait.validate(pyspark_substrait.load(content)), content),
                anew(pyspark_substrait.validate, content),
            ],
            max(options.rounds, 15),
            warm=3,
        )
        section.add(f"{query} load", load)
        section.add(f"{query} load and check", both)
        section.add(f"{query} check what came in", checked)
        together.append(both)
    if producer == "datafusion":
        section.aim("load and check a TPC-H plan, median", 0.002, statistics.median(together), "s")
    return section


def _cold(options: Options) -> Section:
    section = Section(
        "The first plan of a process",
        about="What a new process takes to import what loading needs, to load a TPC-H plan of DataFusion (which reads "
        "the extensions that it uses), and to check it; medians of some processes.",
    )
    query = options.queries[0]
    runs = [_first(plan_file("datafusion", query)) for _ in range(3 if options.quick else max(options.rounds, 5))]
    for what, seconds in zip(("import", "load", "check"), zip(*runs, strict=True), strict=True):
        section.add(f"{query} {what}", statistics.median(seconds))
    return section


def _first(file: Path) -> tuple[float, ...]:
    answer = subprocess.run([sys.executable, "-c", _COLD, file], check=True, capture_output=True, text=True)
    return tuple(map(float, answer.stdout.split()))
