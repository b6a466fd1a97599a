"""Expressions into ``Expression`` messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from substrait import algebra_pb2
from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as nodes
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.proto.enums import COMPARISON_OP, FAILURE_BEHAVIOR, PREDICATE_OP, REDUCTION_OP
from pyspark_substrait.proto.write import functions, relations
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import literal
from pyspark_substrait.proto.write.references import field_reference
from pyspark_substrait.proto.write.types import data_type, struct

__all__ = ["expression", "expressions", "lambda_", "nested_struct", "optional_expression"]


def expressions(items: Iterable[Expression], into: Any, parts: Parts) -> None:
    """Write expressions into a repeated field."""
    for item in items:
        expression(item, into.add(), parts)


def optional_expression(node: Expression | None, message: Any, field: str, parts: Parts) -> None:
    """Write an expression into a field of ``message``, if there is one."""
    if node is not None:
        expression(node, getattr(message, field), parts)


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
            for clause in node.ifs:
                item = into.if_then.ifs.add()
                expression(clause.if_, getattr(item, "if"), parts)
                expression(clause.then, item.then, parts)
            optional_expression(node.else_, into.if_then, "else", parts)
        case nodes.SwitchExpression():
            expression(node.match, into.switch_expression.match, parts)
            for value in node.ifs:
                item = into.switch_expression.ifs.add()
                literal(value.if_, getattr(item, "if"), parts.declarations)
                expression(value.then, item.then, parts)
            optional_expression(node.else_, into.switch_expression, "else", parts)
        case nodes.SingularOrList():
            expression(node.value, into.singular_or_list.value, parts)
            expressions(node.options, into.singular_or_list.options, parts)
        case nodes.MultiOrList():
            into.multi_or_list.SetInParent()
            expressions(node.value, into.multi_or_list.value, parts)
            for option in node.options:
                expressions(option, into.multi_or_list.options.add().fields, parts)
        case nodes.Cast():
            data_type(node.type, into.cast.type, parts.declarations)
            expression(node.input, into.cast.input, parts)
            into.cast.failure_behavior = FAILURE_BEHAVIOR.numbers[node.failure_behavior]
        case nodes.NestedStruct() | nodes.NestedList() | nodes.NestedMap():
            _nested(node, into.nested, parts)
        case nodes.ScalarSubquery() | nodes.InPredicate() | nodes.SetPredicate() | nodes.SetComparison():
            _subquery(node, into.subquery, parts)
        case nodes.DynamicParameter():
            data_type(node.type, into.dynamic_parameter.type, parts.declarations)
            into.dynamic_parameter.parameter_reference = node.parameter_reference
        case nodes.Lambda():
            lambda_(node, getattr(into, "lambda"), parts)
        case nodes.NamedLambdaReference():
            _named_lambda(node, into.named_lambda_reference, parts)
        case nodes.LambdaInvocation():
            _lambda_invocation(node, into.lambda_invocation, parts)
        case nodes.ExecutionContextVariable():
            _context_variable(node, into.execution_context_variable, parts)
        case nodes.DetachedExpression():
            into.detached_expression_ordinal = _detached(node.expression, parts)
        case nodes.BrokenExpression():
            raise InvalidPlanError(f"an expression that can't be understood can't be written: {node.fault}")
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


def _subquery(
    node: nodes.ScalarSubquery | nodes.InPredicate | nodes.SetPredicate | nodes.SetComparison, into: Any, parts: Parts
) -> None:
    match node:
        case nodes.ScalarSubquery():
            relations.relation(node.input, into.scalar.input, parts)
        case nodes.InPredicate():
            expressions(node.needles, into.in_predicate.needles, parts)
            relations.relation(node.haystack, into.in_predicate.haystack, parts)
        case nodes.SetPredicate():
            into.set_predicate.predicate_op = PREDICATE_OP.numbers[node.predicate_op]
            relations.relation(node.tuples, into.set_predicate.tuples, parts)
        case nodes.SetComparison():
            into.set_comparison.reduction_op = REDUCTION_OP.numbers[node.reduction_op]
            into.set_comparison.comparison_op = COMPARISON_OP.numbers[node.comparison_op]
            expression(node.left, into.set_comparison.left, parts)
            relations.relation(node.right, into.set_comparison.right, parts)
        case _:
            assert_never(node)


def lambda_(node: nodes.Lambda, into: Any, parts: Parts) -> None:
    """Write a lambda into an ``Expression.Lambda`` message."""
    struct(node.parameters, into.parameters, parts.declarations)
    expression(node.body, into.body, parts)


def _named_lambda(node: nodes.NamedLambdaReference, into: Any, parts: Parts) -> None:
    into.lambda_reference = parts.declarations.named_lambda(node.lambda_)


def _lambda_invocation(node: nodes.LambdaInvocation, into: Any, parts: Parts) -> None:
    match node.lambda_:
        case nodes.Lambda():
            lambda_(node.lambda_, getattr(into, "lambda"), parts)
        case nodes.NamedLambdaReference():
            _named_lambda(node.lambda_, into.named_lambda, parts)
        case _:
            assert_never(node.lambda_)
    into.arguments.SetInParent()
    expressions(node.arguments, into.arguments.fields, parts)


def _context_variable(node: nodes.ExecutionContextVariable, into: Any, parts: Parts) -> None:
    written = algebra_pb2.DynamicParameter()
    data_type(node.type, written.type, parts.declarations)
    kind = written.type.WhichOneof("kind")
    getattr(into, node.variable.value).CopyFrom(getattr(written.type, kind))


def _detached(node: Expression, parts: Parts) -> int:
    known = parts.known.get(id(node))
    if known is not None:
        return known
    message = algebra_pb2.Expression()
    expression(node, message, parts)
    return parts.keep("expression", node, message, parts.expressions)
