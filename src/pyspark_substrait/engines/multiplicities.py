"""INTERSECT ALL and EXCEPT ALL by set operations on distinct records: the copies of a record are numbered first."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.constructors import field
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    BoundsType,
    CurrentRow,
    Function,
    SortDirection,
    SortField,
    WindowFunction,
)
from pyspark_substrait.model.relations import Project, Relation, RelCommon, Set, SetOp
from pyspark_substrait.model.types import I64

__all__ = ["OF_DISTINCT", "with_numbered_copies"]

#: For each operation that counts copies, the one that gives the same result if copies are numbered.
OF_DISTINCT = {
    SetOp.INTERSECTION_MULTISET_ALL: SetOp.INTERSECTION_MULTISET,
    SetOp.MINUS_PRIMARY_ALL: SetOp.MINUS_PRIMARY,
}


def with_numbered_copies(node: Set) -> Relation:
    """Return a set operation of :data:`OF_DISTINCT` in terms of the other operation."""
    width = len(node.schema.types) if node.common.emit is None else len(node.direct_schema.types)
    if width == 0:
        raise UnsupportedPlanError(
            f"{node.op.value} of records without columns cannot be computed without multiplicities"
        )
    first, *others = node.members
    if node.op is SetOp.MINUS_PRIMARY_ALL and len(others) > 1:  # the copies in all of them are taken away
        others = [Set(members=tuple(others), op=SetOp.UNION_ALL)]
    members = tuple(_numbered(member) for member in (first, *others))
    found = replace(node, common=RelCommon(), members=members, op=OF_DISTINCT[node.op])
    emit = range(width) if node.common.emit is None else node.common.emit
    return Project.only(found, [field(found, position) for position in emit])


def _numbered(input: Relation) -> Relation:
    """Return the records of a relation, with the number of each among its copies as the last column."""
    columns = tuple(field(input, position) for position in range(len(input.schema.types)))
    number = WindowFunction(
        function=Function("extension:io.substrait:functions_arithmetic", "row_number", ""),
        arguments=(),
        output_type=I64(),
        derived_type=I64(),
        partitions=columns,
        sorts=(SortField(expr=columns[0], sort_kind=SortDirection.ASC_NULLS_FIRST),),
        bounds_type=BoundsType.ROWS,
        upper_bound=CurrentRow(),
    )
    return Project.only(input, [*columns, number])
