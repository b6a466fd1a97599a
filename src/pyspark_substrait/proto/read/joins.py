"""The messages of the joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import FieldReference, Function, RootReference
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    BrokenRelation,
    BuildInput,
    ComparisonJoinKey,
    Cross,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Relation,
    RelCommon,
    SimpleComparisonType,
)
from pyspark_substrait.model.relations.base import joined
from pyspark_substrait.model.types import OpenStruct, Struct
from pyspark_substrait.proto.enums import (
    BUILD_INPUT,
    HASH_JOIN_TYPE,
    JOIN_TYPE,
    MERGE_JOIN_TYPE,
    NESTED_LOOP_JOIN_TYPE,
    SIMPLE_COMPARISON_TYPE,
)
from pyspark_substrait.proto.read import expressions, functions, relations
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.quirks import join_emit
from pyspark_substrait.proto.read.recovery import required_condition
from pyspark_substrait.proto.read.references import field_reference
from pyspark_substrait.proto.read.rel_common import advanced_extension, common
from pyspark_substrait.proto.read.type_checks import compared_types

__all__ = ["cross", "hash_join", "join", "lateral_join", "merge_join", "nested_loop_join"]

_Join = TypeVar("_Join", Join, LateralJoin, HashJoin, MergeJoin)


def _sides(message: Any, scope: Scope, path: Path) -> tuple[RelCommon, Relation, Relation, Scope]:
    """The common part and the inputs of a join, and the scope of expressions over a record of both inputs."""
    shared = common(message, scope.reading, path)
    left = relations.relation(message.left, scope, (path, "left"))
    right = relations.relation(message.right, scope, (path, "right"))
    return shared, left, right, scope.over(joined(left.schema, right.schema), shared.rel_anchor)


def join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join by a condition."""
    shared, left, right, inner = _sides(message, scope, path)
    type = JOIN_TYPE.known(message.type, scope.reading, path, "type")
    expression = required_condition(message, "expression", inner, path)
    if type is None:
        return _of_no_type("join", shared, left, right)
    node = Join(
        common=_emit(shared, type, left, right, scope, path),
        left=left,
        right=right,
        type=type,
        expression=expression,
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def _of_no_type(kind: str, shared: RelCommon, left: Relation, right: Relation) -> Relation:
    return BrokenRelation(common=shared, kind=kind, fault="the type of the join isn't known", members=(left, right))


def _emit(shared: RelCommon, type: JoinType, left: Relation, right: Relation, scope: Scope, path: Path) -> RelCommon:
    """The common part of a join; unchanged if its emit is invalid and findings are collected."""
    with scope.reading.going_on():
        return join_emit(shared, type, left.schema, right.schema, scope.reading, path)
    return shared


def lateral_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join whose right input sees the left record."""
    shared = common(message, scope.reading, path)
    left = relations.relation(message.left, scope, (path, "left"))
    right = relations.relation(message.right, scope.beside(left.schema, shared.rel_anchor), (path, "right"))
    inner = scope.over(joined(left.schema, right.schema), shared.rel_anchor)
    type = JOIN_TYPE.known(message.type, scope.reading, path, "type")
    expression = expressions.optional_condition(message, "expression", inner, path)
    if type is None:
        return _of_no_type("lateral_join", shared, left, right)
    node = LateralJoin(
        common=shared,
        left=left,
        right=right,
        type=type,
        expression=expression,
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def cross(message: Any, scope: Scope, path: Path) -> Relation:
    """Read a cross product."""
    return Cross(
        common=common(message, scope.reading, path),
        left=relations.relation(message.left, scope, (path, "left")),
        right=relations.relation(message.right, scope, (path, "right")),
        advanced_extension=advanced_extension(message),
    )


def hash_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join by hashed keys."""
    shared, left, right, inner = _sides(message, scope, path)
    type = HASH_JOIN_TYPE.known(message.type, scope.reading, path, "type")
    keys = _keys(message.keys, left, right, inner, (path, "keys"))
    residual = expressions.optional_condition(message, "residual_expression", inner, path)
    if type is None:
        return _of_no_type("hash_join", shared, left, right)
    node = HashJoin(
        common=_emit(shared, type, left, right, scope, path),
        left=left,
        right=right,
        type=type,
        keys=keys,
        residual_expression=residual,
        build_input=BUILD_INPUT.known(message.build_input, scope.reading, path, "build_input") or BuildInput.RIGHT,
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def merge_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join of sorted inputs."""
    shared, left, right, inner = _sides(message, scope, path)
    type = MERGE_JOIN_TYPE.known(message.type, scope.reading, path, "type")
    keys = _keys(message.keys, left, right, inner, (path, "keys"))
    residual = expressions.optional_condition(message, "residual_expression", inner, path)
    if type is None:
        return _of_no_type("merge_join", shared, left, right)
    node = MergeJoin(
        common=_emit(shared, type, left, right, scope, path),
        left=left,
        right=right,
        type=type,
        keys=keys,
        residual_expression=residual,
        advanced_extension=advanced_extension(message),
    )
    return _filtered(node, message, scope, path)


def nested_loop_join(message: Any, scope: Scope, path: Path) -> Relation:
    """A join that tries every pair."""
    shared, left, right, inner = _sides(message, scope, path)
    type = NESTED_LOOP_JOIN_TYPE.known(message.type, scope.reading, path, "type")
    expression = expressions.optional_condition(message, "expression", inner, path)
    if type is None:
        return _of_no_type("nested_loop_join", shared, left, right)
    return NestedLoopJoin(
        common=_emit(shared, type, left, right, scope, path),
        left=left,
        right=right,
        type=type,
        expression=expression,
        advanced_extension=advanced_extension(message),
    )


def _filtered(node: _Join, message: Any, scope: Scope, path: Path) -> _Join:
    """The join with its ``post_join_filter``, an expression over the join's output before emit."""
    if not message.HasField("post_join_filter"):
        return node
    output: Struct = OpenStruct()
    with scope.reading.going_on(path, Code.RELATION_INVALID):
        output = node.direct_schema
    inner = scope.over(output, node.common.rel_anchor)
    condition = expressions.condition(message.post_join_filter, inner, (path, "post_join_filter"))
    return replace(node, post_join_filter=condition)


def _keys(messages: Any, left: Relation, right: Relation, scope: Scope, path: Path) -> tuple[ComparisonJoinKey, ...]:
    """The keys of a join; each side of a key sees one input alone."""
    if not messages:
        hint = "Use a nested loop join for one without"
        scope.reading.fault(invalid("the join has no keys", path, hint, Code.PROTO_MISSING_FIELD))
    of_left, of_right = scope.over(left.schema, scope.anchor), scope.over(right.schema, scope.anchor)
    keys = [_key(message, of_left, of_right, (path, index)) for index, message in enumerate(messages)]
    return tuple([key for key in keys if key is not None])


def _key(message: Any, of_left: Scope, of_right: Scope, path: Path) -> ComparisonJoinKey | None:
    """A key; None for one that can't be understood, where findings are collected."""
    fields = [_side(message, side, scope, path) for side, scope in (("left", of_left), ("right", of_right))]
    with of_left.reading.going_on():
        return _compared(message, fields, of_left.reading, path)
    return None


def _side(message: Any, side: str, scope: Scope, path: Path) -> FieldReference | None:
    with scope.reading.going_on():
        if not message.HasField(side):
            raise invalid(f"the {side} key is missing", path, code=Code.PROTO_MISSING_FIELD)
        field = field_reference(getattr(message, side), scope, (path, side))
        if not isinstance(field.root, RootReference):
            hint = "Compute it as a column below"
            raise invalid("a key of a join is a field of its input", (path, side), hint, Code.RELATION_INVALID)
        return field
    return None


def _compared(
    message: Any, fields: list[FieldReference | None], reading: Reading, path: Path
) -> ComparisonJoinKey | None:
    left, right = fields
    if left is None or right is None:
        return None
    compared: SimpleComparisonType | Function
    place = (path, "comparison")
    if message.comparison.WhichOneof("inner_type") == "custom_function_reference":
        anchor = message.comparison.custom_function_reference
        compared, taken = functions.condition(anchor, left.type, right.type, reading, place)
    else:
        compared = SIMPLE_COMPARISON_TYPE.member(message.comparison.simple, place, "simple")
        taken = compared_types(left, right, reading, path)
    return ComparisonJoinKey(left=left, right=right, comparison=compared, taken=taken)
