"""The subqueries that an engine runs as they are, and the places where it does: Spark's, and the form of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pyspark_substrait.model.expressions import (
    AggregationPhase,
    Expression,
    Lambda,
    LambdaInvocation,
    MultiOrList,
    NamedLambdaReference,
    PredicateOp,
    ScalarFunction,
    ScalarSubquery,
    SetPredicate,
    SingularOrList,
    SwitchExpression,
    WindowFunction,
)
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    Expand,
    Fetch,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    SetOp,
    Sort,
    Update,
    VirtualTable,
)
from pyspark_substrait.model.walk import (
    expression_children,
    holds_query,
    placed_expressions,
    relation_expressions,
    subquery_relation,
)
from pyspark_substrait.sql.conjuncts import conjuncts
from pyspark_substrait.sql.decorrelation.outer import (
    Subquery,
    is_closed,
    own_fields,
    references,
    relation_references,
    uses_parameters,
)
from pyspark_substrait.sql.decorrelation.physical_joins import logical
from pyspark_substrait.sql.decorrelation.unions import fails_over
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = [
    "Natives",
    "Place",
    "SparkNatives",
    "all_allowed_in",
    "filters_only",
    "inside",
    "misplaced",
    "queries",
    "runs_natively",
]


#: the first version that takes outer references outside of filters, and correlated scalar subqueries without aggregate
_MORE_SINCE = SparkVersion(4, 0)

_EQUALITIES = ("equal", "not_equal", "is_not_distinct_from", "is_distinct_from", "not_distinct_from", "nullif")


class Place(Enum):
    """The place of an expression, by the subqueries that Spark takes there."""

    FREE = "any subquery"
    BOUND = "one without outer references"
    PAIR = "a scalar one without outer references"
    KEY = "none, nor one that is computed in a SELECT below, which Spark puts there"
    NOWHERE = "none"


def places(node: Relation, spark: SparkVersion) -> Iterator[tuple[Expression, Place]]:
    """Yield the expressions of a relation, with their places in a version of Spark."""
    match node:
        case Read(read_type=VirtualTable() as table):
            if table.columns is None:
                yield from ((cell, Place.NOWHERE) for record in table.expressions for cell in record.fields)
            yield from ((item, Place.FREE) for item in (node.filter, node.best_effort_filter) if item is not None)
        case Update() | Ddl():
            # checked when they are carried out
            return
        case Filter():
            yield from ((conjunct, of_condition(conjunct, node)) for conjunct in conjuncts(node.condition))
        case Project() | Expand():
            yield from ((item, _in_order(Place.FREE, node.input)) for item in relation_expressions(node))
        case Read():
            yield from ((item, Place.FREE) for item in relation_expressions(node))
        case Sort() | Exchange():
            yield from ((item, _of_keys(spark)) for item in relation_expressions(node))
        case Aggregate():
            keys = len(node.grouping_expressions)
            for position, item in enumerate(relation_expressions(node)):
                yield item, Place.FREE if position < keys else Place.NOWHERE
        case Join(type=JoinType.INNER):
            yield from ((conjunct, of_pairs(conjunct, node, spark)) for conjunct in conjuncts(node.expression))
            yield from _after(node)
        case Join():
            yield node.expression, of_sides(node.expression)
            yield from _after(node)
        case HashJoin() | MergeJoin() | NestedLoopJoin():
            yield from places(logical(node), spark)
        case FetchBase():
            for item, over in placed_expressions(node):
                yield item, Place.BOUND if over is Over.NOTHING else _of_keys(spark)
        case _:
            yield from ((item, Place.NOWHERE) for item in relation_expressions(node))


def _in_order(place: Place, input: Relation) -> Place:
    """A place over records that may be in order.

    Spark makes joins of most subqueries, and leaves out the sorts below joins: with them the order that a limit above,
    or the result, needs. It moves a projection below the limit that it is over, too.
    """
    return Place.PAIR if place is Place.FREE and in_order(input) else place


def _is_over_fetch(node: Relation) -> bool:
    """Whether a relation is a fetch, with projections and filters above at most."""
    if isinstance(node, Reference):
        return _is_over_fetch(node.subtree)
    return isinstance(node, FetchBase) or (isinstance(node, Project | Filter) and _is_over_fetch(node.input))


def _after(node: Join) -> Iterator[tuple[Expression, Place]]:
    """Yield the filter after a join."""
    if node.post_join_filter is not None:
        yield from ((conjunct, of_filter(conjunct, node)) for conjunct in conjuncts(node.post_join_filter))


def of_condition(conjunct: Expression, node: Filter) -> Place:
    """The place of a conjunct of a filter, which keeps the order of the records."""
    place = of_filter(conjunct, node.input)
    # below a sort, and not below a limit, Spark moves the join that it becomes
    return _in_order(place, node.input) if _is_over_fetch(node.input) else place


def of_filter(conjunct: Expression, input: Relation) -> Place:
    """The place of a conjunct of a filter. Spark pushes a filter over a join into the join."""
    return Place.KEY if _has_subquery_in_key(conjunct) and _is_over_join(input) else Place.FREE


def _of_keys(spark: SparkVersion) -> Place:
    """The place of a sort key, or of an expression by which records are distributed."""
    return Place.FREE if spark >= _MORE_SINCE else Place.PAIR


def of_pairs(conjunct: Expression, node: Join, spark: SparkVersion) -> Place:
    """The place of a conjunct of an inner join's condition."""
    width = len(node.left.schema.types)
    fields = own_fields(conjunct)
    if all(field < width for field in fields):
        place = of_filter(conjunct, node.left)
    elif all(field >= width for field in fields):
        place = of_filter(conjunct, node.right)
    else:
        return of_sides(conjunct)
    return Place.BOUND if place is Place.FREE and spark < _MORE_SINCE else place


