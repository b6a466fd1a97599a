"""The data about a plan for the script of the page, as JSON.

A graph is an object with ``prefix`` (of the ids in its drawing), ``name``, ``title``, ``nodes``, ``edges``
(``[source, target, kind, label]``), ``findings`` and ``overviews``. Numbers of nodes are positions in ``nodes``.
Nothing is repeated: a node whose columns are those of its input refers to that input, and a path is relative to the
nearest node above it, because in deep plans whole paths would grow with the square of the depth.
``assets/graph.js`` reads this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyspark_substrait.analysis.lineage import BASE_SCHEMA, EXPRESSIONS, Kind, Lineage
from pyspark_substrait.analysis.profile import Profile
from pyspark_substrait.codes import Level, class_of
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.relations import ExtensionMulti, ExtensionSingle
from pyspark_substrait.render.figures import figure_rows
from pyspark_substrait.render.node_help import kind_of
from pyspark_substrait.render.overview import Overview, overviews
from pyspark_substrait.render.svg import curve
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import EdgeKind, Graph, GraphColumn, Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["GRAVITY", "as_script_text", "graph_data"]

#: The rank of each level, the most severe first.
GRAVITY = {level: place for place, level in enumerate((Level.ERROR, Level.WARNING, Level.INFO))}
Data: TypeAlias = dict[str, Any]
_Port: TypeAlias = tuple[int, int]

_SITE = "https://substrait.io/"
#: The most characters of the JSON of one relation on the page.
_LONGEST = 100_000
#: Characters that could end the element that holds the data or begin another one, or that old scripts can't hold.
_MARKUP = re.compile("[<>&\u2028\u2029]")
_UNPRINTED = re.compile(r"[^ -~\n]")


def as_script_text(data: Any) -> str:
    """Data as JSON that can stand in a ``script`` element: no text of it can end that element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return _MARKUP.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def graph_data(
    graph: Graph, *, prefix: str, name: str, lineage: Lineage | None, parts: Mapping[str, str], profile: Profile | None
) -> Data:
    """Return the data for a graph.

    Args:
        graph: the plan.
        prefix: the beginning of the ids in its drawing.
        name: the name of the plan.
        lineage: the lineage of its columns; None if it isn't known.
        parts: the JSON of the messages of its nodes, by their paths.
        profile: the figures of a run.
    """
    origins = _Origins(graph, lineage)
    above = _above(graph)
    inputs = _inputs(graph)
    nodes = []
    for node in graph.nodes:
        data: Data = {
            "title": escaped(node.title),
            "kind": node.kind.value,
            "about": kind_of(node).sentence,
            "page": f"{_SITE}{kind_of(node).page}/" if kind_of(node).page else "",
            "columns": _columns(node.columns, inputs.get(node.number), graph),
            "path": _relative(node, graph, above),
            **origins.of(node),
        }
        data.update(_sparse(node, parts, profile))
        nodes.append(data)
    return {
        "prefix": prefix,
        "name": escaped(name),
        "title": escaped(graph.title),
        "nodes": nodes,
        "edges": [[edge.source, edge.target, edge.kind.value, escaped(edge.label)] for edge in graph.edges],
        "findings": [_finding(found, "") for found in graph.findings],
        "overviews": [*map(_overview, overviews(graph))],
    }


def _overview(made: Overview) -> Data:
    """Return the arrangement of an overview: by node its place and texts, by edge its way, by frame its place."""
    layout, measures = made.layout, made.arrangement
    return {
        "name": measures.name,
        "font": measures.font,
        "text": measures.text,
        "size": [round(layout.width), round(layout.height)],
        "places": [[round(area.x, 1), round(area.y, 1), area.width, area.height] for area in layout.boxes],
        "texts": [[name, note] if note else [name] for name, note in made.texts],
        "ways": [curve(route) for route in layout.routes],
        "frames": [[round(value, 1) for value in (it.x, it.y, it.width, it.height)] for it in layout.frames],
    }


def _sparse(node: Node, parts: Mapping[str, str], profile: Profile | None) -> Data:
    """Return the keys that most nodes don't have."""
    data: Data = {}
    if node.properties:
        data["properties"] = [*map(escaped, node.properties)]
    if node.margin:
        data["margin"] = escaped(node.margin)
    if node.emit is not None:
        data["emit"] = [*node.emit]
        data["direct"] = [*map(_column, node.direct)]
    if node.left_open:
        data["open"] = True
    if node.faults:
        data["faults"] = [*map(escaped, node.faults)]
    if node.findings:
        gravest_first = sorted(node.findings, key=lambda found: GRAVITY[found.level])
        data["findings"] = [_finding(found, node.path or "") for found in gravest_first]
    if node.path is not None and node.path in parts:
        data["json"] = _json_text(parts[node.path])
    measured = None if profile is None or node.path is None else profile.at(node.path)
    if measured is not None:
        data["figures"] = figure_rows(measured)
    return data


def _columns(columns: Sequence[GraphColumn], input: int | None, graph: Graph) -> list[list[Any]] | int:
    """Return the columns; or the number of the input whose columns they are, unchanged."""
    if input is not None and columns:
        given = [(column.label, column.type, column.label, False) for column in graph.nodes[input].columns]
        if given == [(column.label, column.type, column.source, column.new) for column in columns]:
            return input
    return [*map(_column, columns)]


