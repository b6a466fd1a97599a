"""Row counts that follow exactly from others: a projection has as many rows as its input."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyspark_substrait.analysis.profile.figures import Basis, Figure
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    RootReference,
    SetPredicate,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Broadcast,
    ConsistentPartitionWindow,
    Cross,
    DetachedRel,
    Exchange,
    Expand,
    Fetch,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinType,
    MergeJoin,
    MultiBucketExpression,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    SetOp,
    Sort,
    SortBase,
    SwitchingField,
    VirtualTable,
)
from pyspark_substrait.model.walk import (
    computed_expressions,
    expressions_within,
    relation_subqueries,
    relations_within,
    subquery_relation,
    with_children,
)

__all__ = [
    "RowCounts",
    "derived_row_count",
    "inner_queries",
    "relations_of",
    "repeats_read_filter",
    "row_counts",
    "same_rows",
    "stopped_early",
]


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The known row counts of relations, by their identities.

    Args:
        measured: the rows that a relation put out in this run.
        stored: the rows of the table that a read reads, before its filter.
        uncertain: relations that may have put out more rows than ``measured`` says.
        early: relations that may not have been asked for all of their records.
    """

    measured: Mapping[int, int]
    stored: Mapping[int, int] = field(default_factory=dict)
    uncertain: frozenset[int] = frozenset()
    early: frozenset[int] = frozenset()


def relations_of(tree: Relation) -> list[Relation]:
    """The relations of a tree, each before its inputs, these before its subqueries; a shared subtree once."""
    return list(relations_within(tree))


def inner_queries(node: Relation) -> list[Relation]:
    """The relations of the subqueries that stand in the expressions of a relation."""
    return [*relation_subqueries(node)]


def _queries(node: Relation) -> Iterator[tuple[Relation, Expression]]:
    for current in expressions_within(computed_expressions(node)):
        query = subquery_relation(current)
        if query is not None:
            yield query, current


# derived counts -------------------------------------------------------------------------------------------------------


def row_counts(tree: Relation, counted: RowCounts) -> dict[int, Figure]:
    """Return the rows that each relation of a tree puts out, by identity, as far as they are known.

    A relation below a fetch that stopped early may have been asked for only some of its records: its measured count is
    right for this run, but counts that are derived from it are estimates.
    """
    return _Rows(relations_of(tree), counted).known


class _Rows:
    def __init__(self, nodes: list[Relation], counted: RowCounts) -> None:
        self._counted = counted
        self._partial = {node for node in counted.measured if node in counted.early}
        self.known: dict[int, Figure] = {}
        for node in nodes:
            if id(node) in counted.measured:
                basis = Basis.ESTIMATED if id(node) in counted.uncertain else Basis.MEASURED
                self.known[id(node)] = Figure(counted.measured[id(node)], basis)
        self._upwards(nodes)
        for node in nodes:
            input = same_rows(node)
            if input is not None and id(node) in self.known and id(input) not in self.known:
                self._derive(input, self.known[id(node)].value, (node,))
        self._upwards(nodes)

    def _upwards(self, nodes: list[Relation]) -> None:
        for node in reversed(nodes):
            inputs = _givers(node)
            if id(node) in self.known or any(id(input) not in self.known for input in inputs):
                continue
            given = [int(self.known[id(input)].value) for input in inputs]
            value = derived_row_count(node, given, self._counted.stored.get(id(node)))
            if value is not None:
                self._derive(node, value, inputs)

    def _derive(self, node: Relation, value: int | float, origins: tuple[Relation, ...]) -> None:
        if isinstance(node, Fetch) and id(node) not in self._counted.early:
            # what it took of its input was all that there is, or enough
            origins = tuple(origin for origin in origins if id(origin) not in self._partial)
        if any(id(origin) in self._partial for origin in origins):
            self._partial.add(id(node))
        sure = all(
            id(origin) not in self._partial and self.known[id(origin)].basis is not Basis.ESTIMATED
            for origin in origins
        )
        self.known[id(node)] = Figure(value, Basis.CALCULATED if sure else Basis.ESTIMATED)


def _givers(node: Relation) -> tuple[Relation, ...]:
    return (node.subtree,) if isinstance(node, Reference) else node.inputs


