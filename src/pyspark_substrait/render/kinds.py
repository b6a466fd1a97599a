"""What each kind of relation is, in a sentence, and the page of the specification that says more."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_substrait.text.explain.graph import Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["KindOfNode", "kind_of"]


@dataclass(frozen=True, slots=True)
class KindOfNode:
    """What a node is.

    Args:
        sentence: what it does, for who doesn't know the kind.
        page: the page of the specification, like ``relations/logical_relations``; empty for none.
    """

    sentence: str
    page: str = ""


def kind_of(node: Node) -> KindOfNode:
    """What a node of a graph is."""
    if node.relation is not None:
        return KindOfNode(node.relation.info.summary, node.relation.info.page)
    match node.kind:
        case LineKind.ROOT:
            return KindOfNode(
                "The result of the plan: its columns, under the names that people see.", "relations/basics"
            )
        case LineKind.SCHEMA:
            return KindOfNode("The columns that the expressions can refer to.", "expressions/extended_expression")
        case LineKind.EXPRESSION:
            return KindOfNode("An expression that can be evaluated by itself.", "expressions/extended_expression")
        case _:
            return KindOfNode("Something that the plan defines beside its relations.")
