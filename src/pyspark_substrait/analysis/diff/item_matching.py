"""The counterparts of the items of two parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from pyspark_substrait.analysis.diff.description import Item, Part, Style
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.expression_diff import parts_of

__all__ = ["Pair", "pairs", "reordered"]

#: Counterparts, the first and the second; None for a missing one.
Pair = tuple[Item | None, Item | None]

#: The most items of a side that are compared with each other one by one.
_MOST = 40


def pairs(a: Part, b: Part, forms: Forms) -> list[Pair]:
    """Pair the items of two parts."""
    match a.style:
        case Style.ONE:
            return list(_in_turn(a.items, b.items))
        case Style.ROW:
            return _row(a.items, b.items)
        case Style.FIELDS:
            return _by(a.items, b.items, [lambda item: item.name, lambda item: (item.name or "").lower(), _declared])
        case Style.BAG | Style.COLUMNS:
            found = _by(a.items, b.items, [lambda item: item.form.exact, lambda item: item.form.meaning])
            left = [item for item, other in found if item is not None and other is None]
            right = [other for item, other in found if item is None and other is not None]
            both = [pair for pair in found if None not in pair]
            return [*both, *_by_likeness(left, right, forms)]


def reordered(a: Part, b: Part) -> bool:
    """Whether two parts have the same items in another order, where the order counts."""
    if a.style is not Style.ROW or len(a.items) != len(b.items) or len(a.items) < 2:
        return False
    first, second = ([item.form.meaning for item in part.items] for part in (a, b))
    return first != second and sorted(first) == sorted(second)


def _in_turn(a: Sequence[Item], b: Sequence[Item]) -> Iterator[Pair]:
    for at in range(max(len(a), len(b))):
        yield a[at] if at < len(a) else None, b[at] if at < len(b) else None


def _row(a: Sequence[Item], b: Sequence[Item]) -> list[Pair]:
    found: list[Pair] = []
    first, second = [x.form.meaning for x in a], [x.form.meaning for x in b]
    for _, a0, a1, b0, b1 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        found.extend(_in_turn(a[a0:a1], b[b0:b1]))
    return found


def _declared(item: Item) -> object:
    """Return the type of a column, whose name may have changed."""
    return item.text


def _by(a: Sequence[Item], b: Sequence[Item], keys: Sequence[Callable[[Item], object]]) -> list[Pair]:
    """Pair items with the same key, in their order; by the first key, then the rest by the next one."""
    found: list[Pair] = []
    left, right = list(a), list(b)
    for key in keys:
        waiting: dict[object, list[Item]] = {}
        for item in reversed(right):
            waiting.setdefault(key(item), []).append(item)
        rest = []
        for item in left:
            others = waiting.get(key(item))
            if others:
                found.append((item, others.pop()))
            else:
                rest.append(item)
        taken = {id(other) for _, other in found}
        left, right = rest, [item for item in right if id(item) not in taken]
    return [*found, *((item, None) for item in left), *((None, item) for item in right)]


def _by_likeness(a: Sequence[Item], b: Sequence[Item], forms: Forms) -> list[Pair]:
    left, right = list(a), list(b)
    named = _by([x for x in left if x.name], [x for x in right if x.name], [lambda item: item.name])
    found: list[Pair] = [pair for pair in named if None not in pair]
    taken = {id(item) for pair in found for item in pair}
    left = [item for item in left if id(item) not in taken]
    right = [item for item in right if id(item) not in taken]
    if len(left) == 1 and len(right) == 1:
        return [*found, (left[0], right[0])]
    if left and right and len(left) <= _MOST and len(right) <= _MOST:
        found += _alike(left, right, forms)
        taken = {id(item) for pair in found for item in pair}
        left = [item for item in left if id(item) not in taken]
        right = [item for item in right if id(item) not in taken]
        if len(left) == 1 and len(right) == 1:
            return [*found, (left[0], right[0])]
    return [*found, *((item, None) for item in left), *((None, item) for item in right)]


def _alike(left: Sequence[Item], right: Sequence[Item], forms: Forms) -> list[Pair]:
    """Pair items that have something in common, the most similar first."""
    parts = {id(item): _parts(item, forms) for item in (*left, *right)}
    scored = []
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            first, second = parts[id(x)], parts[id(y)]
            likeness = len(first & second) / max(len(first | second), 1)
            if likeness > 0:
                scored.append((-likeness, i, j))
    found: list[Pair] = []
    used: set[tuple[str, int]] = set()
    for _, i, j in sorted(scored):
        if ("a", i) not in used and ("b", j) not in used:
            used |= {("a", i), ("b", j)}
            found.append((left[i], right[j]))
    return found


def _parts(item: Item, forms: Forms) -> set[object]:
    return {item.text} if item.node is None or item.record is None else parts_of(item.node, item.record, forms)
