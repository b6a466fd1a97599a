"""Predicate pushdown: counting the records of a relation would keep conditions above it.

Spark filters, and joins, as early as it can. If a condition above a relation would be pushed into it or below it, the
relation isn't counted, so that the plan runs as it would without profiling. In doubt, a condition counts as pushed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark_substrait.analysis.profile.rows import repeats_read_filter
from pyspark_substrait.model.expressions import Expression, FieldReference, InPredicate, RootReference, StructField
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.relations import (
    Aggregate,
    ConsistentPartitionWindow,
    Cross,
    DetachedRel,
    Exchange,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinBase,
    JoinType,
    KeyedJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    Sort,
    VirtualTable,
)
from pyspark_substrait.model.walk import holds_window, placed_expressions, root_fields, subquery_relation
from pyspark_substrait.sql.conjuncts import conjuncts
from pyspark_substrait.sql.decorrelation.outer import is_closed

__all__ = ["Condition", "is_pushed_into", "pushed_conditions"]

_KEPT_ONLY = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK)
_OTHER_ONLY = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the output records of a relation.

    Args:
        columns: the output columns that it uses; None if they aren't known.
        is_join: whether it looks for matches elsewhere, like a semi join, instead of computing a value.
    """

    columns: frozenset[int] | None
    is_join: bool = False

    def over(self, columns: frozenset[int] | None) -> Condition:
        """Return the same condition over other columns."""
        return replace(self, columns=columns)


def is_pushed_into(node: Relation, condition: Condition) -> bool:
    """Whether Spark would push a condition over the output of a relation into it or below it."""
    condition = _before_emit(node, condition)
    match node:
        case Read(read_type=read_type):
            return not isinstance(read_type, VirtualTable) and not condition.is_join
        case FetchBase():
            return False
        case Project() | Aggregate() | ConsistentPartitionWindow():
            below = _through(node, condition)
            return bool(below) and (isinstance(node, Aggregate) or is_pushed_into(node.input, below[0]))
        case Filter() if condition.is_join:
            return False
        case Filter() | Sort() | Exchange():
            return is_pushed_into(node.input, condition)
        case DetachedRel(relation=inner):
            return is_pushed_into(inner, condition)
        case Join() | Cross() | HashJoin() | MergeJoin() | NestedLoopJoin() if condition.is_join:
            # another join stays above unless one side has all columns that it uses
            return any(_to_sides(len(node.left.schema.types), [condition]))
        case _:
            return True


def pushed_conditions(node: Relation, above: Sequence[Condition]) -> list[list[Condition]]:
    """The conditions that may move into each input of a relation, its own among them.

    Args:
        node: the relation; for a reference, its shared subtree is the input.
        above: conditions over its output.
    """
    direct = [_before_emit(node, condition) for condition in above]
    match node:
        case Filter(condition=expression):
            own = [] if repeats_read_filter(node) else [_looked_at(part) for part in conjuncts(expression)]
            # joins aren't moved below filters
            return [[*(condition for condition in direct if not condition.is_join), *own]]
        case Project() | Aggregate() | ConsistentPartitionWindow():
            return [[moved for condition in direct for moved in _through(node, condition)]]
        case Sort() | Exchange() | DetachedRel() | Reference():
            return [direct]
        case Cross():
            return _to_sides(len(node.left.schema.types), direct)
        case JoinBase():
            return _into_join(node, direct)
        case Set(members=members):
            return [list(direct) for _ in members]
        case FetchBase():
            return [[]]
        case _:
            return [[Condition(None)] if direct else [] for _ in node.inputs]


def _before_emit(node: Relation, condition: Condition) -> Condition:
    emit = None if isinstance(node, DetachedRel) else node.common.emit
    if condition.columns is None or emit is None:
        return condition
    return condition.over(frozenset(emit[column] for column in condition.columns if column < len(emit)))


def _looked_at(expression: Expression) -> Condition:
    """Return an expression as a condition. Spark runs an IN with a query as a semi join."""
    if isinstance(expression, InPredicate) and is_closed(expression.haystack):
        return Condition(_all_of(expression.needles), is_join=True)
    fields = root_fields(expression)
    if fields is not None:
        return Condition(frozenset(fields))
    query = subquery_relation(expression)
    return Condition(frozenset() if query is not None and is_closed(query) else None)


def _all_of(expressions: Iterable[Expression]) -> frozenset[int] | None:
    found: set[int] = set()
    for expression in expressions:
        fields = root_fields(expression)
        if fields is None:
            return None
        found |= fields
    return frozenset(found)


def _through(node: Project | Aggregate | ConsistentPartitionWindow, condition: Condition) -> list[Condition]:
    """Convert a condition over the direct output of a relation to its input; empty if it can't be pushed there."""
    columns = condition.columns
    if columns is None:
        return [condition]
    match node:
        case Project(expressions=expressions):
            width = len(node.input.schema.types)
            made = [expressions[column - width] for column in columns if column >= width]
            if any(map(holds_window, made)):
                return []
            below = _all_of(made)
            kept = {column for column in columns if column < width}
            return [condition.over(None if below is None else below | kept)]
        case Aggregate(grouping_expressions=keys):
            if len(node.groupings) != 1 or not columns or any(column >= len(keys) for column in columns):
                return []
            return [condition.over(_all_of(keys[column] for column in columns))]
        case ConsistentPartitionWindow(partition_expressions=keys):
            grouped = {column for key in keys if (column := _column(key)) is not None}
            return [condition] if columns and columns <= grouped else []


def _column(expression: Expression) -> int | None:
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=field),)):
            return field
        case _:
            return None


def _into_join(node: Relation, above: Sequence[Condition]) -> list[list[Condition]]:
    assert isinstance(node, JoinBase), "asked before"
    width = len(node.left.schema.types)
    conditions = [item for item, over in placed_expressions(node) if over in (Over.INPUT, Over.OUTPUT)]
    own = [_looked_at(part) for condition in conditions for part in conjuncts(condition)]
    left, right = _to_sides(width, own)
    # a join that keeps one side only may itself move into that side
    if node.type in _KEPT_ONLY:
        whole = _together(node, own)
        kept = None if whole is None else frozenset(column for column in whole if column < width)
        return [[*left, Condition(kept, is_join=True), *above], right]
    if node.type in _OTHER_ONLY:
        return [left, [*right, Condition(None, is_join=True), *above]]
    more_left, more_right = _to_sides(width, above)
    return [left + more_left, right + more_right]


def _together(node: Relation, own: Sequence[Condition]) -> frozenset[int] | None:
    """The columns of both inputs that a join uses; None if they aren't known."""
    found: set[int] = set()
    for condition in own:
        if condition.columns is None:
            return None
        found |= condition.columns
    if isinstance(node, KeyedJoin):
        found.update(field for key in node.keys for field in root_fields(key.left) or ())
    return frozenset(found)


def _to_sides(width: int, conditions: Sequence[Condition]) -> list[list[Condition]]:
    """Assign conditions that use, or may use, only one side of a join to that side."""
    left: list[Condition] = []
    right: list[Condition] = []
    for condition in conditions:
        columns = condition.columns
        if columns is None or all(column < width for column in columns):
            left.append(condition)
        if columns is None or all(column >= width for column in columns):
            right.append(condition.over(None if columns is None else frozenset(column - width for column in columns)))
    return [left, right]
