"""Expressions of Catalyst as expressions of the model.

A form is a function of the node and of what it sees, by the name of the node's class. What has no form of its own, or
one that gives None, is looked up in the function tables, read backwards (:mod:`calls`), where what only Spark has is a
function of an extension of ours; then what Spark itself replaces it by counts.
"""

from __future__ import annotations

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior
from pyspark_substrait.model.types import Type, same_type, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.refusals import refused_expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["condition", "expression", "expressions", "typed", "written"]


def expression(node: Node, scope: Scope) -> Expression:
    """An expression of Catalyst as one of the model.

    Raises:
        UnsupportedPlanError: it can't go out; the message has it as Spark writes it.
    """
    if scope.replaced and (found := scope.replaced.get(node.signature)) is not None:
        return found
    made = _made(node, scope)
    if scope.production.portable:
        from pyspark_substrait.spark.producer.portability import check_expression

        check_expression(node, made)
    return made


def _made(node: Node, scope: Scope) -> Expression:
    from pyspark_substrait.spark.producer.expressions import calls, collations
    from pyspark_substrait.spark.producer.expressions.forms import FORMS

    scope = collations.keyed(node, scope)
    form = FORMS.get(node.name)
    made = None if form is None else form(node, scope)
    if made is not None:
        return made
    called = calls.scalar(node, scope)
    if called is not None:
        return called
    if "replacement" in node.fields and len(node.children) == 1:
        return expression(node.children[0], scope)
    raise refused_expression(node, written(node))


def condition(node: Node, scope: Scope) -> Expression:
    """A condition of which null means the same as false: of a filter, a join, a choice."""
    _mark(node, scope)
    return expression(node, scope)


def _mark(node: Node, scope: Scope) -> None:
    match node.name:
        case "InSubquery":
            scope.production.conditions.add(node)
        case "And" | "Or" | "Not":
            for child in node.children:
                _mark(child, scope)


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
