"""Set operations on distinct records by grouping, for engines that only have UNION ALL.

The inputs are put together, those of the first one with a 0 and the others with a 1. Equal records are one group, in
which null equals null, and the least and the greatest number in it say who has the record; for those that more than two
inputs have, each input comes without duplicates, and they are counted.
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
    Set,
    SetOp,
)
from pyspark_substrait.model.types import I32, I64

__all__ = ["BY_GROUPING", "by_grouping"]

#: The operations that grouping can do.
BY_GROUPING: Final = frozenset(
    {SetOp.UNION_DISTINCT, SetOp.INTERSECTION_PRIMARY, SetOp.INTERSECTION_MULTISET, SetOp.MINUS_PRIMARY}
)


def by_grouping(node: Set) -> Relation:
    """Return a set operation of :data:`BY_GROUPING` as an aggregate over UNION ALL."""
    width = len(node.direct_schema.types)
    in_all = node.op is SetOp.INTERSECTION_MULTISET and len(node.members) > 2
    inputs = [_distinct(member) if in_all else member for member in node.members]
    united = Set(members=tuple(_numbered(input, min(n, 1)) for n, input in enumerate(inputs)), op=SetOp.UNION_ALL)
    keys = tuple(field(united, position) for position in range(width))
    number = field(united, width)
    measures = _count(number) if in_all else (_extreme("min", number), _extreme("max", number))
    grouped = Aggregate(
        input=united,
        groupings=(Grouping(tuple(range(width))),),
        grouping_expressions=keys,
        measures=() if node.op is SetOp.UNION_DISTINCT else measures,
    )
    found: Relation = grouped
    if grouped.measures:
        found = Filter(input=grouped, condition=_condition(node, grouped))
    columns = [_typed(field(found, position), position, node) for position in range(width)]
    emit = range(width) if node.common.emit is None else node.common.emit
    made = Project.only(found, [columns[position] for position in emit])
    return replace(made, common=replace(made.common, rel_anchor=node.common.rel_anchor))


def _condition(node: Set, grouped: Aggregate) -> Expression:
    """The condition by which a group is in the result: the first input alone has it, the others too, or all have."""
    first, *others = (field(grouped, len(grouped.grouping_expressions) + n) for n in range(len(grouped.measures)))
    if not others:
        return equal(first, Literal(type=I64(), value=len(node.members)))
    if node.op is SetOp.MINUS_PRIMARY:
        return equal(others[0], Literal(type=I32(), value=0))
    return compared("lt", first, others[0])


def _distinct(member: Relation) -> Relation:
    width = len(member.schema.types)
    keys = tuple(field(member, position) for position in range(width))
    return Aggregate(input=member, groupings=(Grouping(tuple(range(width))),), grouping_expressions=keys)


def _numbered(member: Relation, number: int) -> Relation:
    columns = [field(member, position) for position in range(len(member.schema.types))]
    return Project.only(member, [*columns, Literal(type=I32(), value=number)])


def _count(number: Expression) -> tuple[Measure]:
    function = Function("extension:io.substrait:functions_aggregate_generic", "count", "any")
    count = AggregateFunction(function=function, arguments=(number,), output_type=I64(), derived_type=I64())
    return (Measure(measure=count),)


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
