"""Making a new tree out of an old one: an expression with other expressions inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import (
    Argument,
    Bound,
    Cast,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FieldReference,
    Following,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    MultiOrList,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    OuterReference,
    Preceding,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SwitchExpression,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal

__all__ = ["with_children"]


def with_children(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with ``change`` applied to each expression directly inside it.

    These are the ones that :func:`walk.expression_children` gives: what is inside a subquery's relation isn't touched,
    nor are the values of a switch, which are literals, nor the body of a lambda that the plan defines by name. A lambda
    that is invoked in place must stay one.
    """

    def argument(item: Argument) -> Argument:
        return item if isinstance(item, EnumArgument | TypeArgument) else change(item)

    def optional(item: Expression | None) -> Expression | None:
        return None if item is None else change(item)

    def bound(item: Bound) -> Bound:
        return replace(item, offset=change(item.offset)) if isinstance(item, Preceding | Following) else item

    match node:
        case (
            Literal()
            | ScalarSubquery()
            | SetPredicate()
            | DynamicParameter()
            | ExecutionContextVariable()
            | NamedLambdaReference()
        ):
            return node
        case FieldReference(root=root):
            if isinstance(root, RootReference | OuterReference | LambdaParameterReference):
                return node
            return replace(node, root=change(root))
        case ScalarFunction():
            return replace(node, arguments=tuple(map(argument, node.arguments)))
        case WindowFunction():
            return replace(
                node,
                arguments=tuple(map(argument, node.arguments)),
                sorts=tuple(replace(sort, expr=change(sort.expr)) for sort in node.sorts),
                partitions=tuple(map(change, node.partitions)),
                lower_bound=bound(node.lower_bound),
                upper_bound=bound(node.upper_bound),
            )
        case IfThen():
            ifs = tuple(IfClause(change(clause.if_), change(clause.then)) for clause in node.ifs)
            return replace(node, ifs=ifs, else_=optional(node.else_))
        case SwitchExpression():
            match = change(node.match)
            cases = tuple(IfValue(clause.if_, change(clause.then)) for clause in node.ifs)
            return replace(node, match=match, ifs=cases, else_=optional(node.else_))
        case SingularOrList():
            return replace(node, value=change(node.value), options=tuple(map(change, node.options)))
        case MultiOrList():
            value = tuple(map(change, node.value))
            return replace(node, value=value, options=tuple(tuple(map(change, option)) for option in node.options))
        case Cast():
            return replace(node, input=change(node.input))
        case NestedStruct():
            return replace(node, fields=tuple(map(change, node.fields)))
        case NestedList():
            return replace(node, values=tuple(map(change, node.values)))
        case NestedMap():
            return replace(node, key_values=tuple((change(key), change(value)) for key, value in node.key_values))
        case InPredicate():
            return replace(node, needles=tuple(map(change, node.needles)))
        case SetComparison():
            return replace(node, left=change(node.left))
        case Lambda():
            return replace(node, body=change(node.body))
        case LambdaInvocation():
            called = change(node.lambda_)
            if not isinstance(called, Lambda | NamedLambdaReference):
                raise TypeError("what is invoked must stay a lambda")
            return replace(node, lambda_=called, arguments=tuple(map(change, node.arguments)))
        case DetachedExpression():
            return replace(node, expression=change(node.expression))
        case _:
            assert_never(node)
