"""The result of a comparison: the changes, and the two trees merged into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import overload

from pyspark_substrait.analysis.diff.description import Kind, Step
from pyspark_substrait.message_text import escaped, json_text
from pyspark_substrait.text.notebook_output import NotebookOutput

__all__ = ["Change", "Difference", "Line", "Mark", "Pair"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between two plans.

    Args:
        kind: what differs: a relation, a condition, a table …
        what: the change in one sentence, without a full stop.
        before, after: the part in the first plan and in the second; empty where it is missing.
        path_a, path_b: its path in each plan; for a part that a plan lacks, where it would be.
    """

    kind: Kind
    what: str
    before: str = ""
    after: str = ""
    path_a: str = ""
    path_b: str = ""

    def __str__(self) -> str:
        return self.what


class Mark(Enum):
    """The state of a relation in a comparison.

    ``MOVED``: it is the same in another place. ``CHANGED``: it has changes, or became one of another kind.
    """

    SAME = "same"
    MOVED = "moved"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A relation of the first plan and its counterpart in the second.

    Roots, base schemas and the expressions of an extended expression have pairs, too.

    Args:
        path_a, path_b: the path in each plan; empty where there is no counterpart. Such a pair is ``REMOVED`` or
            ``ADDED``; it is ``SAME`` if the relation doesn't affect the meaning of the plan, like a projection that
            only picks columns.
        mark: its own state, without changes below it.
        changes: its differences, remarks included; empty below a tree that was removed or added as a whole.
        columns: the positions of the output columns that differ, in the first plan and in the second; None where a plan
            lacks the column.
    """

    path_a: str
    path_b: str
    mark: Mark
    changes: tuple[Change, ...] = ()
    columns: tuple[tuple[int | None, int | None], ...] = ()


@dataclass(slots=True, kw_only=True, eq=False)
class Line:
    """One relation of the two trees merged into one.

    Args:
        mark: ``-`` if only the first plan has it, ``+`` if only the second has it, a blank if both have it.
        text: its title.
        changes: its differences.
        below: the lines of the relations below it.
        whole: the number of relations that the line stands for, if it and all below it are the same in both plans.
        quiet: whether it isn't shown in the drawn tree.
        a, b: its step in each plan; both None if the relation is on another line.
        entire: whether all below it is in the same plan only, and has no lines.
        outputs: the columns that it puts out in each plan, by identity.
        columns: those that differ, by identity; -1 where there is no counterpart.
    """

    mark: str
    text: str
    changes: list[Change] = field(default_factory=list)
    below: list[Line] = field(default_factory=list)
    whole: int = 0
    quiet: bool = False
    a: Step | None = None
    b: Step | None = None
    entire: bool = False
    outputs: tuple[Sequence[int], Sequence[int]] = ((), ())
    columns: list[tuple[int, int]] = field(default_factory=list)

    def positions(self) -> Iterator[tuple[int | None, int | None]]:
        """Return the positions in the output of the columns that differ."""
        first, second = ({number: at for at, number in reversed([*enumerate(side)])} for side in self.outputs)
        for one, other in self.columns:
            if one in first or other in second:
                yield first.get(one), second.get(other)

    def all_changes(self) -> Iterator[Change]:
        """Return the changes here and below, from the top down."""
        pending = [self]
        while pending:
            line = pending.pop()
            yield from line.changes
            pending.extend(reversed(line.below))


class Difference(NotebookOutput, Sequence[Change]):
    """The changes between two plans, in words. It is true if there are any.

    ``remarks`` are differences that can't change a result; they are not part of the sequence.
    """

    def __init__(self, lines: Sequence[Line], pairs: Callable[[], tuple[Pair, ...]] = tuple) -> None:
        self._lines = tuple(lines)
        self._pairs = pairs
        found = list(dict.fromkeys(change for line in lines for change in line.all_changes()))
        self.changes = tuple(change for change in found if change.kind.counts)
        self.remarks = tuple(change for change in found if not change.kind.counts)

    @property
    def same(self) -> bool:
        """Whether the plans have the same meaning."""
        return not self.changes

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The relations of the two plans, each with its counterpart.

        Each relation is in one pair; in several if one plan shares it by references and the other repeats it.
        """
        return self._pairs()

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...

    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self.changes[index]

    def __len__(self) -> int:
        return len(self.changes)

    def __repr__(self) -> str:
        return f"<Difference: {_counted(len(self.changes), 'change')}>"

    def __str__(self) -> str:
        parts = [_heading(self.changes)]
        numbers = {change: number for number, change in enumerate(self.changes, start=1)}
        if self.changes:
            parts.append("\n".join(line for change, number in numbers.items() for line in _listed(change, number)))
            parts.append("\n".join(self.drawn()))
        if self.remarks:
            remarks = "\n".join(f"  {escaped(change.what)}" for change in self.remarks)
            parts.append(f"Different, but the same in meaning:\n{remarks}")
        return "\n\n".join(part for part in parts if part)

    def drawn(self) -> tuple[str, ...]:
        """Return the merged trees as lines, which begin with ``-``, ``+`` or a blank, and end with the numbers of their
        changes.
        """
        numbers = {change: number for number, change in enumerate(self.changes, start=1)}
        return tuple(text for line in self._lines if not line.quiet for text in _drawn(line, numbers))

    def to_json(self) -> str:
        """Return the changes and the remarks as indented JSON."""
        content = {
            "same": self.same,
            "changes": [_object(change) for change in self.changes],
            "remarks": [_object(change) for change in self.remarks],
        }
        return json_text(content, indent=2)


