"""Translate subqueries: expressions over relations, with outer references to the enclosing query."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions
from pyspark_substrait.spark.producer.expressions.conditions import negated
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.scope import Output, Scope

__all__ = ["FORMS", "query"]


def query(node: Node, scope: Scope) -> Output:
    """Translate the query of a subquery expression.

    Raises:
        UnsupportedPlanError: Spark has already rewritten it partly to a join.
    """
    if node.value("joinCond"):
        raise UnsupportedPlanError(
            "a subquery that Spark has partly turned into a join has no Substrait form",
            hint="Make the plan of the analysed query, without optimized=True",
        )
    plan = node.tree("plan")
    assert plan is not None
    return relation(plan, scope.production, scope)


def scalar(node: Node, scope: Scope) -> Expression:
    """``ScalarSubquery``: the value of its only row; null without a row."""
    return ScalarSubquery(input=query(node, scope).relation)


def exists(node: Node, scope: Scope) -> Expression:
    """``EXISTS (...)``."""
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=query(node, scope).relation)


def in_subquery(node: Node, scope: Scope) -> Expression:
    """``IN (SELECT ...)``: in Spark, false instead of null, except in conditions, where null counts as false anyway."""
    return _false_for_null(_membership(node, scope), node, scope)


def not_(node: Node, scope: Scope) -> Expression:
    """``NOT``; Spark computes NOT IN (SELECT ...) as one expression, with false instead of null, too."""
    return _negated(node.children[0], scope)


def _negated(node: Node, scope: Scope) -> Expression:
    match node.name:
        case "InSubquery":
            return _false_for_null(negated(_membership(node, scope), scope), node, scope)
        case "And" | "Or" if _has_membership(node, scope):  # Spark negates each part
            parts = [_negated(part, scope) for part in node.children]
            return scope.production.call("functions_boolean", "or" if node.name == "And" else "and", parts)
        case "Not" if _has_membership(node, scope):
            return expression(node.children[0], scope)
        case _:
            return negated(expression(node, scope), scope)


def equal(node: Node, scope: Scope) -> Expression | None:
    """``=`` of a condition with IN (SELECT ...) and true or false, which Spark simplifies first; None for others."""
    for value, literal in (node.children, node.children[::-1]):
        if literal.name == "Literal" and literal.value("dataType") == "boolean" and _has_membership(value, scope):
            match literal.value("value"):
                case "true":
                    return expression(value, scope)
                case "false":
                    return _negated(value, scope)
    return None


def _membership(node: Node, scope: Scope) -> Expression:
    haystack = query(node.child("query"), scope)
    return InPredicate(needles=expressions(node.listed("values"), scope), haystack=haystack.relation)


def _false_for_null(value: Expression, node: Node, scope: Scope) -> Expression:
    if node in scope.production.conditions or not value.type.nullable:
        return value
    arguments = (value, Literal(type=Boolean(), value=False))
    return scope.production.call("functions_comparison", "coalesce", arguments)


def _has_membership(node: Node, scope: Scope) -> bool:
    """Whether a condition contains an IN (SELECT ...) for which null doesn't count as false."""
    match node.name:
        case "InSubquery":
            return node not in scope.production.conditions
        case "And" | "Or" | "Not":
            return any(_has_membership(child, scope) for child in node.children)
        case _:
            return False


FORMS: Final = {
    "ScalarSubquery": scalar,
    "Exists": exists,
    "InSubquery": in_subquery,
    "Not": not_,
    "EqualTo": equal,
}
