"""Running trials on an engine."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import pyarrow as pa

from pyspark_substrait.conformance import verdict
from pyspark_substrait.conformance.engines import Engine
from pyspark_substrait.conformance.frames import arrow_bytes
from pyspark_substrait.conformance.function_trials import ONE_RECORD
from pyspark_substrait.conformance.processes import Command, Reply, Request, Worker
from pyspark_substrait.conformance.trials import Trial
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import Expression, ScalarSubquery
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Project
from pyspark_substrait.spark.reading.literal_arrays import UnrepresentableValue

__all__ = ["Kind", "Outcome", "Status", "controls", "run"]

Status: TypeAlias = Literal["passed", "failed", "refused", "set aside"]
#: why a trial failed: its rows or its schema are wrong, it gave an error or didn't give one, its process crashed, it
#: took too long, or its result was no Arrow stream
Kind: TypeAlias = Literal["", "rows", "schema", "error", "no error", "crash", "timeout", "garbage"]

#: a plan of several cases may take as many times longer
_TOGETHER_SECONDS: Final = 20
#: the most trials of an overload that are run to see whether the engine has it
_CONTROLS: Final = 5
_NO_CONTROL: Final = "it fails, but nothing shows that the engine runs the rest of the plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a trial.

    Args:
        trial: the trial.
        status: ``passed``; ``failed``; ``refused`` where the engine doesn't take the plan; ``set aside`` where the
            case contradicts the specification or its result is undefined.
        kind: why it failed.
        text: the reason, for people.
    """

    trial: Trial
    status: Status
    kind: Kind = ""
    text: str = ""


def run(
    engine: Engine,
    trials: Sequence[Trial],
    *,
    convert: bool = False,
    seconds: float = 10.0,
    jobs: int = 1,
    report: Callable[[int], None] | None = None,
) -> tuple[list[Outcome], str]:
    """Return the outcomes of trials on an engine, in their order, and the engine's release.

    Args:
        engine: the engine.
        trials: the trials.
        convert: whether plans are brought into the form of the engine first.
        seconds: the limit of time for a plan.
        jobs: how many processes run plans at once.
        report: called with the number of trials that are done.

    Raises:
        UnsupportedPlanError: the engine doesn't start.
    """
    outcomes: dict[str, Outcome] = {
        trial.id: Outcome(trial=trial, status="set aside", text=trial.contradiction)
        for trial in trials
        if trial.contradiction
    }
    waiting = _groups([trial for trial in trials if not trial.contradiction], engine.together)
    own = threading.local()
    runners: list[Worker | Command] = []

    def work(group: list[Trial]) -> None:
        if not hasattr(own, "runner"):
            own.runner = engine.start()
            runners.append(own.runner)
            own.runner.start()
        found = _Running(own.runner, engine, convert, seconds).outcomes(group)
        outcomes.update((item.trial.id, item) for item in found)
        if report is not None:
            report(len(found))

    try:
        with ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(work, group) for group in waiting]:
                done.result()
    finally:
        for runner in runners:
            runner.close()
    version = next((runner.version for runner in runners), "")
    return _with_controls([outcomes[trial.id] for trial in trials]), version


def _groups(trials: Sequence[Trial], together: int) -> list[list[Trial]]:
    """Return the trials in groups that are run in one plan."""
    alone = [trial for trial in trials if together == 1 or not _is_value(trial)]
    others = [trial for trial in trials if together > 1 and _is_value(trial)]
    grouped = [others[start : start + together] for start in range(0, len(others), together)]
    return [*grouped, *([trial] for trial in alone)]


def _is_value(trial: Trial) -> bool:
    """Whether a trial gives one value, so that it may be a column of a plan with others."""
    rows = trial.expected.rows
    return trial.function is not None and trial.function.kind != "window" and rows is not None


