"""Relations in terms of others, for engines that lack them.

The relation in place of another has the same records and columns, the emit included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pyspark_substrait.engines.constructors import COMPARISON, boolean_call, equal, field, number_table
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.engines.multiplicities import OF_DISTINCT, with_numbered_copies
from pyspark_substrait.engines.set_groups import BY_GROUPING, by_grouping
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    BoundsType,
    CurrentRow,
    Expression,
    Function,
    IfClause,
    IfThen,
    SortField,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    ConsistentPartitionWindow,
    Cross,
    Expand,
    Fetch,
    Filter,
    HashJoin,
    Join,
    JoinType,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Relation,
    RelCommon,
    Set,
    SetOp,
    Sort,
    SwitchingField,
    TopN,
)
from pyspark_substrait.model.types import I32, I64, Boolean, Struct, concrete
from pyspark_substrait.model.walk import holds_query
from pyspark_substrait.sql.decorrelation.physical_joins import logical

__all__ = ["in_terms_of_others", "with_constants"]


def in_terms_of_others(node: Relation, composed: frozenset[str]) -> Relation:
    """Return a relation of one of the ``composed`` classes in terms of others; one of another class unchanged.

    Raises:
        UnsupportedPlanError: its bounds aren't literals.
    """
    match node:
        case TopN() if "TopN" in composed:
            return _with_ties(node) if node.keeps_ties else _first(node)
        case Expand() if "Expand" in composed:
            return _expanded(node)
        case ConsistentPartitionWindow() if "ConsistentPartitionWindow" in composed:
            return _with_windows(node)
        case HashJoin() | MergeJoin() | NestedLoopJoin() if type(node).__name__ in composed:
            return in_terms_of_others(logical(node), composed)
        case Join(post_join_filter=condition) if condition is not None and "post_join_filter" in composed:
            joined = replace(node, post_join_filter=None, common=RelCommon(hint=node.common.hint))
            return Filter(common=replace(node.common, hint=None), input=joined, condition=condition)
        case Filter(input=Sort() as sort, condition=condition) if (
            "Filter of a sort" in composed and sort.common == RelCommon() and holds_query(condition)
        ):
            common = RelCommon(rel_anchor=node.common.rel_anchor)
            above = replace(node.common, rel_anchor=None)
            return replace(sort, common=above, input=replace(node, common=common, input=sort.input))
        case Set(op=op) if "Set of structs" in composed and op in _JOINED and _has_structs(node):
            return with_numbered_copies(node) if op in OF_DISTINCT else by_grouping(node)
        case Set(op=op) if op in BY_GROUPING and op.name in composed:
            return by_grouping(node)
        case Set(op=SetOp.MINUS_MULTISET) if "MINUS_MULTISET" in composed:
            return _without_common(node)
        case _:
            return node


def _first(node: TopN) -> Relation:
    ordered = Sort(input=node.input, sorts=node.sorts)
    return Fetch(common=node.common, input=ordered, offset_expr=node.offset, count_expr=node.count)


def _with_ties(node: TopN) -> Relation:
    """Return the first records of an order, and those that tie with the last one: these have its rank."""
    offset = 0 if node.offset is None else _bound(node.offset)
    count = _bound(node.count)
    if not offset and not count:
        return _first(node)
    width = len(node.input.schema.types)
    numbers = [_position("row_number", node.sorts), _position("rank", node.sorts)]
    numbered = Project(input=node.input, expressions=tuple(numbers))
    conditions = [
        _compared("gt", field(numbered, width), offset),
        _compared("lte", field(numbered, width + 1), offset + count),
    ]
    kept = Filter(input=numbered, condition=conjunction(conditions))
    emit = tuple(range(width)) if node.common.emit is None else node.common.emit
    return Sort(common=replace(node.common, emit=emit), input=kept, sorts=node.sorts)


def _bound(bound: Expression | None) -> int:
    if isinstance(bound, Literal) and isinstance(bound.value, int) and bound.value >= 0:
        return bound.value
    raise UnsupportedPlanError("the bounds of a top-n with ties have to be literals here")


def _position(name: str, sorts: Sequence[SortField]) -> WindowFunction:
    return WindowFunction(
        function=Function("extension:io.substrait:functions_arithmetic", name, ""),
        arguments=(),
        output_type=I64(nullable=True),
        derived_type=I64(nullable=True),
        sorts=tuple(sorts),
        bounds_type=BoundsType.ROWS,
        upper_bound=CurrentRow(),
    )


def _compared(name: str, value: Expression, bound: int) -> Expression:
    literal = Literal(type=I64(), value=bound)
    return boolean_call(Function(COMPARISON, name, "any_any"), (value, literal), value.type.nullable)


def _expanded(node: Expand) -> Relation:
    """Return a cross product with the numbers of the duplicates, of which a conditional takes the values."""
    copies = [len(item.duplicates) for item in node.fields if isinstance(item, SwitchingField)]
    width = len(node.input.schema.types)
    input: Relation = Cross(left=node.input, right=number_table(range(copies[0] if copies else 1)))
    number = field(input, width)

    def value(item: SwitchingField | Expression) -> Expression:
        if not isinstance(item, SwitchingField):
            return item
        *others, last = item.duplicates
        ifs = [
            IfClause(equal(number, Literal(type=I32(), value=position)), other) for position, other in enumerate(others)
        ]
        return IfThen(ifs=tuple(ifs), else_=last) if ifs else last

    columns = [*map(value, node.all_fields), number]
    emit = range(len(columns)) if node.common.emit is None else node.common.emit
    common = replace(node.common, emit=tuple(width + 1 + position for position in emit))
    return Project(common=common, input=input, expressions=tuple(columns))


def _with_windows(node: ConsistentPartitionWindow) -> Relation:
    """Return a projection of the window functions."""
    calls = [
        WindowFunction(
            function=call.function,
            arguments=call.arguments,
            options=call.options,
            output_type=call.output_type,
            derived_type=call.derived_type,
            phase=call.phase,
            invocation=call.invocation,
            partitions=node.partition_expressions,
            sorts=node.sorts,
            bounds_type=call.bounds_type,
            lower_bound=call.lower_bound,
            upper_bound=call.upper_bound,
        )
        for call in node.window_functions
    ]
    return Project(common=node.common, input=node.input, expressions=tuple(calls))


#: set operations that an engine may do by joins
_JOINED: Final = frozenset(SetOp) - {SetOp.UNION_ALL, SetOp.UNION_DISTINCT, SetOp.MINUS_MULTISET}


def _has_structs(node: Set) -> bool:
    return any(isinstance(concrete(type), Struct) for type in node.direct_schema.types)


def _without_common(node: Set) -> Relation:
    """Return the records of the first input, copies included, that one of the others hasn't got."""
    first, *others = node.members
    common = others[0] if len(others) == 1 else Set(members=tuple(others), op=SetOp.INTERSECTION_MULTISET)
    pair = Cross(left=first, right=common)
    width = len(first.schema.types)
    same = Function(COMPARISON, "is_not_distinct_from", "any_any")
    conditions = [
        boolean_call(same, (field(pair, position), field(pair, width + position)), nullable=False)
        for position in range(width)
    ]
    condition = conjunction(conditions) if conditions else Literal(type=Boolean(), value=True)
    return Join(common=node.common, left=first, right=common, type=JoinType.LEFT_ANTI, expression=condition)


#: the count of a fetch that has none
_MOST_RECORDS: Final = 2**63 - 1


def with_constants(node: Fetch, engine: str) -> Fetch:
    """Return a fetch whose offset and count are constants: 0 and the greatest number where there is none, or null.

    Raises:
        UnsupportedPlanError: one is computed.
    """

    def constant(value: Expression | None, default: int) -> Literal:
        if value is None or (isinstance(value, Literal) and value.value is None):
            return Literal(type=I64(), value=default)
        if not isinstance(value, Literal):
            raise UnsupportedPlanError(
                f"{engine} takes only constants as the offset and the count of a fetch",
                hint="Compute the number before the plan is made",
            )
        return value

    return replace(node, offset_expr=constant(node.offset_expr, 0), count_expr=constant(node.count_expr, _MOST_RECORDS))
