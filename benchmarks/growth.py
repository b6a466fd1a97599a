"""How time and memory grow with the size of a plan, and with the number of plans that ran before.

The figures are kept in ``benchmarks/growth.json``, from which ``make pictures ARGS=growth`` draws them.
"""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import resource
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.options import Options
from benchmarks.report import Section, amount
from benchmarks.timing import Action, anew, computed, timed
from tests.growing import GROWTH, Growth, different, virtual_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FIGURES", "LINEAR", "exponents", "measure"]

#: where the figures are kept: for each thing that grows, the sizes, and a list of values for each thing measured
FIGURES = Path(__file__).with_name("growth.json")
#: up to this exponent, growth is called linear: caches and allocators make no line quite straight
LINEAR = 1.15
#: what is measured of a plan of some size, and what it is called
_OURS = {"load": "load", "check": "check", "spark": "check for Spark", "compile": "text"}
#: the same without Python's garbage collector, which has more to look at the more objects there are
_PAUSED = {key: f"{key} without collection" for key in _OURS}
_ENOUGH = 1.0  # seconds after which a thing isn't measured once more
_PLANS = 1_000
_Values = dict[str, list[float | None]]


def measure(options: Options) -> list[Section]:
    """Every way in which a plan grows, virtual tables, and many plans in a row."""
    session = options.session()
    _grown(next(iter(GROWTH.values())), session, Options(quick=True))  # what is slow in a new session
    found: dict[str, _Values] = {}
    sections = []
    for what, growth in GROWTH.items():
        found[what] = _grown(growth, session, options)
        sections.append(_section(what, found[what], growth.checked))
    found["plans in one session"] = _many(session, 20 if options.quick else _PLANS)
    sections.append(_of_many(found["plans in one session"]))
    session.stop()
    found["rows of a virtual table"] = _virtual_tables((1_000, 10_000) if options.quick else _ROWS)
    sections.append(_of_virtual_tables(found["rows of a virtual table"]))
    if not options.quick:
        FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return sections


# plans ----------------------------------------------------------------------------------------------------------------


def _grown(growth: Growth, session: SparkSession, options: Options) -> _Values:
    """What there is to know of plans of each size: seconds, and bytes."""
    values: _Values = {"size": [], **{name: [] for name in (*_OURS, *_PAUSED.values(), "memory", "analyse", "by hand")}}
    for size in growth.sizes[:2] if options.quick else growth.sizes:
        content = growth.made(size)
        values["size"].append(size)
        for name, seconds in _of_a_plan(content, options.rounds).items():
            values[name].append(seconds)
        analysed = by_hand = None
        if size <= growth.spark:
            tables = _tables(growth.tables(size), session)
            analysed = _analysed(content, tables, session, options.rounds)
            by_hand = _by_hand(growth.text(size), tables, session, options.rounds)
        values["analyse"].append(analysed)
        values["by hand"].append(by_hand)
    return values


