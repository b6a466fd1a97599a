"""Relations with another choice of columns, without renumbering the references above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.analysis.lint.rule import Context
from pyspark_substrait.model.relations import (
    BrokenRelation,
    Ddl,
    DetachedRel,
    Project,
    Reference,
    Relation,
    Update,
    Write,
)
from pyspark_substrait.model.types import OpenStruct

__all__ = ["emitting", "in_place_of", "keeps_emit"]


def keeps_emit(relation: Relation, context: Context) -> bool:
    """Whether a relation without its emit would be read as something else, as DuckDB's projections are."""
    return isinstance(relation, Project) and context.producer == "DuckDB"


def emitting(relation: Relation, columns: Sequence[int], context: Context) -> Relation | None:
    """Return a relation with only some columns of its output, by their positions; None where that isn't possible."""
    if isinstance(relation, Reference | DetachedRel | BrokenRelation | Write | Update | Ddl):
        return relation if list(columns) == list(range(len(relation.schema.types))) else None
    if isinstance(relation.direct_schema, OpenStruct):
        return None
    common = relation.common
    before = range(len(relation.direct_schema.types)) if common.emit is None else common.emit
    after: tuple[int, ...] | None = tuple(before[column] for column in columns)
    if after == tuple(range(len(relation.direct_schema.types))) and not keeps_emit(relation, context):
        after = None
    if after == common.emit:
        return relation
    hint = common.hint
    if hint is not None and hint.output_names and list(columns) != list(range(len(before))):
        hint = replace(hint, output_names=())
    return replace(relation, common=replace(common, emit=after, hint=hint))


def in_place_of(relation: Relation, other: Relation, context: Context) -> Relation | None:
    """Return ``other``, which puts out the direct columns of ``relation``, with its emit; None where it can't have it.

    This is how a relation is removed that does nothing but choose columns by its emit.
    """
    if not context.replaceable(relation):
        return None
    emit = relation.common.emit
    return other if emit is None else emitting(other, emit, context)
