"""Findings about a plan, and the paths of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.codes import Code, Level, class_of
from pyspark_substrait.errors import LONGEST_PATH, SubstraitError
from pyspark_substrait.message_text import escaped, message_text, shortened
from pyspark_substrait.model.paths import Path, render

__all__ = ["MAX_PATH_SEGMENTS", "Finding", "Places", "as_finding"]

#: the most segments that a path from :meth:`Places.near_path` has
MAX_PATH_SEGMENTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding about a plan, for its author or user.

    Args:
        code: its class.
        level: its severity.
        path: its path in the plan, like ``relations[0].root.input.filter.condition``; empty for the plan as a whole.
        what: the problem, in one sentence without a final full stop.
        why: the rule behind it.
        fix: the advice on how to fix it; empty for none.
    """

    code: Code
    level: Level
    path: str
    what: str
    why: str
    fix: str = ""

    def __post_init__(self) -> None:
        for name in ("what", "why", "fix"):
            object.__setattr__(self, name, message_text(getattr(self, name)))

    @classmethod
    def of(
        cls, code: Code, path: Path | str, what: str, *, level: Level | None = None, why: str = "", fix: str = ""
    ) -> Finding:
        """Create a finding of a class, with the level and the reason of that class where none are given."""
        known = class_of(code)
        place = path if isinstance(path, str) else render(path)
        return cls(code=code, level=level or known.level, path=place, what=what, why=why or known.why, fix=fix)

    def __str__(self) -> str:
        place = f" at {shortened(escaped(self.path), LONGEST_PATH)}" if self.path else ""
        advice = f". {self.fix}" if self.fix else ""
        return f"{self.level.value} {self.code:04d}{place}: {self.what}{advice}"


def as_finding(error: SubstraitError, code: Code = Code.UNCLASSIFIED) -> Finding:
    """Return an error as a finding of the error's class, or of ``code`` if it has none."""
    return Finding.of(error.code or code, error.path, error.message, level=Level.ERROR, fix=error.hint or "")


@dataclass(slots=True)
class Places:
    """The paths from which the nodes of a plan were read; nodes are told apart by identity.

    Relations, expressions, measures, sort fields and the functions of window relations have paths. A node that reading
    added (a cast, say) has none in the message that was read, but one in the message that is written from the plan.

    Args:
        entries: the nodes and their paths, in the order of reading.
    """

    entries: list[tuple[Any, Path]] = field(default_factory=list)
    _paths: dict[int, Path] = field(default_factory=dict)
    _known: int = 0  # how many of the entries are in _paths, which is filled on first use

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[tuple[Any, Path]]:
        return iter(self.entries)

    def add(self, node: Any, path: Path) -> None:
        """Record that ``node`` was read from ``path``."""
        self.entries.append((node, path))

    def insert(self, position: int, node: Any, path: Path) -> None:
        """Record a node as :meth:`add` does, before the entry at ``position``."""
        self.entries.insert(position, (node, path))
        self._paths, self._known = {}, 0

    def leave_out(self, start: int, stop: int) -> None:
        """Remove the entries from ``start`` to before ``stop``."""
        del self.entries[start:stop]
        self._paths, self._known = {}, 0

    def moved(self, path: Callable[[Path], Path]) -> Places:
        """Return the same nodes, with ``path`` applied to their paths."""
        return Places([(node, path(place)) for node, place in self.entries])

    def since(self, count: int) -> list[tuple[Any, Path]]:
        """Return the entries after the first ``count``."""
        return self.entries[count:]

    def __contains__(self, node: Any) -> bool:
        return id(node) in self._by_id()

    def path(self, node: Any) -> str | None:
        """Return the path from which a node was read, as text; None for a node that isn't in the message."""
        found = self._by_id().get(id(node), _NOWHERE)
        return None if found is _NOWHERE else render(found)

    def near_path(self, node: Any) -> str | None:
        """Return :meth:`path`, but None if it has more than :data:`MAX_PATH_SEGMENTS` segments.

        For callers that keep the paths of all nodes, whose total length grows with the square of a plan's depth.
        """
        found = self._by_id().get(id(node), _NOWHERE)
        count, path = 0, found
        while path is not None:
            path, _ = path
            count += 1
            if count > MAX_PATH_SEGMENTS:
                return None
        return None if found is _NOWHERE else render(found)

    def _by_id(self) -> dict[int, Path]:
        count = len(self.entries)
        if self._known != count:
            paths = self._paths
            for node, path in self.entries:
                paths.setdefault(id(node), path)
            self._known = count
        return self._paths


_NOWHERE: Path = (None, "nowhere")
