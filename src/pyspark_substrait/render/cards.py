"""The content of a card, and its size."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pyspark_substrait.codes import Level
from pyspark_substrait.model.relations import JoinType, Set
from pyspark_substrait.model.relations.joins import JoinBase
from pyspark_substrait.render.layout import Box
from pyspark_substrait.render.svg_symbols import Icon, icon_of
from pyspark_substrait.render.text_widths import CELL, cells, fitted, wrapped
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import EdgeKind, Graph, GraphColumn, Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["Card", "Column", "Line", "More", "Sizes", "cards"]

#: Names, as they are written in the text of expressions.
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\$\d+|[^\W\d]\w*')
#: The most cells of a title, and the width of one in em: titles are in a proportional font.
_TITLE, _TITLE_CELL = 30, 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The amount of content of a card, and its measures in pixels.

    Args:
        columns: the most columns; those that a card only passes on are all left out if ``passing`` is false.
        lines: the most lines of properties.
        widest: the most cells of a line.
        narrowest: the smallest width of a card.
        font: the size of the font of properties and columns.
        head: the height of a card's head.
        line, row: the height of a line of properties, and of a column.
        formula: the height of a line with the expression of a column.
        pad: the padding on the left and right.
        between, apart: the space between two layers, and between the cards of a layer.
    """

    columns: int
    lines: int
    widest: int
    passing: bool
    narrowest: int = 140
    font: float = 11.5
    head: int = 32
    line: int = 16
    row: int = 18
    formula: int = 14
    pad: int = 12
    between: int = 48
    apart: int = 26

    @classmethod
    def of(cls, nodes: int, compact: bool) -> Sizes:
        """Return the sizes for a drawing of so many nodes."""
        if compact:
            sizes = cls(
                columns=4, lines=4, widest=32, passing=False, narrowest=112, font=10.5, head=28, line=14, row=16
            )
            return replace(sizes, between=38, apart=20)
        if nodes <= 12:
            return cls(columns=10, lines=10, widest=28, passing=True, between=38)
        if nodes <= 60:
            return cls(columns=8, lines=9, widest=32, passing=False, between=40)
        if nodes <= 200:
            return cls(columns=5, lines=6, widest=36, passing=False, apart=20)
        return cls(columns=3, lines=4, widest=36, passing=False, apart=16)


@dataclass(frozen=True, slots=True)
class Line:
    """A line above the columns; ``kind`` is ``lead``, ``property``, ``hint`` or ``fault``."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column on a card.

    Args:
        position: its position in the node.
        name, type: cut to the width of the card.
        made: its expression, in lines; only if the node computes it.
        new: whether the node computes it.
        whole: the full text, if something is cut; empty otherwise.
    """

    position: int
    name: str
    type: str
    made: tuple[str, ...]
    new: bool
    whole: str


@dataclass(frozen=True, slots=True)
class More:
    """Columns that a card doesn't show: the text in their place, and their positions, ascending."""

    text: str
    hidden: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A node as it is drawn.

    Args:
        node: the node.
        icon: its family and symbol.
        title: its kind.
        anchor: its ``rel_anchor`` with ``@``; empty for none.
        lines: its properties, as lines.
        columns, more: its output.
        errors, warnings: the numbers of findings and faults.
        whole: the title and all properties, if some are cut; empty otherwise.
        box: its size; the properties are above its line, the columns below it.
    """

    node: Node
    icon: Icon
    title: str
    anchor: str
    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    more: More | None
    errors: int
    warnings: int
    whole: str
    box: Box


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The names that are used in expressions above a node, and those in the results of the plan."""

    used: frozenset[str]
    kept: frozenset[str]


