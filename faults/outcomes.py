"""The outcomes of tries: counted, kept as JSON, and shown as tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["FAULT", "KILLED", "MISSING", "Counts", "Fault"]

FAULT: Final = "fault"
"""The outcome of a try that shows a fault of the package."""
KILLED: Final = " is killed"
"""The end of the names of the groups of tries in which a process is killed."""
MISSING: Final = ", no table until the next plan"
"""The end of the outcome of such a try after which the next plan brings the table back."""


@dataclass(frozen=True)
class Fault:
    """A try that shows a fault: of what, and what was seen."""

    group: str
    kind: str
    text: str


@dataclass
class Counts:
    """The number of tries of each group and kind, and with each outcome; ``faults``: those that show a fault."""

    tries: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add(self, group: str, kind: str, outcome: str) -> None:
        """Count a try."""
        self.tries[group, kind, outcome.strip()] += 1

    def fault(self, group: str, kind: str, text: str) -> None:
        """Count a try that shows a fault."""
        self.add(group, kind, FAULT)
        self.faults.append(Fault(group, kind, text))

    def merge(self, other: Counts) -> None:
        """Add the tries of others."""
        self.tries.update(other.tries)
        self.faults += other.faults

    def to_json(self) -> str:
        """Return the form in which tries are kept, on one line."""
        tries = [[*key, count] for key, count in sorted(self.tries.items())]
        return json.dumps({"tries": tries, "faults": [asdict(fault) for fault in self.faults]})

    @staticmethod
    def of_json(text: str) -> Counts:
        """Return the counts of which :meth:`to_json` made a line."""
        found = json.loads(text)
        tries = Counter({(group, kind, outcome): count for group, kind, outcome, count in found["tries"]})
        return Counts(tries, [Fault(**each) for each in found["faults"]])

    @staticmethod
    def of_files(paths: Iterable[Path]) -> Counts:
        """Return the sum of the last lines of files."""
        found = Counts()
        for path in paths:
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
            if lines:
                found.merge(Counts.of_json(lines[-1]))
        return found

    def tables(self) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        """Yield tables: a title, the titles of the columns, and the lines."""
        kills = {key: count for key, count in self.tries.items() if key[0].endswith(KILLED)}
        if kills:
            yield "killed at a random moment of a write", *_kill_table(kills)
        rest = {key: count for key, count in self.tries.items() if key not in kills}
        if rest:
            lines = []
            for group in dict.fromkeys(group for group, _, _ in sorted(rest)):
                outcomes = Counter[str]()
                for (found, _, outcome), count in rest.items():
                    if found == group:
                        outcomes[outcome] += count
                text = ", ".join(f"{outcome}: {count}" for outcome, count in outcomes.most_common())
                lines.append([group, f"{outcomes.total()}", text])
            yield "other faults", ("fault", "tries", "outcomes"), lines

    def markdown(self) -> str:
        """Return the tables for a page of the documentation."""
        found = []
        for _, heads, lines in self.tables():
            align = ["---"] + ["---:" if head not in ("outcomes",) else "---" for head in heads[1:]]
            rows = [heads, align, *lines]
            found.append("".join(f"| {' | '.join(row)} |\n" for row in rows))
        return "\n".join(found)


def _kill_table(kills: dict[tuple[str, str, str], int]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    heads = ("write", "tries", "old table", "new table", "either", "no table until the next plan", "faults")
    lines = []
    for kind in [*dict.fromkeys(sorted(kind for _, kind, _ in kills)), None]:
        found = Counter[str]()
        for (_, each, outcome), count in kills.items():
            if kind in (each, None):
                name, missing, _ = outcome.partition(MISSING)
                found[name] += count
                found["missing"] += count if missing else 0
        total = found.total() - found["missing"]
        cells = (total, found["old"], found["new"], found["either"], found["missing"], found[FAULT])
        lines.append(["all" if kind is None else kind, *map(str, cells)])
    return heads, lines
