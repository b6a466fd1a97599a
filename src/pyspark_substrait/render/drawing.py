"""A plan as an SVG drawing: a card for each relation, from the sources on the left to the result on the right.

A line runs through each card: the properties of the relation are above it, its output columns below it. The edge to the
next card starts at that line, so that it begins where the columns are listed that it carries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark_substrait.render.cards import Card, Sizes, cards
from pyspark_substrait.render.layout import PADDING, Arrow, Point, Rectangle, layout_of
from pyspark_substrait.render.overview import ROUTES
from pyspark_substrait.render.subquery_frames import subquery_frames
from pyspark_substrait.render.svg import Element, added, curve, label, titled, to_text
from pyspark_substrait.render.svg_style import style
from pyspark_substrait.render.text_widths import fitted, is_plain
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import Edge, EdgeKind, Graph
from pyspark_substrait.text.explain.lines import LineKind
from pyspark_substrait.text.explain.literals import counted

__all__ = ["Drawing", "NodeFigures", "drawing", "short_number"]

_PREFIX = re.compile(r"(?:[A-Za-z][\w-]*)?", re.ASCII)
_MARKS = ("added", "removed", "changed", "moved", "same")
#: The most columns in the tooltip of an edge, and the length of a line there.
_TOLD, _LONG = 40, 160
#: The additional space between two layers if a number of records is written there.
_COUNT = 28
#: The shares of the time from which on a node has a warning colour.
_WARM, _HOT = 0.15, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFigures:
    """The figures of a node in a run.

    Args:
        rows: the number of records that it put out; None if it isn't known.
        time_share: its share of the time of all nodes, from 0 to 1; None if it isn't known.
        basis: ``measured``, ``calculated`` or ``estimated``; estimated figures are shown with ``~``.
        note: more about it, for the tooltip.
    """

    rows: float | None = None
    time_share: float | None = None
    basis: str = "measured"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A drawing.

    Args:
        svg: an ``svg`` element as text; part of a page, or a document by itself.
        width, height: its size in pixels.
        ports: the columns that are shown, as pairs of the node's number and the column's position.
        boxes: where the card of each node is.
    """

    svg: str
    width: float
    height: float
    ports: frozenset[tuple[int, int]]
    boxes: tuple[Rectangle, ...]

    @property
    def document(self) -> str:
        """The drawing as a file of its own."""
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self.svg}\n'


