"""The messages of windows, expand and exchange."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import BrokenExpression, Expression
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    Broadcast,
    BrokenRelation,
    ConsistentPartitionWindow,
    Exchange,
    ExchangeKind,
    ExchangeTarget,
    Expand,
    MultiBucketExpression,
    Relation,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
    SwitchingField,
)
from pyspark_substrait.proto.read import expressions, functions, relations
from pyspark_substrait.proto.read.context import Scope, invalid
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.references import field_reference
from pyspark_substrait.proto.read.rel_common import advanced_extension, common
from pyspark_substrait.proto.read.type_checks import agreed

__all__ = ["exchange", "expand", "window"]


def window(message: Any, scope: Scope, path: Path) -> Relation:
    """Window functions over the same partitions."""
    shared = common(message, scope.reading, path)
    input = relations.relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    place: Path = (path, "window_functions")
    sorts = functions.sort_fields(message.sorts, inner, (path, "sorts"))
    return ConsistentPartitionWindow(
        common=shared,
        input=input,
        window_functions=tuple(
            functions.window_rel_function(function, sorts, inner, (place, index))
            for index, function in enumerate(message.window_functions)
        ),
        partition_expressions=expressions.expressions(
            message.partition_expressions, inner, (path, "partition_expressions")
        ),
        sorts=sorts,
        advanced_extension=advanced_extension(message),
    )


def expand(message: Any, scope: Scope, path: Path) -> Relation:
    """Read an expand relation, which repeats each record."""
    shared = common(message, scope.reading, path)
    input = relations.relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    place: Path = (path, "fields")
    fields = tuple(_field(field, inner, (place, index)) for index, field in enumerate(message.fields))
    return Expand(common=shared, input=input, fields=fields, advanced_extension=advanced_extension(message))


def _field(message: Any, scope: Scope, path: Path) -> SwitchingField | Expression:
    """Read a field of an expand relation; a broken expression if it is invalid and findings are collected."""
    fault = ""
    with scope.reading.going_on():
        try:
            return _expand_field(message, scope, path)
        except SubstraitError as error:
            fault = error.message
            raise
    return BrokenExpression(kind="", fault=fault)


def _expand_field(message: Any, scope: Scope, path: Path) -> SwitchingField | Expression:
    kind = message.WhichOneof("field_type")
    match kind:
        case "switching_field":
            place: Path = ((path, kind), "duplicates")
            duplicates = expressions.expressions(message.switching_field.duplicates, scope, place)
            if not duplicates:
                raise invalid("the switching field has no expression", place, code=Code.PROTO_MISSING_FIELD)
            places: list[Path] = [(place, index) for index in range(len(duplicates))]
            return SwitchingField(agreed(duplicates, scope.reading, places, exactly=True))
        case "consistent_field":
            return expressions.expression(message.consistent_field, scope, (path, kind))
        case _:
            raise invalid("a field is missing", path, code=Code.PROTO_MISSING_FIELD)


def exchange(message: Any, scope: Scope, path: Path) -> Relation:
    """A new distribution of the records."""
    shared = common(message, scope.reading, path)
    input = relations.relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    kind: ExchangeKind | None = None
    with scope.reading.going_on():
        kind = _exchange_kind(message, inner, path)
    if kind is None:
        fault, names = "it isn't known how records are distributed", input.names
        return BrokenRelation(
            common=shared, kind="exchange", fault=fault, members=(input,), record=input.schema, record_names=names
        )
    return Exchange(
        common=shared,
        input=input,
        exchange_kind=kind,
        partition_count=message.partition_count,
        targets=tuple(_target(target) for target in message.targets),
        advanced_extension=advanced_extension(message),
    )


def _exchange_kind(message: Any, scope: Scope, path: Path) -> ExchangeKind:
    kind = message.WhichOneof("exchange_kind")
    match kind:
        case "scatter_by_fields":
            place: Path = ((path, kind), "fields")
            fields = message.scatter_by_fields.fields
            return ScatterFields(
                tuple(field_reference(field, scope, (place, index)) for index, field in enumerate(fields))
            )
        case "single_target":
            bucket = expressions.expression(message.single_target.expression, scope, ((path, kind), "expression"))
            return SingleBucketExpression(bucket)
        case "multi_target":
            buckets = expressions.expression(message.multi_target.expression, scope, ((path, kind), "expression"))
            return MultiBucketExpression(buckets, message.multi_target.constrained_to_count)
        case "round_robin":
            return RoundRobin(message.round_robin.exact)
        case "broadcast":
            return Broadcast()
        case _:
            fault = "the exchange doesn't say how records are distributed"
            raise invalid(fault, path, code=Code.PROTO_MISSING_FIELD)


def _target(message: Any) -> ExchangeTarget:
    match message.WhichOneof("target_type"):
        case "uri":
            return ExchangeTarget(partition_id=tuple(message.partition_id), target_type=message.uri)
        case "extended":
            return ExchangeTarget(partition_id=tuple(message.partition_id), target_type=any_message(message.extended))
        case _:
            return ExchangeTarget(partition_id=tuple(message.partition_id))
