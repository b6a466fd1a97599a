"""The messages of the joins."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import FieldReference, Function, RootReference
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import ComparisonJoinKey, JoinType, Relation, SimpleComparisonType
from pyspark_substrait.proto.enums import SIMPLE_COMPARISON_TYPE
from pyspark_substrait.proto.read import functions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.fields import Fields
from pyspark_substrait.proto.read.habits import datafusion_values
from pyspark_substrait.proto.read.quirks import join_emit
from pyspark_substrait.proto.read.references import field_reference
from pyspark_substrait.proto.read.type_checks import compared_types

__all__ = ["join", "keys", "typed_join"]


def join(fields: Fields) -> Relation:
    """Finish a join, whose emit may be that of an old release. An emit that is invalid is unchanged."""
    if fields["type"] is not None:
        sides = fields["left"].schema, fields["right"].schema
        with fields.reading.going_on():
            fields["common"] = join_emit(fields["common"], fields["type"], *sides, fields.reading, fields.path)
        if fields["type"] in (JoinType.LEFT_ANTI, JoinType.RIGHT_ANTI):
            datafusion_values.anti_join(fields.get("expression"), fields.reading, fields.path)
    return typed_join(fields)


def typed_join(fields: Fields) -> Relation:
    """Finish a join of a type, which may be unknown."""
    if fields["type"] is None:
        return fields.broken("unknown join type")
    return fields.node()


def keys(fields: Fields, of_left: Scope) -> tuple[ComparisonJoinKey, ...]:
    """Read the keys of a join; each side of a key sees one input alone."""
    messages, path = fields.message.keys, (fields.path, "keys")
    if not messages:
        hint = "Use a nested loop join for one without"
        fields.reading.fault(invalid("the join has no keys", path, hint, Code.PROTO_MISSING_FIELD))
    of_right = fields.scope.over(fields["right"].schema, of_left.anchor)
    found = [_key(message, of_left, of_right, (path, index)) for index, message in enumerate(messages)]
    return tuple([key for key in found if key is not None])


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
