"""The outcomes of tries, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["FAULT", "Counts", "Fault"]

FAULT = "fault"
"""The outcome of a try that shows a fault of the package."""


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
        self.tries[group, kind, outcome] += 1

    def fault(self, group: str, kind: str, text: str) -> None:
        """Count a try that shows a fault."""
        self.add(group, kind, FAULT)
        self.faults.append(Fault(group, kind, text))

    def lines(self) -> Iterator[tuple[str, str, int, str]]:
        """Yield a line for each group and kind: how many tries, and how many with each outcome."""
        for group, kind in dict.fromkeys((group, kind) for group, kind, _ in sorted(self.tries)):
            found = {key[2]: count for key, count in sorted(self.tries.items()) if key[:2] == (group, kind)}
            yield group, kind, sum(found.values()), ", ".join(f"{count} {name}" for name, count in found.items())

    def markdown(self) -> str:
        """Return the table of a documentation page."""
        head = "| fault | write or query | tries | outcomes |\n|---|---|---:|---|\n"
        return head + "".join(f"| {' | '.join(map(str, line))} |\n" for line in self.lines())
