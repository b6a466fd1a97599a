"""Set operations on distinct records by grouping, for engines that only have UNION ALL.

The inputs are put together with the number of each; equal records are one group, in which null equals null, and the
numbers in it say which inputs have the record.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.engines.constructors import equal, field
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
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
    types = node.direct_schema.types
    width = len(types)
    # the secondary inputs of an intersection with any of them are one
    numbers = [min(place, 1) if node.op is SetOp.INTERSECTION_PRIMARY else place for place in range(len(node.members))]
    members = [
        Project.only(
            member,
            [*(field(member, position) for position in range(width)), Literal(type=I32(), value=number)],
        )
        for number, member in zip(numbers, node.members, strict=True)
    ]
    united = Set(members=tuple(members), op=SetOp.UNION_ALL)
    keys = tuple(field(united, position) for position in range(width))
    measures = () if node.op is SetOp.UNION_DISTINCT else (_measure(node.op, field(united, width)),)
    grouped = Aggregate(
        input=united, groupings=(Grouping(tuple(range(width))),), grouping_expressions=keys, measures=measures
    )
    found: Relation = grouped
    if measures:
        found = Filter(input=grouped, condition=_condition(node.op, len(set(numbers)), field(grouped, width)))
    columns = [_typed(field(found, position), position, node) for position in range(width)]
    emit = range(width) if node.common.emit is None else node.common.emit
    made = Project.only(found, [columns[position] for position in emit])
    return replace(made, common=replace(made.common, rel_anchor=node.common.rel_anchor))


def _measure(op: SetOp, number: Expression) -> Measure:
    if op is SetOp.MINUS_PRIMARY:
        function, type = Function("extension:io.substrait:functions_arithmetic", "max", "i32"), I32(nullable=True)
        return Measure(
            measure=AggregateFunction(function=function, arguments=(number,), output_type=type, derived_type=type)
        )
    count = Function("extension:io.substrait:functions_aggregate_generic", "count", "any")
    return Measure(
        measure=AggregateFunction(
            function=count,
            arguments=(number,),
            output_type=I64(),
            derived_type=I64(),
            invocation=AggregationInvocation.DISTINCT,
        )
    )


def _condition(op: SetOp, inputs: int, found: Expression) -> Expression:
    """The condition by which a group is in the result: the primary input alone has it, or all have."""
    if op is SetOp.MINUS_PRIMARY:
        return equal(found, Literal(type=I32(), value=0))
    return equal(found, Literal(type=I64(), value=inputs))


def _typed(column: Expression, position: int, node: Set) -> Expression:
    type = node.direct_schema.types[position]
    if column.type == type:
        return column
    return Cast(type=type, input=column, failure_behavior=FailureBehavior.THROW_EXCEPTION)
