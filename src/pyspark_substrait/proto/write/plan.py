"""Plans and extended expressions into messages."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import Message

from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.plan import CURRENT_VERSION, ExtendedExpression, Plan, RelRoot
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.enums import VARIABLE_EVALUATION_MODE
from pyspark_substrait.proto.write import expressions, functions, relations
from pyspark_substrait.proto.write.context import Declarations, Parts
from pyspark_substrait.proto.write.fields import fields
from pyspark_substrait.proto.write.literals import literal
from pyspark_substrait.proto.write.types import data_type, named_struct

__all__ = ["extended_expression", "plan"]

_Document = TypeVar("_Document")


def plan(node: Plan) -> Message:
    """A plan as a message ``substrait.Plan``.

    Anchors are assigned again, from 1 in the order of first use; a plan without a version gets the current one.

    Raises:
        InvalidPlanError: the plan contradicts itself, for example by a type alias that isn't among its aliases.
    """
    return with_enough_stack(_plan, node)


def extended_expression(node: ExtendedExpression) -> Message:
    """An extended expression as a message ``substrait.ExtendedExpression``. Otherwise like :func:`plan`."""
    return with_enough_stack(_extended_expression, node)


def _plan(node: Plan) -> Message:
    message: Any = messages.Plan()
    aliases: dict[Any, int] = {}
    for anchor, type in enumerate(node.type_aliases, start=1):
        aliases.setdefault(type, anchor)
    declarations = Declarations(message, aliases, node.named_lambdas, len(node.relations))
    for tree in node.relations:
        item = message.relations.add()
        parts = Parts(declarations, item.detached_expressions, item.detached_rels)
        if isinstance(tree, RelRoot):
            relations.relation(tree.input, item.root.input, parts)
            item.root.names.extend(tree.names)
        else:
            relations.relation(tree, item.rel, parts)
    for binding in node.parameter_bindings:
        bound = message.parameter_bindings.add(parameter_anchor=binding.parameter_anchor)
        literal(binding.value, bound.value, declarations)
    for anchor, type in enumerate(node.type_aliases, start=1):
        data_type(type, message.type_aliases.add(type_alias_anchor=anchor).type, declarations)
    for anchor, named in enumerate(node.named_lambdas, start=1):
        defined = message.named_lambdas.add(lambda_anchor=anchor)
        if named.name is not None:
            defined.name = named.name
        fields(named.lambda_, getattr(defined, "lambda"), Parts(declarations, None, None))
    message.execution_behavior.variable_eval_mode = VARIABLE_EVALUATION_MODE.numbers[node.execution_behavior]
    _top(node, message, declarations)
    written: Message = message
    return written


def _extended_expression(node: ExtendedExpression) -> Message:
    message: Any = messages.ExtendedExpression()
    declarations = Declarations(message)
    parts = Parts(declarations, message.detached_expressions, message.detached_rels)
    named_struct(node.base_schema, message.base_schema, declarations)
    for reference in node.referred_expr:
        item = message.referred_expr.add(output_names=reference.output_names)
        if isinstance(reference.expr, AggregateFunction):
            functions.aggregate_function(reference.expr, item.measure, parts)
        else:
            expressions.expression(reference.expr, item.expression, parts)
    _top(node, message, declarations)
    written: Message = message
    return written


def _top(node: Plan | ExtendedExpression, message: Any, declarations: Declarations) -> None:
    """Write the top-level fields of both kinds of message; call it last, so that unused declarations come last."""
    for declaration in node.unused_extensions:
        declarations.declare(declaration)
    for urn in node.unused_urns:
        declarations.declare_urn(urn)
    if node.advanced_extensions is not None:
        fields(node.advanced_extensions, message.advanced_extensions, Parts(declarations, None, None))
    message.expected_type_urls.extend(node.expected_type_urls)
    version = node.version
    numbers = (version.major_number, version.minor_number, version.patch_number)
    into = message.version
    into.major_number, into.minor_number, into.patch_number = numbers if any(numbers) else CURRENT_VERSION
    into.git_hash, into.producer = version.git_hash, version.producer
