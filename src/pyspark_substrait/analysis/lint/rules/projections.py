"""Rules about projections and emits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from pyspark_substrait.analysis.lint.columns import emitting, keeps_emit
from pyspark_substrait.analysis.lint.expression_match import deterministic, harmless, position, worded
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import FieldReference
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Project,
    Relation,
)
from pyspark_substrait.model.repeats import repeats
from pyspark_substrait.model.types import OpenStruct
from pyspark_substrait.model.walk import holds_query, holds_window

__all__: list[str] = []


@rule(
    Code.LINT_EMIT_OF_EVERYTHING,
    *get_args(Relation),
    fixes=True,
)
def emit_of_everything(node: Relation, context: Context) -> Iterator[Remark]:
    """An emit that lists all columns in their order is the default."""
    emit = node.common.emit
    if emit is None or isinstance(node.direct_schema, OpenStruct) or keeps_emit(node, context):
        return
    if emit == tuple(range(len(node.direct_schema.types))):
        common = replace(node.common, emit=None)
        yield Remark(what="emit lists all columns in their order", instead=replace(node, common=common))


@rule(Code.LINT_PROJECTION_OF_NOTHING, Project, fixes=True)
def projection_of_nothing(node: Project, context: Context) -> Iterator[Remark]:
    """A projection without expressions outputs the columns of its input; the emit of the input can do the same."""
    if node.expressions:
        return
    emit = node.common.emit
    direct = emit if emit is not None else tuple(range(len(node.schema.types)))
    instead = emitting(node.input, direct, context) if context.replaceable(node) else None
    yield Remark(what="the projection computes nothing", fix="Leave it out", instead=instead)


@rule(Code.LINT_PROJECTION_OF_COLUMNS, Project, fixes=True)
def projection_of_columns(node: Project, context: Context) -> Iterator[Remark]:
    """A projection that only passes on columns of its input or of another projection can be replaced by an emit of its
    input."""
    if not node.expressions or isinstance(node.input.schema, OpenStruct):
        return
    width = len(node.input.schema.types)
    direct = [*range(width), *(position(item) for item in node.expressions)]
    emit = node.common.emit if node.common.emit is not None else range(len(direct))
    columns = [direct[number] for number in emit]
    known = [number for number in columns if number is not None]
    if len(known) < len(columns):
        return
    everything = known == list(range(width))
    if not everything and not isinstance(node.input, Project):
        return
    instead = emitting(node.input, known, context) if context.replaceable(node) else None
    what = "all columns" if everything else "columns of a projection"
    yield Remark(what=f"the projection only passes on {what}", fix="Leave it out", instead=instead)


@rule(Code.LINT_UNUSED_EXPRESSION, Project, fixes=True)
def unused_expression(node: Project, context: Context) -> Iterator[Remark]:
    """A projection computes an expression, and its emit leaves the column out. If the expression may fail, it is not
    removed automatically."""
    emit = node.common.emit
    if emit is None or not node.expressions or isinstance(node.input.schema, OpenStruct):
        return
    width = len(node.input.schema.types)
    emitted = frozenset(emit)
    unused = [number for number in range(len(node.expressions)) if width + number not in emitted]
    for number in unused:
        item = node.expressions[number]
        what = f"{worded(item, context.names)} is computed, and emit leaves it out"
        instead = None
        if harmless(item):
            gone = width + number
            common = replace(node.common, emit=tuple(column - (column > gone) for column in emit))
            kept = (*node.expressions[:number], *node.expressions[number + 1 :])
            instead = replace(node, expressions=kept, common=common)
        yield Remark(what=what, fix="Leave it out", at=item, instead=instead)


@rule(Code.LINT_REPEATED_EXPRESSION, Project)
def repeated_expression(node: Project, context: Context) -> Iterator[Remark]:
    """The same expression twice in one relation is computed twice by engines that do not notice; emit can output its
    column twice."""
    for number, _ in repeats(node.expressions):
        item = node.expressions[number]
        if isinstance(item, FieldReference | Literal):
            continue
        if not holds_window(item) and not holds_query(item) and deterministic(item, context):
            yield Remark(what=f"{worded(item, context.names)} is computed twice", fix="Emit its column twice", at=item)
