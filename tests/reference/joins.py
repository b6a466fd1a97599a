"""Joins. Spec: relations/logical_relations, "Join Types" and "Lateral Join Operation"; relations/physical_relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.relations import (
    ComparisonJoinKey,
    Join,
    JoinBase,
    JoinType,
    KeyedJoin,
    LateralJoin,
    NestedLoopJoin,
    Relation,
    SimpleComparisonType,
)
from pyspark_substrait.model.types import Boolean
from tests.reference.casts import cast
from tests.reference.errors import Failure, NotCovered
from tests.reference.expressions import all_of, any_of, evaluate, is_true
from tests.reference.functions import Call, scalar_function
from tests.reference.scope import Scope
from tests.reference.values import Row, equal

__all__ = ["joined"]

Query = Callable[[Relation, Scope | None], list[Row]]
Truth = bool | None


def joined(join: JoinBase, scope: Callable[[Row], Scope], query: Query) -> list[Row]:
    """The records of a join before emit.

    Args:
        join: the join.
        scope: makes the scope of its expressions for a record.
        query: gives the records of an input, inside the scope of the query around.
    """
    outer = scope(()).outer
    if isinstance(join, LateralJoin):
        rows = _lateral(join, scope, query)
    else:
        left, right = query(join.left, outer), query(join.right, outer)
        rows = _pairs(join, left, right, [[_match(join, one, other, scope) for other in right] for one in left])
    post = getattr(join, "post_join_filter", None)
    return [row for row in rows if is_true(post, scope(row))]


def _lateral(join: LateralJoin, scope: Callable[[Row], Scope], query: Query) -> list[Row]:
    """The right input is evaluated once for each left record, which it sees by the relation's anchor."""
    if join.type not in _LATERAL:
        raise Failure(f"a lateral join of type {join.type.value}")
    rows: list[Row] = []
    for one in query(join.left, scope(()).outer):
        right = query(join.right, replace(scope(one), lateral=True))
        rows += _pairs(join, [one], right, [[_match(join, one, other, scope) for other in right]])
    return rows


_LATERAL = (
    JoinType.INNER,
    JoinType.LEFT,
    JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI,
    JoinType.LEFT_SINGLE,
    JoinType.LEFT_MARK,
)


def _pairs(join: JoinBase, left: list[Row], right: list[Row], matches: list[list[Truth]]) -> list[Row]:
    """The output for some left and right records; ``matches`` has a row for each left record."""
    no_left, no_right = ((None,) * len(side.schema.types) for side in (join.left, join.right))
    inner = [
        one + other
        for one, truths in zip(left, matches, strict=True)
        for other, truth in zip(right, truths, strict=True)
        if truth is True
    ]
    #: of each right record, whether it matches each left one
    turned = [[truths[at] for truths in matches] for at in range(len(right))]
    alone = [one + no_right for one, truths in zip(left, matches, strict=True) if True not in truths]
    alone_right = [no_left + other for other, truths in zip(right, turned, strict=True) if True not in truths]
    match join.type:
        case JoinType.INNER:
            return inner
        case JoinType.OUTER:
            return inner + alone + alone_right
        case JoinType.LEFT:
            return inner + alone
        case JoinType.RIGHT:
            return inner + alone_right
        case JoinType.LEFT_SEMI:
            return [one for one, truths in zip(left, matches, strict=True) if True in truths]
        case JoinType.RIGHT_SEMI:
            return [other for other, truths in zip(right, turned, strict=True) if True in truths]
        case JoinType.LEFT_ANTI:
            return [one for one, truths in zip(left, matches, strict=True) if True not in truths]
        case JoinType.RIGHT_ANTI:
            return [other for other, truths in zip(right, turned, strict=True) if True not in truths]
        case JoinType.LEFT_SINGLE:
            _at_most_one(matches)
            return inner + alone
        case JoinType.RIGHT_SINGLE:
            _at_most_one(turned)
            return inner + alone_right
        case JoinType.LEFT_MARK:
            return [(*one, any_of(truths)) for one, truths in zip(left, matches, strict=True)]
        case JoinType.RIGHT_MARK:
            return [(*other, any_of(truths)) for other, truths in zip(right, turned, strict=True)]


def _at_most_one(matches: list[list[Truth]]) -> None:
    if any(truths.count(True) > 1 for truths in matches):
        raise Failure("a single join with several matches of a record")


def _match(join: JoinBase, left: Row, right: Row, scope: Callable[[Row], Scope]) -> Truth:
    """Whether two records match; null counts as no match, but for a mark."""
    both = scope(left + right)
    match join:
        case Join() | LateralJoin() | NestedLoopJoin():
            return True if join.expression is None else evaluate(join.expression, both)
        case KeyedJoin():
            truths = [_key(key, scope(left), scope(right)) for key in join.keys]
            if join.residual_expression is not None and all(truth is not False for truth in truths):
                truths.append(evaluate(join.residual_expression, both))
            return all_of(truths)
        case _:
            raise NotCovered(f"relation {join.__class__.__name__}")


def _key(key: ComparisonJoinKey, left: Scope, right: Scope) -> Truth:
    one, other = evaluate(key.left, left), evaluate(key.right, right)
    types = (key.left.type, key.right.type) if key.taken is None else key.taken
    if key.taken is not None:
        one, other = (
            cast(value, side.type, type, FailureBehavior.THROW_EXCEPTION, left.choices)
            for value, side, type in zip((one, other), (key.left, key.right), types, strict=True)
        )
    if not isinstance(key.comparison, SimpleComparisonType):
        call = Call.of(key.comparison, types, (), Boolean(nullable=True), left.choices)
        truth: Truth = scalar_function(key.comparison)(call, [lambda: one, lambda: other])
        return truth
    empty = one is None, other is None
    same = None if any(empty) else equal(one, other, left.choices)
    match key.comparison:
        case SimpleComparisonType.EQ:
            return same
        case SimpleComparisonType.IS_NOT_DISTINCT_FROM:
            return all(empty) if same is None else same
        case SimpleComparisonType.MIGHT_EQUAL:
            return True if same is None else same
