"""Expressions of Catalyst as expressions of the model.

A form is a function of the node and of what it sees, by the name of the node's class. What has no form of its own is
looked up in the function tables, read backwards (:mod:`calls`); then what Spark itself replaces it by counts; and what
only Spark has is a function of our own extension.
"""

from __future__ import annotations

from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior
from pyspark_substrait.model.types import Type, same_type, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["expression", "expressions", "typed", "written"]


def expression(node: Node, scope: Scope) -> Expression:
    """An expression of Catalyst as one of the model.

    Raises:
        UnsupportedPlanError: it can't go out; the message has it as Spark writes it.
    """
    from pyspark_substrait.spark.producer.expressions import calls, own
    from pyspark_substrait.spark.producer.expressions.forms import FORMS

    if scope.replaced and (found := scope.replaced.get(node.signature)) is not None:
        return found
    form = FORMS.get(node.name)
    if form is not None:
        return form(node, scope)
    called = calls.scalar(node, scope)
    if called is not None:
        return called
    if "replacement" in node.fields and len(node.children) == 1:
        return expression(node.children[0], scope)
    called = own.scalar(node, scope)
    if called is not None:
        return called
    raise UnsupportedPlanError(
        f"`{written(node)}` has no Substrait form: there is no function for Spark's {node.name}",
        hint="Express it by other functions",
    )


def expressions(nodes: tuple[Node, ...], scope: Scope) -> tuple[Expression, ...]:
    """Several expressions."""
    return tuple(expression(node, scope) for node in nodes)


def typed(value: Expression, type: Type) -> Expression:
    """A value as one of a type; in a cast if it is of another one. Nullability plays no part."""
    if same_type(value.type, type):
        return value
    return Cast(
        type=with_nullability(type, value.type.nullable),
        input=value,
        failure_behavior=FailureBehavior.THROW_EXCEPTION,
    )


def written(node: Node) -> str:
    """An expression as Spark writes it; its class where Spark can't."""
    try:
        return node.sql
    except Exception as error:  # whatever the JVM says about it, there is something else to report
        if isinstance(error, SubstraitError):
            raise
        return node.name