def _column(column: GraphColumn) -> list[Any]:
    """Return label and type; the expression, if it isn't just the label; 1 if the node computes the column."""
    made: list[Any] = [escaped(column.label), escaped(column.type)]
    if column.new:
        return [*made, escaped(column.source), 1]
    return made if column.source == column.label else [*made, escaped(column.source)]


def _finding(found: Finding, beginning: str) -> list[Any]:
    """Return level, code, title and page of the class, what, why, fix, and the path relative to that of the node."""
    known = class_of(found.code)
    inside = found.path[len(beginning) :] if found.path.startswith(beginning) else found.path
    page = f"{_SITE}{known.page}/" if known.page else ""
    texts = (known.title, page, found.what, found.why, found.fix, inside)
    return [found.level.value, f"{found.code:04d}", *map(escaped, texts)]


def _json_text(text: str) -> str:
    """Return JSON text in which every character is visible; others are escaped as in JSON."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} more characters"
    return text if text.isascii() else _UNPRINTED.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found.group()
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


# --- paths ------------------------------------------------------------------------------------------------------------


def _above(graph: Graph) -> dict[int, int]:
    """Return for each node one that uses it."""
    found: dict[int, int] = {}
    for edge in graph.edges:
        if edge.kind is not EdgeKind.OUTER:
            found.setdefault(edge.source, edge.target)
    return found


def _inputs(graph: Graph) -> dict[int, int]:
    """Return for each node its first input."""
    found: dict[int, int] = {}
    for edge in graph.edges:
        if edge.kind is EdgeKind.INPUT:
            found.setdefault(edge.target, edge.source)
    return found


def _relative(node: Node, graph: Graph, above: Mapping[int, int]) -> list[Any] | None:
    """Return the path of a node: the number of a node above it and the rest of the path, or -1 and the whole path."""
    if node.path is None:
        return None
    user = above.get(node.number)
    while user is not None:
        beginning = graph.nodes[user].path
        if beginning and node.path.startswith(beginning) and user < node.number:
            return [user, node.path[len(beginning) :]]
        user = above.get(user) if above.get(user, user) < user else None
    return [-1, node.path]


# --- lineage ----------------------------------------------------------------------------------------------------------


class _Origins:
    """Lineage by the node numbers of a graph."""

    def __init__(self, graph: Graph, lineage: Lineage | None) -> None:
        self._lineage = lineage
        self._inputs = _inputs(graph)
        self._by_relation: dict[int, int] = {}
        self._schema = -1
        self._expressions: list[int] = []
        for node in graph.nodes:
            if node.relation is not None:
                self._by_relation.setdefault(id(node.relation), node.number)
            elif node.kind is LineKind.SCHEMA:
                self._schema = node.number
            elif node.kind is LineKind.EXPRESSION:
                self._expressions.append(node.number)

    def of(self, node: Node) -> Data:
        """Return the origins of the columns of a node, under those of these keys that apply.

        ``from``: its input, if each column is the one at the same position there; else ``origins``, for each column the
        ports and whether they are conditions only; or ``every``, the same for all columns, if the dependencies aren't
        known (listing them for each would be too much). ``conditions``: ports that decide which records there are.
        ``fed``: the nodes whose records its own come from. ``table``: the origin of the columns of a read.
        """
        lineage, input = self._lineage, self._inputs.get(node.number)
        if node.kind is LineKind.ROOT and input is not None:
            return {"from": input, "fed": [input]}
        if lineage is None:
            return {}
        if node.kind is LineKind.SCHEMA:
            return {"table": "base schema"}
        if node.kind is LineKind.EXPRESSION:
            return {"origins": [self._origins(lineage, (EXPRESSIONS, self._expressions.index(node.number)))]}
        if node.relation is None:
            return {}
        number = lineage.number(node.relation)
        ports = lineage.ports(number)
        alike = _is_unknown(node) and len(ports) > 1
        origins = [self._origins(lineage, port) for port in (ports[:1] if alike else ports)]
        found: Data = {}
        if len(origins) < len(ports):
            found["every"] = origins[0]
        elif input is not None and origins and origins == [[[input, position]] for position in range(len(ports))]:
            found["from"] = input
        elif any(origins):
            found["origins"] = origins
        elif ports:
            for source in lineage.sources(ports[0])[:1]:
                found["table"] = escaped(source.table)
        conditions = [*filter(None, map(self._port, lineage.conditions(number)))]
        if conditions:
            found["conditions"] = conditions
        fed = [self._by_relation.get(id(lineage.relations[other])) for other in lineage.fed_by(number)]
        if fed:
            found["fed"] = [other for other in fed if other is not None]
        return found

    def _origins(self, lineage: Lineage, port: _Port) -> list[list[int]]:
        found = []
        for origin in lineage.origins(port):
            place = self._port(origin.port)
            if place is not None:
                found.append(place if origin.kind is Kind.VALUE else [*place, 1])
        return found

    def _port(self, port: _Port) -> list[int] | None:
        assert self._lineage is not None
        number, position = port
        if number == BASE_SCHEMA:
            return [self._schema, position]
        found = self._by_relation.get(id(self._lineage.relations[number]))
        return None if found is None else [found, position]


def _is_unknown(node: Node) -> bool:
    """Whether the dependencies of a relation's columns aren't known, so that each may depend on all inputs."""
    match node.relation:
        case ExtensionSingle() | ExtensionMulti():
            return True
        case _:
            return False
