"""Set operations on distinct records by grouping, for engines that only have UNION ALL.

The inputs are put together, those of the first one with a 0 and the others with a 1. Equal records are one group, in
which null equals null, and the least and the greatest number in it say who has the record.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.engines.constructors import compared, equal, field
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    FailureBehavior,
    Function,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Filter,
    Grouping,
    Measure,
    Project,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.model.types import I32

__all__ = ["BY_GROUPING", "by_grouping"]

#: The operations that grouping can do.
BY_GROUPING: Final = frozenset(
    {SetOp.UNION_DISTINCT, SetOp.INTERSECTION_PRIMARY, SetOp.INTERSECTION_MULTISET, SetOp.MINUS_PRIMARY}
)


def by_grouping(node: Set) -> Relation:
    """Return a set operation of :data:`BY_GROUPING` as an aggregate over UNION ALL."""
    width = len(node.direct_schema.types)
    first, *others = node.members
    if node.op is SetOp.INTERSECTION_MULTISET and len(others) > 1:
        first, others = by_grouping(replace(node, common=RelCommon(), members=node.members[:-1])), others[-1:]
    members = [_numbered(member, number) for number, member in ((0, first), *((1, other) for other in others))]
    united = Set(members=tuple(members), op=SetOp.UNION_ALL)
    keys = tuple(field(united, position) for position in range(width))
    number = field(united, width)
    grouped = Aggregate(
        input=united,
        groupings=(Grouping(tuple(range(width))),),
        grouping_expressions=keys,
        measures=() if node.op is SetOp.UNION_DISTINCT else (_extreme("min", number), _extreme("max", number)),
    )
    found: Relation = grouped
    if grouped.measures:
        least, greatest = field(grouped, width), field(grouped, width + 1)
        in_both = compared("gt", greatest, least)
        in_first = equal(greatest, Literal(type=I32(), value=0))
        found = Filter(input=grouped, condition=in_first if node.op is SetOp.MINUS_PRIMARY else in_both)
    columns = [_typed(field(found, position), position, node) for position in range(width)]
    emit = range(width) if node.common.emit is None else node.common.emit
    made = Project.only(found, [columns[position] for position in emit])
    return replace(made, common=replace(made.common, rel_anchor=node.common.rel_anchor))


def _numbered(member: Relation, number: int) -> Relation:
    columns = [field(member, position) for position in range(len(member.schema.types))]
    return Project.only(member, [*columns, Literal(type=I32(), value=number)])


def _extreme(name: str, number: Expression) -> Measure:
    type = I32(nullable=True)
    function = Function("extension:io.substrait:functions_arithmetic", name, "i32")
    return Measure(
        measure=AggregateFunction(function=function, arguments=(number,), output_type=type, derived_type=type)
    )


def _typed(column: Expression, position: int, node: Set) -> Expression:
    type = node.direct_schema.types[position]
    if column.type == type:
        return column
    return Cast(type=type, input=column, failure_behavior=FailureBehavior.THROW_EXCEPTION)
