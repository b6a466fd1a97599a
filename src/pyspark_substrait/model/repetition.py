"""The growth of plans in forms that have the inputs of some relations several times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Reference, Relation
from pyspark_substrait.model.walk import (
    computed_expressions,
    expression_children,
    relation_subqueries,
    subquery_relation,
)

__all__ = ["refuse_repetition"]

#: the most relations that a form may have more than the plan
_MOST: Final = 2_000

#: Returns how often a form has the inputs of a relation.
Copies: TypeAlias = Callable[[Relation], int]
#: Returns how often a form has the subquery of an expression, and the subqueries in its operands.
QueryCopies: TypeAlias = Callable[[Expression], int]


def refuse_repetition(tree: Relation, engine: str, copies: Copies, *, query_copies: QueryCopies = lambda _: 1) -> None:
    """Refuse a tree whose form in an engine has far more relations than it: copies in copies grow by a power.

    Args:
        tree: the tree.
        engine: the engine, for the message.
        copies: returns how often the form has the inputs of a relation.
        query_copies: returns how often it has the subquery of an expression, and the subqueries in its operands.

    Raises:
        UnsupportedPlanError: the form has over 2,000 relations more.
    """
    then = _size(tree, copies, query_copies)
    now = then if then <= _MOST else _size(tree, lambda _: 1, lambda _: 1)
    if then - now > _MOST:
        raise UnsupportedPlanError(
            f"the form of this plan in {engine} would have {then:,} relations in place of {now:,}: it repeats inputs, "
            "and inputs of these",
            hint="Store the result of an inner query in a table, and read that",
            code=Code.TARGET_FEATURE,
        )


def _size(tree: Relation, copies: Copies, query_copies: QueryCopies) -> int:
    """Return the number of relations of a form, in which a shared part counts at each reference."""
    sizes: dict[int, int] = {}
    pending = [tree]
    while pending:
        node = pending[-1]
        queries = relation_subqueries(node)
        shared = (node.subtree,) if isinstance(node, Reference) else ()
        missing = [one for one in (*node.inputs, *queries, *shared) if id(one) not in sizes]
        if missing:
            pending += missing
            continue
        pending.pop()
        size = 1 + sum(sizes[id(one)] for one in shared) + copies(node) * sum(sizes[id(one)] for one in node.inputs)
        if queries:
            once = sum(sizes[id(one)] for one in queries)
            size += max(once, _of_queries(node, sizes, query_copies))
        sizes[id(node)] = size
    return sizes[id(tree)]


def _of_queries(node: Relation, sizes: dict[int, int], copies: QueryCopies) -> int:
    """Return the number of relations in the subqueries of a relation's expressions, with their copies."""
    found = 0
    pending = [(expression, 1) for expression in computed_expressions(node)]
    while pending:
        expression, times = pending.pop()
        query = subquery_relation(expression)
        if query is not None:
            times *= copies(expression)
            found += times * sizes[id(query)]
        pending += [(child, times) for child in expression_children(expression)]
    return found
