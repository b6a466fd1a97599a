"""The graph of columns, as numbers, and its traversal up and down, at any depth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Graph"]

_NOBODY = -1


@dataclass(slots=True)
class Graph:
    """A graph of dependencies.

    A node is a column, or an intermediate such as the records of a relation.

    Args:
        values: for each node, the nodes that it is computed from.
        conditions: for each node, the nodes that it depends on in other ways.
        records: for each column, the node of the records of its relation, a condition of the column; -1 for other
            nodes.
    """

    values: list[tuple[int, ...]] = field(default_factory=list)
    conditions: dict[int, tuple[int, ...]] = field(default_factory=dict)
    records: list[int] = field(default_factory=list)
    _made_of_it: dict[int, list[int]] | None = None
    _decided_by_it: dict[int, list[int]] | None = None

    def add(self, count: int, records: int | None = None) -> range:
        """Add nodes; ``records`` is the node of the records that they belong to."""
        first = len(self.values)
        self.values.extend([()] * count)
        self.records.extend([_NOBODY if records is None else records] * count)
        return range(first, first + count)

    def up(self, start: Iterable[int], *, conditions: bool) -> set[int]:
        """Return the nodes that some are computed from, themselves included; with ``conditions``, all dependencies."""
        seen, pending = set(start), list(start)
        while pending:
            node = pending.pop()
            found: list[int] = [*self.values[node]]
            if conditions:
                found.extend(self.conditions.get(node, ()))
                if self.records[node] != _NOBODY:
                    found.append(self.records[node])
            for item in found:
                if item not in seen:
                    seen.add(item)
                    pending.append(item)
        return seen

    def down(self, start: Iterable[int], *, conditions: bool) -> set[int]:
        """Return the nodes that are computed from some, themselves included; with ``conditions``, all that depend."""
        made, decided = self._turned()
        seen, pending = set(start), list(start)
        while pending:
            node = pending.pop()
            for item in made.get(node, ()):
                if item not in seen:
                    seen.add(item)
                    pending.append(item)
            for item in decided.get(node, ()) if conditions else ():
                if item not in seen:
                    seen.add(item)
                    pending.append(item)
        return seen

    def _turned(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Return the reversed edges: the nodes computed from each node, and those that depend on it in other ways."""
        if self._made_of_it is None or self._decided_by_it is None:
            self._made_of_it, self._decided_by_it = {}, {}
            for node, sources in enumerate(self.values):
                for source in sources:
                    self._made_of_it.setdefault(source, []).append(node)
            for node, sources in self.conditions.items():
                for source in sources:
                    self._decided_by_it.setdefault(source, []).append(node)
            for node, records in enumerate(self.records):
                if records != _NOBODY:
                    self._decided_by_it.setdefault(records, []).append(node)
        return self._made_of_it, self._decided_by_it
