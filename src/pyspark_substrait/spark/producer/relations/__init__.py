"""Translate relations of Catalyst to relations of the model: a form for each class, by its name."""

from __future__ import annotations

from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Output, Production, Scope

__all__ = ["relation"]


def relation(node: Node, production: Production, outer: Scope | None = None) -> Output:
    """Translate a relation of Catalyst.

    Args:
        node: the logical plan.
        production: the translation it belongs to.
        outer: the scope of the enclosing query, for a subquery or the right side of a lateral join.

    Raises:
        UnsupportedPlanError: it can't be translated; the message names it.
    """
    return production.forms.relation(node, production, outer)
