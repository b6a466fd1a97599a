"""The counterparts of the relations of two trees.

Each tree is taken as a row: from the top down, at a relation with several inputs through the one that has most in
common with the other tree. The two rows are aligned so that as little as possible has no counterpart; the inputs
beside the rows are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pyspark_substrait.analysis.diff.description import Step
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.expression_diff import parts_of

__all__ = ["Match", "Place", "aligned", "paired_inputs", "rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A step in a row, and the input through which the row continues; -1 at the end."""

    step: Step
    main: int


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Two steps that are counterparts, or one without a counterpart. ``same``: everything below is the same, too."""

    a: Place | None
    b: Place | None
    same: bool = False


_JOINS = {"Join", "HashJoin", "MergeJoin", "NestedLoopJoin", "Cross", "LateralJoin"}

#: The most pairs of steps that are compared one by one; in longer rows, equal steps are matched first.
_MOST_PAIRS = 300_000
#: The most parts of a step that are considered for the similarity of two steps.
_MUCH = 100


def rows(a: Step, b: Step) -> tuple[list[Place], list[Place]]:
    """Return the rows of two trees that are to be compared."""
    left: list[Place] = []
    right: list[Place] = []
    x, y = _down(a, left), _down(b, right)
    while x is not None and y is not None and x.form.exact != y.form.exact:
        i, j = _mains(x, y)
        left.append(Place(x, i))
        right.append(Place(y, j))
        x, y = _down(x.inputs[i], left), _down(y.inputs[j], right)
    if x is not None:
        left.extend(_row(x, b))
    if y is not None:
        right.extend(_row(y, a))
    return left, right


def _down(step: Step, places: list[Place]) -> Step | None:
    """Return the next step with several inputs; None if there is none. The steps above it are added to ``places``."""
    while len(step.inputs) == 1:
        places.append(Place(step, 0))
        step = step.inputs[0]
    if step.inputs:
        return step
    places.append(Place(step, -1))
    return None


def _mains(a: Step, b: Step) -> tuple[int, int]:
    """Return the inputs through which two rows continue: the most similar ones whose other inputs are similar, too."""
    owns_a, owns_b = [_owns(item) for item in a.inputs], [_owns(item) for item in b.inputs]
    alike = [[len(x & y) for y in owns_b] for x in owns_a]
    if len(owns_a) == len(owns_b) == 2:
        straight, crossed = alike[0][0] + alike[1][1], alike[0][1] + alike[1][0]
        pairs = [(0, 1), (1, 0)] if crossed > straight else [(0, 0), (1, 1)]
    else:
        pairs = [(i, j) for i in range(len(owns_a)) for j in range(len(owns_b))]
    return max(pairs, key=lambda pair: (alike[pair[0]][pair[1]], pair[0] == pair[1], -pair[0], -pair[1]))


def _row(top: Step, other: Step) -> list[Place]:
    """Return the row from one step down, through the inputs that have most in common with the other tree."""
    wanted = _owns(other)
    weights: dict[int, int] = {}
    places: list[Place] = []
    step: Step | None = top
    while step is not None:
        found = [_weight(item, wanted, weights) for item in step.inputs]
        main = max(range(len(found)), key=lambda at: (found[at], -at), default=-1)
        places.append(Place(step, main))
        step = step.inputs[main] if main >= 0 else None
    return places


def _owns(top: Step) -> set[int]:
    owns: set[int] = set()
    seen: set[int] = set()
    pending = [top]
    while pending:
        step = pending.pop()
        if id(step) not in seen:
            seen.add(id(step))
            owns.add(step.own)
            pending.extend(step.inputs)
    return owns


def _weight(top: Step, wanted: set[int], weights: dict[int, int]) -> int:
    """Return the number of steps from ``top`` down that the other tree also has."""
    pending = [top]
    while pending:
        step = pending[-1]
        if id(step) in weights:
            pending.pop()
            continue
        missing = [item for item in step.inputs if id(item) not in weights]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        weights[id(step)] = (step.own in wanted) + sum(weights[id(item)] for item in step.inputs)
    return weights[id(top)]


def aligned(left: list[Place], right: list[Place], forms: Forms) -> list[Match]:
    """Align two rows, from the top down."""
    a, b, bottom = _without_end(left, right)
    top: list[Match] = []
    while len(top) < min(len(a), len(b)) and a[len(top)].step.own == b[len(top)].step.own:
        top.append(Match(a[len(top)], b[len(top)]))
    a, b = a[len(top) :], b[len(top) :]
    end: list[Match] = []
    while a and b and a[-1].step.own == b[-1].step.own:
        end.append(Match(a.pop(), b.pop()))
    between = (_cheapest if len(a) * len(b) <= _MOST_PAIRS else _by_equals)(a, b, forms)
    return [*top, *between, *reversed(end), *bottom]


def _without_end(left: list[Place], right: list[Place]) -> tuple[list[Place], list[Place], list[Match]]:
    """Return the rows without the end that they share."""
    places = {place.step.form.exact: at for at, place in reversed(list(enumerate(left)))}
    for at, place in enumerate(right):
        other = places.get(place.step.form.exact)
        if other is not None:
            return left[:other], right[:at], [Match(left[other], place, same=True)]
    return list(left), list(right), []


def _cheapest(a: Sequence[Place], b: Sequence[Place], forms: Forms) -> list[Match]:
    """Return the alignment of two rows that leaves the fewest steps without a counterpart."""
    costs = [[float(at) for at in range(len(b) + 1)]]
    pairs: list[list[float]] = []
    texts = [_texts(place.step, forms) for place in b]
    for number, left in enumerate(a, start=1):
        above, line = costs[-1], [float(number)]
        own = _texts(left.step, forms)
        row = [_cost(left.step, right.step, own, texts[at]) for at, right in enumerate(b)]
        for at, pair in enumerate(row):
            line.append(min(above[at] + pair, above[at + 1] + 1, line[at] + 1))
        pairs.append(row)
        costs.append(line)
    found: list[Match] = []
    i, j = len(a), len(b)
    while i or j:
        here = costs[i][j]
        if i and j and here == costs[i - 1][j - 1] + pairs[i - 1][j - 1]:
            i, j = i - 1, j - 1
            found.append(Match(a[i], b[j]))
        elif j and here == costs[i][j - 1] + 1:
            j -= 1
            found.append(Match(None, b[j]))
        else:
            i -= 1
            found.append(Match(a[i], None))
    return found[::-1]


def _by_equals(a: Sequence[Place], b: Sequence[Place], forms: Forms) -> list[Match]:
    found: list[Match] = []
    matcher = SequenceMatcher(None, [x.step.own for x in a], [x.step.own for x in b], autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        left, right = list(a[a0:a1]), list(b[b0:b1])
        if tag == "equal":
            found.extend(map(Match, left, right))
        elif len(left) * len(right) <= _MOST_PAIRS:
            found.extend(_cheapest(left, right, forms))
        else:
            found.extend(_by_kinds(left, right))
    return found


def _by_kinds(a: Sequence[Place], b: Sequence[Place]) -> Iterator[Match]:
    """Align rows that are too long for anything better: steps of the same kind are counterparts, in their order."""
    matcher = SequenceMatcher(None, [x.step.kind for x in a], [x.step.kind for x in b], autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            yield from map(Match, a[a0:a1], b[b0:b1])
        else:
            yield from (Match(place, None) for place in a[a0:a1])
            yield from (Match(None, place) for place in b[b0:b1])


def _cost(a: Step, b: Step, said_a: set[object], said_b: set[object]) -> float:
    """Return the difference of two steps: 0 if they are the same; 2 and more if they can't be counterparts."""
    if a.own == b.own:
        return 0.0
    if a.kind == b.kind:
        return 0.9 - 0.7 * len(said_a & said_b) / (len(said_a | said_b) or 1)
    if a.kind in _JOINS and b.kind in _JOINS:
        return 1.2
    return 1.8 if not a.inputs and not b.inputs else 9.0


