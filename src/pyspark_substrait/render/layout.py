"""The positions of cards and the routes of edges, by Graphviz (``dot``). It gets only numbers and sizes, never a text.

Data flows from left to right. A box has a *line*: the height at which edges arrive on its left side and leave on its
right side. Consecutive boxes are placed with their lines at one height, where that is possible.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Any

from pyspark_substrait.errors import SubstraitError

__all__ = ["PADDING", "Arrow", "Box", "Frame", "Layout", "Point", "Rectangle", "Route", "layout_downwards", "layout_of"]

Point = tuple[float, float]

#: Graphviz has global state, which two threads must not share.
_ONE_AT_A_TIME = Lock()
_MOST = 5_000
#: The most layers that all arrows together may skip; with more, dot takes minutes.
_MOST_SKIPPED = 2_000
#: The distance between the arrows that arrive at a box; two inputs have room for a word between them.
_SLOT, _WIDE_SLOT = 14, 24
#: The distance from the top of a box at which arrows that run back begin and end.
_HEAD = 16
#: The space inside a frame, and the additional space for its heading.
PADDING, _HEADING = 16, 12


@dataclass(frozen=True, slots=True)
class Box:
    """The space for a card, in pixels.

    Args:
        width, height: its size; even numbers.
        line: the distance from its top at which edges arrive and leave; an even number.
    """

    width: int
    height: int
    line: int


class Route(Enum):
    """The course of an arrow.

    ``INPUT``: from the line of a box to that of another, further to the right. ``ABOVE``: the same, but it arrives
    above the line. ``BACK``: from the left side of a box to the right side of another, further to the left, behind all
    boxes; it doesn't affect the placement.
    """

    INPUT = "input"
    ABOVE = "above"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge between two boxes, by their numbers."""

    source: int
    target: int
    way: Route = Route.INPUT


@dataclass(frozen=True, slots=True)
class Frame:
    """Boxes that stay together, separated from others.

    Args:
        members: their numbers, without those in inner frames.
        around: the number of the enclosing frame; None for none. A frame comes after the one that encloses it.
    """

    members: tuple[int, ...]
    around: int | None = None


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle, in pixels from the upper left corner of the drawing."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x coordinate of its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y coordinate of its lower side."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of everything.

    Args:
        boxes: a rectangle for each box.
        routes: for each arrow its start, and three points for each Bézier curve.
        frames: a rectangle for each frame.
        width, height: the size of the whole.
    """

    boxes: tuple[Rectangle, ...]
    routes: tuple[tuple[Point, ...], ...]
    frames: tuple[Rectangle, ...]
    width: float
    height: float


def layout_of(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame] = (),
    *,
    between: int = 48,
    apart: int = 26,
    margin: int = 16,
) -> Layout:
    """Arrange boxes in layers from left to right.

    Args:
        boxes: the boxes.
        arrows: from boxes on the left to boxes on the right, unless they form a cycle.
        frames: the boxes that stay together.
        between, apart: the pixels between two layers, and between the boxes of a layer.
        margin: the pixels around the whole.

    Raises:
        SubstraitError: there are more boxes than can be arranged, or Graphviz isn't installed.
    """
    if len(boxes) > _MOST:
        hint = f"At most {_MOST:,} relations can be drawn"
        raise SubstraitError(f"a drawing of {len(boxes):,} relations would be too large", hint=hint)
    if not boxes:
        return Layout((), (), (), 2.0 * margin, 2.0 * margin)
    slots = _slots(boxes, arrows)
    told, ends = _dot_edges(len(boxes), arrows)
    found = _laid_out("".join(_dot(boxes, arrows, frames, slots, told, ends, between / 72, apart / 72)))
    top = float(found["bb"].split(",")[3])
    placed: dict[int, Rectangle] = {}
    for item in found["objects"]:
        if "pos" in item and item["name"] != "end":
            x, y = map(float, item["pos"].split(","))
            box = boxes[int(item["name"])]
            placed[int(item["name"])] = Rectangle(x - box.width / 2, top - y - box.height / 2, box.width, box.height)
    rectangles = [placed[number] for number in range(len(boxes))]
    edges = (edge for edge in found.get("edges", ()) if "comment" in edge)
    drawn = {int(edge["comment"]): _points(edge.get("pos", ""), top) for edge in edges}
    routes = [
        _route(rectangles, boxes, arrow, slots[number], drawn.get(number, [])) for number, arrow in enumerate(arrows)
    ]
    return _moved(rectangles, routes, _framed(frames, rectangles), margin)


def layout_downwards(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame] = (),
    *,
    between: int = 48,
    apart: int = 26,
    margin: int = 16,
) -> Layout:
    """Arrange boxes in layers from top to bottom; otherwise like ``layout_of``.

    The line of a box is the distance from its left side at which edges arrive at its top and leave at its bottom.
    """
    turned = [Box(width=box.height, height=box.width, line=box.line) for box in boxes]
    found = layout_of(turned, arrows, frames, between=between, apart=apart, margin=margin)
    areas = [Rectangle(area.y, area.x, area.height, area.width) for area in found.boxes]
    routes = [tuple((y, x) for x, y in route) for route in found.routes]
    return _moved(areas, routes, _framed(frames, areas), margin) if areas else found


def _slots(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> list[int]:
    """Return the distance of each arrow's end from the top of its target: inputs around its line, others above them."""
    inputs: dict[int, list[int]] = {}
    others: dict[int, list[int]] = {}
    for number, arrow in enumerate(arrows):
        if arrow.way is not Route.BACK:
            (inputs if arrow.way is Route.INPUT else others).setdefault(arrow.target, []).append(number)
    slots = [_head(boxes[arrow.target]) if arrow.way is Route.BACK else boxes[arrow.target].line for arrow in arrows]
    for target, numbers in inputs.items():
        box = boxes[target]
        room = 2 * min(box.line, box.height - box.line) - 8
        step = _step(room, len(numbers) - 1, _WIDE_SLOT if len(numbers) == 2 else _SLOT)
        for position, number in enumerate(numbers):
            slots[number] = box.line - step * (len(numbers) - 1) // 2 + position * step
    for target, numbers in others.items():
        first = min((slots[number] for number in inputs.get(target, ())), default=boxes[target].line + _SLOT)
        step = _step(first - 6, len(numbers))
        for position, number in enumerate(reversed(numbers), 1):
            slots[number] = first - position * step
    return slots


