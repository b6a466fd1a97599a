"""An explanation of each kind of node, with the page of the specification about it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_substrait.text.explain.graph import Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["KindOfNode", "kind_of"]


@dataclass(frozen=True, slots=True)
class KindOfNode:
    """The explanation of a kind of node.

    Args:
        sentence: a sentence for users who don't know the kind.
        page: the page of the specification, like ``relations/logical_relations``; empty for none.
    """

    sentence: str
    page: str = ""


def kind_of(node: Node) -> KindOfNode:
    """Return the explanation of a node's kind."""
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
