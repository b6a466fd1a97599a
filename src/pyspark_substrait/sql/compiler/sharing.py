"""Shared subtrees as WITH clauses that Spark computes once.

Spark inlines a WITH clause at each of its uses, unless it contains something nondeterministic: then Spark computes the
clause once, with the conditions and the columns that any use needs, and distributes the records by an exchange that all
uses read. So a subtree that is used more than once gets a column that numbers its records. A bare scan doesn't: reading
it twice, each time with its own conditions, costs less than shuffling it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import DetachedRel, Read, Reference, Relation
from pyspark_substrait.model.walk import relation_subqueries
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.query import Item, Query

__all__ = ["Shared", "shared", "times_used"]


@dataclass(frozen=True, slots=True)
class Shared:
    """A WITH clause.

    Args:
        name: its name.
        text: its SELECT.
        columns: the names of its columns.
        order: the column with the order of its records, empty if they have none or keep it by themselves.
    """

    name: str
    text: str
    columns: tuple[str, ...]
    order: str = ""

    def used(self, names: NameSource) -> Query:
        """Return the records for one of the uses, which has its own column names."""
        items = tuple(Item(column, names.fresh("c")) for column in self.columns)
        query = Query(source=self.name, items=items, order=self.order)
        return query if self.order else query.nested()


def shared(node: Reference, query: Query, often: bool, names: NameSource) -> Shared:
    """The WITH clause of the subtree that a reference names.

    Args:
        node: the reference.
        query: the query of its subtree.
        often: whether it is used more than once.
        names: generates names.
    """
    name = names.fresh("r")
    # subtrees shared by rewriting (with ordinals below zero) have such a column where they need one
    if not often or node.subtree_ordinal < 0 or _is_scan(node.subtree):
        return Shared(name, query.text(), query.columns)
    position = names.fresh("c")
    whole = query.nested()
    numbered = replace(whole, items=(*whole.items, Item("monotonically_increasing_id()", position)))
    return Shared(name, numbered.text(), query.columns, position if in_order(node.subtree) else "")


def _is_scan(node: Relation) -> bool:
    match node:
        case DetachedRel(relation=inner) | Reference(subtree=inner):
            return _is_scan(inner)
        case Read():
            return node.filter is None and node.best_effort_filter is None
        case _:
            return False


def times_used(node: Relation) -> Counter[int]:
    """Count the references to each shared subtree, by ordinal. References inside a shared subtree count once."""
    found: Counter[int] = Counter()
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Reference):
            found[current.subtree_ordinal] += 1
            if found[current.subtree_ordinal] == 1:
                pending.append(current.subtree)
        pending += current.inputs
        pending += relation_subqueries(current)
    return found