def _head(box: Box) -> int:
    return min(_HEAD, box.height // 2)


def _step(room: int, count: int, most: int = _SLOT) -> int:
    """Return the distance between ``count`` arrows that arrive in so much room; an even number."""
    return max(min(most, room // max(count, 1)) // 2 * 2, 0)


# --- the input of dot -------------------------------------------------------------------------------------------------


def _dot_edges(count: int, arrows: Sequence[Arrow]) -> tuple[frozenset[int], Sequence[int]]:
    """Return the arrows by which dot places the boxes, and the boxes that must be at the right end.

    These are all arrows, unless dot would take very long: then only those from a layer to the next. Each box but the
    last ones has such an arrow, so that the layers stay the same; the other arrows run behind the boxes.
    """
    placing = [number for number, arrow in enumerate(arrows) if arrow.way is not Route.BACK]
    layers, ends = _layers(count, [arrows[number] for number in placing])
    spans = {number: layers[arrows[number].source] - layers[arrows[number].target] for number in placing}
    if sum(span - 1 for span in spans.values() if span > 1) <= _MOST_SKIPPED:
        return frozenset(placing), ()
    return frozenset(number for number, span in spans.items() if span == 1), ends


def _layers(count: int, arrows: Sequence[Arrow]) -> tuple[list[int], list[int]]:
    """Return the length of the longest path from each box to the right end, and the boxes that are there."""
    sources: dict[int, list[int]] = {}
    open_ = [0] * count
    for arrow in arrows:
        sources.setdefault(arrow.target, []).append(arrow.source)
        open_[arrow.source] += 1
    layers = [0] * count
    ends = [number for number in range(count) if not open_[number]]
    pending = ends[:]
    while pending:
        current = pending.pop()
        for source in sources.get(current, ()):
            layers[source] = max(layers[source], layers[current] + 1)
            open_[source] -= 1
            if not open_[source]:
                pending.append(source)
    return layers, ends


def _dot(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame],
    slots: Sequence[int],
    told: Collection[int],
    ends: Sequence[int],
    between: float,
    apart: float,
) -> Iterator[str]:
    """Return the input of dot; its distances are in inches."""
    yield f"digraph {{ rankdir=LR; nodesep={apart:.3f}; ranksep={between:.3f};"
    yield " node [shape=none, margin=0, width=0, height=0]; edge [arrowhead=none];\n"
    heights: dict[int, set[int]] = {number: {box.line} for number, box in enumerate(boxes)}
    for number in told:
        heights[arrows[number].target].add(slots[number])
    for number, box in enumerate(boxes):
        yield f"{number} [label=<{_table(box, sorted(heights[number]))}>];\n"
    within: dict[int | None, list[int]] = {}
    for number, frame in enumerate(frames):
        within.setdefault(frame.around, []).append(number)
    for number in within.get(None, ()):
        yield from _clusters(number, frames, within)
    arriving = Counter(arrows[number].target for number in told)
    for number in sorted(told):
        arrow = arrows[number]
        weight = 8 if arriving[arrow.target] == 1 else 2
        ports = f"{arrow.source}:{boxes[arrow.source].line}:e -> {arrow.target}:{slots[number]}:w"
        yield f"{ports} [comment={number}, weight={weight}];\n"
    if ends:
        yield 'end [shape=point, style=invis, label=""];\n'
        yield from (f"{number} -> end [style=invis, weight=0];\n" for number in ends)
    yield "}"


def _clusters(number: int, frames: Sequence[Frame], within: Mapping[int | None, list[int]]) -> Iterator[str]:
    yield f"subgraph cluster_{number} {{ margin={PADDING + _HEADING}; {' '.join(map(str, frames[number].members))};\n"
    for inner in within.get(number, ()):
        yield from _clusters(inner, frames, within)
    yield "}\n"


def _table(box: Box, heights: Sequence[int]) -> str:
    """Return a box as a table that has a row with a port at each of some heights."""
    rows, y = [], 0
    for height in heights:
        rows.append(_row(box.width, height - 1 - y))
        rows.append(_row(box.width, 2, f' port="{height}"'))
        y = height + 1
    rows.append(_row(box.width, box.height - y))
    return f'<table border="0" cellborder="0" cellspacing="0" cellpadding="0">{"".join(rows)}</table>'


def _row(width: int, height: int, port: str = "") -> str:
    return f'<tr><td fixedsize="true" width="{width}" height="{height}"{port}></td></tr>' if height > 0 else ""


def _laid_out(text: str) -> dict[str, Any]:
    try:
        from pygraphviz import AGraph
    except ImportError as error:
        what = "drawing a plan needs the package pygraphviz, which cannot be imported"
        raise SubstraitError(what, hint="Install it: pip install pygraphviz") from error
    with _ONE_AT_A_TIME:
        agraph = AGraph(string=text)
        try:
            found: dict[str, Any] = json.loads(agraph.draw(format="json0", prog="dot"))
        finally:
            agraph.close()
    return found


# --- the output of dot ------------------------------------------------------------------------------------------------


def _points(text: str, top: float) -> list[Point]:
    pairs = (pair.split(",") for pair in text.split() if pair[0] not in "se")
    return [(float(x), top - float(y)) for x, y in pairs]


def _route(
    places: Sequence[Rectangle], boxes: Sequence[Box], arrow: Arrow, slot: int, points: list[Point]
) -> tuple[Point, ...]:
    """Return the route of an arrow, from exactly the side of its source to exactly that of its target."""
    source, target = places[arrow.source], places[arrow.target]
    if arrow.way is Route.BACK:
        start, end = (source.x, source.y + _head(boxes[arrow.source])), (target.right, target.y + slot)
        bend = max((start[0] - end[0]) / 2, 32)
        return (start, (start[0] - bend, start[1]), (end[0] + bend, end[1]), end)
    start = (source.right, source.y + boxes[arrow.source].line)
    end = (target.x, target.y + slot)
    if len(points) <= 4 or (len(points) - 1) % 3:
        middle = (start[0] + end[0]) / 2
        return (start, (middle, start[1]), (middle, end[1]), end)
    first, last = points[0], points[-1]
    shift = (start[0] - first[0], start[1] - first[1])
    points[1] = (points[1][0] + shift[0], points[1][1] + shift[1])
    shift = (end[0] - last[0], end[1] - last[1])
    points[-2] = (points[-2][0] + shift[0], points[-2][1] + shift[1])
    return (start, *points[1:-1], end)


def _framed(frames: Sequence[Frame], placed: Sequence[Rectangle]) -> list[Rectangle]:
    """Return the rectangles around the boxes of each frame, and the frames within it."""
    found: list[Rectangle | None] = [None] * len(frames)
    for number in reversed(range(len(frames))):
        inside = [placed[member] for member in frames[number].members]
        inside.extend(
            rectangle
            for inner, rectangle in enumerate(found)
            if rectangle is not None and frames[inner].around == number
        )
        x, y = min(item.x for item in inside) - PADDING, min(item.y for item in inside) - PADDING - _HEADING
        right, bottom = max(item.right for item in inside) + PADDING, max(item.bottom for item in inside) + PADDING
        found[number] = Rectangle(x, y, right - x, bottom - y)
    return [rectangle for rectangle in found if rectangle is not None]


def _moved(
    boxes: Sequence[Rectangle], routes: Sequence[tuple[Point, ...]], frames: Sequence[Rectangle], margin: int
) -> Layout:
    """Return everything, moved so that all sides have the margin."""
    areas = [*boxes, *frames]
    points = [point for route in routes for point in route]
    left = min(min(area.x for area in areas), min((x for x, _ in points), default=areas[0].x)) - margin
    top = min(min(area.y for area in areas), min((y for _, y in points), default=areas[0].y)) - margin
    right = max(max(area.right for area in areas), max((x for x, _ in points), default=areas[0].x)) + margin
    bottom = max(max(area.bottom for area in areas), max((y for _, y in points), default=areas[0].y)) + margin
    return Layout(
        tuple(Rectangle(area.x - left, area.y - top, area.width, area.height) for area in boxes),
        tuple(tuple((x - left, y - top) for x, y in route) for route in routes),
        tuple(Rectangle(area.x - left, area.y - top, area.width, area.height) for area in frames),
        right - left,
        bottom - top,
    )
