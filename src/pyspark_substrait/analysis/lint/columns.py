"""Relations with their columns chosen anew, without renumbering what is above them."""

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
    """Whether leaving out the emit of a relation would be read as something else: DuckDB's projections."""
    return isinstance(relation, Project) and context.producer == "DuckDB"


def emitting(relation: Relation, columns: Sequence[int], context: Context) -> Relation | None:
    """A relation that puts out some of its columns, by their positions in its output; None where that can't be."""
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
    """``other``, which puts out the direct columns of ``relation``, with the emit of that; None where it can't be.

    That is, ``relation`` may go because it does nothing but what its emit says.
    """
    if not context.replaceable(relation):
        return None
    emit = relation.common.emit
    return other if emit is None else emitting(other, emit, context)
