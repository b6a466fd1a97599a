"""Translate expressions of Catalyst to expressions of the model.

A form is a translation function of the node and its scope, by the name of the node's class. A node without a form, or
whose form returns None, is looked up in the function tables, in reverse (:mod:`calls`); there, Spark-specific functions
belong to extensions of this package. Otherwise the expression that Spark itself replaces the node by is translated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior
from pyspark_substrait.model.types import Type, same_type, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.portability import check_expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["alike", "condition", "exactly", "expression", "expressions", "typed"]


def expression(node: Node, scope: Scope) -> Expression:
    """Translate an expression of Catalyst.

    Raises:
        UnsupportedPlanError: it can't be translated; the message has its SQL text.
    """
    if scope.replaced and (found := scope.replaced.get(node.signature)) is not None:
        return found
    made = scope.production.forms.expression(node, scope)
    if scope.production.portable:
        check_expression(node, made)
    return made


def condition(node: Node, scope: Scope) -> Expression:
    """Translate a condition for which null counts as false: of a filter, a join, a conditional expression."""
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
    """Translate several expressions."""
    return tuple(expression(node, scope) for node in nodes)


def typed(value: Expression, type: Type) -> Expression:
    """Cast a value to a type, unless it has that type; nullability is ignored."""
    if same_type(value.type, type):
        return value
    return Cast(
        type=with_nullability(type, value.type.nullable),
        input=value,
        failure_behavior=FailureBehavior.THROW_EXCEPTION,
    )


def exactly(value: Expression, type: Type) -> Expression:
    """Cast a value to exactly a type, including its nullability and that of its parts."""
    if value.type == type:
        return value
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def alike(values: Sequence[Expression]) -> tuple[Expression, ...]:
    """Cast values of one type to exactly the same type: parts that are nullable in one of them become so in all."""
    first = values[0].type
    if not all(same_type(value.type, first) for value in values):
        return tuple(values)
    common = reduce(lambda one, other: common_type((one, other)) or one, (value.type for value in values))
    return tuple(exactly(value, with_nullability(common, value.type.nullable)) for value in values)
