"""A plan at a small scale: for each node its icon and its name, arranged so that the whole plan is readable at once.

A browser chooses among several arrangements by the room that it has. The script draws them (``assets/overview.js``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark_substrait.model.relations import Read
from pyspark_substrait.render.layout import Arrow, Box, Layout, Route, layout_downwards, layout_of
from pyspark_substrait.render.subquery_frames import subquery_frames
from pyspark_substrait.render.text_widths import cells, fitted
from pyspark_substrait.render.wrapping import wrapped
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import EdgeKind, Graph, Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["ROUTES", "Arrangement", "Overview", "overviews"]

ROUTES = {EdgeKind.INPUT: Route.INPUT, EdgeKind.SUBQUERY: Route.ABOVE, EdgeKind.OUTER: Route.BACK}
#: The widths of a cell of a name and of a note, in em: both are in a proportional font.
_NAME_CELL, _NOTE_CELL = 0.7, 0.62
#: From this number of nodes on, no window shows all names at a readable size, whatever the direction.
_MANY = 600
#: The most columns that are looked at for a second line.
_MOST_NAMED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The measures of an overview, in pixels.

    Args:
        name: ``right`` or ``down``, the direction of the records; ``notes-right`` or ``notes-down`` where each node has
            a second line; ``columns-down`` where what goes down stands in several columns.
        height: the height of a node.
        font, note_font: the sizes of the fonts of names and of second lines.
        text: the distance of texts from the left side.
        longest, longest_note: the most cells of a name, and of a second line; 0 for no second line.
        between, apart: the space between two layers, and between the nodes of a layer.
    """

    name: str
    height: int
    font: float
    note_font: float = 11
    text: int
    longest: int = 18
    longest_note: int = 0
    between: int
    apart: int

    @property
    def downwards(self) -> bool:
        """Whether records go from top to bottom."""
        return self.name.endswith("down")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """An overview of a plan.

    Args:
        arrangement: its measures.
        layout: the positions of everything.
        texts: for each node its name and its second line; empty for none.
    """

    arrangement: Arrangement
    layout: Layout
    texts: tuple[tuple[str, str], ...]


def overviews(graph: Graph) -> tuple[Overview, ...]:
    """Return the overviews of a plan, those that show more first; none for a plan without nodes."""
    if not graph.nodes:
        return ()
    arrows = [Arrow(edge.source, edge.target, ROUTES[edge.kind]) for edge in graph.edges]
    _, frames = subquery_frames(graph)
    found = []
    for arrangement in _arrangements(len(graph.nodes)):
        texts = tuple(_texts(node, arrangement) for node in graph.nodes)
        boxes = [_box(name, note, arrangement) for name, note in texts]
        arrange = layout_downwards if arrangement.downwards else layout_of
        layout = arrange(boxes, arrows, frames, between=arrangement.between, apart=arrangement.apart)
        found.append(Overview(arrangement=arrangement, layout=layout, texts=texts))
    # a long chain stands in columns, where nothing else can be read
    columns = wrapped(layout, arrows) if arrangement.name == "down" else None
    if columns is not None:
        found.append(Overview(arrangement=replace(arrangement, name="columns-down"), layout=columns, texts=texts))
    return tuple(found)


def _arrangements(nodes: int) -> Sequence[Arrangement]:
    if nodes <= 80:
        tight = [
            Arrangement(name="right", height=24, font=13, text=27, between=24, apart=8),
            Arrangement(name="down", height=24, font=13, text=27, between=20, apart=10),
        ]
        if nodes > 40:
            return tight
        return [
            Arrangement(name="notes-right", height=40, font=13, text=42, longest_note=22, between=30, apart=12),
            Arrangement(name="notes-down", height=40, font=13, text=42, longest_note=36, between=24, apart=16),
            *tight,
        ]
    dense = Arrangement(name="right", height=16, font=12, text=18, longest=14, between=20, apart=1)
    if nodes > _MANY:
        return [dense]
    return [dense, replace(dense, name="down", between=16, apart=4)]


def _texts(node: Node, arrangement: Arrangement) -> tuple[str, str]:
    title = escaped(node.title).partition("@")[0] if node.relation is not None else escaped(node.title)
    lead = escaped(node.properties[0]) if node.properties else _columns(node)
    if arrangement.longest_note:
        return fitted(title, arrangement.longest), fitted(lead, arrangement.longest_note)
    # the icon says that it is read
    name = lead if isinstance(node.relation, Read) and lead else title
    return fitted(name, arrangement.longest), ""


def _columns(node: Node) -> str:
    """Return what a node without properties says by its columns: those that it computes, or the names of the result."""
    if node.kind is LineKind.ROOT:
        return ", ".join(escaped(column.label) for column in node.columns[:_MOST_NAMED])
    return ", ".join(escaped(column.source) for column in node.columns[:_MOST_NAMED] if column.new)


def _box(name: str, note: str, arrangement: Arrangement) -> Box:
    widths = (
        cells(name) * _NAME_CELL * arrangement.font,
        cells(note) * _NOTE_CELL * arrangement.note_font,
    )
    width = 4 * round((arrangement.text + max(widths) + 9) / 4 + 0.5)
    line = width // 2 if arrangement.downwards else arrangement.height // 2
    return Box(width=width, height=arrangement.height, line=line)
