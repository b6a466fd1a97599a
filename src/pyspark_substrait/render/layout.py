"""Where cards stand and how edges run, by Graphviz (``dot``). It is told numbers and sizes only, never a text.

Data flows from left to right. A box has a *line*: the height at which edges reach it on its left side and leave it on
its right side. Boxes that follow each other stand so that their lines are at one height, where that is possible.
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

__all__ = ["PADDING", "Arrangement", "Arrow", "Box", "Frame", "Point", "Rectangle", "Way", "arranged"]

Point = tuple[float, float]

#: Graphviz keeps state of its own, which two threads must not share.
_ONE_AT_A_TIME = Lock()
_MOST = 5_000
#: How many layers all arrows together may skip; from there on dot takes minutes.
_MOST_SKIPPED = 2_000
#: How far apart arrows arrive at one box; two inputs have room for a word between them.
_SLOT, _WIDE_SLOT = 14, 24
#: How far below the top of a box arrows that run back begin and end.
_HEAD = 16
#: What is free within a frame, and what its heading takes besides.
PADDING, _HEADING = 16, 12


@dataclass(frozen=True, slots=True)
class Box:
    """What a card takes, in pixels.

    Args:
        width, height: its size; even numbers.
        line: how far below its top edges reach it and leave it; an even number.
    """

    width: int
    height: int
    line: int


class Way(Enum):
    """How an arrow runs.

    ``INPUT``: from the line of a box to that of another, further to the right. ``ABOVE``: the same, but it arrives
    above the line. ``BACK``: from the left side of a box to the right side of another, further to the left, behind all
    boxes; it places nothing.
    """

    INPUT = "input"
    ABOVE = "above"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge between two boxes, by their numbers."""

    source: int
    target: int
    way: Way = Way.INPUT


@dataclass(frozen=True, slots=True)
class Frame:
    """Boxes that stay together, apart from others.

    Args:
        members: their numbers, without those of frames within.
        around: the number of the frame that it is in; None for none. A frame stands behind the one that it is in.
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
        """The x of its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where everything is.

    Args:
        boxes: one for each box.
        routes: for each arrow where it begins, and three points for each Bézier curve.
        frames: one for each frame.
        width, height: of the whole.
    """

    boxes: tuple[Rectangle, ...]
    routes: tuple[tuple[Point, ...], ...]
    frames: tuple[Rectangle, ...]
    width: float
    height: float


def arranged(
    boxes: Sequence[Box],
    arrows: Sequence[Arrow],
    frames: Sequence[Frame] = (),
    *,
    between: int = 48,
    apart: int = 26,
    margin: int = 16,
) -> Arrangement:
    """Arrange boxes in layers from left to right.

    Args:
        boxes: what to arrange.
        arrows: from the boxes on the left to those on the right, as far as they don't run in circles.
        frames: which boxes stay together.
        between, apart: the pixels between two layers, and between the boxes of a layer.
        margin: the pixels around the whole.

    Raises:
        SubstraitError: there are more boxes than can be arranged, or Graphviz isn't installed.
    """
    if len(boxes) > _MOST:
        hint = f"At most {_MOST:,} relations can be drawn"
        raise SubstraitError(f"a drawing of {len(boxes):,} relations would be too large", hint=hint)
    if not boxes:
        return Arrangement((), (), (), 2.0 * margin, 2.0 * margin)
    slots = _slots(boxes, arrows)
    told, ends = _told(len(boxes), arrows)
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


def _slots(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> list[int]:
    """How far below the top of its target each arrow arrives: inputs around its line, others above them."""
    inputs: dict[int, list[int]] = {}
    others: dict[int, list[int]] = {}
    for number, arrow in enumerate(arrows):
        if arrow.way is not Way.BACK:
            (inputs if arrow.way is Way.INPUT else others).setdefault(arrow.target, []).append(number)
    slots = [_HEAD if arrow.way is Way.BACK else boxes[arrow.target].line for arrow in arrows]
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


def _step(room: int, count: int, most: int = _SLOT) -> int:
    """How far apart arrows arrive where there is so much room for so many; an even number."""
    return max(min(most, room // max(count, 1)) // 2 * 2, 0)


# --- what dot is told -------------------------------------------------------------------------------------------------


def _told(count: int, arrows: Sequence[Arrow]) -> tuple[frozenset[int], Sequence[int]]:
    """Which arrows dot places the boxes by, and which boxes must stand at the right end.

    These are all, but where that would take very long: there, those that go from a layer to the next. Each box but the
    last ones has such an arrow, so that the layers stay the same; the other arrows run behind the boxes.
    """
    placing = [number for number, arrow in enumerate(arrows) if arrow.way is not Way.BACK]
    layers, ends = _layers(count, [arrows[number] for number in placing])
    spans = {number: layers[arrows[number].source] - layers[arrows[number].target] for number in placing}
    if sum(span - 1 for span in spans.values() if span > 1) <= _MOST_SKIPPED:
        return frozenset(placing), ()
    return frozenset(number for number, span in spans.items() if span == 1), ends


def _layers(count: int, arrows: Sequence[Arrow]) -> tuple[list[int], list[int]]:
    """How many steps each box is from the right end on the longest way; and the boxes that are there."""
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
    """What dot reads; its distances are in inches."""
    yield f"digraph {{ rankdir=LR; nodesep={apart:.3f}; ranksep={between:.3f};"
    yield " node [shape=none, margin=0]; edge [arrowhead=none];\n"
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
    """A box as a table that has a row, which is a port, at each of some heights."""
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
        what = "drawing a plan needs the package pygraphviz, which can't be imported"
        raise SubstraitError(what, hint="Install it: pip install pygraphviz") from error
    with _ONE_AT_A_TIME:
        agraph = AGraph(string=text)
        try:
            found: dict[str, Any] = json.loads(agraph.draw(format="json0", prog="dot"))
        finally:
            agraph.close()
    return found


# --- what dot has found -----------------------------------------------------------------------------------------------


def _points(text: str, top: float) -> list[Point]:
    pairs = (pair.split(",") for pair in text.split() if pair[0] not in "se")
    return [(float(x), top - float(y)) for x, y in pairs]


def _route(
    places: Sequence[Rectangle], boxes: Sequence[Box], arrow: Arrow, slot: int, points: list[Point]
) -> tuple[Point, ...]:
    """An arrow's way, from exactly the side of its source to exactly that of its target."""
    source, target = places[arrow.source], places[arrow.target]
    if arrow.way is Way.BACK:
        start, end = (source.x, source.y + _HEAD), (target.right, target.y + slot)
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
    """Around the boxes of each frame, and the frames within it."""
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
) -> Arrangement:
    """Everything, moved so that the margin is as asked on all sides."""
    areas = [*boxes, *frames]
    points = [point for route in routes for point in route]
    left = min(min(area.x for area in areas), min((x for x, _ in points), default=areas[0].x)) - margin
    top = min(min(area.y for area in areas), min((y for _, y in points), default=areas[0].y)) - margin
    right = max(max(area.right for area in areas), max((x for x, _ in points), default=areas[0].x)) + margin
    bottom = max(max(area.bottom for area in areas), max((y for _, y in points), default=areas[0].y)) + margin
    return Arrangement(
        tuple(Rectangle(area.x - left, area.y - top, area.width, area.height) for area in boxes),
        tuple(tuple((x - left, y - top) for x, y in route) for route in routes),
        tuple(Rectangle(area.x - left, area.y - top, area.width, area.height) for area in frames),
        right - left,
        bottom - top,
    )
