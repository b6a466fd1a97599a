"""The smallest part of a plan on which two engines differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark_substrait.analysis.comparison.rows import RowDifference
from pyspark_substrait.model.relations import Reference, Relation
from pyspark_substrait.model.walk import refers_out, relation_subqueries

__all__ = ["Bisection", "smallest_part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """A relation whose rows differ, though those of its inputs and subqueries agree.

    Args:
        relation: the relation.
        difference: its rows that differ.
        unknown: whether one of its inputs or subqueries couldn't be compared, so that the difference may be in there.
    """

    relation: Relation
    difference: RowDifference
    unknown: bool = False


def smallest_part(
    relation: Relation, difference: RowDifference, compared: Callable[[Relation], RowDifference | bool]
) -> Bisection:
    """Return the smallest part of a relation, itself included, whose rows differ.

    Args:
        relation: a relation whose rows differ.
        difference: its rows that differ.
        compared: returns the rows of another relation that differ, or else whether it ran on both engines.
    """
    unknown = False
    for part in _parts(relation):
        found = False if refers_out(part) else compared(part)
        if isinstance(found, RowDifference):
            return smallest_part(part, found, compared)
        unknown |= not found
    return Bisection(relation=relation, difference=difference, unknown=unknown)


def _parts(relation: Relation) -> Iterator[Relation]:
    """Yield the inputs of a relation and the queries in it."""
    if isinstance(relation, Reference):
        yield relation.subtree
    yield from relation.inputs
    yield from relation_subqueries(relation)