def of_sides(condition: Expression) -> Place:
    """The place of a condition over both sides of a join."""
    return Place.KEY if _has_subquery_in_key(condition) else Place.PAIR


def _has_subquery_in_key(node: Expression) -> bool:
    """Whether an expression has a subquery in an operand that Spark may use as a join key.

    Spark 4.3 evaluates subqueries in join keys before they have a value, and fails ("Subquery … has not finished").
    Keys are the two operands of an equality, if both refer to a record; Spark makes equalities of other tests, too.
    """
    if not holds_query(node):
        return False
    if isinstance(node, ScalarFunction) and node.function.name in _EQUALITIES:
        operands = [item for item in expression_children(node) if any(True for _ in references(item))]
        if len(operands) > 1 and any(map(_holds_part, operands)):
            return True
    if isinstance(node, SingularOrList | MultiOrList | SwitchExpression):
        return True
    return any(_has_subquery_in_key(child) for child in expression_children(node) if not isinstance(node, Subquery))


def _holds_part(operand: Expression) -> bool:
    """Whether an operand contains a scalar subquery and is more than that."""
    return not isinstance(operand, Subquery) and holds_query(operand)


def _is_over_join(node: Relation) -> bool:
    """Whether there is a join into which Spark may push the conditions of a filter."""
    if isinstance(node, Cross | Join | HashJoin | MergeJoin | NestedLoopJoin | LateralJoin):
        return True
    if isinstance(node, Reference):
        return _is_over_join(node.subtree)
    return any(map(_is_over_join, node.inputs))


def inside(node: Expression, child: Expression, place: Place) -> Place:
    """The place of a part of an expression in ``place``.

    Spark takes no subquery in a window function, nor in or beside a lambda.
    """
    if isinstance(node, LambdaInvocation):
        return place if child is node.lambda_ else Place.NOWHERE
    with_lambda = any(isinstance(item, Lambda | NamedLambdaReference) for item in expression_children(node))
    return Place.NOWHERE if isinstance(node, WindowFunction) or with_lambda else place


def queries(node: Expression, place: Place) -> Iterator[tuple[Subquery, Place]]:
    """Yield the outermost subqueries in an expression, with their places."""
    if isinstance(node, Subquery):
        yield node, place
        return
    for child in expression_children(node):
        yield from queries(child, inside(node, child, place))


def runs_natively(node: Relation, natives: Natives) -> bool:
    """Whether an engine runs all subqueries in a relation as they are; no outer reference leads out of it."""
    if isinstance(node, LateralJoin):
        return False
    if isinstance(node, Reference):
        return runs_natively(node.subtree, natives)
    if not all(runs_natively(input, natives) for input in node.inputs):
        return False
    for expression, place in natives.places(node):
        for query, here in queries(expression, place):
            inner = subquery_relation(query)
            assert inner is not None
            if not natives.allows(query, here) or (is_closed(inner) and not runs_natively(inner, natives)):
                return False
    return True


