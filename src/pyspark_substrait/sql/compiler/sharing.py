"""Shared subtrees as WITH clauses that Spark computes once.

Spark inlines a WITH clause at each of its uses, unless it contains something nondeterministic: then Spark computes the
clause once, with the conditions and the columns that any use needs, and distributes the records by an exchange that all
uses read. So a subtree that is used more than once gets a column that numbers its records. Two kinds of subtrees don't,
because computing them again costs less than shuffling their records: a bare scan, which each use reads with its own
conditions, and an equi-join of tables that is used twice, where Spark's exchanges of the tables serve both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from pyspark_substrait.model.expressions import Expression, FieldReference, ScalarFunction
from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import Cross, DetachedRel, Filter, Join, Project, Read, Reference, Relation
from pyspark_substrait.model.walk import relation_subqueries, relations_within
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.query import Item, Query
from pyspark_substrait.sql.conjuncts import COMPARISON, conjuncts

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


def shared(node: Reference, query: Query, uses: int, names: NameSource) -> Shared:
    """The WITH clause of the subtree that a reference names.

    Args:
        node: the reference.
        query: the query of its subtree.
        uses: how many references name it.
        names: generates names.
    """
    name = names.fresh("r")
    # subtrees shared by rewriting (with ordinals below zero) have such a column where they need one
    subtree = node.subtree
    repeated = uses < 2 or _is_scan(subtree) or (uses == 2 and _is_equi_join(subtree))
    if repeated or node.subtree_ordinal < 0:
        return Shared(name, query.text(), query.columns)
    position = names.fresh("c")
    whole = query.nested()
    numbered = replace(whole, items=(*whole.items, Item("monotonically_increasing_id()", position)))
    return Shared(name, numbered.text(), query.columns, position if in_order(subtree) else "")


def _is_scan(node: Relation) -> bool:
    match node:
        case DetachedRel(relation=inner) | Reference(subtree=inner):
            return _is_scan(inner)
        case Read():
            return node.filter is None and node.best_effort_filter is None
        case _:
            return False


def _is_equi_join(node: Relation) -> bool:
    """Whether a relation joins scans, with at least one equality of columns for each join, and does nothing else."""
    joins = equalities = 0
    for relation in relations_within(node):
        match relation:
            case Filter(condition=condition) | Join(expression=condition):
                equalities += sum(map(_is_equality, conjuncts(condition)))
            case Project() | Cross() | Read() | DetachedRel():
                pass
            case _:
                return False
        joins += isinstance(relation, Join | Cross)
        if any(relation_subqueries(relation)):
            return False
    return 0 < joins <= equalities


def _is_equality(condition: Expression) -> bool:
    match condition:
        case ScalarFunction(function=function, arguments=(FieldReference(), FieldReference())):
            return function.urn == COMPARISON and function.name == "equal"
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