def cards(graph: Graph, sizes: Sizes, timed: Collection[int] = ()) -> tuple[Card, ...]:
    """Return a card for each node of a graph; those in ``timed`` have room for a bar that shows their time."""
    inputs: dict[int, list[Node]] = {}
    for edge in graph.edges:
        if edge.kind is EdgeKind.INPUT:
            inputs.setdefault(edge.target, []).append(graph.nodes[edge.source])
    wanted = _wanted(graph)
    return tuple(
        _card(node, inputs.get(node.number, ()), wanted[node.number], sizes, node.number in timed)
        for node in graph.nodes
    )


def _card(node: Node, inputs: Sequence[Node], wanted: _Wanted, sizes: Sizes, timed: bool) -> Card:
    whole = escaped(node.title)
    name, _, anchor = whole.partition("@") if node.relation is not None else (whole, "", "")
    title = fitted(name, _TITLE)
    lines, cut = _lines(node, sizes)
    columns, more = _columns(node, inputs, wanted, sizes)
    errors = len(node.faults) + sum(finding.level is Level.ERROR for finding in node.findings)
    warnings = sum(finding.level is Level.WARNING for finding in node.findings)
    texts = [cells(line.text) for line in lines]
    for column in columns:
        texts.append(cells(column.name) + 2 + cells(column.type))
        texts.extend(cells(line) + 1 for line in column.made)
    texts.append(0 if more is None else cells(more.text))
    head = _TITLE_CELL * 13 * (cells(title) + len(anchor) + 1) + 28 + 26 * bool(errors) + 26 * bool(warnings)
    needed = max(max(texts) * CELL * sizes.font, head) + 2 * sizes.pad
    width = 2 * round(max(needed, sizes.narrowest) / 2 + 0.5)
    above = sizes.head + sizes.line * (len(lines) + timed) + 8 * bool(lines or timed)
    rows = sum(sizes.row + sizes.formula * len(column.made) for column in columns) + sizes.row * (more is not None)
    below = rows + 10 if rows else 10
    return Card(
        node=node,
        icon=icon_of(node),
        title=title,
        anchor=f"@{anchor}" if anchor else "",
        lines=lines,
        columns=columns,
        more=more,
        errors=errors,
        warnings=warnings,
        whole="\n".join((whole, *map(escaped, node.properties))) if cut or title != name else "",
        box=Box(width=width, height=above + below, line=above),
    )


def _lines(node: Node, sizes: Sizes) -> tuple[tuple[Line, ...], bool]:
    """Return the lines above the columns, and whether something had to be cut."""
    texts = [(escaped(text), "property" if position else "lead") for position, text in enumerate(node.properties)]
    texts.extend((f"! {escaped(fault)}", "fault") for fault in node.faults)
    texts.extend([(escaped(node.margin), "hint")] if node.margin else [])
    found: list[Line] = []
    cut = False
    for number, (text, kind) in enumerate(texts):
        if len(found) == sizes.lines:
            found[-1] = Line(fitted(f"{found[-1].text} …", sizes.widest), found[-1].kind)
            return tuple(found), True
        room = max(1, sizes.lines - len(found) - (len(texts) - number - 1))
        lines = wrapped(text, sizes.widest, room)
        cut = cut or "".join(lines).replace(" ", "") != text.replace(" ", "")
        found.extend(Line(line, kind) for line in lines)
    return tuple(found), cut


# --- columns ----------------------------------------------------------------------------------------------------------


def _columns(
    node: Node, inputs: Sequence[Node], wanted: _Wanted, sizes: Sizes
) -> tuple[tuple[Column, ...], More | None]:
    count = len(node.columns)
    if node.left_open:
        return (), More("columns unknown", ())
    same = _passed(node, inputs)
    if same and (not sizes.passing or count > sizes.columns):
        return (), More(same, tuple(range(count)))
    shown = _chosen(node.columns, wanted, sizes.columns)
    hidden = tuple(sorted({*range(count)}.difference(shown)))
    columns = tuple(_column(position, node.columns[position], node, sizes) for position in shown)
    return columns, More(f"+ {len(hidden):,} more", hidden) if hidden else None


