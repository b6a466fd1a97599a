"""Expand by a cross product with the numbers of the duplicates, for engines that lack it."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.constructors import equal, field, number_table
from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Expand, Project, Relation, RelCommon, SwitchingField
from pyspark_substrait.model.types import I32

__all__ = ["without_expand"]


def without_expand(node: Expand) -> Relation:
    """Return a relation with the same records."""
    width = len(node.input.schema.types)
    copies = max((len(item.duplicates) for item in node.fields if isinstance(item, SwitchingField)), default=1)
    crossed = Cross(left=node.input, right=number_table(range(copies)))
    number = field(crossed, width)
    columns = [_chosen(item, number) if isinstance(item, SwitchingField) else item for item in node.all_fields]
    made = Project.only(crossed, [*columns, number])
    if node.common.emit is None:
        return replace(made, common=replace(made.common, rel_anchor=node.common.rel_anchor))
    emit = tuple(width + 1 + position for position in node.common.emit)
    return replace(made, common=RelCommon(emit=emit, rel_anchor=node.common.rel_anchor))


def _chosen(item: SwitchingField, number: Expression) -> Expression:
    """Return the value of a column in the duplicate of a number."""
    *others, last = item.duplicates
    arms = [IfClause(equal(number, Literal(type=I32(), value=place)), value) for place, value in enumerate(others)]
    return IfThen(ifs=tuple(arms), else_=last) if arms else last
