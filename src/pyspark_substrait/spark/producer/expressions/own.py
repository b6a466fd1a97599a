"""What only Spark has: functions of our own extension."""

from __future__ import annotations

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["scalar"]


def scalar(node: Node, scope: Scope) -> Expression | None:
    """A call of a function of our own extension; None where it has none for the node."""
    return None
