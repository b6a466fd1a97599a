"""The nodes of a graph in the frame of each subquery."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.render.layout import Frame
from pyspark_substrait.text.explain.graph import Edge, EdgeKind, Graph

__all__ = ["subquery_frames"]


def subquery_frames(graph: Graph) -> tuple[list[Edge], list[Frame]]:
    """Return the edges from subqueries to the nodes that use them, and the frame of each.

    A node that several queries use is in the innermost frame around all of them.
    """
    edges = [edge for edge in graph.edges if edge.kind is not EdgeKind.OUTER and edge.source != edge.target]
    users: dict[int, list[Edge]] = {}
    open_: dict[int, int] = {}
    sources: dict[int, list[int]] = {}
    for edge in edges:
        users.setdefault(edge.source, []).append(edge)
        sources.setdefault(edge.target, []).append(edge.source)
        open_[edge.source] = open_.get(edge.source, 0) + 1
    chains: dict[int, tuple[Edge, ...]] = {}
    pending = [node.number for node in graph.nodes if node.number not in open_]
    while pending:
        current = pending.pop()
        around = [
            (*chains[edge.target], edge) if edge.kind is EdgeKind.SUBQUERY else chains[edge.target]
            for edge in users.get(current, ())
        ]
        chains[current] = _common(around)
        for source in sources.get(current, ()):
            open_[source] -= 1
            if open_[source] == 0:
                pending.append(source)
    members: dict[tuple[Edge, ...], list[int]] = {}
    for number in sorted(chains):
        for length in range(1, len(chains[number]) + 1):
            members.setdefault(chains[number][:length], [])
        if chains[number]:
            members[chains[number]].append(number)
    ordered = sorted(members, key=lambda chain: [(edge.target, edge.source) for edge in chain])
    numbers = {chain: number for number, chain in enumerate(ordered)}
    frames = [Frame(tuple(members[chain]), numbers.get(chain[:-1])) for chain in ordered]
    return [chain[-1] for chain in ordered], frames


def _common(chains: Sequence[tuple[Edge, ...]]) -> tuple[Edge, ...]:
    """Return the common beginning of some chains."""
    if not chains:
        return ()
    first = chains[0]
    for chain in chains[1:]:
        length = 0
        while length < min(len(first), len(chain)) and first[length] is chain[length]:
            length += 1
        first = first[:length]
    return first