def is_allowed_in(node: Subquery, place: Place, spark: SparkVersion) -> bool:
    """Whether a Spark takes a subquery in a place. One without outer references may still need rewriting inside."""
    if place in (Place.NOWHERE, Place.KEY) or any(map(holds_query, expression_children(node))):
        return False
    inner = subquery_relation(node)
    assert inner is not None
    if is_closed(inner):
        return place in (Place.FREE, Place.BOUND) or isinstance(node, ScalarSubquery)
    return place is Place.FREE and _takes(inner, spark) and (spark >= _MORE_SINCE or _was_taken(node, inner))


def _was_taken(node: Subquery, inner: Relation) -> bool:
    """Whether Spark 3.5 runs a subquery with outer references, of those that newer ones run.

    Those are filtered records in a predicate, and an aggregate of them all, or a projection of it, as a scalar. Spark
    3.5 takes some grouped ones as well; they aren't left to it.
    """
    if isinstance(node, SetPredicate) and node.predicate_op is PredicateOp.UNIQUE:
        return False
    if not isinstance(node, ScalarSubquery):
        return filters_only(inner)
    while isinstance(inner, Project) and all(map(_is_own, inner.expressions)):
        inner = inner.input
    return isinstance(inner, Aggregate) and not inner.grouping_expressions and filters_only(inner.input)


def filters_only(node: Relation) -> bool:
    """Whether the outer references in a relation are in filters, with projections, sorts and joins above at most."""
    if is_closed(node):
        return True
    match node:
        case Read():
            return True
        case Filter() | Sort():
            return filters_only(node.input)
        case Project():
            return all(map(_is_own, node.expressions)) and filters_only(node.input)
        case Cross():
            return filters_only(node.left) and filters_only(node.right)
        case Join():
            return _is_own(node.expression) and filters_only(node.left) and filters_only(node.right)
        case HashJoin() | MergeJoin() | NestedLoopJoin():
            return filters_only(logical(node))
        case DetachedRel(relation=inner):
            return filters_only(inner)
        case _:
            return False


_LARGEST = 2**31 - 1
_NATIVE_SETS = (SetOp.UNION_ALL, SetOp.UNION_DISTINCT, SetOp.MINUS_PRIMARY, SetOp.INTERSECTION_MULTISET)
_OF_LEFT = (JoinType.LEFT, JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)
_OF_RIGHT = (JoinType.RIGHT, JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI)


def _takes(node: Relation, spark: SparkVersion) -> bool:
    """Whether Spark runs a subquery's relation with its outer references.

    Tested with Spark 4.3: outer columns in conditions and projections, below aggregates, limits and set operations, and
    on the side of a join that loses no record. They go one query out.
    """
    if is_closed(node):
        return runs_natively(node, SparkNatives(spark))
    match node:
        case Read(read_type=read_type):
            cells = (
                [cell for record in read_type.expressions for cell in record.fields]
                if isinstance(read_type, VirtualTable) and read_type.columns is None
                else []
            )
            filters = [item for item in (node.filter, node.best_effort_filter) if item is not None]
            return (
                all(map(_is_own, cells))
                and not any(map(holds_query, cells))
                and all(_fits(item, spark) for item in filters)
            )
        case Filter():
            # a condition with an outer reference becomes a join condition
            return (
                _takes(node.input, spark) and _fits(node.condition, spark) and not _has_subquery_in_key(node.condition)
            )
        case Project():
            # the workaround for failing columns over a union also hides outer references
            computed = all(_fits(item, spark) for item in node.expressions)
            return computed and not fails_over(node.input, node.expressions) and _takes(node.input, spark)
        case Sort():
            return _takes(node.input, spark) and all(
                _is_own(sort.expr) and not holds_query(sort.expr) for sort in node.sorts
            )
        case Fetch():
            bounds = (node.offset_expr, node.count_expr)
            return _takes(node.input, spark) and all(bound is None or _is_small(bound) for bound in bounds)
        case Aggregate():
            simple = all(
                item.measure.phase is AggregationPhase.INITIAL_TO_RESULT and not item.measure.sorts
                for item in node.measures
            )
            parts = list(relation_expressions(node))
            own = all(map(_is_own, parts)) and not any(map(holds_query, parts))
            return _takes(node.input, spark) and len(node.groupings) <= 1 and simple and own
        case Join():
            return _takes_join(node, spark)
        case HashJoin() | MergeJoin() | NestedLoopJoin():
            return _takes_join(logical(node), spark)
        case Cross():
            return _takes(node.left, spark) and _takes(node.right, spark)
        case Set():
            return node.op in _NATIVE_SETS and all(_takes(member, spark) for member in node.members)
        case DetachedRel(relation=inner):
            return _takes(inner, spark)
        case _:
            return False


