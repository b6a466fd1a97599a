"""Expressions that Spark adds around the values of an INSERT; in plans, the schema of the target implies them."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def overflow_checked(node: Node, scope: Scope) -> Expression:
    """``CheckOverflowInTableInsert``: the cast inside it; Spark adds the column name to its error."""
    return expression(node.children[0], scope)


def required(node: Node, scope: Scope) -> Expression:
    """``AssertNotNull``: the value of a column that is required in the schema of the write's target."""
    if not scope.production.writing:
        raise UnsupportedPlanError(
            "the check that a value is never null has no Substrait form",
            hint="Declare the column NOT NULL in the schema of the data",
        )
    return expression(node.children[0], scope)


def static_invoke(node: Node, scope: Scope) -> Expression | None:
    """``StaticInvoke``: the length checks of CHAR and VARCHAR, which the written table does itself."""
    if scope.production.writing and node.value("functionName") in _WRITE_SIDE:
        return expression(node.trees("arguments")[0] if not node.children else node.children[0], scope)
    return None


_WRITE_SIDE: Final = ("charTypeWriteSideCheck", "varcharTypeWriteSideCheck")

FORMS: Final = {
    "CheckOverflowInTableInsert": overflow_checked,
    "AssertNotNull": required,
    "StaticInvoke": static_invoke,
}
