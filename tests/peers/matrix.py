"""The matrix of producers and engines, which is measured and written to docs/engine-matrix.md.

    python -m tests.peers.matrix                                # all producers
    python -m tests.peers.matrix "DataFusion 55, TPC-DS"        # one; the rows of the others stay as they are
    python -m tests.peers.matrix Ibis --python env/bin/python   # of an environment that has it: see ibis_plans.py
    python -m tests.peers.matrix "DataFusion 55, TPC-DS" --case q64 --save q64.pb   # one plan, and as a file

Each plan is fitted to the tables, brought into the form of the engine and run there, in a process of its own with a
limit of time. Its rows are compared with those of Spark for the same plan, and Spark's with those of DuckDB for the SQL
text that the plan was made of. Where a limit cuts ties, that is shown: see :mod:`tests.peers.matrix_orders`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.analysis.comparison import difference
from tests.peers.matrix_cases import OTHERS, Case, cases, cases_of_others
from tests.peers.matrix_page import ENGINES, STEPS, Cell, write_cells
from tests.peers.matrix_process import EngineProcess, NoAnswerError
from tests.peers.matrix_runs import (
    Answer,
    Form,
    answer,
    of_the_producer,
    of_the_text,
    start_nothing,
    start_spark,
    written,
)

if TYPE_CHECKING:
    import pyarrow as pa

TOLERANCE: Final = 1e-9
SECONDS: Final = {"spark": 120, "datafusion": 60, "duckdb": 60, "acero": 60}


class Engines:
    """The engines, each in its process."""

    def __init__(self) -> None:
        self._processes = {
            engine: EngineProcess(start_spark if engine == "spark" else start_nothing) for engine in ENGINES
        }

    def close(self) -> None:
        for process in self._processes.values():
            process.close()

    def written(self, case: Case, producer: str) -> bytes | str | BaseException:
        """Return a plan, or why there is none."""
        try:
            engine = "spark" if producer.startswith("this package") else "datafusion"
            return self._processes[engine].call(written, case, seconds=SECONDS["spark"])
        except NoAnswerError as error:
            return error

    def of_the_text(self, case: Case, *, unlimited: bool = False) -> pa.Table | None:
        """Return the rows of DuckDB for a plan's SQL text, if it takes it."""
        try:
            done = self._processes["duckdb"].call(_of_the_text, case, unlimited, seconds=SECONDS["duckdb"])
        except NoAnswerError:
            return None
        return done.rows

    def of_the_producer(self, case: Case) -> pa.Table | None:
        """Return the rows of the producer's own engine, if it has one."""
        try:
            return self._processes["datafusion"].call(of_the_producer, case, seconds=SECONDS["datafusion"]).rows
        except NoAnswerError:
            return None

    def run(self, engine: str, source: bytes | str, case: Case, form: Form = "given") -> Answer:
        """Return what an engine makes of a plan."""
        try:
            return self._processes[engine].call(answer, engine, source, case.tables, form, seconds=SECONDS[engine])
        except NoAnswerError as error:
            return Answer("converted", fault=str(error))


def _of_the_text(case: Case, unlimited: bool) -> Answer:
    return of_the_text(case, unlimited=unlimited)


def measured(producer: str, given: Iterable[Case], engines: Engines, names: Iterable[str] = ENGINES) -> dict[str, Cell]:
    """Run a producer's plans on engines."""
    cells = {engine: Cell() for engine in names}
    for case in given:
        started = time.perf_counter()
        source = engines.written(case, producer)
        if isinstance(source, BaseException):
            for cell in cells.values():
                cell.outcomes[case.name] = "asked", f"not written: {source}"
            continue
        expected = None
        for engine, cell in cells.items():
            done = engines.run(engine, source, case)
            cell.outcomes[case.name] = done.step, done.fault
            if done.rows is None:
                continue
            if engine == "spark":
                outcome = beside_the_text(engines, source, case, done.rows)
                expected = done.rows
            elif expected is None:
                right = engines.of_the_text(case)
                outcome = "nothing to compare with" if right is None else differing(right, done.rows)
            else:
                outcome = _beside_spark(engines, engine, source, case, expected, done.rows)
            cell.outcomes[case.name] = "agreed" if outcome in ("", TIES, OWN) else "ran", outcome
        told = {engine: (cell.outcomes[case.name][1] or "ok")[:70] for engine, cell in cells.items()}
        print(producer, case.name, f"{time.perf_counter() - started:.1f} s", told, flush=True)
    return cells


