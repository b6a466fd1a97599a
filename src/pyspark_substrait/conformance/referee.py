"""Trying an engine on all cases."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from pyspark_substrait.conformance.engines import engine_of
from pyspark_substrait.conformance.function_trials import function_trials
from pyspark_substrait.conformance.relation_cases import relation_trials
from pyspark_substrait.conformance.report import ConformanceReport, Run
from pyspark_substrait.conformance.running import controls, lack_controls, run
from pyspark_substrait.conformance.trials import Trial
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.plan import CURRENT_VERSION

__all__ = ["SUITES", "conformance_report"]

#: the suites of cases: the functions of the specification, those of this package, and relations
SUITES = ("specification", "ours", "relations")


def conformance_report(
    engine: str,
    *,
    label: str = "",
    persistent: bool = False,
    suites: Iterable[str] = (),
    cases: Sequence[str] = (),
    folder: Path | None = None,
    relations: Path | None = None,
    convert: bool = False,
    seconds: float = 10.0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> ConformanceReport:
    """Try an engine on function cases and relation cases, and report what it gives.

    Each plan runs in another process, with a limit of time, so a plan that crashes the engine or never ends is a failed
    case and no more.

    Args:
        engine: ``spark``, ``datafusion``, ``duckdb`` or ``acero``, or a command that reads a plan in binary form on
            standard input and writes its rows as an Arrow stream on standard output. It ends with exit status 2 where
            it refuses a plan, and with another one but 0 where the plan fails on its data. Its tables are in the plan.
        label: the name of the engine in the report; by default ``engine``.
        persistent: whether the command runs many plans, one after the other, in messages: for an engine that takes long
            to start.
        suites: of ``specification`` and ``ours`` (functions), and ``relations``; by default all. The first two need the
            extra ``conformance``.
        cases: the ids of cases, with ``*`` for any text; by default all.
        folder: the folder of the specification's function cases (``tests/cases`` in its repository); by default those
            of the package ``substrait-extensions``.
        relations: a folder of relation cases to take instead of those of this package.
        convert: whether to run each plan a second time in the form of the engine (:func:`for_target`). It has no effect
            on Spark, DuckDB and commands that aren't persistent. A persistent command is told to convert the plan.
        seconds: the limit of time for a plan.
        jobs: how many processes run plans at once.
        progress: called with the number of cases that are done, and that of all.

    Raises:
        UnsupportedPlanError: the engine isn't installed or doesn't start, or packages that the cases need aren't there.
        SubstraitError: there is no such suite or case.

    Examples:
        >>> found = substrait.conformance_report("datafusion", cases=["filter:*"])
        >>> found.passed
        True
    """
    known = engine_of(engine, label, persistent=persistent)
    chosen = tuple(suites) or SUITES
    unknown = sorted(set(chosen) - {*SUITES})
    if unknown:
        raise SubstraitError(f"there is no suite `{unknown[0]}`", hint=f"There are {', '.join(SUITES)}")
    trials = [*_trials(chosen, cases, folder, relations)]
    selected = [trial for trial in trials if _is_chosen(trial.id, cases)]
    if lack_controls(selected, trials):
        others = function_trials(folder, lambda file: not _has_chosen(file, cases))
        trials += (trial for trial in others if trial.suite in chosen)
    if not selected:
        raise SubstraitError(f"there is no case {', '.join(cases)}", hint="Use --format json to see all ids")
    extra = controls(selected, trials) if cases else []
    every = [*selected, *extra]
    ways = (False, True) if convert and known.converts else (False,)
    done = 0

    def count(number: int) -> None:
        nonlocal done
        done += number
        if progress is not None:
            progress(done, len(ways) * len(every))

    runs: list[Run] = []
    version = ""
    for converted in ways:
        found, version = run(known, every, convert=converted, seconds=seconds, jobs=jobs, report=count)
        runs.append(Run(converted=converted, outcomes=tuple(found[: len(selected)])))
    return ConformanceReport(
        engine=known.name,
        version=version,
        note=known.note,
        date=datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        release=".".join(map(str, CURRENT_VERSION)),
        runs=tuple(runs),
        options=(
            *("--engine", engine),
            *(("--persistent",) if persistent else ()),
            *(("--cases", str(folder)) if folder else ()),
        ),
    )


def _trials(
    suites: Sequence[str], cases: Sequence[str], folder: Path | None, relations: Path | None
) -> Iterator[Trial]:
    if "relations" in suites:
        read = [*relation_trials(relations, partial(_is_chosen, cases=cases))]
        yield from read
        if cases and all(any(fnmatchcase(trial.id, pattern) for trial in read) for pattern in cases):
            return  # the functions need not be read
    if set(suites) - {"relations"}:
        found = function_trials(folder, partial(_has_chosen, cases=cases))
        yield from (trial for trial in found if trial.suite in suites)


def _is_chosen(id: str, cases: Sequence[str]) -> bool:
    return not cases or any(id == pattern or fnmatchcase(id, pattern) for pattern in cases)


def _has_chosen(file: str, cases: Sequence[str]) -> bool:
    """Whether cases of a file may be among those that are chosen."""
    starts = (re.split(r"[*?[]", pattern, maxsplit=1)[0] for pattern in cases)
    return not cases or any(f"{file}:".startswith(start) or start.startswith(f"{file}:") for start in starts)
