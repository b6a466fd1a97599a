"""The messages of the joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pyspark_substrait.model.expressions import Function, RootReference
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    ComparisonJoinKey,
    Cross,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Relation,
    RelCommon,
    SimpleComparisonType,
)
from pyspark_substrait.model.relations.base import joined
from pyspark_substrait.proto.enums import (
    BUILD_INPUT,
    HASH_JOIN_TYPE,
    JOIN_TYPE,
    MERGE_JOIN_TYPE,
    NESTED_LOOP_JOIN_TYPE,
    SIMPLE_COMPARISON_TYPE,
)
from pyspark_substrait.proto.read import expressions, functions, relations
from pyspark_substrait.proto.read.agreement import compared_types
from pyspark_substrait.proto.read.base import advanced_extension, common
from pyspark_substrait.proto.read.context import Scope, invalid, located
from pyspark_substrait.proto.read.quirks import join_emit
from pyspark_substrait.proto.read.references import field_reference

__all__ = ["cross", "hash_join", "join", "lateral_join", "merge_join", "nested_loop_join"]

_Join = TypeVar("_Join", Join, LateralJoin, HashJoin, MergeJoin)


def _sides(message: Any, scope: Scope, path: Path) -> tuple[RelCommon, Relation, Relation, Scope]:
    """The common part and the inputs of a join, and the scope of what sees a record of both inputs."""
    shared = common(message, scope.reading, path)
    left = relations.relation(message.left, scope, (path, "left"))
    right = relations.relation(message.right, scope, (path, "right"))
    return shared, left, right, scope.over(joined(left.schema, right.schema), shared.rel_anchor)


def join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join by a condition."""
    shared, left, right, inner = _sides(message, scope, path)
    type = JOIN_TYPE.member(message.type, path, "type")
    node = Join(
        common=join_emit(shared, type, left.schema, right.schema, scope.reading, path),
        left=left,
        right=right,
        type=type,
        expression=expressions.condition(message.expression, inner, (path, "expression")),
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def lateral_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join whose right input sees the left record."""
    shared = common(message, scope.reading, path)
    left = relations.relation(message.left, scope, (path, "left"))
    right = relations.relation(message.right, scope.beside(left.schema, shared.rel_anchor), (path, "right"))
    inner = scope.over(joined(left.schema, right.schema), shared.rel_anchor)
    node = LateralJoin(
        common=shared,
        left=left,
        right=right,
        type=JOIN_TYPE.member(message.type, path, "type"),
        expression=expressions.optional_condition(message, "expression", inner, path),
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def cross(message: Any, scope: Scope, path: Path) -> Relation:
    """Every record with every record."""
    return Cross(
        common=common(message, scope.reading, path),
        left=relations.relation(message.left, scope, (path, "left")),
        right=relations.relation(message.right, scope, (path, "right")),
        advanced_extension=advanced_extension(message),
    )


def hash_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join by hashed keys."""
    shared, left, right, inner = _sides(message, scope, path)
    type = HASH_JOIN_TYPE.member(message.type, path, "type")
    node = HashJoin(
        common=join_emit(shared, type, left.schema, right.schema, scope.reading, path),
        left=left,
        right=right,
        type=type,
        keys=_keys(message.keys, left, right, inner, (path, "keys")),
        residual_expression=expressions.optional_condition(message, "residual_expression", inner, path),
        build_input=BUILD_INPUT.member(message.build_input, path, "build_input"),
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def merge_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join of sorted inputs."""
    shared, left, right, inner = _sides(message, scope, path)
    type = MERGE_JOIN_TYPE.member(message.type, path, "type")
    node = MergeJoin(
        common=join_emit(shared, type, left.schema, right.schema, scope.reading, path),
        left=left,
        right=right,
        type=type,
        keys=_keys(message.keys, left, right, inner, (path, "keys")),
        residual_expression=expressions.optional_condition(message, "residual_expression", inner, path),
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def nested_loop_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join that tries every pair."""
    shared, left, right, inner = _sides(message, scope, path)
    type = NESTED_LOOP_JOIN_TYPE.member(message.type, path, "type")
    return NestedLoopJoin(
        common=join_emit(shared, type, left.schema, right.schema, scope.reading, path),
        left=left,
        right=right,
        type=type,
        expression=expressions.optional_condition(message, "expression", inner, path),
        advanced_extension=advanced_extension(message),
    )


def _filtered(node: _Join, message: Any, scope: Scope, path: Path) -> _Join:
    """The join with its ``post_join_filter``, which sees the columns that it puts out before emit."""
    if not message.HasField("post_join_filter"):
        return node
    with located(path):
        output = node.direct_schema
    inner = scope.over(output, node.common.rel_anchor)
    condition = expressions.condition(message.post_join_filter, inner, (path, "post_join_filter"))
    return replace(node, post_join_filter=condition)


def _keys(messages: Any, left: Relation, right: Relation, scope: Scope, path: Path) -> tuple[ComparisonJoinKey, ...]:
    """The keys of a join; each side of a key sees one input alone."""
    if not messages:
        raise invalid("the join has no keys", path, "Use a nested loop join for one without")
    of_left, of_right = scope.over(left.schema, scope.anchor), scope.over(right.schema, scope.anchor)
    return tuple([_key(message, of_left, of_right, (path, index)) for index, message in enumerate(messages)])


def _key(message: Any, of_left: Scope, of_right: Scope, path: Path) -> ComparisonJoinKey:
    fields = []
    for side, scope in (("left", of_left), ("right", of_right)):
        if not message.HasField(side):
            raise invalid(f"the {side} key is missing", path)
        field = field_reference(getattr(message, side), scope, (path, side))
        if not isinstance(field.root, RootReference):
            raise invalid("a key of a join is a field of its input", (path, side), "Compute it as a column below")
        fields.append(field)
    left, right = fields
    compared: SimpleComparisonType | Function
    place = (path, "comparison")
    if message.comparison.WhichOneof("inner_type") == "custom_function_reference":
        anchor = message.comparison.custom_function_reference
        compared, taken = functions.condition(anchor, left.type, right.type, of_left.reading, place)
    else:
        compared = SIMPLE_COMPARISON_TYPE.member(message.comparison.simple, place, "simple")
        taken = compared_types(left, right, of_left.reading, path)
    return ComparisonJoinKey(left=left, right=right, comparison=compared, taken=taken)
