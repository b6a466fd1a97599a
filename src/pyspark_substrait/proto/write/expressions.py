"""Expressions into ``Expression`` messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as nodes
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.write import functions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.fields import fields
from pyspark_substrait.proto.write.literals import literal
from pyspark_substrait.proto.write.references import field_reference
from pyspark_substrait.proto.write.types import data_type

__all__ = ["expression", "expressions", "nested_struct"]


def expressions(items: Iterable[Expression], into: Any, parts: Parts) -> None:
    """Write expressions into a repeated field."""
    for item in items:
        expression(item, into.add(), parts)


def expression(node: Expression, into: Any, parts: Parts) -> None:
    """Write an expression."""
    match node:
        case Literal():
            literal(node, into.literal, parts.declarations)
        case nodes.FieldReference():
            field_reference(node, into.selection, parts)
        case nodes.ScalarFunction():
            functions.call(node, into.scalar_function, parts)
        case nodes.WindowFunction():
            functions.window_function(node, into.window_function, parts)
        case nodes.IfThen():
            fields(node, into.if_then, parts)
        case nodes.SwitchExpression():
            fields(node, into.switch_expression, parts)
        case nodes.SingularOrList():
            fields(node, into.singular_or_list, parts)
        case nodes.MultiOrList():
            fields(node, into.multi_or_list, parts)
        case nodes.Cast():
            fields(node, into.cast, parts)
        case nodes.NestedStruct() | nodes.NestedList() | nodes.NestedMap():
            _nested(node, into.nested, parts)
        case nodes.ScalarSubquery():
            fields(node, into.subquery.scalar, parts)
        case nodes.InPredicate():
            fields(node, into.subquery.in_predicate, parts)
        case nodes.SetPredicate():
            fields(node, into.subquery.set_predicate, parts)
        case nodes.SetComparison():
            fields(node, into.subquery.set_comparison, parts)
        case nodes.DynamicParameter():
            fields(node, into.dynamic_parameter, parts)
        case nodes.Lambda():
            fields(node, getattr(into, "lambda"), parts)
        case nodes.NamedLambdaReference():
            _named_lambda(node, into.named_lambda_reference, parts)
        case nodes.LambdaInvocation():
            _lambda_invocation(node, into.lambda_invocation, parts)
        case nodes.ExecutionContextVariable():
            _context_variable(node, into.execution_context_variable, parts)
        case nodes.DetachedExpression():
            into.detached_expression_ordinal = _detached(node.expression, parts)
        case nodes.BrokenExpression():
            raise InvalidPlanError(f"an expression that cannot be understood cannot be written: {node.fault}")
        case _:
            assert_never(node)


def _nested(node: nodes.NestedStruct | nodes.NestedList | nodes.NestedMap, into: Any, parts: Parts) -> None:
    into.nullable = node.nullable
    into.type_variation_reference = parts.declarations.variation(node.variation)
    match node:
        case nodes.NestedStruct():
            nested_struct(node, into.struct, parts)
        case nodes.NestedList():
            expressions(node.values, into.list.values, parts)
        case nodes.NestedMap():
            for key, value in node.key_values:
                pair = into.map.key_values.add()
                expression(key, pair.key, parts)
                expression(value, pair.value, parts)
        case _:
            assert_never(node)


def nested_struct(node: nodes.NestedStruct, into: Any, parts: Parts) -> None:
    """Write the fields of a struct into an ``Expression.Nested.Struct`` message."""
    into.SetInParent()
    expressions(node.fields, into.fields, parts)


def _named_lambda(node: nodes.NamedLambdaReference, into: Any, parts: Parts) -> None:
    into.lambda_reference = parts.declarations.named_lambda(node.lambda_)


def _lambda_invocation(node: nodes.LambdaInvocation, into: Any, parts: Parts) -> None:
    match node.lambda_:
        case nodes.Lambda():
            fields(node.lambda_, getattr(into, "lambda"), parts)
        case nodes.NamedLambdaReference():
            _named_lambda(node.lambda_, into.named_lambda, parts)
        case _:
            assert_never(node.lambda_)
    into.arguments.SetInParent()
    expressions(node.arguments, into.arguments.fields, parts)


def _context_variable(node: nodes.ExecutionContextVariable, into: Any, parts: Parts) -> None:
    written = messages.DynamicParameter()
    data_type(node.type, written.type, parts.declarations)
    kind = written.type.WhichOneof("kind")
    getattr(into, node.variable.value).CopyFrom(getattr(written.type, kind))


def _detached(node: Expression, parts: Parts) -> int:
    known = parts.known.get(id(node))
    if known is not None:
        return known
    message = messages.Expression()
    expression(node, message, parts)
    return parts.keep("expression", node, message, parts.expressions)