def _texts(step: Step, forms: Forms) -> set[object]:
    """Return the forms of everything that a step states, and of its subexpressions."""
    found: set[object] = set()
    for part in step.description.parts:
        for item in part.items:
            found.add(item.form.meaning)
            if item.node is not None and item.record is not None and len(found) < _MUCH:
                found |= parts_of(item.node, item.record, forms)
    return found


def paired_inputs(a: Sequence[Step], b: Sequence[Step]) -> list[tuple[Step | None, Step | None]]:
    """Pair the inputs beside rows: first those that are the same, then by similarity, in their order."""
    left, right = list(a), list(b)
    pairs: list[tuple[Step | None, Step | None]] = []
    for item in list(left):
        other = next((x for x in right if x.form.exact == item.form.exact), None)
        if other is not None:
            pairs.append((item, other))
            left.remove(item)
            right.remove(other)
    owns = {id(item): _owns(item) for item in (*left, *right)}
    while left and right:
        shared = [
            (len(owns[id(x)] & owns[id(y)]) + 0.5 * bool(set(x.tables) & set(y.tables)), -i, -j)
            for i, x in enumerate(left)
            for j, y in enumerate(right)
        ]
        _, i, j = max(shared)
        pairs.append((left.pop(-i), right.pop(-j)))
    return [*pairs, *((item, None) for item in left), *((None, item) for item in right)]
