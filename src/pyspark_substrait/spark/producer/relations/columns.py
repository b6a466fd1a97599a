"""Select and compute columns of a relation, by emit or a projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.relations import Project, Reference, Relation, RelCommon
from pyspark_substrait.spark.producer.scope import field_of

__all__ = ["plain_position", "projected", "selected"]


def selected(relation: Relation, positions: Sequence[int]) -> Relation:
    """Return a relation whose output is some of its columns, perhaps reordered or repeated."""
    if list(positions) == list(range(len(relation.schema.types))):
        return relation
    if isinstance(relation, Reference):  # it has no emit
        expressions = tuple(field_of(relation.schema, position) for position in positions)
        return _over(
            relation, expressions, range(len(relation.schema.types), len(relation.schema.types) + len(positions))
        )
    before = relation.common.emit
    emit = tuple(positions if before is None else [before[position] for position in positions])
    return replace(relation, common=replace(relation.common, emit=emit))


def projected(relation: Relation, expressions: Sequence[Expression]) -> Relation:
    """Return a relation with one column for each expression; unchanged columns aren't computed again."""
    plain = [plain_position(expression) for expression in expressions]
    if all(position is not None for position in plain):
        return selected(relation, [position for position in plain if position is not None])
    width = len(relation.schema.types)
    computed: list[Expression] = []
    emit: list[int] = []
    for expression, position in zip(expressions, plain, strict=True):
        if position is None:
            position = width + len(computed)
            computed.append(expression)
        emit.append(position)
    return _over(relation, computed, emit)


def plain_position(expression: Expression) -> int | None:
    """Return the position of the column that an expression refers to; None for any other expression."""
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=position),)):
            return position
        case _:
            return None


def _over(relation: Relation, expressions: Sequence[Expression], emit: Sequence[int]) -> Relation:
    return Project(common=RelCommon(emit=tuple(emit)), input=relation, expressions=tuple(expressions))
