"""Conditional expressions and membership."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Expression,
    Function,
    IfClause,
    IfThen,
    ScalarFunction,
    SingularOrList,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import alike, condition, expression, expressions, typed
from pyspark_substrait.spark.producer.expressions.literals import of_java
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope, urn_of

__all__ = ["FORMS", "negated"]


def case_when(node: Node, scope: Scope) -> Expression:
    """``CASE WHEN``: the children are conditions and values in turn, then the ELSE value, if there is one."""
    pairs, rest = divmod(len(node.children), 2)
    parts = [
        expression(child, scope) if position % 2 or position == 2 * pairs else condition(child, scope)
        for position, child in enumerate(node.children)
    ]
    values = _branches([*parts[1 : 2 * pairs : 2], *parts[2 * pairs :]])
    clauses = tuple(IfClause(parts[2 * pair], values[pair]) for pair in range(pairs))
    return IfThen(ifs=clauses, else_=values[-1] if rest else None)


def _branches(values: Sequence[Expression]) -> tuple[Expression, ...]:
    """The results of a conditional expression as values of exactly one type, but for their own nullability."""
    type = values[0].type
    return alike([typed(value, type) for value in values])


def if_(node: Node, scope: Scope) -> Expression:
    """``if(condition, value, otherwise)``."""
    value, otherwise = _branches(expressions(node.children[1:], scope))
    return IfThen(ifs=(IfClause(condition(node.children[0], scope), value),), else_=otherwise)


def in_(node: Node, scope: Scope) -> Expression:
    """``value IN (...)`` of values."""
    value, *options = expressions(node.children, scope)
    return SingularOrList(value=value, options=tuple(typed(option, value.type) for option in options))


def in_set(node: Node, scope: Scope) -> Expression:
    """``InSet``: the optimizer's form of a long ``IN`` of constants."""
    child = node.children[0]
    value, java_type = expression(child, scope), child.java.dataType()
    values = node.java.hset().toSeq()
    options = [_option(values.apply(position), java_type, value.type) for position in range(values.size())]
    return SingularOrList(value=value, options=tuple(options))


def _option(value: Any, java_type: Any, type: Type) -> Literal:
    if value is None:
        return Literal(type=with_nullability(type, True), value=None)
    return Literal(type=with_nullability(type, False), value=of_java(value, java_type, concrete(type)))


def negated(value: Expression, scope: Scope) -> Expression:
    """Negate a value; an equality becomes ``not_equal``."""
    match value:
        case ScalarFunction(function=function, arguments=arguments) if _is_equality(function):
            return scope.production.call("functions_comparison", "not_equal", arguments)
        case _:
            return scope.production.call("functions_boolean", "not", (value,))


def _is_equality(function: Function) -> bool:
    return function.urn == urn_of("functions_comparison") and function.name == "equal"


def with_(node: Node, scope: Scope) -> Expression:
    """``With``: values that occur several times in an expression. They are repeated at each use.

    Raises:
        UnsupportedPlanError: such a value isn't deterministic.
    """
    known = dict(scope.replaced)
    for definition in node.listed("defs"):
        inner = definition.children[0]
        if not definition.value("deterministic"):
            raise UnsupportedPlanError(
                f"`{written(node)}` uses a part several times that may have another value each time",
                hint="Compute it as a column in a SELECT below",
            )
        known[_number(definition)] = expression(inner, replace(scope, replaced=known))
    return expression(node.child("child"), replace(scope, replaced=known))


def common_expression(node: Node, scope: Scope) -> Expression:
    """``CommonExpressionRef``: the value with this id of an enclosing ``With``."""
    return scope.replaced[_number(node)]


def _number(node: Node) -> Hashable:
    return ("CommonExpression", int(node.value("id")["id"]))


def nullif(node: Node, scope: Scope) -> Expression:
    """``NullIfResult``: the value, or null if the predicate is true."""
    predicate, value = expressions((node.child("predicate"), node.child("value")), scope)
    match predicate:
        case ScalarFunction(function=function, arguments=(first, second)) if _is_equality(function) and first == value:
            return scope.production.call("functions_comparison", "nullif", (first, second))
        case _:
            nothing = Literal(type=with_nullability(value.type, True), value=None)
            return IfThen(ifs=(IfClause(predicate, nothing),), else_=value)


def typed_null(node: Node, scope: Scope) -> Expression:
    """``TypedNullLiteral``: null, of the type of its child; what ``nullif`` is made of before Spark 4.3."""
    return Literal(type=with_nullability(expression(node.children[0], scope).type, True), value=None)


def coalesce(node: Node, scope: Scope) -> Expression | None:
    """``coalesce`` of one value: the value; of several, it is in the tables."""
    return expression(node.children[0], scope) if len(node.children) == 1 else None


FORMS: Final = {
    "CaseWhen": case_when,
    "If": if_,
    "In": in_,
    "Coalesce": coalesce,
    "InSet": in_set,
    **dict.fromkeys(("KnownNotNull", "KnownNotContainsNull"), lambda node, scope: expression(node.children[0], scope)),
    "With": with_,
    "CommonExpressionRef": common_expression,
    "NullIfResult": nullif,
    "TypedNullLiteral": typed_null,
}
