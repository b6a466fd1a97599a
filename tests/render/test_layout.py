"""What is true of every arrangement: no boxes overlap, arrows run from the right side of one to the left of another."""

from __future__ import annotations

import builtins
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import pytest

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.render.layout import Arrow, Box, Frame, Layout, Rectangle, Route, layout_downwards, layout_of
from pyspark_substrait.render.wrapping import wrapped

Graph = tuple[list[Box], list[Arrow], list[Frame]]


def boxes(count: int, seed: int = 1) -> list[Box]:
    chance = random.Random(seed)
    lines = [chance.randrange(16, 120, 2) for _ in range(count)]
    return [Box(chance.randrange(60, 300, 2), line + chance.randrange(10, 200, 2), line) for line in lines]


def tree(count: int, frames: Sequence[Frame] = ()) -> Graph:
    chance = random.Random(count)
    arrows = [Arrow(number, chance.randrange(max(0, number - 5), number)) for number in range(1, count)]
    return boxes(count), arrows, [*frames]


def shared(count: int, each: int) -> Graph:
    """A tree, and arrows from further boxes to any that stand before them."""
    chance = random.Random(count)
    chosen = [Arrow(chance.randrange(target + 1, count), target) for target in range(count - 1) for _ in range(each)]
    return boxes(count), [*tree(count)[1], *chosen], []


def subqueries() -> Graph:
    """0 uses the input 1 and two queries: 2 with 3 and, in a query of its own, 4; and 5. 3 and 5 refer back to 0."""
    arrows = [
        *(Arrow(2, 0, Route.ABOVE), Arrow(5, 0, Route.ABOVE), Arrow(1, 0), Arrow(3, 2), Arrow(4, 2, Route.ABOVE)),
        *(Arrow(0, 3, Route.BACK), Arrow(0, 5, Route.BACK)),
    ]
    return boxes(6), arrows, [Frame((2, 3)), Frame((4,), around=0), Frame((5,))]


GRAPHS: dict[str, Graph] = {
    "one": (boxes(1), [], []),
    "two that nothing joins": (boxes(2), [], []),
    "chain": (boxes(40), [Arrow(number, number - 1) for number in range(1, 40)], []),
    "many inputs": (boxes(30), [Arrow(number, 0) for number in range(1, 30)], []),
    "the same twice": (boxes(2), [Arrow(1, 0), Arrow(1, 0)], []),
    "tree": tree(60),
    "500": tree(500),
    "shared subtrees": shared(30, 1),
    "so many shared that not all place boxes": shared(300, 2),
    "subqueries": subqueries(),
}


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


def inside(one: Rectangle, other: Rectangle) -> bool:
    return one.x > other.x and one.right < other.right and one.y > other.y and one.bottom < other.bottom


def all_members(frames: Sequence[Frame], number: int) -> set[int]:
    inner = (all_members(frames, other) for other, frame in enumerate(frames) if frame.around == number)
    return {*frames[number].members}.union(*inner)


@pytest.mark.parametrize("name", GRAPHS)
def test_an_arrangement(name: str) -> None:
    placed, arrows, frames = GRAPHS[name]
    found = layout_of(placed, arrows, frames)
    whole = Rectangle(0, 0, found.width, found.height)
    assert [(area.width, area.height) for area in found.boxes] == [(box.width, box.height) for box in placed]
    assert all(inside(area, whole) for area in (*found.boxes, *found.frames))
    assert not [pair for pair in combinations(found.boxes, 2) if overlap(*pair)]
    assert [len(route) % 3 for route in found.routes] == [1] * len(arrows)
    for arrow, route in zip(arrows, found.routes, strict=True):
        source, target = found.boxes[arrow.source], found.boxes[arrow.target]
        if arrow.way is Route.BACK:
            assert (route[0][0], route[-1][0]) == (source.x, target.right)
            continue
        assert source.right < target.x
        assert route[0] == pytest.approx((source.right, source.y + placed[arrow.source].line))
        assert route[-1][0] == pytest.approx(target.x)
        below = route[-1][1] - target.y
        assert 0 < below < target.height
        assert below < placed[arrow.target].line or arrow.way is Route.INPUT
    for number, area in enumerate(found.frames):
        members = all_members(frames, number)
        for other, box in enumerate(found.boxes):
            assert inside(box, area) if other in members else not overlap(box, area), (number, other)


