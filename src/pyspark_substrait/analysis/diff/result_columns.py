"""The results of plans: their columns and the names of the columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from pyspark_substrait.analysis.diff.description import Kind, Step
from pyspark_substrait.analysis.diff.difference import Change
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import NamedStruct, OpenStruct

__all__ = ["Result", "output_changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column of a result: its name, None if it has none; its identity; its name in texts."""

    name: str | None
    column: int
    label: str
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A tree that gives a result: its step, the root that names its columns, its path."""

    step: Step
    root: RelRoot | None
    path: str

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of the columns, without those of nested fields; for a tree without a root, the known names."""
        if self.root is None:
            relation = self.step.relation
            own = self.step.picks == relation.common.emit and not isinstance(relation.schema, OpenStruct)
            return relation.names if own else (None,) * len(self.step.columns)
        if isinstance(self.root.input.schema, OpenStruct):
            return self.root.names
        return NamedStruct(names=self.root.names, struct=self.root.input.schema).top_level_names()

    @property
    def every(self) -> tuple[str, ...]:
        """All names that the plan states."""
        return () if self.root is None else self.root.names

    def columns(self) -> list[tuple[str | None, int]]:
        """Return the columns, with the names that the plan states."""
        names = self.names if self.root is not None else (None,) * len(self.step.columns)
        return list(zip(names, self.step.columns, strict=False))


def output_changes(a: Result, b: Result, columns: tuple[int, ...]) -> tuple[list[Change], list[tuple[int, int]]]:
    """Compare the columns of two results, and their names.

    Args:
        columns: the identities in the first plan of the columns of the second result.

    Returns:
        The changes; and the positions of the columns that differ, -1 where there is no counterpart.
    """
    changes: list[Change] = []
    positions: list[tuple[int, int]] = []

    def change(what: str, texts: list[str], kind: Kind) -> None:
        whole = f"{what}: {texts[1]}; it was {texts[0]}"
        changes.append(Change(kind=kind, what=whole, before=texts[0], after=texts[1], path_a=a.path, path_b=b.path))

    named = a.root is not None and b.root is not None
    every = [", ".join(x.every) or "no names" for x in (a, b)]
    if (a.root is None) is not (b.root is None) and a.names != b.names:
        change("the result has other names", every, Kind.NAMES)
    first, second = _columns(a, a.step.columns, named), _columns(b, columns, named)
    before, after = ([(item.name, item.column) for item in side] for side in (first, second))
    if before == after:
        if named and a.every != b.every:
            change("fields of the result are called otherwise", every, Kind.NAMES)
    elif Counter(before) == Counter(after):
        texts = [", ".join(item.label for item in side) for side in (first, second)]
        change("the output columns stand in another order", texts, Kind.COLUMN)
    else:
        for tag, a0, a1, b0, b1 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                _replaced(first[a0:a1], second[b0:b1], (a.path, b.path), changes, positions)
    return changes, positions


def _columns(result: Result, columns: tuple[int, ...], named: bool) -> list[_Column]:
    found = []
    for at, (name, column) in enumerate(zip(result.names, columns, strict=False)):
        label = f"${at}" if name is None else name
        found.append(_Column(name=name if named else None, column=column, label=label, at=at))
    return found


def _replaced(
    left: list[_Column],
    right: list[_Column],
    paths: tuple[str, str],
    changes: list[Change],
    positions: list[tuple[int, int]],
) -> None:
    """Report the changes between columns at the same place of two results."""
    path_a, path_b = paths
    for was, now in _paired(left, right):
        kind = Kind.COLUMN
        if was.column == now.column:
            what, kind = f"the output column {was.label} is called {now.label} now", Kind.NAMES
        elif was.label == now.label:
            what = f"the output column {was.label} is another column now"
        else:
            what = f"the output column {was.label} became {now.label}, another column"
        changes.append(Change(kind=kind, what=what, before=was.label, after=now.label, path_a=path_a, path_b=path_b))
        positions.append((was.at, now.at))
    for item in left:
        positions.append((item.at, -1))
        what = f"the output column {item.label} was removed"
        changes.append(Change(kind=Kind.COLUMN, what=what, before=item.label, path_a=path_a, path_b=path_b))
    for item in right:
        positions.append((-1, item.at))
        what = f"the output column {item.label} was added"
        changes.append(Change(kind=Kind.COLUMN, what=what, after=item.label, path_a=path_a, path_b=path_b))


def _paired(left: list[_Column], right: list[_Column]) -> list[tuple[_Column, _Column]]:
    """Pair columns and take them out of both lists: by identity, then by name, then by place if as many are left."""
    found = []
    for key in ("column", "label"):
        for item in list(left):
            other = next((x for x in right if getattr(x, key) == getattr(item, key)), None)
            if other is not None:
                found.append((item, other))
                left.remove(item)
                right.remove(other)
    if len(left) == len(right):
        found += zip(left, right, strict=True)
        left.clear()
        right.clear()
    return found
