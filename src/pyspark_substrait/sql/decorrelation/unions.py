"""Columns that Spark can't compute over a UNION ALL: correlated subqueries.

Spark pushes a projection into the members of the union below it, and fails if it has such a subquery: it mistakes all
columns in the subquery's condition for the union's own. Tested with Spark 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark_substrait.model.expressions import (
    Expression,
    InPredicate,
    SetComparison,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    DetachedRel,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinType,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    SetOp,
    VirtualTable,
)
from pyspark_substrait.model.walk import expressions_within, holds_query, refers_out, subquery_relation

__all__ = ["exposes_union", "fails_over"]

_LEFT = (JoinType.LEFT, JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK, JoinType.OUTER)
_RIGHT = (JoinType.RIGHT, JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK, JoinType.OUTER)


def fails_over(input: Relation, expressions: Iterable[Expression]) -> bool:
    """Whether Spark can't compute the expressions as columns over a relation."""
    return any(holds_query(item) and _correlated(item) for item in expressions) and exposes_union(input)


def exposes_union(node: Relation) -> bool:
    """Whether Spark may push a projection over a relation down to a UNION ALL, through the relations between."""
    match node:
        case Read(read_type=VirtualTable() as table):
            if table.columns is not None:
                return False
            # cells that aren't constants are in a separate SELECT
            plain = all(isinstance(cell, Literal) for record in table.expressions for cell in record.fields)
            return len(table.expressions) > 1 and not plain
        case Filter(input=input) | Project(input=input) | DetachedRel(relation=input) | Reference(subtree=input):
            return exposes_union(input)
        case FetchBase(limits=limits):
            computed = not all(limit is None or isinstance(limit, Literal) for limit in limits)
            return exposes_union(node.input) or computed
        case Aggregate():
            return len(node.groupings) > 1
        case Set(op=op, members=members):
            if op is SetOp.UNION_ALL and len(members) > 1:
                return True
            # the members of the others are below an aggregate
            return (len(members) == 1 or op is SetOp.MINUS_MULTISET) and exposes_union(members[0])
        case Join(type=type) | HashJoin(type=type) | MergeJoin(type=type) | NestedLoopJoin(type=type):
            left = type in _LEFT and exposes_union(node.left)
            return left or (type in _RIGHT and exposes_union(node.right))
        case _:
            return False


def _correlated(node: Expression) -> bool:
    """Whether an expression has a subquery that refers to its record; a comparison with a query's records is one."""
    for item in expressions_within((node,)):
        query = subquery_relation(item)
        if query is not None and (isinstance(item, InPredicate | SetComparison) or refers_out(query)):
            return True
    return False