@pytest.mark.parametrize("name", GRAPHS)
def test_an_arrangement_downwards(name: str) -> None:
    placed, arrows, frames = GRAPHS[name]
    lines = [box.width // 4 * 2 for box in placed]
    placed = [Box(box.width, box.height, line) for box, line in zip(placed, lines, strict=True)]
    found = layout_downwards(placed, arrows, frames)
    whole = Rectangle(0, 0, found.width, found.height)
    assert [(area.width, area.height) for area in found.boxes] == [(box.width, box.height) for box in placed]
    assert all(inside(area, whole) for area in (*found.boxes, *found.frames))
    assert not [pair for pair in combinations(found.boxes, 2) if overlap(*pair)]
    for arrow, route in zip(arrows, found.routes, strict=True):
        source, target = found.boxes[arrow.source], found.boxes[arrow.target]
        if arrow.way is Route.BACK:
            assert (route[0][1], route[-1][1]) == (source.y, target.bottom)
            continue
        assert source.bottom < target.y
        assert route[0] == pytest.approx((source.x + placed[arrow.source].line, source.bottom))
        assert route[-1][1] == pytest.approx(target.y)
        assert target.x < route[-1][0] < target.right
    for number, area in enumerate(found.frames):
        members = all_members(frames, number)
        for other, box in enumerate(found.boxes):
            assert inside(box, area) if other in members else not overlap(box, area), (number, other)


def test_a_long_chain_is_cut_into_columns() -> None:
    """A chain of 60, to each third of which a further box goes."""
    placed = [Box(100, 24, 50)] * 80
    arrows = [*(Arrow(number, number - 1) for number in range(1, 60)), *(Arrow(60 + at, at * 3) for at in range(20))]
    long = layout_downwards(placed, arrows)
    found = wrapped(long, arrows)
    assert found is not None
    assert found.height < long.height / 2
    assert 1 < found.width / found.height < 2
    whole = Rectangle(0, 0, found.width, found.height)
    assert all(inside(area, whole) for area in found.boxes)
    assert not [pair for pair in combinations(found.boxes, 2) if overlap(*pair)]
    turns = 0
    for arrow, route in zip(arrows, found.routes, strict=True):
        source, target = found.boxes[arrow.source], found.boxes[arrow.target]
        assert len(route) % 3 == 1
        assert route[0] == pytest.approx((source.x + 50, source.bottom))
        assert route[-1][1] == pytest.approx(target.y)
        assert target.x < route[-1][0] < target.right
        assert all(0 <= x <= found.width and 0 <= y <= found.height for x, y in route)
        if target.y < source.bottom:  # it goes through a gutter, in which no box stands
            turns += 1
            gutter = route[3][0]
            assert route[6][0] == gutter
            assert not [box for box in found.boxes if box.x <= gutter <= box.right]
    assert turns >= 2


def test_what_is_short_or_has_frames_stays_in_one_column() -> None:
    short = [Box(100, 24, 50)] * 8
    arrows = [Arrow(number, number - 1) for number in range(1, 8)]
    assert wrapped(layout_downwards(short, arrows), arrows) is None
    placed, arrows, frames = subqueries()
    assert wrapped(layout_downwards(placed, arrows, frames), arrows) is None


def test_what_follows_in_a_chain_stands_on_one_line() -> None:
    placed, arrows, _ = GRAPHS["chain"]
    found = layout_of(placed, arrows)
    assert len({area.y + box.line for area, box in zip(found.boxes, placed, strict=True)}) == 1
    assert all(len({y for _, y in route}) == 1 for route in found.routes)


def test_the_first_input_arrives_above_the_second() -> None:
    for name in ("500", "many inputs"):
        _, arrows, _ = GRAPHS[name]
        found = layout_of(*GRAPHS[name])
        heights: dict[int, list[float]] = {}
        for arrow, route in zip(arrows, found.routes, strict=True):
            heights.setdefault(arrow.target, []).append(route[-1][1])
        assert all(listed == sorted(listed) for listed in heights.values())


@pytest.mark.parametrize("arrows", [[Arrow(0, 0)], [Arrow(0, 1), Arrow(1, 0)], [Arrow(0, 1), Arrow(1, 2), Arrow(2, 0)]])
def test_circles_are_drawn_all_the_same(arrows: list[Arrow]) -> None:
    found = layout_of(boxes(3), arrows)
    assert len(found.routes) == len(arrows)
    assert not [pair for pair in combinations(found.boxes, 2) if overlap(*pair)]


def test_threads_get_what_one_gets() -> None:
    placed, arrows, frames = GRAPHS["tree"]

    def once(_: int) -> Layout:
        return layout_of(placed, arrows, frames)

    with ThreadPoolExecutor(4) as threads:
        assert {once(0)} == {*threads.map(once, range(12))}


def test_too_much_is_refused() -> None:
    with pytest.raises(SubstraitError, match=r"5,001 relations would be too large. At most 5,000"):
        layout_of([Box(10, 10, 4)] * 5_001, [])


def test_without_graphviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: object) -> object:
        if name == "pygraphviz":
            raise ImportError(name)
        return real(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.delitem(sys.modules, "pygraphviz", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SubstraitError, match="pip install pygraphviz"):
        layout_of(boxes(2), [])
