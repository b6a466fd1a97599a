"""Aggregates of all records, for an engine that tests conditions without columns before it aggregates.

Such a condition may be one of a projected constant, as in ``SELECT * FROM (SELECT 5 AS x, sum(y) FROM t) WHERE x = 3``,
of a subquery, of a join around that has no columns in its condition, or of a column that an outer join fills with
nulls, because its other input is known to have no records. Tested below the aggregate, it leaves it no records, and the
one record of its result is still there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Fetch,
    Filter,
    JoinBase,
    JoinType,
    Project,
    Reference,
    Relation,
    Set,
)
from pyspark_substrait.model.types import I64
from pyspark_substrait.model.walk import (
    expression_children,
    relation_expressions,
    with_expressions,
    with_inputs,
    with_queries,
)
from pyspark_substrait.sql.conjuncts import conjuncts

__all__ = ["with_kept_totals"]

#: joins that put a constant beside a record for which there is no other
_FILLED: Final = frozenset(
    {JoinType.LEFT, JoinType.LEFT_SINGLE, JoinType.LEFT_MARK, JoinType.RIGHT, JoinType.RIGHT_SINGLE}
    | {JoinType.RIGHT_MARK, JoinType.OUTER}
)
_ONE: Final = Literal(type=I64(), value=1)


def with_kept_totals(node: Relation, *, filtered: bool = False, constant: bool = False) -> Relation:
    """Return a tree in which a limit of one record stands above each aggregate that conditions could go below.

    Args:
        node: the tree.
        filtered: whether there is a condition above it.
        constant: whether this may become one without columns on its way to the node.
    """
    match node:
        case Reference():
            return replace(node, subtree=with_kept_totals(node.subtree, filtered=True, constant=True))
        case Filter(condition=condition):
            filtered = True
            constant = constant or any(map(_is_constant, conjuncts(condition)))
        case Project(expressions=expressions):
            constant = constant or any(map(_is_constant, expressions))
        case Fetch():
            filtered = constant = False
        case Set():
            pass
        case _ if len(node.inputs) > 1:
            filtered = True
            conditions = (one for condition in relation_expressions(node) for one in conjuncts(condition))
            constant = (
                constant or (isinstance(node, JoinBase) and node.type in _FILLED) or any(map(_is_constant, conditions))
            )
    is_total = isinstance(node, Aggregate) and not node.grouping_expressions
    of_inputs = (False, False) if is_total else (filtered, constant and filtered)

    def input(one: Relation) -> Relation:
        return with_kept_totals(one, filtered=of_inputs[0], constant=of_inputs[1])

    made = with_expressions(with_inputs(node, input), lambda one: with_queries(one, with_kept_totals))
    return Fetch(input=made, count_expr=_ONE) if is_total and filtered and constant else made


def _is_constant(node: Expression) -> bool:
    """Whether an expression refers to no column of its record, or only inside of a query."""
    if isinstance(node, FieldReference) and isinstance(node.root, RootReference):
        return False
    return all(map(_is_constant, expression_children(node)))
