"""Several grouping sets as one, for engines that count the columns of such an aggregate differently.

Every record is repeated for each set, with the position of the set beside it and null for each key that isn't in the
set, and is grouped by all of these. The meaning of the plan is the same for every reader.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.constructors import field, number_table
from pyspark_substrait.model.expressions import Expression, IfClause, IfThen, SingularOrList
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    Fetch,
    Filter,
    Grouping,
    Join,
    JoinType,
    Project,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.model.types import I32, I64, Boolean, with_nullability

__all__ = ["in_one_grouping", "input_copies"]


def in_one_grouping(node: Aggregate) -> Relation:
    """Return an aggregate of several grouping sets as an aggregate of one."""
    width = len(node.input.schema.types)
    keys, measures = len(node.grouping_expressions), len(node.measures)
    crossed = Cross(left=node.input, right=number_table(range(len(node.groupings))))
    place = field(crossed, width)
    masked = [_masked(key, number, node, place) for number, key in enumerate(node.grouping_expressions)]
    spread = Project.only(crossed, [*(field(crossed, position) for position in range(width + 1)), *masked])
    grouped = replace(
        node,
        common=RelCommon(),
        input=spread,
        grouping_expressions=(*(field(spread, width + 1 + key) for key in range(keys)), field(spread, width)),
        groupings=(Grouping(tuple(range(keys + 1))),),
    )
    order = (*range(keys), *range(keys + 1, keys + 1 + measures), keys)
    found: Relation = Project.only(grouped, [field(grouped, position) for position in order])
    empty = [number for number, grouping in enumerate(node.groupings) if not grouping.expression_references]
    if empty:
        found = Set(members=(found, _of_nothing(node, empty)), op=SetOp.UNION_ALL)
    assert found.schema.types == node.direct_schema.types
    if node.common.emit is None:
        return found
    return Project.only(found, [field(found, position) for position in node.common.emit])


def input_copies(node: Relation) -> int:
    """Return how often the aggregate of one grouping set has the input of the one of several."""
    sets = node.groupings if isinstance(node, Aggregate) else ()
    return 3 if len(sets) > 1 and not all(one.expression_references for one in sets) else 1


def _masked(key: Expression, number: int, node: Aggregate, place: Expression) -> Expression:
    """Return a key that is null in the sets without it."""
    sets = [position for position, grouping in enumerate(node.groupings) if number in grouping.expression_references]
    if len(sets) == len(node.groupings):
        return key
    inside = SingularOrList(value=place, options=tuple(Literal(type=I32(), value=position) for position in sets))
    return IfThen(ifs=(IfClause(inside, key),), else_=Literal(type=with_nullability(key.type, True), value=None))


def _of_nothing(node: Aggregate, sets: list[int]) -> Relation:
    """Return the records of the sets without keys for an empty input; a set with keys has none then."""
    never = Filter(input=node.input, condition=Literal(type=Boolean(), value=False))
    totals = replace(node, common=RelCommon(), input=never, groupings=(), grouping_expressions=())
    found: Relation = number_table(sets)
    if node.measures:
        found = Cross(left=totals, right=found)
    some = Fetch(input=node.input, count_expr=Literal(type=I64(), value=1))
    alone = Join(left=found, right=some, type=JoinType.LEFT_ANTI, expression=Literal(type=Boolean(), value=True))
    nulls = [Literal(type=with_nullability(key.type, True), value=None) for key in node.grouping_expressions]
    return Project.only(alone, [*nulls, *(field(alone, position) for position in range(len(node.measures) + 1))])
