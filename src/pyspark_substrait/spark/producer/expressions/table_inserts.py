"""What Spark puts around the values that an INSERT stores, which the target of a write says in plans."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def overflow_checked(node: Node, scope: Scope) -> Expression:
    """``CheckOverflowInTableInsert``: a cast, with the name of the column in its error."""
    return expression(node.children[0], scope)


def required(node: Node, scope: Scope) -> Expression:
    """``AssertNotNull``: the value of a column that is never null, as the schema of the write's target says."""
    if not scope.production.writing:
        raise UnsupportedPlanError(
            "the check that a value is never null has no Substrait form",
            hint="Say in the schema of the data that the column is never null",
        )
    return expression(node.children[0], scope)


def static_invoke(node: Node, scope: Scope) -> Expression | None:
    """``StaticInvoke``: the checks of CHAR and VARCHAR, which the table that is written makes itself."""
    if scope.production.writing and node.value("functionName") in _WRITE_SIDE:
        return expression(node.trees("arguments")[0] if not node.children else node.children[0], scope)
    return None


_WRITE_SIDE: Final = ("charTypeWriteSideCheck", "varcharTypeWriteSideCheck")

FORMS: Final = {
    "CheckOverflowInTableInsert": overflow_checked,
    "AssertNotNull": required,
    "StaticInvoke": static_invoke,
}
