"""Relations of Catalyst as relations of the model: a form for each class, by its name."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Output, Production, Scope

__all__ = ["relation"]


def relation(node: Node, production: Production, outer: Scope | None = None) -> Output:
    """A relation of Catalyst as one of the model.

    Args:
        node: the logical plan.
        production: the translation it belongs to.
        outer: what the query around it sees, where it is a subquery or the right side of a lateral join.

    Raises:
        UnsupportedPlanError: it can't go out; the message names it.
    """
    from pyspark_substrait.spark.producer.relations.forms import FORMS

    form = FORMS.get(node.name)
    if form is None:
        raise UnsupportedPlanError(f"Spark's {node.name} has no Substrait form")
    return form(node, production, outer)
