"""Joins that carry the keys of an outer record: a side with the keys gives them to all records it is joined with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.relations import Filter, Join, JoinType, LateralJoin, Relation
from pyspark_substrait.sql.conjuncts import COMPARISON
from pyspark_substrait.sql.decorrelation import domain_pushdown
from pyspark_substrait.sql.decorrelation.constructors import (
    all_of,
    called,
    column,
    keys_not_distinct,
    with_columns,
)
from pyspark_substrait.sql.decorrelation.keys import Carried, Domain, inside, put_out, without_order
from pyspark_substrait.sql.decorrelation.outer import is_closed, redirected_relation

__all__ = ["LEFT_TYPES", "RIGHT_TYPES", "join", "lateral_join"]

#: these join types output every left record at most once for each match, and nothing of the right side alone
LEFT_TYPES = (
    JoinType.LEFT,
    JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI,
    JoinType.LEFT_SINGLE,
    JoinType.LEFT_MARK,
)
RIGHT_TYPES = (
    JoinType.RIGHT,
    JoinType.RIGHT_SEMI,
    JoinType.RIGHT_ANTI,
    JoinType.RIGHT_SINGLE,
    JoinType.RIGHT_MARK,
)


def join(node: Join, domain: Domain) -> Carried:
    """Join the sides; one that is carried alone gives its keys to all records that it is joined with."""
    left_free, right_free = not is_closed(node.left), not is_closed(node.right)
    match node.type:
        case JoinType.INNER:
            sides = (left_free or not right_free, right_free)
        case JoinType.OUTER:
            sides = (True, True)
        case _ if node.type in LEFT_TYPES:
            sides = (True, right_free)
        case _:
            sides = (left_free, True)
    left, right = (
        without_order(domain_pushdown.carry(input, domain, ordered=False)) if wanted else input
        for input, wanted in zip((node.left, node.right), sides, strict=True)
    )
    width, keys = len(node.left.schema.types), domain.width
    left_keys = width
    right_at = width + keys * sides[0]
    right_keys = right_at + len(node.right.schema.types)
    columns = (*range(width), *range(right_at, right_keys))
    keys_at = left_keys if sides[0] else right_keys
    conditions = [inside(node.expression, domain, keys_at, columns)]
    joined = Join(left=left, right=right, type=node.type, expression=conditions[0])
    if all(sides):
        conditions += keys_not_distinct(joined.input_schema, left_keys, right_keys, keys)
        joined = replace(joined, expression=all_of(conditions))
    whole: Relation = joined
    match node.type:
        case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI | JoinType.LEFT_MARK:
            columns, keys_at = (*range(width), *((width + keys,) if node.type is JoinType.LEFT_MARK else ())), width
        case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI | JoinType.RIGHT_MARK:
            width = len(node.right.schema.types)
            columns, keys_at = (*range(width), *((width + keys,) if node.type is JoinType.RIGHT_MARK else ())), width
        case JoinType.RIGHT | JoinType.RIGHT_SINGLE:
            keys_at = right_keys
        case JoinType.OUTER:
            keys_at = len(joined.schema.types)
            whole = with_columns(joined, _either(joined, left_keys, right_keys, keys))
        case _:
            pass
    return _joined(node, whole, columns, keys_at, domain)


def _either(joined: Join, left: int, right: int, keys: int) -> list[Expression]:
    """The keys of the side that isn't missing."""
    schema = joined.schema
    found: list[Expression] = []
    for number in range(keys):
        one, other = column(schema, left + number), column(schema, right + number)
        missing = called(COMPARISON, "is_null", "any", [one], False)
        found.append(IfThen(ifs=(IfClause(missing, other),), else_=one))
    return found


def _joined(node: Join | LateralJoin, whole: Relation, columns: Sequence[int], keys_at: int, domain: Domain) -> Carried:
    """Return a rewritten join with its filter on top."""
    if node.post_join_filter is not None:
        condition = inside(node.post_join_filter, domain, keys_at, columns)
        whole = Filter(input=whole, condition=condition)
    return put_out(node, whole, columns, range(keys_at, keys_at + domain.width))


def lateral_join(node: LateralJoin, domain: Domain) -> Carried:
    """Join the inputs: the left one carries the keys, and the right one refers to them there."""
    left = without_order(domain_pushdown.carry(node.left, domain, ordered=False))
    width, keys = len(node.left.schema.types), domain.width

    def target(level: int, field: int) -> tuple[int, int]:
        return 0, (field if level == 0 else width + domain.keys[field])

    right = redirected_relation(node.right, target, 1)
    columns: Sequence[int] = (*range(width), *range(width + keys, width + keys + len(right.schema.types)))
    condition = None if node.expression is None else inside(node.expression, domain, width, columns)
    whole = LateralJoin(left=left, right=right, type=node.type, expression=condition)
    if node.type in (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI):
        columns = range(width)
    elif node.type is JoinType.LEFT_MARK:
        columns = (*range(width), width + keys)
    return _joined(node, whole, columns, width, domain)
