"""Laws: plans that must have the rows of another one, whatever the rows are.

- a filter split: the records for which a condition is true, false and null are all records
- joins with swapped sides
- the fixes of ``lint``
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from fuzz.expressions import Expressions, Frame, Scope
from fuzz.plans import rooted
from fuzz.relations import Relations
from pyspark_substrait.api.lint import fixed
from pyspark_substrait.documents import Plan
from pyspark_substrait.extensions.calls import scalar
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.relations import JoinType, Relation
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.model.walk import expressions_within, mapped, subquery_relation, with_children

__all__ = ["LAWS", "filter_split", "joins_swapped", "lint_fixed", "predicate"]

_SWAPPED: Final[Mapping[JoinType, JoinType]] = {
    JoinType.INNER: JoinType.INNER,
    JoinType.OUTER: JoinType.OUTER,
    JoinType.LEFT: JoinType.RIGHT,
    JoinType.RIGHT: JoinType.LEFT,
    JoinType.LEFT_SEMI: JoinType.RIGHT_SEMI,
    JoinType.RIGHT_SEMI: JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI: JoinType.RIGHT_ANTI,
    JoinType.RIGHT_ANTI: JoinType.LEFT_ANTI,
    JoinType.LEFT_SINGLE: JoinType.RIGHT_SINGLE,
    JoinType.RIGHT_SINGLE: JoinType.LEFT_SINGLE,
    JoinType.LEFT_MARK: JoinType.RIGHT_MARK,
    JoinType.RIGHT_MARK: JoinType.LEFT_MARK,
}
_BOOLEAN: Final = "extension:io.substrait:functions_boolean"
_COMPARISON: Final = "extension:io.substrait:functions_comparison"


def predicate(plan: Plan, seed: int) -> Expression:
    """Return a random condition over the result of a plan."""
    chance = random.Random(f"predicate {seed}")
    maker: Expressions = Relations(chance).made
    return maker.of(Boolean(), Scope(Frame(plan.trees[-1].schema, 0), queries=False), 2)


def filter_split(plan: Plan, seed: int) -> Plan | None:
    """Return the union of the result's records for which a random condition is true, false, and null."""
    condition = predicate(plan, seed)
    registry = Registry.default()
    parts = (
        condition,
        scalar(registry, _BOOLEAN, "not", (condition,)),
        scalar(registry, _COMPARISON, "is_null", (condition,)),
    )

    result = r.Reference(subtree_ordinal=len(plan.trees) - 1, subtree=plan.trees[-1])
    members = tuple(r.Filter(input=result, condition=part) for part in parts)
    return rooted(*plan.trees, r.Set(members=members, op=r.SetOp.UNION_ALL))


def joins_swapped(plan: Plan, seed: int) -> Plan | None:
    """Return the plan with the sides of all joins and cross products swapped; None if it has none.

    A join stays as it is if its condition holds a query, which may refer to the joined record.
    """
    changed = []

    def swapped(node: Relation) -> Relation:
        if not isinstance(node, r.Join | r.Cross):
            return node
        conditions = [item for item in _conditions(node) if item is not None]
        if any(subquery_relation(item) is not None for item in expressions_within(conditions)):
            return node
        left, right = len(node.left.schema.types), len(node.right.schema.types)
        to = [*range(right, right + left), *range(right)]
        if isinstance(node, r.Cross):
            turned: r.Join | r.Cross = replace(node, left=node.right, right=node.left)
        else:
            both = len(node.direct_schema.types) == left + right and "MARK" not in node.type.name
            after = node.post_join_filter
            turned = replace(
                node,
                left=node.right,
                right=node.left,
                type=_SWAPPED[node.type],
                expression=renumbered(node.expression, to),
                post_join_filter=renumbered(after, to) if after is not None and both else after,
            )
        changed.append(node)
        width = len(node.direct_schema.types)
        moves = to if width == left + right and "mark" not in _kind(node) else list(range(width))
        emit = node.common.emit if node.common.emit is not None else tuple(range(width))
        return replace(turned, common=replace(turned.common, emit=tuple(moves[place] for place in emit)))

    trees = mapped(*plan.trees, change=swapped)
    return rooted(*trees) if changed else None


def _kind(node: r.Join | r.Cross) -> str:
    return node.type.value if isinstance(node, r.Join) else "cross"


def _conditions(node: r.Join | r.Cross) -> tuple[Expression | None, ...]:
    return (node.expression, node.post_join_filter) if isinstance(node, r.Join) else ()


def renumbered(expression: Expression, to: list[int]) -> Expression:
    """Return an expression whose columns have other positions: that at ``n`` is at ``to[n]`` now."""
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=place), *rest)):
            return replace(expression, reference=(StructField(to[place]), *rest))
    return with_children(expression, lambda item: renumbered(item, to))


def lint_fixed(plan: Plan, seed: int) -> Plan | None:
    """Return the plan with the safe fixes of ``lint``; None where there is nothing to fix."""
    made, findings = fixed(plan)
    return made if len(findings) and isinstance(made, Plan) else None


LAWS: Final[Mapping[str, Callable[[Plan, int], Plan | None]]] = {
    "filter split": filter_split,
    "joins swapped": joins_swapped,
    "lint --fix": lint_fixed,
}
"""The laws by name; each gives None where it says nothing about a plan."""