def derived_row_count(node: Relation, given: list[int], stored: int | None = None) -> int | None:
    """Return the number of rows that a relation puts out; None where that depends on the values of its records.

    Args:
        node: the relation.
        given: the rows of its inputs, or of the subtree that it refers to.
        stored: the number of rows of the table, if the relation is a read and that is known.
    """
    match node:
        case Read() if node.filter is None and node.best_effort_filter is None:
            return node.read_type.row_count if isinstance(node.read_type, VirtualTable) else stored
        case Reference() | Cross():
            return math.prod(given)
        case Set(op=SetOp.UNION_ALL):
            return sum(given)
        case Aggregate() if node.measures and not any(grouping.expression_references for grouping in node.groupings):
            return 1 if len(node.groupings) <= 1 else None
        case FetchBase():
            return _fetched(node, given[0])
        case Expand(fields=fields):
            switching = [len(item.duplicates) for item in fields if isinstance(item, SwitchingField)]
            return given[0] * switching[0] if switching else given[0]
        case Join() | HashJoin() | MergeJoin() | NestedLoopJoin():
            if same_rows(node) is None:
                return None
            return given[0] if node.type in _KEEP_LEFT else given[1]
        case _:
            return given[0] if same_rows(node) is not None else None


_KEEP_LEFT = (JoinType.LEFT_SINGLE, JoinType.LEFT_MARK)
_KEEP_RIGHT = (JoinType.RIGHT_SINGLE, JoinType.RIGHT_MARK)


def same_rows(node: Relation) -> Relation | None:
    """Return the input or shared subtree that always has as many rows as a relation; None if there is none."""
    match node:
        case Project(input=input) | Sort(input=input) | ConsistentPartitionWindow(input=input):
            return input
        case DetachedRel(relation=inner):
            return inner
        case Reference(subtree=subtree):
            return subtree
        case Exchange(exchange_kind=kind):
            return None if isinstance(kind, Broadcast | MultiBucketExpression) else node.input
        case Join() | HashJoin() | MergeJoin() | NestedLoopJoin():
            if not isinstance(node, NestedLoopJoin) and node.post_join_filter is not None:
                return None
            return node.left if node.type in _KEEP_LEFT else node.right if node.type in _KEEP_RIGHT else None
        case Filter() if repeats_read_filter(node):
            return node.input
        case _:
            return None


def _fetched(node: FetchBase, given: int) -> int | None:
    if node.keeps_ties:
        return None
    offset, count = node.limits
    skipped, most = _number(offset, 0), _number(count, given)
    return None if skipped is None or most is None else max(0, min(given - skipped, most))


def _number(node: Expression | None, otherwise: int) -> int | None:
    """Return the value of a bound: ``otherwise`` for none or null; None for an expression that isn't a literal."""
    if node is None:
        return otherwise
    if not isinstance(node, Literal):
        return None
    return node.value if isinstance(node.value, int) else otherwise


def repeats_read_filter(node: Filter) -> bool:
    """Whether a filter repeats the filter of the read below it, as some producers write it."""
    read = node.input
    if not isinstance(read, Read) or read.filter is None:
        return False
    positions = _positions(read)
    return positions is not None and _moved(node.condition, positions) == read.filter


def _positions(read: Read) -> list[int] | None:
    """Return the positions in its base schema of the columns of a read; None if it reads only parts of a column."""
    if read.projection is None:
        positions = list(range(len(read.base_schema.struct.types)))
    elif any(item.child is not None for item in read.projection.select.struct_items):
        return None
    else:
        positions = [item.field for item in read.projection.select.struct_items]
    emit = read.common.emit
    return positions if emit is None else [positions[position] for position in emit]


def _moved(node: Expression, positions: list[int]) -> Expression:
    """Return an expression over the same columns at other positions."""
    match node:
        case FieldReference(root=RootReference(), reference=(StructField(field=number) as first, *rest)) if (
            number < len(positions)
        ):
            return replace(node, reference=(replace(first, field=positions[number]), *rest))
        case _:
            return with_children(node, lambda child: _moved(child, positions))


# early stops ----------------------------------------------------------------------------------------------------------


def stopped_early(tree: Relation, limited: bool) -> set[int]:
    """Return the relations that may not be asked for all of their records, because a fetch above them stops early.

    Args:
        tree: a tree.
        limited: whether only some of its own records are wanted.
    """
    found: set[int] = set()
    pending = [(tree, limited)]
    seen: set[int] = set()
    while pending:
        node, early = pending.pop()
        if early:
            found.add(id(node))
        elif id(node) in seen:
            continue
        seen.add(id(node))
        early = (early or isinstance(node, Fetch)) and not _takes_all(node)
        pending.extend((child, early) for child in _givers(node))
        pending.extend((query, isinstance(holder, SetPredicate)) for query, holder in _queries(node))
    return found


def _takes_all(node: Relation) -> bool:
    """Whether a relation needs all records of its input before it puts out its first."""
    match node:
        case SortBase() | Aggregate() | ConsistentPartitionWindow():
            return True
        case Set(op=op):
            return op is not SetOp.UNION_ALL
        case _:
            return False
