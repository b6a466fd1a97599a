"""Translate windows to a projection that keeps all columns."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expressions
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.single_input import named_column
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, references, scope_of

__all__ = ["FORMS"]


def window(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Window``: the columns of its input, then the window functions.

    Each of its functions has its partitions and order.
    """
    below = relation(node.children[0], production, outer)
    named = node.trees("windowExpressions")
    values = expressions(named, scope_of(below, production, outer))
    columns = (*below.columns, *(named_column(item) for item in named))
    return Output(projected(below.relation, (*references(below.relation), *values)), columns)


FORMS: Final = {"Window": window}
