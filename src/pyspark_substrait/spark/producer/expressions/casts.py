"""Casts, in Spark's three modes."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior
from pyspark_substrait.model.types import same_type
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import type_of

__all__ = ["FORMS"]


def cast(node: Node, scope: Scope) -> Expression:
    """A cast; the value itself where it is of the type."""
    value = expression(node.children[0], scope)
    type = type_of(node.value("dataType"), value.type.nullable)
    if same_type(value.type, type):
        return value
    if node.mode == "TRY":
        return Cast(
            type=type_of(node.value("dataType"), True), input=value, failure_behavior=FailureBehavior.RETURN_NULL
        )
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


FORMS: Final = {"Cast": cast}
