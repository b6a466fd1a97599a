"""Physical joins as equivalent logical joins, with their keys and other conditions combined.

Spec: ``ComparisonJoinKey``, and relations/physical_relations.
"""

from __future__ import annotations

from typing import TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    Function,
    RootReference,
    ScalarFunction,
)
from pyspark_substrait.model.relations import (
    ComparisonJoinKey,
    HashJoin,
    Join,
    MergeJoin,
    NestedLoopJoin,
    SimpleComparisonType,
)
from pyspark_substrait.model.types import Boolean, Type, same_type
from pyspark_substrait.sql.conjuncts import BOOLEAN, COMPARISON
from pyspark_substrait.sql.decorrelation.constructors import all_of, called, not_distinct, truth
from pyspark_substrait.sql.decorrelation.outer import redirected

__all__ = ["PhysicalJoin", "conditions", "logical"]

PhysicalJoin: TypeAlias = HashJoin | MergeJoin | NestedLoopJoin


def logical(node: PhysicalJoin) -> Join:
    """The logical join with the same records."""
    return Join(
        common=node.common,
        left=node.left,
        right=node.right,
        type=node.type,
        expression=all_of([condition for _, condition in conditions(node)]),
        post_join_filter=None if isinstance(node, NestedLoopJoin) else node.post_join_filter,
        advanced_extension=node.advanced_extension,
    )


def conditions(node: PhysicalJoin) -> list[tuple[tuple[str | int, ...], Expression]]:
    """Return the conditions of a match between two records, over the columns of both, each with its path.

    Raises:
        InvalidPlanError: a key isn't a field of its input, a pair of keys isn't comparable, or there are no keys.
    """
    if isinstance(node, NestedLoopJoin):
        return [(("expression",), truth(True) if node.expression is None else node.expression)]
    if not node.keys:
        raise InvalidPlanError("the join has no keys", path="keys", hint="Use a nested loop join for one without")
    width = len(node.left.schema.types)
    found: list[tuple[tuple[str | int, ...], Expression]] = [
        (("keys", position), _compared(key, width, f"keys[{position}]")) for position, key in enumerate(node.keys)
    ]
    if node.residual_expression is not None:
        found.append((("residual_expression",), node.residual_expression))
    return found


def _compared(key: ComparisonJoinKey, width: int, path: str) -> Expression:
    """The comparison of a pair of keys over the columns of both inputs, of which the left one has ``width``."""
    for side, field in (("left", key.left), ("right", key.right)):
        if not isinstance(field.root, RootReference):
            raise InvalidPlanError("a key of a join is a field of its input", path=f"{path}.{side}")
    left: Expression = key.left
    right: Expression = redirected(key.right, lambda level, field: (level, field + width))
    if key.taken is not None:
        left, right = _as(left, key.taken[0]), _as(right, key.taken[1])
    if isinstance(key.comparison, Function):
        # whether it is nullable isn't known here
        type = Boolean(nullable=True)
        return ScalarFunction(function=key.comparison, arguments=(left, right), output_type=type, derived_type=type)
    if not same_type(left.type, right.type):
        raise InvalidPlanError(f"{left.type} is compared with {right.type}", path=path, hint="Cast one of them below")
    nullable = left.type.nullable or right.type.nullable
    equal = called(COMPARISON, "equal", "any_any", [left, right], nullable)
    match key.comparison:
        case SimpleComparisonType.EQ:
            return equal
        case _ if not nullable:
            # without nulls, the comparisons are equivalent, and Spark can look for equal keys
            return equal
        case SimpleComparisonType.IS_NOT_DISTINCT_FROM:
            return not_distinct(left, right)
        case SimpleComparisonType.MIGHT_EQUAL:
            # Spark recognizes a null-aware anti join by this form
            unknown = called(COMPARISON, "is_null", "any", [equal], False)
            return called(BOOLEAN, "or", "bool", [equal, unknown], False)
        case _:
            assert_never(key.comparison)


def _as(value: Expression, type: Type) -> Expression:
    """Return a value cast to a type that holds it."""
    if same_type(value.type, type):
        return value
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)