def _passed(node: Node, inputs: Sequence[Node]) -> str:
    """Return the text for a node that puts out all columns of its inputs unchanged; empty for other nodes."""
    in_order = node.emit is None or node.emit == tuple(range(len(node.emit)))
    if node.kind is not LineKind.RELATION or not in_order or any(source.left_open for source in inputs):
        return ""
    sides, which = [source.columns for source in inputs], "same"
    match node.relation:
        case JoinBase(type=JoinType.LEFT_SEMI | JoinType.LEFT_ANTI):
            sides, which = sides[:1], "the left"
        case JoinBase(type=JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI):
            sides, which = sides[1:], "the right"
        case Set():
            sides = sides[:1]
        case _:
            pass
    before = [column for side in sides for column in side]
    if not before or len(before) != len(node.columns) or not all(map(_is_same, node.columns, before)):
        return ""
    if len(sides) > 1:
        return f"{' + '.join(f'{len(side):,}' for side in sides)} columns"
    return f"{which} {len(before):,} columns" if len(before) > 1 else f"{which} column"


def _is_same(column: GraphColumn, before: GraphColumn) -> bool:
    """Whether a column is a column of an input; its label may have another qualifier."""
    if column.new or column.type != before.type:
        return False
    return column.label == before.label or _name(column.label) == _name(before.label)


def _chosen(columns: Sequence[GraphColumn], wanted: _Wanted, most: int) -> list[int]:
    """Return the columns to show: those that are computed here, then those that are used later, then the first ones."""
    if len(columns) <= most + 1:
        return [*range(len(columns))]
    weights = [
        (not column.new, not _name(column.label) & wanted.used, not _name(column.label) & wanted.kept, at)
        for at, column in enumerate(columns)
    ]
    return sorted(at for *_, at in sorted(weights)[:most])


def _column(position: int, column: GraphColumn, node: Node, sizes: Sizes) -> Column:
    label, type_ = escaped(column.label), escaped(column.type)
    least = sizes.widest * 2 // 5
    type_text = fitted(type_, max(least, sizes.widest - 2 - cells(label[: sizes.widest])))
    name = fitted(label, sizes.widest - 2 - cells(type_text))
    named_anew = node.kind is not LineKind.ROOT and _name(column.source) != _name(column.label)
    source = escaped(column.source) if column.new or named_anew else ""
    made = wrapped(f"= {source}", sizes.widest - 1, 2) if source else ()
    cut = (name, type_text) != (label, type_) or (made and made[-1].endswith("…"))
    whole = f"{label}: {type_}" + (f" = {source}" if source else "") if cut else ""
    return Column(position=position, name=name, type=type_text, made=made, new=column.new, whole=whole)


def _wanted(graph: Graph) -> list[_Wanted]:
    """Return the names that are used after each node."""
    users: dict[int, list[int]] = {}
    for edge in graph.edges:
        if edge.source != edge.target:
            users.setdefault(edge.source, []).append(edge.target)
    roots = (node for node in graph.nodes if node.kind is LineKind.ROOT)
    kept = frozenset().union(*(_name(column.source) for node in roots for column in node.columns))
    known: dict[int, frozenset[str]] = {}
    for node in graph.nodes:  # users nearly always come before what they use
        behind = [known.get(user, frozenset()) | _used(graph.nodes[user]) for user in users.get(node.number, ())]
        known[node.number] = frozenset[str]().union(*behind)
    return [_Wanted(known[node.number], kept) for node in graph.nodes]


def _used(node: Node) -> frozenset[str]:
    """Return the names in the expressions of a node."""
    texts = [*node.properties, *(column.source for column in node.columns if column.new)]
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _name(label: str) -> frozenset[str]:
    """Return the name in a label, without the table before it and the position behind it."""
    words = _WORD.findall(label)
    if len(words) > 1 and words[-1].startswith("$"):
        words.pop()
    return frozenset(words[-1:])
