"""Translate joins."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Join, JoinType, Relation
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import condition
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, column, field_of, references, scope_of
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["FORMS", "join_type", "joined"]

_TYPES: Final = {
    "Inner": JoinType.INNER,
    "Cross": JoinType.INNER,
    "FullOuter": JoinType.OUTER,
    "LeftOuter": JoinType.LEFT,
    "RightOuter": JoinType.RIGHT,
    "LeftSemi": JoinType.LEFT_SEMI,
    "LeftAnti": JoinType.LEFT_ANTI,
    "LeftSingle": JoinType.LEFT_SINGLE,
    "ExistenceJoin": JoinType.LEFT_MARK,
}
#: the first version in which IN (SELECT ...) in the condition of a join is a join of its own, wherever it stands
_FALSE_SINCE: Final = SparkVersion(4, 0)
_LEFT_ONLY: Final = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)


def join(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Join`` of every type, without join hints, which don't change the result."""
    left = relation(node.child("left"), production, outer)
    right = relation(node.child("right"), production, outer)
    found = joined(left, right, join_type(node), node.tree("condition"), production, outer)
    return _marked(node, left, found, production) if node.object_name("joinType") == "ExistenceJoin" else found


def join_type(node: Node) -> JoinType:
    """Return the type of a join.

    Raises:
        UnsupportedPlanError: Substrait has no such join.
    """
    type = _TYPES.get(node.object_name("joinType"))
    if type is None:
        raise UnsupportedPlanError(f"Spark's join {node.object_name('joinType')} has no Substrait form")
    return type


def joined(
    left: Output, right: Output, type: JoinType, on: Node | None, production: Production, outer: Scope | None
) -> Output:
    """Return a join; for an inner one without a condition, the cross product."""
    both = Output(Cross(left=left.relation, right=right.relation), left.columns + right.columns)
    if on is None and type is JoinType.INNER:
        return both
    matches = Literal(type=Boolean(), value=True) if on is None else _condition(on, both, production, outer)
    return Output(
        Join(left=left.relation, right=right.relation, type=type, expression=matches),
        left.columns if type in _LEFT_ONLY else both.columns,
    )


def _condition(on: Node, both: Output, production: Production, outer: Scope | None) -> Expression:
    """Translate the condition of a join.

    Raises:
        NewerSparkError: before Spark 4.0, IN (SELECT ...) may be null there or false, as Spark moves conditions; since
            then, false.
    """
    found = condition(on, scope_of(both, production, outer))
    if session_version(production.session) < _FALSE_SINCE:
        for node in on.walk():
            if node.name == "InSubquery" and node not in production.conditions:
                raise NewerSparkError(
                    f"whether `{written(node)}` is null or false in the condition of a join depends on where Spark "
                    "computes it",
                    feature="IN (SELECT ...) as a value in the condition of a join",
                    since=_FALSE_SINCE,
                    hint=f"Compute it as a column below the join; Spark {_FALSE_SINCE} and later have one meaning",
                )
    return found


def _marked(node: Node, left: Output, found: Output, production: Production) -> Output:
    """Return the left columns and the mark of an ``ExistenceJoin``, with null replaced by false, as in Spark."""
    relation: Relation = found.relation
    mark = field_of(relation.schema, len(left.columns))
    known = production.call("functions_comparison", "coalesce", (mark, Literal(type=Boolean(), value=False)))
    exists = column(_exists(node))
    return Output(projected(relation, (*references(relation)[:-1], known)), (*left.columns, exists))


def _exists(node: Node) -> Node:
    """The attribute that an ``ExistenceJoin`` adds."""
    fields = node.value("joinType")["exists"][0]
    return Node(name="AttributeReference", fields=fields, children=(), _java=lambda: node.java.joinType().exists())


FORMS: Final = {"Join": join}
