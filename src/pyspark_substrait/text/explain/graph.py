"""A plan as a graph: a node for each relation, an edge for each input, subquery and outer reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby

from pyspark_substrait.model.expressions import FieldReference, OuterReference
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import DetachedRel, LateralJoin, Reference, Relation
from pyspark_substrait.model.walk import computed_expressions, expressions_within
from pyspark_substrait.text.explain.blocks import Block, OutputColumn, RelationText, blocks
from pyspark_substrait.text.explain.columns import type_text
from pyspark_substrait.text.explain.lines import LineKind, innermost

__all__ = ["Edge", "EdgeKind", "Graph", "GraphColumn", "Node", "graph"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphColumn:
    """A column of a node.

    Args:
        label: its label; no two columns of a node have the same.
        type: its type as text, with ``?`` if it is nullable; empty if unknown.
        source: its expression, or the label of the column that is passed on.
        new: whether the node computes it, and shows that in ``source`` only.
    """

    label: str
    type: str
    source: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A relation, a root, or a part of an extended expression.

    Args:
        number: its place among the nodes.
        kind: ``ROOT``, ``RELATION``, ``SCHEMA`` (the base schema of an extended expression), ``EXPRESSION`` or
            ``DEFINITION`` (a named lambda that holds a query).
        title: its kind of relation and its ``rel_anchor``.
        properties: each readable by itself.
        margin: hints and advice.
        columns: its output columns.
        direct: its columns before emit.
        emit: the positions of those that are output; None for all.
        left_open: whether its columns are unknown, because they depend on an unknown extension.
        path: its path in the plan; None if unknown.
        faults: contradictions in it that no error finding reports.
        findings: the findings in it.
        relation: the relation of the model; None for other nodes.
    """

    number: int
    kind: LineKind
    title: str
    properties: tuple[str, ...]
    margin: str
    columns: tuple[GraphColumn, ...]
    direct: tuple[GraphColumn, ...]
    emit: tuple[int, ...] | None
    left_open: bool
    path: str | None
    faults: tuple[str, ...]
    findings: tuple[Finding, ...]
    relation: Relation | None = field(repr=False, compare=False)