class _Running:
    """Runs trials in a process."""

    def __init__(self, runner: Worker | Command, engine: Engine, convert: bool, seconds: float) -> None:
        self._runner, self._engine, self._convert, self._seconds = runner, engine, convert, seconds

    def outcomes(self, trials: list[Trial]) -> list[Outcome]:
        """Return the outcomes; where trials in one plan fail together, they are tried in smaller groups."""
        if len(trials) == 1:
            return [self._outcome(trials[0])]
        limit = self._seconds * (1 + len(trials) / _TOGETHER_SECONDS)
        reply = self._runner.ask(Request(_together(trials).to_bytes(), self._convert), limit)
        if reply.table is None or reply.table.num_columns != len(trials):
            middle = len(trials) // 2
            return self.outcomes(trials[:middle]) + self.outcomes(trials[middle:])
        columns = reply.table.columns
        return [
            _judged(trial, Reply(table=pa.table([column], names=list(trial.expected.schema.names))))
            for trial, column in zip(trials, columns, strict=True)
        ]

    def _outcome(self, trial: Trial) -> Outcome:
        try:
            request = self._request(trial)
        except (SubstraitError, UnrepresentableValue) as error:
            return Outcome(trial=trial, status="refused", text=f"its tables can't be given: {error}")
        return _judged(trial, self._runner.ask(request, self._seconds))

    def _request(self, trial: Trial) -> Request:
        plan = trial.plan(inline=self._engine.inline).to_bytes()
        if self._engine.inline:
            return Request(plan, self._convert)
        tables = tuple((name, arrow_bytes(table.to_arrow())) for name, table in trial.tables.items())
        return Request(plan, self._convert, tables)


def _together(trials: Sequence[Trial]) -> Plan:
    """Return a plan with a column for each trial."""
    expressions: list[Expression] = []
    for trial in trials:
        relation = trial.plan(inline=True).relations[-1]
        assert isinstance(relation, RelRoot)
        made = relation.input
        expressions.append(made.expressions[0] if isinstance(made, Project) else ScalarSubquery(input=made))
    root = Project.only(ONE_RECORD.read(), expressions)
    return Plan(relations=(RelRoot(input=root, names=tuple(f"c{place}" for place in range(len(trials)))),))


def _judged(trial: Trial, reply: Reply) -> Outcome:
    """Return the outcome of a reply; that an error is the right one isn't known yet."""
    if reply.failure == "refused":
        return Outcome(trial=trial, status="refused", text=reply.text)
    if reply.failure == "error" and trial.expected.rows is None:
        return Outcome(trial=trial, status="passed", text=reply.text)
    if reply.table is None:
        assert reply.failure is not None
        return Outcome(trial=trial, status="failed", kind=reply.failure, text=reply.text)
    if trial.expected.rows is None:
        rows = reply.table.slice(0, 3).to_pylist()
        return Outcome(trial=trial, status="failed", kind="no error", text=f"it gives {rows} instead of an error")
    found = verdict.fault(reply.table, trial.expected)
    if found is None:
        return Outcome(trial=trial, status="passed")
    kind, text = found
    return Outcome(trial=trial, status="failed", kind=kind, text=text)


def _with_controls(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes, where an error counts only if the engine runs the same without the fault in the data."""
    passed = {item.trial.id for item in outcomes if item.status == "passed" and item.trial.expected.rows is not None}
    overloads = {_overload(item.trial) for item in outcomes if item.trial.id in passed}
    return [
        replace(item, status="refused", text=f"{_NO_CONTROL}: {item.text}")
        if item.status == "passed"
        and item.trial.expected.rows is None
        and item.trial.control not in passed
        and _overload(item.trial) not in overloads
        else item
        for item in outcomes
    ]


def _overload(trial: Trial) -> tuple[str, str, str] | str:
    """Return the overload that a trial is about; its id for one about a relation."""
    function = trial.function
    return trial.id if function is None else (function.urn, function.name, function.signature)


def lack_controls(trials: Sequence[Trial], known: Sequence[Trial]) -> bool:
    """Whether some trials expect an error of a function that no trial of ``known`` expects a result of."""
    usable = [trial for trial in known if trial.function is not None and not trial.contradiction]
    shown = {_overload(trial) for trial in usable if trial.expected.rows is not None}
    return any(trial.function is not None and _overload(trial) not in shown for trial in _failing(trials))


def _failing(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.expected.rows is None and not trial.contradiction]


def controls(trials: Sequence[Trial], known: Sequence[Trial]) -> list[Trial]:
    """Return the trials of ``known`` that show whether the errors that some trials expect are right."""
    here = {trial.id for trial in trials}
    failing = _failing(trials)
    names, overloads = {trial.control for trial in failing}, {_overload(trial) for trial in failing}
    found: defaultdict[object, list[Trial]] = defaultdict(list)
    for trial in known:
        if trial.id not in here and trial.expected.rows is not None and not trial.contradiction:
            if trial.id in names:
                found[trial.id].append(trial)
            elif _overload(trial) in overloads and len(found[_overload(trial)]) < _CONTROLS:
                found[_overload(trial)].append(trial)
    return [trial for group in found.values() for trial in group]
