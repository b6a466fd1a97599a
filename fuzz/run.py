"""``make fuzz``: random plans and mutants for some minutes, or for the seeds of a range.

``python -m fuzz.run --minutes 5`` tries plans, then laws, then queries, then strings, then bytes;
``python -m fuzz.run --seeds 0:500 laws`` one kind; ``python -m fuzz.run planted`` plants faults, and tells which are
found. Control-C ends a kind early, with its counts.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fuzz import planted, strings
from fuzz.bytes import Tally, fuzz
from fuzz.bytes import shrunk as shrunk_finding
from fuzz.kept import FOLDER, keep_finding, keep_plan, keep_query
from fuzz.laws import LAWS
from fuzz.plans import plan
from fuzz.queries import QUERIES, QueryEngines, query_outcomes
from fuzz.sessions import engines, session
from fuzz.shrink import shrunk
from fuzz.spark_tokens import Tokens
from fuzz.trials import FAILURES, Engines, Outcome, outcomes

__all__ = ["KINDS", "Findings", "main", "tried"]

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "plans": ("forms", "reference", "datafusion", "unoptimized", "produced"),
    "laws": tuple(LAWS),
    "queries": (),
    "strings": (),
    "bytes": (),
}
"""The trials of each kind."""

_EACH = 2
"""How many failures with the same reason are shrunk and kept."""
_DIFFERENT = 12
"""The same for different rows of one trial, whose reasons show in the plans only."""


@dataclass
class Findings:
    """The counts of a run over plans or queries. ``failures``: those that were kept, with their files."""

    plans: int = 0
    seconds: float = 0.0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failures: list[tuple[int, Outcome, Path]] = field(default_factory=list)

    def counted(self, outcome: Outcome) -> bool:
        """Count an outcome; return whether it is a failure to keep."""
        self.counts[outcome.trial, outcome.outcome] += 1
        if outcome.outcome != "agrees":
            self.reasons[outcome.key] += 1
        return outcome.failed and self.reasons[outcome.key] <= (_DIFFERENT if outcome.outcome == "differs" else _EACH)


def tried(
    seeds: Iterator[int], there: Engines, trials: Sequence[str], *, until: float | None = None, folder: Path = FOLDER
) -> Iterator[Findings]:
    """Try the plans of seeds, shrink and keep those that fail, and yield the counts after each.

    Args:
        seeds: the seeds.
        there: the engines.
        trials: what is tried of each plan.
        until: when to stop, on :func:`time.monotonic`'s clock; None after the last seed.
        folder: where failures are kept.
    """
    found, started = Findings(), time.monotonic()
    for seed in seeds:
        if until is not None and time.monotonic() > until:
            return
        made = plan(seed)
        for outcome in outcomes(made, seed, there, trials):
            if found.counted(outcome):
                _keep(found, seed, outcome, there, folder)
        found.plans += 1
        found.seconds = time.monotonic() - started
        yield found


def _keep(found: Findings, seed: int, outcome: Outcome, there: Engines, folder: Path) -> None:
    original = plan(seed)
    trials = ("forms",) if outcome.trial in ("validate", "text", "JSON", "binary", "upgrade") else (outcome.trial,)
    last = outcome

    def fails(other: object) -> bool:
        nonlocal last
        for item in outcomes(other, seed, there, trials):  # type: ignore[arg-type]
            if item.key == outcome.key:
                last = item
                return True
        return False

    smallest = shrunk(original, fails)
    found.failures.append((seed, last, keep_plan(seed, last, smallest, original, folder)))


def _seeds(text: str) -> tuple[int, int | None]:
    first, _, end = text.partition(":")
    return int(first), int(end) if end else None


def _numbers(first: int, end: int | None) -> Iterator[int]:
    while end is None or first < end:
        yield first
        first += 1


@click.command()
@click.argument("kinds", nargs=-1, type=click.Choice([*KINDS, "planted"]))
@click.option("--minutes", type=float, help="How long in all; by default 1, or until the last seed.")
@click.option("--seeds", default="0:", help="The first seed, and the one after the last: 0:500. By default from 0 on.")
@click.option("--trials", help="What is tried of plans, by commas; by default all of the kind.")
@click.option("--workers", type=int, default=1, help="How many processes take mutants; by default 1.")
@click.option("--limit", type=float, default=120.0, help="The seconds for each planted fault; by default 120.")
@click.option("--faults", default="", help="Words in the names of the faults to plant; by default all.")
@click.option("--finders", default="", help="The kinds that search for planted faults, by commas; by default all.")
@click.option("--every", is_flag=True, help="Every kind searches for every fault, not only for those that are its job.")
@click.option("--folder", type=click.Path(path_type=Path), default=FOLDER, help="Where findings are kept.")
def main(
    kinds: tuple[str, ...], minutes: float | None, seeds: str, trials: str | None, workers: int, folder: Path,
    limit: float, faults: str, finders: str, every: bool,
) -> None:  # fmt: skip
    """Try random plans and mutants of stored ones; KINDS are plans, laws, queries, strings and bytes, by default all.

    The kind planted plants faults into the package, and tells which of them the other kinds find.
    """
    if "planted" in kinds:
        sys.exit(_run_planted(Console(width=130), limit, [name for name in finders.split(",") if name], faults, every))
    first, end = _seeds(seeds)
    chosen = kinds or tuple(KINDS)
    seconds = (minutes or 1.0) * 60 / len(chosen) if minutes is not None or end is None else None
    console = Console(width=130)
    failed = 0
    for kind in chosen:
        console.print(f"{kind}: seeds from {first}" + (f" to {end}" if end is not None else ""))
        if kind == "bytes":
            failed += _run_bytes(console, (first, end), seconds, workers, folder)
        elif kind == "strings":
            failed += _run_strings(console, _numbers(first, end), seconds)
        elif kind == "queries":
            failed += _run_queries(console, _numbers(first, end), seconds, folder)
        else:
            names = tuple(trials.split(",")) if trials else KINDS[kind]
            failed += _run_plans(console, _numbers(first, end), seconds, names, folder)
    sys.exit(1 if failed else 0)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), TimeElapsedColumn(), TextColumn("{task.fields[text]}"),
        console=console, transient=True,
    )  # fmt: skip


def _run_plans(
    console: Console, seeds: Iterator[int], seconds: float | None, trials: Sequence[str], folder: Path
) -> int:
    there = engines(session)
    if there.evaluate is None and "reference" in trials:
        console.print("there is no tests/reference: plans are not compared with the reference evaluator")
    until = None if seconds is None else time.monotonic() + seconds
    found = Findings()
    with suppress(KeyboardInterrupt), _progress(console) as progress:
        task = progress.add_task("plans", total=None, text="")
        for found in tried(seeds, there, trials, until=until, folder=folder):
            progress.update(task, text=f"{found.plans} plans, {len(found.failures)} failures kept")
            if not console.is_terminal and found.plans % 100 == 0:
                console.print(f"{found.plans} plans, {len(found.failures)} failures kept, {found.seconds:.0f} s")
    _report(console, found)
    return sum(count for (_, outcome), count in found.counts.items() if outcome in FAILURES)


def _run_queries(console: Console, seeds: Iterator[int], seconds: float | None, folder: Path) -> int:
    """Try the queries of each seed: Spark's, then DataFusion's."""
    there, found, started = QueryEngines(session), Findings(), time.monotonic()
    with suppress(KeyboardInterrupt):
        for seed in seeds:
            if seconds is not None and time.monotonic() > started + seconds:
                break
            for engine, query in QUERIES.items():
                text = query(seed)
                found.plans += 1
                for outcome in query_outcomes(engine, text, there):
                    named = replace(outcome, trial=f"{engine}: {outcome.trial}")
                    if found.counted(named):
                        found.failures.append((seed, named, keep_query(seed, named, text, folder)))
            found.seconds = time.monotonic() - started
            if found.plans % 200 == 0:
                console.print(f"{found.plans} queries, {len(found.failures)} failures kept, {found.seconds:.0f} s")
    _report(console, found, "queries")
    return len(found.failures)


def _report(console: Console, found: Findings, of: str = "plans") -> None:
    """Print the counts of each trial, the commonest reasons, and the files."""
    table = Table("trial", "outcome", of, title=f"{found.plans} {of} in {found.seconds:.0f} s")
    for (trial, outcome), count in sorted(found.counts.items()):
        table.add_row(trial, outcome, str(count), style="red" if outcome in FAILURES else "")
    console.print(table)
    for (trial, outcome, reason), count in found.reasons.most_common(40):
        console.print(f"{count:5} {trial}: {outcome}: {reason}", markup=False, soft_wrap=True)
    for seed, last, path in found.failures:
        console.print(f"seed {seed}, {last.trial}: {last.outcome}: {last.why[:200]}\n  {path}", markup=False)


def _run_strings(console: Console, seeds: Iterator[int], seconds: float | None) -> int:
    tally, tokens = strings.Tally(), Tokens(session())
    until = None if seconds is None else time.monotonic() + seconds
    for seed in seeds:
        strings.tried(seed, tokens, tally)
        if until is not None and time.monotonic() > until:
            break
    console.print(f"strings: {tally}, in {len({name for name, _ in tally.counts})} fields; last seed {seed}")
    for found in tally.findings:
        console.print(
            f"seed {found.seed}, {found.plan}, {found.place}: {found.hostile!r}: {found.why}\n  {found.statement}",
            markup=False,
        )
    return len(tally.findings)


def _run_bytes(
    console: Console, seeds: tuple[int, int | None], seconds: float | None, workers: int, folder: Path
) -> int:
    with _progress(console) as progress:
        task = progress.add_task("mutants", total=None, text="")

        def told(tally: Tally) -> None:
            progress.update(task, text=f"{tally.inputs} mutants, {len(tally.findings)} findings")

        tally = fuzz(seeds, seconds=seconds, workers=workers, told=told)
    console.print(f"{tally}")
    counts = Counter(item.key for item in tally.findings)
    for key, count in counts.most_common():
        found = shrunk_finding(next(item for item in tally.findings if item.key == key))
        path = keep_finding(found, folder)
        console.print(
            f"{count:5} {found.kind} at {found.place or '?'} in {found.verb}: {found.text[:200]}\n"
            f"      seed {found.seed} ({found.how} of {found.original}), {len(found.content)} bytes: {path}",
            markup=False,
        )
    return len(tally.findings)


def _run_planted(console: Console, limit: float, finders: Sequence[str], words: str, every: bool) -> int:
    """Print a row for each search as soon as it ends, and how many found their fault; return 1 if one did not."""
    found = missed = 0
    for search in planted.searches(limit, finders, words, every=every):
        found, missed = found + bool(search.found), missed + (not search.found)
        result = f"found by {search.found}" if search.found else "not found"
        console.print(
            f"| {search.fault.part} | {search.fault.name} | {search.finder} | {result} | {search.seconds:.0f} | "
            f"{search.inputs} |",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    console.print(f"{found} of {found + missed} searches found their fault, in at most {limit:.0f} s each")
    return 1 if missed else 0


if __name__ == "__main__":
    main()