class EdgeKind(Enum):
    """The kind of an edge.

    ``INPUT``: the records of one node go into another. ``SUBQUERY``: they go into an expression there. ``OUTER``: an
    expression in a subquery, or on the right of a lateral join, refers to the record of the other node.
    """

    INPUT = "input"
    SUBQUERY = "subquery"
    OUTER = "outer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge, in the direction in which data goes.

    Args:
        source, target: the numbers of the nodes.
        kind: its kind.
        label: ``left`` and ``right`` for the inputs of a relation with two, the number of a subquery; empty otherwise.
    """

    source: int
    target: int
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A plan as a graph.

    Args:
        title: the kind of document, and its release.
        nodes: each before its inputs; a shared subtree occurs once.
        edges: from inputs to the nodes that use them.
        definitions: the parts outside of relations: values of parameters, named lambdas, aliases.
        footer: further remarks.
        findings: those that belong to the document as a whole.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    definitions: tuple[str, ...]
    footer: tuple[str, ...]
    findings: tuple[Finding, ...]


def graph(
    document: Plan | ExtendedExpression | None, *, places: Places | None = None, findings: Sequence[Finding] = ()
) -> Graph:
    """A plan as a graph.

    Args:
        document: the document to show, however faulty. None for a source that can't be read at all.
        places: the paths from which its nodes were read; without them, only roots have paths.
        findings: each goes to the node of the innermost relation that it is in, or to the graph as a whole.
    """
    if document is None:
        return Graph(title="Not a plan", nodes=(), edges=(), definitions=(), footer=(), findings=tuple(findings))
    top = blocks(document, places or Places())
    made = _Making()
    if isinstance(document, ExtendedExpression):
        made.expressions(top[0])
    else:
        for block in top:
            made.tree(block)
    nodes, rest = _with_findings(made.nodes, findings)
    return Graph(
        title=top[0].text,
        nodes=tuple(nodes),
        edges=tuple(made.all_edges(document)),
        definitions=tuple(block.text for block in top if block.kind is LineKind.DEFINITION),
        footer=tuple(block.text for block in top if block.kind is LineKind.FOOTER),
        findings=tuple(rest),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """An enclosing query: the node whose record its subqueries see."""

    node: int
    lateral: bool
    anchor: int | None


@dataclass(slots=True)
class _Making:
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _detached: dict[int, int] = field(default_factory=dict)

    def expressions(self, top: Block) -> None:
        """Add the nodes of an extended expression: its schema, and each expression."""
        over = None
        for block in top.children:
            number = self.tree(block)
            if over is None:
                over = number
            elif number is not None:
                self._edge(over, number, EdgeKind.INPUT)

    def tree(self, top: Block) -> int | None:
        """Add the nodes of a block and of all blocks below it; return the number of its own."""
        first = None
        pending: list[tuple[Block, int | None, EdgeKind, str, tuple[_Frame, ...]]] = [
            (top, None, EdgeKind.INPUT, "", ())
        ]
        while pending:
            block, user, kind, label, frames = pending.pop()
            about = block.about
            if about is None and not block.children:
                continue
            number = self._node(block, about)
            first = number if first is None else first
            if user is not None:
                self._edge(number, user, kind, label)
            relation = None if about is None else about.relation
            if relation is not None:
                self._numbers.setdefault(id(relation), number)
                for target in dict.fromkeys(_targets(relation, frames)):
                    self._edge(target, number, EdgeKind.OUTER)
            pending.extend(reversed([*self._below(block, relation, number, frames)]))
        return first

    def _below(
        self, block: Block, relation: Relation | None, number: int, frames: tuple[_Frame, ...]
    ) -> Iterator[tuple[Block, int | None, EdgeKind, str, tuple[_Frame, ...]]]:
        """Yield the blocks below a block, each with its user, its kind of edge, the edge's label and its frames."""
        anchor = None if relation is None else relation.common.rel_anchor
        inputs = [child for child in block.children if child.kind is not LineKind.SUBQUERY]
        sides = ("left", "right") if len(inputs) == 2 else ("",) * len(inputs)
        for query in block.children:
            if query.kind is LineKind.SUBQUERY:
                label = query.text.removeprefix("subquery ").removesuffix(":")
                around = (*frames, _Frame(number, False, anchor))
                yield from ((child, number, EdgeKind.SUBQUERY, label, around) for child in query.children)
        for position, child in enumerate(inputs):
            lateral = position > 0 and isinstance(relation, LateralJoin)
            around = (*frames, _Frame(number, True, anchor)) if lateral else frames
            yield child, number, EdgeKind.INPUT, sides[position], around

    def all_edges(self, document: Plan | ExtendedExpression) -> Iterator[Edge]:
        """Yield the edges, and those from subtrees that are shown elsewhere."""
        yield from self.edges
        joined = {(edge.source, edge.target) for edge in self.edges}
        for node in self.nodes:
            match node.relation:
                case Reference() as reference:
                    target = self._numbers.get(id(reference.subtree))
                case DetachedRel(relation=inner):
                    target = self._numbers.get(id(inner))
                case _:
                    continue
            if target is not None and (target, node.number) not in joined:
                yield Edge(source=target, target=node.number, kind=EdgeKind.INPUT)

    def _edge(self, source: int, target: int, kind: EdgeKind, label: str = "") -> None:
        self.edges.append(Edge(source=source, target=target, kind=kind, label=label))

    def _node(self, block: Block, about: RelationText | None) -> int:
        number = len(self.nodes)
        about = about or RelationText(relation=None, title=block.text, properties=(), margin="", columns=(), direct=())
        relation = about.relation
        node = Node(
            number=number,
            kind=block.kind,
            title=about.title,
            properties=about.properties,
            margin=about.margin.strip(),
            columns=tuple(map(_column, about.columns)),
            direct=tuple(map(_column, about.direct)),
            emit=None if relation is None else relation.common.emit,
            left_open=block.left_open,
            path=block.path,
            faults=tuple(block.faults),
            findings=(),
            relation=relation,
        )
        self.nodes.append(node)
        return number


def _column(made: OutputColumn) -> GraphColumn:
    type = "" if made.column.type is None else type_text(made.column.type, made.column.inner)
    return GraphColumn(label=made.label, type=type, source=made.source, new=made.new)


def _targets(relation: Relation, frames: tuple[_Frame, ...]) -> Iterator[int]:
    """Yield the enclosing nodes whose records the expressions of a relation refer to."""
    if not frames:
        return
    for current in expressions_within(computed_expressions(relation)):
        if isinstance(current, FieldReference) and isinstance(current.root, OuterReference):
            found = _frame(current.root, frames)
            if found is not None:
                yield found.node


def _frame(root: OuterReference, frames: tuple[_Frame, ...]) -> _Frame | None:
    """Return the enclosing query that an outer reference refers to; None if there is none."""
    if root.steps_out is None:
        return next((frame for frame in reversed(frames) if frame.anchor == root.rel_reference), None)
    queries = [frame for frame in frames if not frame.lateral]
    return queries[-root.steps_out] if 1 <= root.steps_out <= len(queries) else None


def _with_findings(nodes: Iterable[Node], findings: Sequence[Finding]) -> tuple[list[Node], list[Finding]]:
    """Attach findings to nodes; return the nodes, and the findings that belong to none."""
    known = [*nodes]
    places: dict[str, int] = {}
    for node in known:
        if node.path is not None:
            places.setdefault(node.path, node.number)
    longest = max(map(len, places), default=0)
    places.setdefault("", -1)
    told = sorted(((innermost(item.path, places, longest), item) for item in findings), key=lambda pair: pair[0])
    by_node = {number: [item for _, item in group] for number, group in groupby(told, key=lambda pair: pair[0])}
    rest = by_node.pop(-1, [])
    for number, found in by_node.items():
        known[number] = replace(known[number], findings=tuple(found))
    return known, rest
