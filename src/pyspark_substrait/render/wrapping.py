"""A long arrangement from top to bottom, cut into columns that stand beside each other, as the text of a newspaper."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from pyspark_substrait.render.layout import Arrow, Layout, Point, Rectangle

__all__ = ["wrapped"]

#: The space between two columns, in which edges go from the foot of one to the head of the next.
_GUTTER = 44
#: The space above and below the columns, for the turns of these edges.
_TURN = 18
#: The most edges that go from one column to another at one place.
_MOST_CROSSING = 2
#: The shape that is wanted: width by height, as most windows have it.
_WIDE = 1.3
#: The fewest layers that are cut, and the most columns.
_FEWEST, _MOST = 16, 8


def wrapped(found: Layout, arrows: Sequence[Arrow], margin: int = 16) -> Layout | None:
    """Cut an arrangement from top to bottom into columns; return None where one column is best, or no cut is possible.

    Args:
        found: the arrangement; each layer has a top of its own.
        arrows: its arrows.
        margin: the pixels around the whole.
    """
    tops = sorted({round(area.y, 1) for area in found.boxes})
    if found.frames or len(tops) < _FEWEST:
        return None
    layers = [bisect_right(tops, area.y + 0.05) - 1 for area in found.boxes]
    crossing = [0] * (len(tops) + 1)
    for arrow in arrows:
        for layer in range(layers[arrow.source] + 1, layers[arrow.target] + 1):
            crossing[layer] += 1
    best, least = None, max(found.width / _WIDE, found.height)
    for columns in range(2, _MOST + 1):
        cuts = _cuts(len(tops), columns, crossing)
        made = None if cuts is None else _cut(found, arrows, layers, cuts, margin)
        if made is not None and max(made.width / _WIDE, made.height) < 0.9 * least:
            best, least = made, max(made.width / _WIDE, made.height)
    return best


def _cuts(layers: int, columns: int, crossing: Sequence[int]) -> list[int] | None:
    """Return the first layer of each column but the first: near to equal parts, where the fewest edges cross."""
    cuts: list[int] = []
    for column in range(1, columns):
        ideal = round(layers * column / columns)
        near = range(max(ideal - 2, (cuts[-1] if cuts else 0) + 2), min(ideal + 3, layers - 1))
        cut = min(near, key=lambda layer: (crossing[layer], abs(layer - ideal)), default=0)
        if not cut or crossing[cut] > _MOST_CROSSING:
            return None
        cuts.append(cut)
    return cuts


def _cut(found: Layout, arrows: Sequence[Arrow], layers: Sequence[int], cuts: Sequence[int], margin: int) -> Layout:
    column = [bisect_right(cuts, layer) for layer in layers]
    shifts: list[Point] = []
    gutters: list[float] = []
    x, height = float(margin), 0.0
    for number in range(len(cuts) + 1):
        areas = [area for area, its in zip(found.boxes, column, strict=True) if its == number]
        left, top = min(area.x for area in areas), min(area.y for area in areas)
        shifts.append((x - left, margin + _TURN - top))
        x += max(area.right for area in areas) - left
        gutters.append(x + _GUTTER / 2)
        x += _GUTTER
        height = max(height, max(area.bottom for area in areas) - top)
    boxes = tuple(
        Rectangle(area.x + shifts[its][0], area.y + shifts[its][1], area.width, area.height)
        for area, its in zip(found.boxes, column, strict=True)
    )
    routes = []
    for arrow, route in zip(arrows, found.routes, strict=True):
        here, there = column[arrow.source], column[arrow.target]
        moved = [(px + shifts[here][0], py + shifts[here][1]) for px, py in route]
        if here != there:
            end = route[-1][0] + shifts[there][0], route[-1][1] + shifts[there][1]
            moved = _turned(moved[0], end, gutters[here])
        routes.append(tuple(moved))
    return Layout(boxes, tuple(routes), (), x - _GUTTER + margin, height + 2 * (margin + _TURN))


def _turned(start: Point, end: Point, gutter: float) -> list[Point]:
    """Return a route from the foot of a column through the gutter behind it to the head of another one."""
    (x1, y1), (x2, y2) = start, end
    below, above = (gutter, y1 - 4), (gutter, y2 + 4)
    return [
        *(start, (x1, y1 + _TURN * 1.3), (gutter, y1 + _TURN * 1.3), below),
        *(below, above, above),
        *((gutter, y2 - _TURN * 1.3), (x2, y2 - _TURN * 1.3), end),
    ]