def _of_a_plan(content: bytes, rounds: int) -> dict[str, float]:
    import pyspark_substrait

    plan = pyspark_substrait.load(content)
    load = anew(pyspark_substrait.load, content)
    actions: dict[str, Callable[[], object]] = {
        "load": load,
        "check": lambda: pyspark_substrait.validate(content),
        "spark": lambda: pyspark_substrait.validate(content, "spark"),
        "compile": lambda: pyspark_substrait.to_sql(plan, formatted=False),
    }
    found = {name: _median(action, rounds, computed) for name, action in actions.items()}
    gc.disable()
    try:
        found |= {_PAUSED[name]: _median(action, rounds, computed) for name, action in actions.items()}
    finally:
        gc.enable()
    tracemalloc.start()
    load()
    found["memory"] = float(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    return found


def _median(action: Action, rounds: int, clock: Callable[[Action], float] = timed) -> float:
    """The median of some calls, fewer where they take long."""
    gc.collect()
    times = [clock(action)]
    while len(times) <= rounds and sum(times) < _ENOUGH:
        times.append(clock(action))
    return statistics.median(times[1:] or times)


def _tables(columns: Mapping[str, list[str]], session: SparkSession) -> dict[str, DataFrame]:
    """Tables of required 64 bit integers, without records."""
    from pyspark.sql.types import LongType, StructField, StructType

    return {
        name: session.createDataFrame([], StructType([StructField(column, LongType(), False) for column in listed]))
        for name, listed in columns.items()
    }


def _analysed(content: bytes, tables: dict[str, DataFrame], session: SparkSession, rounds: int) -> float | None:
    """Bytes to an analysed DataFrame."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    import pyspark_substrait

    try:
        return _median(lambda: pyspark_substrait.from_substrait(content, session, tables=tables).schema, rounds)
    except (pyspark_substrait.SubstraitError, PySparkException, Py4JError):
        return None


def _by_hand(text: str, tables: dict[str, DataFrame], session: SparkSession, rounds: int) -> float | None:
    """The same query, written by hand, to an analysed DataFrame; None where Spark doesn't take it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    for name, frame in tables.items():
        frame.createOrReplaceTempView(name)
    try:
        return _median(lambda: session.sql(text).schema, rounds)
    except (PySparkException, Py4JError):
        return None
    finally:
        for name in tables:
            session.catalog.dropTempView(name)


def exponents(sizes: list[float | None], values: list[float | None]) -> list[float]:
    """The exponents between one size and the next: 1 where twice the size takes twice as much."""
    known = [(size, value) for size, value in zip(sizes, values, strict=True) if size is not None and value is not None]
    return [math.log(later / earlier) / math.log(large / small) for (small, earlier), (large, later) in pairwise(known)]


def _growth(sizes: list[float | None], values: list[float | None]) -> str:
    steps = exponents(sizes, values)
    if not steps:
        return "one size only"
    said = "linear" if steps[-1] <= LINEAR else f"size^{steps[-1]:.2f}"
    return f"{said} ({', '.join(f'{step:.2f}' for step in steps)})"


def _section(what: str, values: _Values, checked: str) -> Section:
    section = Section(
        f"Growth: {what}",
        peer="spark.sql by hand",
        about="Bytes to an analysed DataFrame, and the same query written by hand; beside it, in time "
        "of the processor, what Spark has no part in, and the most memory that loading allocates in Python.",
    )
    for index, size in enumerate(values["size"]):
        said = [f"{name} {amount(values[key][index] or 0.0, 's')}" for key, name in _OURS.items()]
        said.append(f"memory {amount(values['memory'][index] or 0.0, 'B')}")
        ours, peer = values["analyse"][index], values["by hand"][index]
        if ours is None:
            said.insert(0, "not analysed; the time is that of the text")
        elif peer is None:
            said.insert(0, "Spark refuses the text by hand")
        shown = values["compile"][index] if ours is None else ours
        section.add(f"{size:,}", shown or 0.0, peer, note="; ".join(said))
    for key, name in {**_OURS, "memory": "memory", "analyse": "to a DataFrame", "by hand": "by hand"}.items():
        grown = _growth(values["size"], values[key])
        if key in _PAUSED:
            grown += f"; without Python's garbage collector: {_growth(values['size'], values[_PAUSED[key]])}"
        section.notes.append(f"{name}: {grown}")
    if checked:
        section.notes.append(f"checking isn't linear: {checked}")
    linear = [key for key in (*_OURS, "memory") if not checked or key not in ("check", "spark")]
    steps = {_OURS.get(key, key): exponents(values["size"], values[key]) for key in linear}
    largest = max(steps, key=lambda name: steps[name][-1])
    section.aim(f"growth with {what}, largest exponent ({largest})", LINEAR, steps[largest][-1], "")
    return section


# virtual tables -------------------------------------------------------------------------------------------------------

_ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
_CHECKED = 1_000_000  # the most rows that are checked and compiled too
_NEEDED = 900  # bytes of memory for a row, without which a size is left out


def _virtual_tables(sizes: tuple[int, ...]) -> _Values:
    """Loading, checking and compiling virtual tables, each in a process of its own."""
    values: _Values = {"size": [], "load": [], "memory": [], "check": [], "compile": []}
    for size in sizes:
        if size * _NEEDED > _free_memory():
            continue
        values["size"].append(size)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            for name, value in pool.submit(_virtual_table, size).result().items():
                values[name].append(value)
    return values


def _virtual_table(size: int) -> dict[str, float | None]:
    import pyspark_substrait

    content = virtual_rows(size)
    with pyspark_substrait.limited(pyspark_substrait.Limits(message_bytes=len(content))):
        return _costs(size, content)


def _costs(size: int, content: bytes) -> dict[str, float | None]:
    import pyspark_substrait

    pyspark_substrait.validate(virtual_rows(10))
    pyspark_substrait.to_sql(virtual_rows(10))
    before = _resident()
    load = timed(anew(pyspark_substrait.load, content))
    # the peak before was lower: the bytes are made of parts that are smaller together
    found: dict[str, float | None] = {"load": load, "memory": float(_peak() - before), "check": None, "compile": None}
    if size <= _CHECKED:
        plan = pyspark_substrait.load(content)
        found["compile"] = timed(lambda: pyspark_substrait.to_sql(plan, formatted=False))
        del plan
        found["check"] = timed(lambda: pyspark_substrait.validate(content))
    return found


def _free_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _resident() -> int:
    """The bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _peak() -> int:
    """The most bytes of memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _of_virtual_tables(values: _Values) -> Section:
    section = Section(
        "Growth: rows of a virtual table",
        about="Three columns: a number, a text, a number that may be null; each size in a process of its own. Memory "
        "is the peak of the process while it loads, without what it had before, which includes the plan's bytes.",
    )
    for index, size in enumerate(values["size"]):
        said = [f"memory {amount(values['memory'][index] or 0.0, 'B')}"]
        for name, heading in (("check", "check"), ("compile", "text")):
            seconds = values[name][index]
            if seconds is not None:
                said.append(f"{heading} {amount(seconds, 's')}")
        section.add(f"{size:,} load", values["load"][index] or 0.0, note="; ".join(said))
    for name in ("load", "memory", "check", "compile"):
        section.notes.append(f"{name}: {_growth(values['size'], values[name])}")
    for name in ("load", "memory"):
        section.aim(f"growth of {name} with rows of a virtual table, exponent", LINEAR, _last(values, name), "")
    return section


def _last(values: _Values, name: str) -> float:
    return exponents(values["size"], values[name])[-1]


# many plans -----------------------------------------------------------------------------------------------------------


def _many(session: SparkSession, count: int) -> _Values:
    """Different plans, one after the other, in one session: the time of each, and what stays in memory."""
    import pyspark_substrait

    tables = _tables({"numbers": ["a", "b", "c", "d"]}, session)
    made = [different(number) for number in range(count)]
    for content in made[:10]:
        pyspark_substrait.from_substrait(content, session, tables=tables)
    values: _Values = {"size": [], "time": [], "heap": [], "objects": []}
    every = max(1, count // 50)
    for number, content in enumerate(made, 1):
        values["size"].append(number)
        values["time"].append(
            timed(lambda content=content: pyspark_substrait.from_substrait(content, session, tables=tables).schema)  # type: ignore[misc]
        )
        heap, objects = _kept(session) if number % every == 0 else (None, None)
        values["heap"].append(heap)
        values["objects"].append(objects)
    return values


def _kept(session: Any) -> tuple[float, float]:
    """What is in Java's heap after it was tidied, in bytes; and how many objects of Java Python holds on to."""
    from py4j.finalizer import ThreadSafeFinalizer

    gc.collect()
    java = session._jvm.java.lang
    java.System.gc()
    time.sleep(0.02)
    running = java.Runtime.getRuntime()
    return float(running.totalMemory() - running.freeMemory()), float(len(ThreadSafeFinalizer.finalizers))


def _of_many(values: _Values) -> Section:
    section = Section(
        "Growth: plans in one session",
        about="Different plans one after the other in one session, each from bytes to an analysed DataFrame; what is "
        "in Java's heap after it was tidied, and how many of Java's objects Python holds on to.",
    )
    times = [value for value in values["time"] if value is not None]
    tenth = max(1, len(times) // 10)
    kept = [
        (heap, objects)
        for heap, objects in zip(values["heap"], values["objects"], strict=True)
        if heap is not None and objects is not None
    ]
    for label, some, (heap, objects) in (
        ("first tenth", times[:tenth], kept[0]),
        ("last tenth", times[-tenth:], kept[-1]),
    ):
        said = f"Java's heap {amount(heap, 'B')}, {objects:.0f} Java objects held"
        section.add(f"{label} of {len(times):,}, median", statistics.median(some), note=said)
    first, last = section.figures
    section.aim("the last plans by the first ones, time", LINEAR, last.ours / first.ours)
    return section
