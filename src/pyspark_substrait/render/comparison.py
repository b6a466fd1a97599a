"""Two plans side by side: the counterparts of their cards, the marks of these, and the list of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark_substrait.analysis.diff import Change, Difference, Mark, Pair
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import Graph
from pyspark_substrait.text.explain.lines import innermost
from pyspark_substrait.text.explain.literals import counted

__all__ = ["Changed", "Comparison", "Partners", "comparison"]

#: The most characters of a sentence in a list, and of a part of a plan in the panel.
_LONG_SENTENCE, _LONG_PART = 300, 2_000
#: A node has one mark: the first of these, if it has several counterparts.
_GRAVEST = (Mark.CHANGED, Mark.REMOVED, Mark.ADDED, Mark.MOVED, Mark.SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partners:
    """A node of the first plan and its counterpart in the second.

    Args:
        a, b: their numbers; None for a missing one.
        mark: the state of the relation.
        changes: the numbers of its changes among those of the comparison.
        columns: the positions of the columns that differ, in the first and in the second.
    """

    a: int | None
    b: int | None
    mark: Mark
    changes: tuple[int, ...]
    columns: tuple[tuple[int | None, int | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A change, and the cards that show it.

    Args:
        change: the change.
        a, b: the numbers of the nodes in each plan where it is, or would be.
    """

    change: Change
    a: tuple[int, ...]
    b: tuple[int, ...]

    @property
    def sentence(self) -> tuple[tuple[str, bool], ...]:
        """The text of the change, in pieces; true for those that are parts of a plan."""
        pieces = _shortened(self.change.what, _LONG_SENTENCE).split("`")
        return tuple((text, at % 2 == 1) for at, text in enumerate(pieces) if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between two plans, by the node numbers of their graphs.

    Args:
        marks_a, marks_b: a mark for each node that was compared: ``same``, ``moved``, ``changed``, ``removed``,
            ``added``.
        partners: each node that was compared, with its counterpart.
        changes: first those that make a difference, then those that make none.
        obstacle: why the plans can't be compared; empty when they can.
    """

    marks_a: Mapping[int, str]
    marks_b: Mapping[int, str]
    partners: tuple[Partners, ...] = ()
    changes: tuple[Changed, ...] = ()
    obstacle: str = ""

    @property
    def differences(self) -> tuple[tuple[int, Changed], ...]:
        """The changes that make a difference, with their numbers."""
        return tuple((at, item) for at, item in enumerate(self.changes) if item.change.kind.counts)

    @property
    def remarks(self) -> tuple[tuple[int, Changed], ...]:
        """The changes that can't change a result, with their numbers."""
        return tuple((at, item) for at, item in enumerate(self.changes) if not item.change.kind.counts)

    @property
    def heading(self) -> str:
        """The result in a sentence."""
        if self.obstacle:
            return "The plans cannot be compared"
        return counted(len(self.differences), "change") if self.differences else "The plans mean the same"

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """The number of nodes with each mark that occurs."""
        found = Counter(item.mark for item in self.partners)
        return tuple((mark.value, found[mark]) for mark in reversed(Mark) if found[mark])

    def data(self) -> dict[str, Any]:
        """Return the data for the script.

        ``pairs``: number in each graph (-1 for none), mark, numbers of changes, columns that differ (-1 for none).
        ``changes``: what, before, after, numbers in the first graph, numbers in the second.
        """
        return {
            "same": not self.differences and not self.obstacle,
            "pairs": [
                [
                    _number(item.a),
                    _number(item.b),
                    item.mark.value,
                    [*item.changes],
                    [[_number(one), _number(other)] for one, other in item.columns],
                ]
                for item in self.partners
            ],
            "changes": [
                [*(escaped(_shortened(text, _LONG_PART)) for text in _texts(item.change)), [*item.a], [*item.b]]
                for item in self.changes
            ],
        }


def comparison(a: Graph, b: Graph, difference: Difference | None, *, obstacle: str = "") -> Comparison:
    """Return the differences between two plans, by the node numbers of their graphs.

    Args:
        a, b: the plans as graphs.
        difference: the result of their comparison; None if they can't be compared.
        obstacle: the reason why they can't be compared.
    """
    if difference is None:
        return Comparison(marks_a={}, marks_b={}, obstacle=obstacle or "one of them cannot be understood")
    places = _places(a), _places(b)
    changes = [*difference.changes, *difference.remarks]
    numbers = {change: number for number, change in enumerate(changes)}
    partners = [*_partners(difference.pairs, places, numbers)]
    holders: list[tuple[list[int], list[int]]] = [([], []) for _ in changes]
    for item in partners:
        for number in item.changes:
            for side, node in zip(holders[number], (item.a, item.b), strict=True):
                side.extend([] if node is None else [node])
    longest = [max(map(len, side), default=0) for side in places]
    told = []
    for change, (left, right) in zip(changes, holders, strict=True):
        found = [
            tuple(dict.fromkeys(nodes)) or _near(path, side, length)
            for nodes, path, side, length in zip(
                (left, right), (change.path_a, change.path_b), places, longest, strict=True
            )
        ]
        told.append(Changed(change=change, a=found[0], b=found[1]))
    return Comparison(
        marks_a=_marks((item.a, item.mark) for item in partners),
        marks_b=_marks((item.b, item.mark) for item in partners),
        partners=tuple(partners),
        changes=tuple(told),
    )


def _places(graph: Graph) -> dict[str, int]:
    """Return the nodes by their paths."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        if node.path is not None:
            found.setdefault(node.path, node.number)
    return found


def _partners(
    pairs: Iterable[Pair], places: tuple[dict[str, int], dict[str, int]], numbers: Mapping[Change, int]
) -> Iterable[Partners]:
    for pair in pairs:
        a, b = places[0].get(pair.path_a), places[1].get(pair.path_b)
        if a is not None or b is not None:
            changes = tuple(numbers[change] for change in pair.changes if change in numbers)
            yield Partners(a=a, b=b, mark=pair.mark, changes=changes, columns=pair.columns)


def _near(path: str, places: dict[str, int], longest: int) -> tuple[int, ...]:
    """Return the innermost node around a path."""
    found = innermost(path, {"": -1, **places}, longest) if path else -1
    return () if found < 0 else (found,)


def _marks(found: Iterable[tuple[int | None, Mark]]) -> dict[int, str]:
    marks: dict[int, Mark] = {}
    for node, mark in found:
        if node is not None:
            marks[node] = min(mark, marks.get(node, mark), key=_GRAVEST.index)
    return {node: mark.value for node, mark in sorted(marks.items())}


def _texts(change: Change) -> tuple[str, str, str]:
    return change.what, change.before, change.after


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _number(value: int | None) -> int:
    return -1 if value is None else value