def drawing(
    graph: Graph,
    *,
    figures: Mapping[int, NodeFigures] | None = None,
    marks: Mapping[int, str] | None = None,
    prefix: str = "",
    compact: bool = False,
) -> Drawing:
    """Draw a plan.

    Args:
        graph: the plan.
        figures: the figures of a run, by the numbers of nodes.
        marks: ``added``, ``removed``, ``changed``, ``moved`` or ``same``, by the numbers of nodes.
        prefix: the beginning of the ids, for a page with several drawings: a letter, then letters, digits, ``_`` and
            ``-``.
        compact: whether cards are smaller and show less.

    Raises:
        SubstraitError: the plan has too many relations for a drawing, or Graphviz isn't installed.
        ValueError: ``prefix`` or a mark isn't valid.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"prefix must be a letter, then letters, digits, _ or -; it is {prefix!r}")
    for mark in (marks or {}).values():
        if mark not in _MARKS:
            raise ValueError(f"a mark is one of {', '.join(_MARKS)}; one is {mark!r}")
    sizes = Sizes.of(len(graph.nodes), compact)
    used = frozenset(edge.source for edge in graph.edges if edge.kind is not EdgeKind.OUTER)
    return _Making(graph, sizes, dict(figures or {}), dict(marks or {}), prefix, compact, used).drawing()


def short_number(value: float) -> str:
    """Format a number in few characters: ``940``, ``1.5 k``, ``12 M``."""
    size = abs(value)
    for letter, unit in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        scaled = value / unit
        if size < 999.5 * unit or letter == "T":
            digits = 1 if letter and abs(scaled) < 9.95 else 0
            text = f"{scaled:,.{digits}f}".removesuffix(".0")
            return f"{text} {letter}" if letter else text
    raise AssertionError


@dataclass(slots=True)
class _Making:
    graph: Graph
    sizes: Sizes
    figures: Mapping[int, NodeFigures]
    marks: Mapping[int, str]
    prefix: str
    compact: bool
    used: frozenset[int]

    def drawing(self) -> Drawing:
        timed = {number for number, known in self.figures.items() if known.time_share is not None}
        shown = cards(self.graph, self.sizes, timed)
        arrows = [Arrow(edge.source, edge.target, ROUTES[edge.kind]) for edge in self.graph.edges]
        owners, frames = subquery_frames(self.graph)
        counted = any(known.rows is not None for known in self.figures.values())
        between = self.sizes.between + (_COUNT if counted else 0)
        found = layout_of([card.box for card in shown], arrows, frames, between=between, apart=self.sizes.apart)
        width, height = found.width, found.height
        if not shown:
            width, height = 320, 64
        root = Element("svg")
        size = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}", "height": f"{height:.0f}"}
        names = "plan-graph compact" if self.compact else "plan-graph"
        root.attrib.update({"class": names, "id": f"{self.prefix}graph", **size})
        root.attrib.update({"role": "img" if self.compact else "group", "aria-label": escaped(self._summary())})
        added(root, "style").text = style()
        definitions = added(root, "defs")
        marker = added(
            definitions, "marker", id=f"{self.prefix}tip", orient="auto", refX=9, refY=5.5,
            markerWidth=10, markerHeight=11, markerUnits="userSpaceOnUse",
        )  # fmt: skip
        added(marker, "path", class_="tip", d="M.5 1L9.5 5.5.5 10z")
        groups = added(root, "g", class_="groups")
        for owner, area in zip(owners, found.frames, strict=True):
            self._group(groups, owner, area)
        edges = added(root, "g", class_="edges")
        for edge, route in zip(self.graph.edges, found.routes, strict=True):
            self._edge(edges, edge, route, found.boxes, shown[edge.target].box.line)
        nodes = added(root, "g", class_="nodes")
        for card, area in zip(shown, found.boxes, strict=True):
            self._node(nodes, card, area)
        if not shown:
            label(root, "title", 20, 37, "There are no relations to draw")
        ports = frozenset((card.node.number, column.position) for card in shown for column in card.columns)
        return Drawing(svg=to_text(root), width=width, height=height, ports=ports, boxes=found.boxes)

    def _summary(self) -> str:
        count = counted(len(self.graph.nodes), "node")
        return f"{fitted(self.graph.title, _LONG)}: {count}, from the sources on the left to the result on the right"

    def _group(self, parent: Element, owner: Edge, area: Rectangle) -> None:
        group = added(parent, "g", class_="group", data_owner=owner.target, data_source=owner.source)
        added(group, "rect", x=area.x, y=area.y, width=area.width, height=area.height, rx=10)
        label(group, "heading", area.x + 12, area.y + 17, f"subquery {owner.label}")

    # --- edges --------------------------------------------------------------------------------------------------------

    def _edge(self, parent: Element, edge: Edge, route: Sequence[Point], boxes: Sequence[Rectangle], line: int) -> None:
        source, target = self.graph.nodes[edge.source], self.graph.nodes[edge.target]
        element = added(parent, "g", class_=f"edge {edge.kind.value}", data_source=edge.source, data_target=edge.target)
        figures = self.figures.get(edge.source)
        rows = None if figures is None or edge.kind is EdgeKind.OUTER else figures.rows
        element.set("data-y1", f"{route[0][1] - boxes[edge.source].y:.0f}")
        element.set("data-y2", f"{route[-1][1] - boxes[edge.target].y:.0f}")
        if edge.kind is EdgeKind.OUTER:
            titled(element, f"{target.title} refers to the record that {source.title} is evaluated on")
            label(element, "side", route[-1][0] + 11, route[-1][1] - 6, "outer")
        else:
            columns = [fitted(f"{column.label}: {column.type}", _LONG) for column in source.columns[:_TOLD]]
            more = [f"+ {len(source.columns) - _TOLD:,} more"] if len(source.columns) > _TOLD else []
            count = "unknown columns" if source.left_open else counted(len(source.columns), "column")
            told = "" if rows is None else f"{rows:,.0f} rows, {figures.basis if figures else ''}; "
            way = f"{fitted(source.title, _LONG)} → {fitted(target.title, _LONG)}"
            titled(element, "\n".join((f"{way}: {told}{count}", *columns, *more)))
        path = curve(route)
        width = None if rows is None else 1.5 + 0.45 * math.log10(max(rows, 1))
        added(element, "path", class_="line", d=path, marker_end=f"url(#{self.prefix}tip)", stroke_width=width)
        added(element, "path", class_="hit", d=path)
        (x1, y1), (x2, y2) = route[0], route[-1]
        if rows is not None and figures is not None:
            almost = "~" if figures.basis == "estimated" else ""
            beside = y1 + 16 if y2 < y1 - 8 else y1 - 7
            label(element, "rows", x1 + 7, beside, f"{almost}{short_number(rows)}")
        if edge.kind is EdgeKind.SUBQUERY:
            label(element, "number", x1 + PADDING + 4, y1 - 6, edge.label)
        elif edge.kind is EdgeKind.INPUT and edge.label:
            above = y2 - boxes[edge.target].y < line
            label(element, "side", x2 - 12, y2 + (10 if above else -4), edge.label, text_anchor="end")

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, parent: Element, card: Card, area: Rectangle) -> None:
        node, sizes, box = card.node, self.sizes, card.box
        number = node.number
        names = ["node", f"k-{card.icon.family}"]
        names.extend([f"m-{self.marks[number]}"] if number in self.marks else [])
        figures = self.figures.get(number)
        share = None if figures is None else figures.time_share
        names.extend(["hot" if share >= _HOT else "warm"] if share is not None and share >= _WARM else [])
        element = added(
            parent, "g", class_=" ".join(names), id=f"{self.prefix}n{number}", data_node=number,
            data_x=area.x, data_y=area.y, data_w=area.width, data_h=area.height, data_line=box.line,
            transform=f"translate({area.x:.1f},{area.y:.1f})",
            tabindex=None if self.compact else 0, role=None if self.compact else "group",
            aria_label=" ".join((card.title, *(line.text for line in card.lines[:2]))),
        )  # fmt: skip
        note = "" if figures is None else figures.note
        titled(element, "\n".join(filter(None, (card.whole[:2_000], note))))
        clip = None if _is_certain(card) else self._clip(element, card)
        width, line = box.width, box.line
        added(element, "rect", class_="card", width=width, height=box.height, rx=8)
        if card.columns or card.more:
            bottom = box.height - 0.5
            outline = f"M.5 {line}H{width - 0.5}V{bottom - 7.5}a7.5 7.5 0 0 1-7.5 7.5H8a7.5 7.5 0 0 1-7.5-7.5z"
            added(element, "path", class_="output", d=outline)
        self._head(element, card, clip)
        y = sizes.head + sizes.line - 5
        for text in card.lines:
            label(element, text.kind, sizes.pad, y, text.text, clip_path=clip)
            y += sizes.line
        if share is not None:
            self._time(element, share, line - 12, width)
        added(element, "line", class_="flow", x1=0, x2=width, y1=line, y2=line)
        self._output(element, card, clip)
        if number in self.used:
            added(element, "circle", class_="port", cx=width, cy=line, r=3)

    def _clip(self, element: Element, card: Card) -> str:
        name = f"{self.prefix}clip{card.node.number}"
        clip = added(element, "clipPath", id=name)
        added(clip, "rect", width=card.box.width - 2, height=card.box.height)
        return f"url(#{name})"

    def _head(self, element: Element, card: Card, clip: str | None) -> None:
        pad, head = self.sizes.pad, self.sizes.head
        middle = head / 2
        added(element, "rect", class_="tint", x=pad - 4, y=middle - 11, width=22, height=22, rx=6)
        symbol = added(element, "g", transform=f"translate({pad - 1},{middle - 8:.0f})")
        if card.icon.area:
            added(symbol, "path", class_="area", d=card.icon.area)
        added(symbol, "path", class_="symbol", d=card.icon.symbol)
        title = label(element, "title", pad + 26, middle + 4.5, card.title, clip_path=clip)
        if card.anchor:
            anchor = added(title, "tspan", class_="anchor", dx=4)
            anchor.text = card.anchor
        right = card.box.width - pad + 4
        for count, kind, path in (
            (card.errors, "error", "M-3 -3l6 6M3 -3l-6 6"),
            (card.warnings, "warning", "M0 -3.6v4.2M0 3.2v.2"),
        ):
            if count:
                text = str(count) if count < 100 else "99+"
                wide = 17 + 7 * len(text)
                right -= wide
                badge = added(element, "g", class_=f"badge {kind}", transform=f"translate({right},{middle - 8:.0f})")
                titled(badge, counted(count, kind))
                added(badge, "rect", width=wide, height=16, rx=8)
                added(badge, "path", d=path, transform="translate(8.5,8)")
                label(badge, "count", 14, 11.8, text)
                right -= 4

    def _time(self, element: Element, share: float, y: float, width: int) -> None:
        pad = self.sizes.pad
        room = width - 2 * pad - 38
        whole = min(max(share, 0.0), 1.0)
        added(element, "rect", class_="track", x=pad, y=y - 3, width=room, height=4, rx=2)
        added(element, "rect", class_="share", x=pad, y=y - 3, width=max(room * whole, 2), height=4, rx=2)
        percent = "<1" if 0 < whole < 0.01 else f"{whole:.0%}".removesuffix("%")
        label(element, "percent", width - pad, y + 2.5, f"{percent} %", text_anchor="end")

    def _output(self, element: Element, card: Card, clip: str | None) -> None:
        """Add the columns."""
        sizes, width, number = self.sizes, card.box.width, card.node.number
        y = card.box.line + 5
        for column in card.columns:
            height = sizes.row + sizes.formula * len(column.made)
            kind = "column new" if column.new else "column"
            row = added(element, "g", class_=kind, data_port=f"{number}:{column.position}")
            titled(row, column.whole[:2_000])
            added(row, "rect", class_="hit", x=4, y=y, width=width - 8, height=height, rx=4)
            label(row, "name", sizes.pad, y + sizes.row - 5, column.name, clip_path=clip)
            label(row, "type", width - sizes.pad, y + sizes.row - 5, column.type, text_anchor="end", clip_path=clip)
            for position, text in enumerate(column.made, 1):
                at = y + sizes.row - 5 + sizes.formula * position
                label(row, "made", sizes.pad + 6, at, text, clip_path=clip)
            y += height
        if card.more is not None:
            hidden = ",".join(_ranges(card.more.hidden))
            row = added(element, "g", class_="more", data_node=number, data_hidden=hidden)
            added(row, "rect", class_="hit", x=4, y=y, width=width - 8, height=sizes.row, rx=4)
            label(row, "count", sizes.pad, y + sizes.row - 5, card.more.text)


def _is_certain(card: Card) -> bool:
    """Whether no text can be wider than was calculated."""
    texts = [line.text for line in card.lines]
    for column in card.columns:
        texts.extend((column.name, column.type, *column.made))
    return card.node.kind is not LineKind.DEFINITION and all(map(is_plain, texts))


def _ranges(positions: Sequence[int]) -> Iterator[str]:
    """Format ascending numbers as ``2`` and ``4-9``."""
    start = 0
    for end in range(1, len(positions) + 1):
        if end == len(positions) or positions[end] != positions[end - 1] + 1:
            first, last = positions[start], positions[end - 1]
            yield str(first) if first == last else f"{first}-{last}"
            start = end
