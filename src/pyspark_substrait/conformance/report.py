"""The outcomes of all trials on an engine: as text, JSON and a page for the browser."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from pyspark_substrait.conformance.measured_dialect import measured_dialect
from pyspark_substrait.conformance.running import Outcome, Status

__all__ = ["STATUSES", "ConformanceReport", "Run"]

STATUSES: Final[tuple[Status, ...]] = ("passed", "failed", "refused", "set aside")
_LISTED: Final = 20
_SUITES: Final = {
    "specification": "function cases of the specification",
    "ours": "function cases of this package",
    "relations": "relation cases",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The outcomes of trials on an engine.

    Args:
        converted: whether plans were brought into the form of the engine first.
        outcomes: those of the trials, in their order.
    """

    converted: bool
    outcomes: tuple[Outcome, ...]

    @property
    def title(self) -> str:
        """Return how the engine got the plans."""
        return "plans converted for the engine" if self.converted else "plans as they are"

    def counts(self, suite: str | None = None, area: str | None = None) -> Counter[Status]:
        """Return the number of trials by status, of all or of a suite and an area."""
        return Counter(
            item.status
            for item in self.outcomes
            if suite in (None, item.trial.suite) and area in (None, item.trial.area)
        )

    def areas(self) -> list[tuple[str, str]]:
        """Return the suites with their areas, in order."""
        return list(dict.fromkeys((item.trial.suite, item.trial.area) for item in self.outcomes))

    def with_status(self, *statuses: Status) -> list[Outcome]:
        """Return the outcomes of some statuses."""
        return [item for item in self.outcomes if item.status in statuses]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceReport:
    """The outcomes of cases on an engine. Printed, it is a table and the first failures.

    Args:
        engine: its name, or the command that runs plans.
        version: its release; empty for a command.
        note: how it gets plans, where that isn't plain.
        date: the day of the run, as in ISO 8601.
        release: the release of Substrait whose cases these are.
        runs: the outcomes for plans as they are, then those for converted plans, if these were asked for.
        options: the options of the command line by which a case is reproduced, besides its id.
    """

    engine: str
    version: str
    note: str
    date: str
    release: str
    runs: tuple[Run, ...]
    options: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no trial failed."""
        return not any(run.with_status("failed") for run in self.runs)

    @property
    def title(self) -> str:
        """Return the engine and its release."""
        return f"{self.engine} {self.version}".strip()

    def command(self, outcome: Outcome, *, converted: bool) -> str:
        """Return the command that reproduces an outcome."""
        options = [*self.options, *(["--convert"] if converted else []), "--case", outcome.trial.id]
        return shlex.join(["pyspark-substrait", "conformance", *options])

    def dialect(self) -> dict[str, Any]:
        """Return the functions and relations that passed as a dialect file: its content, for YAML or JSON.

        A function is listed with the options of cases that all passed, of plans as they are. Spec:
        text/dialect_schema.yaml.
        """
        return measured_dialect(self.engine, self.runs[0].outcomes)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        note = f" ({self.note})" if self.note else ""
        yield f"{self.title}{note}, cases of Substrait {self.release}, {self.date}"
        for run in self.runs:
            yield ""
            yield from _table(run)
            failed = run.with_status("failed")
            if failed:
                yield ""
            for item in failed[:_LISTED]:
                yield f"failed {item.trial.id}: {item.trial.text}: {_reason(item)}"
            if len(failed) > _LISTED:
                yield f"… and {len(failed) - _LISTED} more; JSON and the page have all"
            if failed:
                yield f"to reproduce one: {self.command(failed[0], converted=run.converted)}"

    def details(self) -> str:
        """Return the outcomes one by one: the case, the rule that it checks, its plan, and what came of it."""
        return "\n\n".join("\n".join(_details(item)) for run in self.runs for item in run.outcomes)

    def to_json(self) -> str:
        """Return the report as a JSON object."""
        found = {
            "engine": self.engine,
            "version": self.version,
            "note": self.note,
            "date": self.date,
            "substrait": self.release,
            "runs": [
                {
                    "converted": run.converted,
                    "counts": _counted(run.counts()),
                    "cases": [self._as_json(item, run) for item in run.outcomes],
                }
                for run in self.runs
            ],
        }
        return json.dumps(found, indent=2, ensure_ascii=False)

    def _as_json(self, item: Outcome, run: Run) -> dict[str, Any]:
        return {
            "id": item.trial.id,
            "suite": item.trial.suite,
            "area": item.trial.area,
            "case": item.trial.text,
            "rule": item.trial.rule or None,
            "status": item.status,
            "kind": item.kind or None,
            "reason": item.text or None,
            "command": self.command(item, converted=run.converted),
        }

    def to_html(self) -> str:
        """Return the report as a page for the browser, which is self-contained and runs no script."""
        return _template().render(report=self, statuses=STATUSES, suites=_SUITES, reason=_reason)


def _counted(counts: Counter[Status]) -> dict[str, int]:
    return {status: counts[status] for status in STATUSES}


def _reason(item: Outcome) -> str:
    return f"{item.kind}: {item.text}" if item.kind else item.text


def _table(run: Run) -> Iterator[str]:
    """Yield the lines of a table: the number of trials by area and status."""
    rows: list[Sequence[str]] = [(run.title, "cases", *STATUSES)]
    suites: dict[str, list[str]] = {}
    for suite, area in run.areas():
        suites.setdefault(suite, []).append(area)
    for suite, areas in suites.items():
        rows.append(_row(_SUITES[suite], run.counts(suite)))
        rows += (_row(f"  {area}", run.counts(suite, area)) for area in areas)
    rows.append(_row("all", run.counts()))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for title, *numbers in rows:
        yield "  ".join((title.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])))


def _row(title: str, counts: Counter[Status]) -> Sequence[str]:
    return (title, *(f"{count:,}" for count in (sum(counts.values()), *(counts[status] for status in STATUSES))))


def _details(item: Outcome) -> Iterator[str]:
    trial = item.trial
    yield f"{item.status} {trial.id}"
    yield f"  {trial.text}"
    if trial.rule:
        yield f"  checks: {trial.rule}"
    if item.kind or item.text:
        yield f"  {_reason(item)}"
    yield ""
    yield from (f"  {line}".rstrip() for line in trial.plan(inline=not trial.contradiction).to_text().splitlines())


@cache
def _template() -> Template:
    loader = PackageLoader("pyspark_substrait.conformance", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True).get_template(
        "conformance.html.j2"
    )