OWN: Final = "DuckDB gives other rows for the text; the producer's own engine gives these"
TIES: Final = "a LIMIT cuts ties: the rows agree where all columns are sorted by"


def _beside_spark(
    engines: Engines, engine: str, source: bytes | str, case: Case, expected: pa.Table, rows: pa.Table
) -> str:
    """Return how the rows of an engine differ from those of Spark; empty if they agree."""
    found = differing(expected, rows)
    if not found or expected.num_rows != rows.num_rows:
        return found
    ours, theirs = (engines.run(one, source, case, "total").rows for one in ("spark", engine))
    if ours is None or theirs is None or differing(ours, theirs):
        return found
    return TIES


def beside_the_text(engines: Engines, source: bytes | str, case: Case, rows: pa.Table) -> str:
    """Return how the rows of Spark differ from those of DuckDB for the SQL text; empty if they agree."""
    right = engines.of_the_text(case)
    found = "DuckDB doesn't take the text" if right is None else differing(right, rows)
    if not found:
        return found
    own = engines.of_the_producer(case)
    if own is not None and not differing(own, rows):
        return OWN
    if right is None or right.num_rows != rows.num_rows:
        return found
    all_ours = engines.run("spark", source, case, "unlimited").rows
    all_theirs = engines.of_the_text(case, unlimited=True)
    if all_ours is None or all_theirs is None or all_ours.num_rows == rows.num_rows:
        return found
    return found if differing(all_theirs, all_ours) else TIES


def differing(right: pa.Table, rows: pa.Table) -> str:
    found = difference(right, rows, tolerance=TOLERANCE, shown=1)
    if found is None:
        return ""
    if found.fault:
        return f"other rows: {found.fault}"
    return (
        f"other rows: {found.first_count} of {right.num_rows} and {found.second_count} of {rows.num_rows}; "
        f"{_shown(found.first)} and {_shown(found.second)}"
    )


def _shown(rows: tuple[tuple[Any, ...], ...]) -> str:
    return f"({', '.join(map(str, rows[0]))})" if rows else "none"


def saved(producer: str, case: Case, file: Path, engines: Engines) -> None:
    """Write a plan as a file, and print how to run it."""
    source = engines.written(case, producer)
    if isinstance(source, BaseException):
        raise SystemExit(f"{case.name} is not written: {source}")
    file.write_bytes(source.encode() if isinstance(source, str) else source)
    tables = " ".join(f"--table {name}={path}" for name, path in case.tables.items())
    print(f"pyspark-substrait compare {file} --engine spark --engine datafusion {tables}")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("producers", nargs="*", help="names, or parts of them; by default all")
    parser.add_argument("--case", action="append", default=[], help="only this plan")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only this engine")
    parser.add_argument("--python", type=Path, help="a Python with the producer's packages, for Ibis and substrait")
    parser.add_argument("--save", type=Path, help="write the plan here, and run nothing")
    given = parser.parse_args()
    folder = tempfile.TemporaryDirectory(prefix="matrix-")
    known: Mapping[str, Callable[[], list[Case]]] = {
        **{producer: partial(list, plans) for producer, plans in cases().items()},
        **{producer: partial(cases_of_others, producer, given.python, Path(folder.name)) for producer in OTHERS},
    }
    found = {
        producer: plans
        for producer, plans in known.items()
        if (any(word in producer for word in given.producers) if given.producers else producer not in OTHERS)
    }
    engines = Engines()
    try:
        for producer, plans in found.items():
            chosen = [case for case in plans() if not given.case or case.name in given.case]
            if given.save is not None:
                saved(producer, chosen[0], given.save, engines)
                return
            names = ("spark", *given.engine) if given.engine else ENGINES
            cells = measured(producer, chosen, engines, dict.fromkeys(names))
            write_cells(producer, cells)
            print({engine: [cell.count(step) for step in STEPS] for engine, cell in cells.items()})
            for engine, cell in cells.items() if given.case else ():
                print(engine, cell.outcomes)
    finally:
        engines.close()
        folder.cleanup()


if __name__ == "__main__":
    main()
