"""Windows, expand and exchange into messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import ExchangeKind, ExchangeTarget, SwitchingField
from pyspark_substrait.proto.write import expressions, functions, relations
from pyspark_substrait.proto.write.base import advanced_extension, common
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message
from pyspark_substrait.proto.write.references import field_reference

__all__ = ["exchange", "expand", "window"]


def window(node: nodes.ConsistentPartitionWindow, into: Any, parts: Parts) -> None:
    """Write window functions over the same partitions."""
    common(node.common, into.common)
    relations.relation(node.input, into.input, parts)
    for function in node.window_functions:
        functions.window_rel_function(function, into.window_functions.add(), parts)
    expressions.expressions(node.partition_expressions, into.partition_expressions, parts)
    functions.sort_fields(node.sorts, into.sorts, parts)
    advanced_extension(node.advanced_extension, into)


def expand(node: nodes.Expand, into: Any, parts: Parts) -> None:
    """Write an expansion."""
    common(node.common, into.common)
    relations.relation(node.input, into.input, parts)
    for field in node.fields:
        item = into.fields.add()
        if isinstance(field, SwitchingField):
            item.switching_field.SetInParent()
            expressions.expressions(field.duplicates, item.switching_field.duplicates, parts)
        else:
            expressions.expression(field, item.consistent_field, parts)
    advanced_extension(node.advanced_extension, into)


def exchange(node: nodes.Exchange, into: Any, parts: Parts) -> None:
    """Write a new distribution of the records."""
    common(node.common, into.common)
    relations.relation(node.input, into.input, parts)
    into.partition_count = node.partition_count
    _exchange_kind(node.exchange_kind, into, parts)
    for target in node.targets:
        _target(target, into.targets.add())
    advanced_extension(node.advanced_extension, into)


def _exchange_kind(kind: ExchangeKind, into: Any, parts: Parts) -> None:
    match kind:
        case nodes.ScatterFields():
            into.scatter_by_fields.SetInParent()
            for field in kind.fields:
                field_reference(field, into.scatter_by_fields.fields.add(), parts)
        case nodes.SingleBucketExpression():
            expressions.expression(kind.expression, into.single_target.expression, parts)
        case nodes.MultiBucketExpression():
            expressions.expression(kind.expression, into.multi_target.expression, parts)
            into.multi_target.constrained_to_count = kind.constrained_to_count
        case nodes.RoundRobin():
            into.round_robin.SetInParent()
            into.round_robin.exact = kind.exact
        case nodes.Broadcast():
            into.broadcast.SetInParent()
        case _:
            assert_never(kind)


def _target(target: ExchangeTarget, into: Any) -> None:
    into.partition_id.extend(target.partition_id)
    match target.target_type:
        case str() as uri:
            into.uri = uri
        case AnyMessage() as message:
            any_message(message, into.extended)
        case None:
            pass
        case _:
            assert_never(target.target_type)
