"""Joins."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Join, JoinType
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, scope_of

__all__ = ["FORMS"]

_TYPES: Final = {
    "Inner": JoinType.INNER,
    "Cross": JoinType.INNER,
    "FullOuter": JoinType.OUTER,
    "LeftOuter": JoinType.LEFT,
    "RightOuter": JoinType.RIGHT,
    "LeftSemi": JoinType.LEFT_SEMI,
    "LeftAnti": JoinType.LEFT_ANTI,
    "LeftSingle": JoinType.LEFT_SINGLE,
}
_LEFT_ONLY: Final = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)


def join(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Join`` of every type; without a condition, the cross product where it is an inner one."""
    left = relation(node.children[0], production, outer)
    right = relation(node.children[1], production, outer)
    type = _TYPES.get(node.object_name("joinType"))
    if type is None:
        raise UnsupportedPlanError(f"Spark's join {node.value('joinType')} has no Substrait form")
    condition = node.tree("condition")
    columns = left.columns if type in _LEFT_ONLY else left.columns + right.columns
    if condition is None and type is JoinType.INNER:
        return Output(Cross(left=left.relation, right=right.relation), columns)
    both = Output(Cross(left=left.relation, right=right.relation), left.columns + right.columns)
    on = (
        Literal(type=Boolean(), value=True)
        if condition is None
        else expression(condition, scope_of(both, production, outer))
    )
    return Output(Join(left=left.relation, right=right.relation, type=type, expression=on), columns)


FORMS: Final = {"Join": join}
