"""The joins into messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.relations import (
    ComparisonJoinKey,
    Cross,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    SimpleComparisonType,
)
from pyspark_substrait.proto.enums import (
    BUILD_INPUT,
    HASH_JOIN_TYPE,
    JOIN_TYPE,
    MERGE_JOIN_TYPE,
    NESTED_LOOP_JOIN_TYPE,
    SIMPLE_COMPARISON_TYPE,
)
from pyspark_substrait.proto.write import expressions, relations
from pyspark_substrait.proto.write.base import advanced_extension, common
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.references import field_reference

__all__ = ["cross", "hash_join", "join", "lateral_join", "merge_join", "nested_loop_join"]

_AnyJoin = Join | LateralJoin | Cross | HashJoin | MergeJoin | NestedLoopJoin


def _sides(node: _AnyJoin, into: Any, parts: Parts) -> None:
    common(node.common, into.common)
    relations.relation(node.left, into.left, parts)
    relations.relation(node.right, into.right, parts)
    advanced_extension(node.advanced_extension, into)


def join(node: Join, into: Any, parts: Parts) -> None:
    """Write a join by a condition."""
    _sides(node, into, parts)
    into.type = JOIN_TYPE.numbers[node.type]
    expressions.expression(node.expression, into.expression, parts)
    expressions.optional_expression(node.post_join_filter, into, "post_join_filter", parts)


def lateral_join(node: LateralJoin, into: Any, parts: Parts) -> None:
    """Write a join whose right input sees the left record."""
    _sides(node, into, parts)
    into.type = JOIN_TYPE.numbers[node.type]
    expressions.optional_expression(node.expression, into, "expression", parts)
    expressions.optional_expression(node.post_join_filter, into, "post_join_filter", parts)


def cross(node: Cross, into: Any, parts: Parts) -> None:
    """Write a cross product."""
    _sides(node, into, parts)


def hash_join(node: HashJoin, into: Any, parts: Parts) -> None:
    """Write a join by hashed keys."""
    _sides(node, into, parts)
    into.type = HASH_JOIN_TYPE.numbers[node.type]
    into.build_input = BUILD_INPUT.numbers[node.build_input]
    _keys(node, into, parts)


def merge_join(node: MergeJoin, into: Any, parts: Parts) -> None:
    """Write a join of sorted inputs."""
    _sides(node, into, parts)
    into.type = MERGE_JOIN_TYPE.numbers[node.type]
    _keys(node, into, parts)


def nested_loop_join(node: NestedLoopJoin, into: Any, parts: Parts) -> None:
    """Write a join that tries every pair."""
    _sides(node, into, parts)
    into.type = NESTED_LOOP_JOIN_TYPE.numbers[node.type]
    expressions.optional_expression(node.expression, into, "expression", parts)


def _keys(node: HashJoin | MergeJoin, into: Any, parts: Parts) -> None:
    for key in node.keys:
        _key(key, into.keys.add(), parts)
    expressions.optional_expression(node.residual_expression, into, "residual_expression", parts)
    expressions.optional_expression(node.post_join_filter, into, "post_join_filter", parts)


def _key(key: ComparisonJoinKey, into: Any, parts: Parts) -> None:
    field_reference(key.left, into.left, parts)
    field_reference(key.right, into.right, parts)
    match key.comparison:
        case SimpleComparisonType():
            into.comparison.simple = SIMPLE_COMPARISON_TYPE.numbers[key.comparison]
        case Function():
            into.comparison.custom_function_reference = parts.declarations.function(key.comparison)
        case _:
            assert_never(key.comparison)
