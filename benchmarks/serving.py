"""Many plans in one session, from many threads, beside ``spark.sql`` of the queries from as many threads."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.tpch import plan_file, sql, views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["measure"]

_THREADS = (1, 2, 4, 8, 16)
#: so that plans, and not the work on their data, are what is measured
_SCALE = "0.01"
#: how many plans each round has at least, so that all threads have some
_PLANS = 66


def measure(options: Options) -> list[Section]:
    """DataFusion's plans, in a classic session: translated only, and run over small data."""
    spark = options.session()
    views(spark, _SCALE)
    sections = [_translated(spark, options), _run(spark, options)]
    spark.stop()
    return sections


def _translated(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    section = Section(
        "Serve many: translate",
        peer="spark.sql",
        about="Seconds for each of DataFusion's TPC-H plans, loaded, validated and translated to an analysed DataFrame "
        "by so many threads of one session; beside it `spark.sql` of the queries' texts by as many. The clock's time "
        "of a round divided by its plans.",
    )

    def ours(query: str) -> object:
        plan = pyspark_substrait.load(contents[query])
        assert not pyspark_substrait.validate(plan).errors
        return pyspark_substrait.from_substrait(plan, spark)

    contents = {query: plan_file("datafusion", query).read_bytes() for query in options.queries}
    texts = {query: sql(query) for query in options.queries}
    _measured(section, ours, lambda query: spark.sql(texts[query]), options, _PLANS)
    return section


def _run(spark: SparkSession, options: Options) -> Section:
    import pyspark_substrait

    section = Section(
        "Serve many: run",
        peer="spark.sql",
        about=f"The same, run over TPC-H data at scale {_SCALE}, to an Arrow table: `run_query` of a plan's bytes "
        "beside `toArrow` of `spark.sql`.",
    )
    contents = {query: plan_file("datafusion", query).read_bytes() for query in options.queries}
    texts = {query: sql(query) for query in options.queries}
    _measured(
        section,
        lambda query: pyspark_substrait.run_query(contents[query], spark=spark),
        lambda query: spark.sql(texts[query]).toArrow(),
        options,
        len(options.queries),
    )
    return section


@dataclass(frozen=True)
class _Round:
    """What one plan took, on the average of a round, in seconds: by the clock, and of this process's processor time."""

    clock: float
    python: float


def _measured(
    section: Section, ours: Callable[[str], object], peer: Callable[[str], object], options: Options, plans: int
) -> None:
    """A figure for each number of threads; both sides in turn."""
    queries = list(options.queries) * (1 if options.quick else -(-plans // len(options.queries)))
    for _ in range(1 if options.quick else 5):  # Java compiles what is used often
        _round(ours, queries, 4)
        _round(peer, queries, 4)
    alone: list[_Round] = []
    for threads in _THREADS[:3:2] if options.quick else _THREADS:
        pairs = [(_round(ours, queries, threads), _round(peer, queries, threads)) for _ in range(options.rounds)]
        both = [_median(side) for side in zip(*pairs, strict=True)]
        alone = alone or both
        faster = [first.clock / now.clock for first, now in zip(alone, both, strict=True)]
        note = f"{1 / both[0].clock:.0f} plans/s beside {1 / both[1].clock:.0f}"
        if threads > 1:
            note += f"; {faster[0]:.1f}× one thread beside {faster[1]:.1f}×"
        section.add(f"{threads} thread{'s' * (threads > 1)}", both[0].clock, both[1].clock, note=note)
    busy = [side.python * 1000 for side in alone]
    section.notes.append(
        f"One thread: Python's own processor time is {busy[0]:.1f} ms a plan, beside {busy[1]:.1f} ms. Threads of "
        f"Python take turns in it, so that one process can't do more than {1000 / busy[0]:.0f} plans a second."
    )


def _round(action: Callable[[str], object], queries: Sequence[str], threads: int) -> _Round:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: time.sleep(0.01), range(threads)))  # the threads are there
        started, used = time.perf_counter(), time.process_time()
        for _ in pool.map(action, queries):
            pass
        clock, python = time.perf_counter() - started, time.process_time() - used
    return _Round(clock / len(queries), python / len(queries))


def _median(rounds: Sequence[_Round]) -> _Round:
    return _Round(statistics.median(r.clock for r in rounds), statistics.median(r.python for r in rounds))
