"""The drawing of a plan as an image inside an output."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark_substrait.render.drawing import NodeFigures, drawing
from pyspark_substrait.text.explain.graph import Graph
from pyspark_substrait.text.explain.lines import LineKind
from pyspark_substrait.text.explain.literals import counted

__all__ = ["Picture", "picture"]

_MOST_NODES = 80
_LEAST_SCALE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image, and a description of it.

    Args:
        source: the image as a ``data:`` address, so that nothing in it can become part of the page.
        width, height: its size in pixels.
        least_width: the smallest width at which it is legible.
        alternative: the description of the image.
        note: what it leaves out; empty if it is complete.
    """

    source: str
    width: int
    height: int
    least_width: int
    alternative: str
    note: str


def picture(graph: Graph, figures: Mapping[int, NodeFigures] | None = None) -> Picture:
    """Return the compact drawing of a graph; of a large graph, the part nearest to the result.

    Raises:
        SubstraitError: Graphviz isn't available to lay it out.
    """
    shown, numbers = _nearest(graph)
    there = {numbers[old]: figure for old, figure in (figures or {}).items() if old in numbers}
    made = drawing(shown, figures=there or None, compact=True)
    total = sum(node.kind is LineKind.RELATION for node in graph.nodes)
    drawn = sum(node.kind is LineKind.RELATION for node in shown.nodes)
    return Picture(
        source="data:image/svg+xml;base64," + base64.b64encode(made.svg.encode("utf-8", "replace")).decode("ascii"),
        width=round(made.width),
        height=round(made.height),
        least_width=round(made.width * _LEAST_SCALE),
        alternative=f"The plan as a graph of {counted(drawn, 'relation')}",
        note="" if drawn == total else f"the {drawn:,} relations nearest to the result, of {total:,}",
    )


def _nearest(graph: Graph) -> tuple[Graph, dict[int, int]]:
    """Return the part of a graph nearest to its results, and the new numbers of its nodes by the old ones."""
    if len(graph.nodes) <= _MOST_NODES:
        return graph, {node.number: node.number for node in graph.nodes}
    below: dict[int, list[int]] = {}
    for edge in graph.edges:
        below.setdefault(edge.target, []).append(edge.source)
    used = {edge.source for edge in graph.edges}
    reached = dict.fromkeys(node.number for node in graph.nodes if node.number not in used)
    pending = deque(reached)
    while pending and len(reached) < _MOST_NODES:
        for source in below.get(pending.popleft(), ()):
            if source not in reached:
                reached[source] = None
                pending.append(source)
    kept = sorted(list(reached)[:_MOST_NODES])
    numbers = {old: new for new, old in enumerate(kept)}
    nodes = tuple(replace(node, number=numbers[node.number]) for node in graph.nodes if node.number in numbers)
    edges = tuple(
        replace(edge, source=numbers[edge.source], target=numbers[edge.target])
        for edge in graph.edges
        if edge.source in numbers and edge.target in numbers
    )
    return replace(graph, nodes=nodes, edges=edges), numbers
