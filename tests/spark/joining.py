"""What the specification says of joins, word for word, over all pairs of records; and the tables that are joined."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import JoinType, Relation
from tests.spark.plans import call, col, number

Row = tuple[Any, ...]
#: Whether two records match: true, false or null.
Match = Callable[[Row, Row], "bool | None"]

#: keys with and without partner, duplicates and nulls on both sides
LEFT = [(1, "a"), (1, "b"), (2, "c"), (None, "d"), (4, "e"), (2, "c")]
RIGHT = [(1, "x"), (1, "y"), (None, "z"), (2, "c"), (5, "v"), (5, "v")]
#: the same without more than one match of an equal key
LEFT_UNIQUE = [(1, "a"), (2, "c"), (None, "d"), (4, "e")]
RIGHT_UNIQUE = [(1, "x"), (None, "z"), (2, "w"), (5, "v")]

SINGLE = (JoinType.LEFT_SINGLE, JoinType.RIGHT_SINGLE)
LATERAL = (
    JoinType.INNER,
    JoinType.LEFT,
    JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI,
    JoinType.LEFT_SINGLE,
    JoinType.LEFT_MARK,
)


def null_and(*parts: bool | None) -> bool | None:
    return False if False in parts else None if None in parts else True


def compared(function: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else function(left, right)


def expected(type: JoinType, left: Sequence[Row], right: Sequence[Row], match: Match) -> list[Row]:
    """The records of a join whose sides have two columns."""
    nothing = (None, None)
    pairs = [(one, other) for one, other in itertools.product(left, right) if match(one, other) is True]
    left_alone = [one for one in left if not any(match(one, other) is True for other in right)]
    right_alone = [other for other in right if not any(match(one, other) is True for one in left)]
    match type:
        case JoinType.INNER:
            return [one + other for one, other in pairs]
        case JoinType.OUTER:
            alone = [one + nothing for one in left_alone] + [nothing + other for other in right_alone]
            return [one + other for one, other in pairs] + alone
        case JoinType.LEFT | JoinType.LEFT_SINGLE:
            return [one + other for one, other in pairs] + [one + nothing for one in left_alone]
        case JoinType.RIGHT | JoinType.RIGHT_SINGLE:
            return [one + other for one, other in pairs] + [nothing + other for other in right_alone]
        case JoinType.LEFT_SEMI:
            return [one for one in left if any(match(one, other) is True for other in right)]
        case JoinType.RIGHT_SEMI:
            return [other for other in right if any(match(one, other) is True for one in left)]
        case JoinType.LEFT_ANTI:
            return left_alone
        case JoinType.RIGHT_ANTI:
            return right_alone
        case JoinType.LEFT_MARK:
            return [(*one, mark([match(one, other) for other in right])) for one in left]
        case JoinType.RIGHT_MARK:
            return [(*other, mark([match(one, other) for one in left])) for other in right]


def mark(outcomes: Sequence[bool | None]) -> bool | None:
    return True if True in outcomes else None if None in outcomes else False


def is_refused(type: JoinType, left: Sequence[Row], right: Sequence[Row], match: Match) -> bool:
    """Whether it is a single join in which a record has more than one match."""
    if type is JoinType.LEFT_SINGLE:
        return any(sum(match(one, other) is True for other in right) > 1 for one in left)
    return type is JoinType.RIGHT_SINGLE and any(sum(match(one, other) is True for one in left) > 1 for other in right)


def post_filter(node: Relation) -> Expression:
    """A filter over the direct output that tells a filter above the join from a part of its condition."""
    width = len(node.direct_schema.types)
    if width == 4:
        return call("is_null", col(node.direct_schema, 2))
    if width == 3:
        return call("not", col(node.direct_schema, 2))
    return call("gt", col(node.direct_schema, 0), number(1))


def kept_by_post_filter(row: Row) -> bool:
    if len(row) == 4:
        return row[2] is None
    return row[2] is False if len(row) == 3 else row[0] is not None and row[0] > 1