def _object(change: Change) -> dict[str, str]:
    parts = {
        "kind": change.kind.value,
        "what": change.what,
        "before": change.before,
        "after": change.after,
        "path_a": change.path_a,
        "path_b": change.path_b,
    }
    return {name: text for name, text in parts.items() if text}


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _heading(changes: Sequence[Change]) -> str:
    return f"{_counted(len(changes), 'change')}:" if changes else "The plans mean the same."


def _listed(change: Change, number: int) -> Iterator[str]:
    yield f"{number:>3}. {escaped(change.what)}"
    if change.path_a == change.path_b:
        if change.path_a:
            yield f"       at {change.path_a}"
        return
    if change.path_a:
        yield f"     a at {change.path_a}"
    if change.path_b:
        yield f"     b at {change.path_b}"


#: The deepest indentation of the drawn tree.
_DEEPEST = 20


def _drawn(top: Line, numbers: dict[Change, int]) -> Iterator[str]:
    """Draw the tree with the numbers of the changes; consecutive relations without changes share a line."""
    pending = [(top, 0)]
    while pending:
        line, depth = pending.pop()
        skipped = []
        while depth and len(line.below) == 1 and _quiet(line) and _quiet(line.below[0]) and not line.below[0].whole:
            skipped.append(line)
            line = line.below[0]
        if len(skipped) > 1:
            yield f"  {_indent(depth)}… {_counted(len(skipped), 'relation')} …"
            depth += 1
        else:
            for other in skipped:
                yield f"  {_indent(depth)}{escaped(other.text)}"
                depth += 1
        marked = ", ".join(str(numbers[change]) for change in line.changes if change in numbers)
        same = f" (with {line.whole - 1} below: the same)" if line.whole > 1 else ""
        yield f"{line.mark} {_indent(depth)}{escaped(line.text)}{same}{f'  ← {marked}' if marked else ''}".rstrip()
        pending.extend((below, depth + 1) for below in reversed(line.below))


def _indent(depth: int) -> str:
    return "  " * min(depth, _DEEPEST)


def _quiet(line: Line) -> bool:
    return line.mark == " " and not any(change.kind.counts for change in line.changes)
