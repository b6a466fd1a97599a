"""Windows, expand and exchange into messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import ExchangeKind, ExchangeTarget, SwitchingField
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message
from pyspark_substrait.proto.write.references import field_reference

__all__ = ["exchange_kind", "expand_fields", "targets"]


def expand_fields(fields: Iterable[Expression | SwitchingField], message: Any, parts: Parts) -> None:
    """Write the fields of an expand relation."""
    for field in fields:
        item = message.fields.add()
        if isinstance(field, SwitchingField):
            item.switching_field.SetInParent()
            expressions.expressions(field.duplicates, item.switching_field.duplicates, parts)
        else:
            expressions.expression(field, item.consistent_field, parts)


def exchange_kind(kind: ExchangeKind, into: Any, parts: Parts) -> None:
    """Write the distribution of an exchange relation."""
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


def targets(found: Iterable[ExchangeTarget], message: Any, parts: Parts) -> None:
    """Write the targets of an exchange relation's partitions."""
    for target in found:
        _target(target, message.targets.add())


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