def _takes_join(node: Join, spark: SparkVersion) -> bool:
    condition = node.expression
    if node.post_join_filter is not None and not _fits(node.post_join_filter, spark):
        return False
    if holds_query(condition) or not (_takes(node.left, spark) and _takes(node.right, spark)):
        return False
    if node.type is JoinType.INNER:
        return _fits(condition, spark)
    if (node.type in _OF_LEFT and is_closed(node.right)) or (node.type in _OF_RIGHT and is_closed(node.left)):
        return _is_own(condition)
    return False


def _is_small(bound: Expression) -> bool:
    return isinstance(bound, Literal) and (
        bound.value is None or (isinstance(bound.value, int) and bound.value <= _LARGEST)
    )


def _is_own(node: Expression) -> bool:
    """Whether an expression refers to nothing but its own record."""
    return all(level == 0 for level, _ in references(node))


def _fits(node: Expression, spark: SparkVersion) -> bool:
    """Whether an expression is allowed in a correlated query: references inside its subqueries reach no further out
    than the enclosing query.
    """
    if isinstance(node, WindowFunction | LambdaInvocation):
        return False
    if isinstance(node, Subquery):
        inner = subquery_relation(node)
        assert inner is not None
        outside = all(map(_is_own, expression_children(node))) and not uses_parameters(node)
        near = all(level == 0 for level, _ in relation_references(inner, 1))
        return outside and near and is_allowed_in(node, Place.FREE, spark) and _takes(inner, spark)
    return all(
        _fits(child, spark) and (inside(node, child, Place.FREE) is Place.FREE or not holds_query(child))
        for child in expression_children(node)
    )


def all_allowed_in(node: Expression, place: Place, natives: Natives) -> bool:
    """Whether an engine takes all subqueries of an expression in a place."""
    return all(natives.allows(query, here) for query, here in queries(node, place))


def misplaced(condition: Expression, natives: Natives) -> list[Expression]:
    """Return the subqueries that can't stay in the condition of a join that isn't an inner join."""
    return [query for query, here in queries(condition, natives.of_sides(condition)) if not natives.allows(query, here)]


class Natives(Protocol):
    """The subqueries that an engine runs as they are; all others become joins."""

    def places(self, node: Relation) -> Iterator[tuple[Expression, Place]]:
        """Yield the expressions of a relation, with their places."""

    def of_condition(self, conjunct: Expression, node: Filter) -> Place:
        """The place of a conjunct of a filter."""

    def of_pairs(self, conjunct: Expression, node: Join) -> Place:
        """The place of a conjunct of an inner join's condition."""

    def of_sides(self, condition: Expression) -> Place:
        """The place of a condition over both sides of a join."""

    def of_column(self) -> Place:
        """The place of a column that is computed over the records of a filter, a join or another relation."""

    def allows(self, node: Subquery, place: Place) -> bool:
        """Whether the engine takes a subquery in a place. One without outer references is looked into separately."""


@dataclass(frozen=True, slots=True)
class SparkNatives:
    """The subqueries that a version of Spark runs as they are."""

    spark: SparkVersion = NEWEST

    def places(self, node: Relation) -> Iterator[tuple[Expression, Place]]:
        return places(node, self.spark)

    def of_condition(self, conjunct: Expression, node: Filter) -> Place:
        return of_condition(conjunct, node)

    def of_pairs(self, conjunct: Expression, node: Join) -> Place:
        return of_pairs(conjunct, node, self.spark)

    def of_sides(self, condition: Expression) -> Place:
        return of_sides(condition)

    def of_column(self) -> Place:
        return Place.FREE

    def allows(self, node: Subquery, place: Place) -> bool:
        return is_allowed_in(node, place, self.spark)
