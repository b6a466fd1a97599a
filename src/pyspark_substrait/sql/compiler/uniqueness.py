"""The columns of a relation that are unique together, where that is easy to see."""

from __future__ import annotations

from pyspark_substrait.model.expressions import FieldReference, RootReference, StructField
from pyspark_substrait.model.relations import Aggregate, DetachedRel, Filter, Project, Relation, Sort
from pyspark_substrait.model.types import I8, I16, I32, I64, Boolean, Date, Decimal, String, concrete

__all__ = ["unique_columns"]

#: types whose values are equal in Spark exactly if they are in the same group
_PLAIN = (Boolean, I8, I16, I32, I64, Decimal, String, Date)


def unique_columns(node: Relation) -> frozenset[int] | None:
    """Return the columns whose combination is different in all records: those that an aggregate groups by; else None.

    For a relation with at most one record, these are the empty set.
    """
    match node:
        case DetachedRel(relation=inner):
            return unique_columns(inner)
        case Aggregate() if len(node.groupings) <= 1:
            if not all(isinstance(concrete(key.type), _PLAIN) for key in node.grouping_expressions):
                return None
            columns: frozenset[int] | None = frozenset(range(len(node.grouping_expressions)))
        case Filter(input=input) | Sort(input=input) | Project(input=input):
            columns = unique_columns(input)
        case _:
            return None
    emit = node.common.emit
    if columns is None or emit is None:
        return columns
    places: dict[int, int] = {}
    for place, position in enumerate(emit):
        places.setdefault(_passed_on(node, position), place)
    return frozenset(places[column] for column in columns) if columns <= places.keys() else None


def _passed_on(node: Relation, position: int) -> int:
    """Return the position of the input column that a column passes on; its own position if there is none."""
    if isinstance(node, Project):
        start = len(node.input.schema.types)
        match node.expressions[position - start] if start <= position < start + len(node.expressions) else None:
            case FieldReference(root=RootReference(), reference=(StructField(field=field),)):
                return field
    return position
