"""The subqueries that DataFusion runs as they are.

It takes them in the conditions of filters, and scalar ones in projections. One that refers to the query around it may
do so in its filters only, and below an aggregate by equalities only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_substrait.engines.constructors import BOOLEAN
from pyspark_substrait.engines.inner_joins import conjuncts
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    InPredicate,
    OuterReference,
    PredicateOp,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    TypeArgument,
)
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    Filter,
    Join,
    JoinType,
    Project,
    Read,
    Relation,
    Sort,
    VirtualTable,
)
from pyspark_substrait.model.walk import (
    all_expressions,
    expression_children,
    holds_query,
    holds_window,
    relation_expressions,
    subquery_relation,
)
from pyspark_substrait.sql.decorrelation import Place
from pyspark_substrait.sql.decorrelation.native import queries, runs_natively
from pyspark_substrait.sql.decorrelation.outer import Subquery, is_closed, own_fields, references, relation_references

__all__ = ["DataFusionQueries"]


class DataFusionQueries:
    """The subqueries that DataFusion runs as they are."""

    def places(self, node: Relation) -> Iterator[tuple[Expression, Place]]:
        """Yield the expressions of a relation, with their places."""
        place = Place.PAIR if isinstance(node, Project) else Place.NOWHERE
        match node:
            case Filter():
                yield from ((conjunct, _of_conjunct(conjunct)) for conjunct in conjuncts(node.condition))
            case Read(filter=condition, read_type=read_type):
                if isinstance(read_type, VirtualTable):
                    yield from ((cell, Place.NOWHERE) for record in read_type.expressions for cell in record.fields)
                if condition is not None:  # it stands above the read
                    yield from ((conjunct, _of_conjunct(conjunct)) for conjunct in conjuncts(condition))
            case _:
                yield from ((expression, place) for expression in relation_expressions(node))

    def of_condition(self, conjunct: Expression, node: Filter) -> Place:
        """The place of a conjunct of a filter."""
        return _of_conjunct(conjunct)

    def of_pairs(self, conjunct: Expression, node: Join) -> Place:
        """The place of a conjunct of an inner join's condition."""
        return Place.NOWHERE

    def of_sides(self, condition: Expression) -> Place:
        """The place of a condition over both sides of a join."""
        return Place.NOWHERE

    def of_column(self) -> Place:
        """The place of a column that is computed over the records of a relation."""
        return Place.PAIR

    def allows(self, node: Subquery, place: Place) -> bool:
        """Whether DataFusion takes a subquery in a place."""
        inner = subquery_relation(node)
        assert inner is not None
        if any(map(holds_query, expression_children(node))):
            return False
        match node:
            case ScalarSubquery():
                known = place in (Place.FREE, Place.PAIR)
            case InPredicate(needles=needles):
                free = place in (Place.FREE, Place.BOUND)
                known = free and len(needles) == 1 and bool(own_fields(needles[0]))
            case SetPredicate(predicate_op=op):
                known = place is Place.FREE and op is PredicateOp.EXISTS
            case SetComparison():
                known = False
        if not known or is_closed(inner):
            # a scalar one without records is an error where the column isn't nullable there
            return known and (not isinstance(node, ScalarSubquery) or _is_total(inner))
        if place is Place.BOUND or _leads_into(inner) or any(level > 0 for level, _ in relation_references(inner, 1)):
            return False
        if isinstance(node, ScalarSubquery):
            while isinstance(inner, Project) and _is_plain(inner.expressions):
                inner = inner.input
            simple = _is_total(inner) and _is_plain(relation_expressions(inner))
            return simple and self._filters_only(inner.inputs[0], equal=True)
        return self._filters_only(inner, equal=False)

    def _filters_only(self, node: Relation, *, equal: bool) -> bool:
        """Whether the outer references in a relation are in filters, and in equalities with own values, if so wanted.

        Projections, sorts and joins stand above the filters at most.
        """
        if is_closed(node):
            return runs_natively(node, self)
        match node:
            case Read(filter=condition) if condition is not None:
                return self._is_condition(condition, equal=equal)
            case Filter():
                return self._is_condition(node.condition, equal=equal) and self._filters_only(node.input, equal=equal)
            case Sort() | Project():
                return _is_plain(relation_expressions(node)) and self._filters_only(node.input, equal=equal)
            case Cross() | Join(type=JoinType.INNER):
                parts = [self._filters_only(input, equal=equal) for input in node.inputs]
                return _is_plain(relation_expressions(node)) and all(parts)
            case _:
                return False

    def _is_condition(self, condition: Expression, *, equal: bool) -> bool:
        for conjunct in conjuncts(condition):
            outer = any(level > 0 for level, _ in references(conjunct))
            if outer and (holds_query(conjunct) or (equal and not _is_equality(conjunct))):
                return False
            for query, place in queries(conjunct, _of_conjunct(conjunct)):
                inner = subquery_relation(query)
                assert inner is not None
                if not self.allows(query, place) or (is_closed(inner) and not runs_natively(inner, self)):
                    return False
        return True


def _of_conjunct(node: Expression) -> Place:
    """The place of a conjunct of a filter.

    In one that combines conditions, DataFusion takes IN for false where it is unknown: so there may be no NOT around.
    """
    match node:
        case ScalarFunction(function=Function(urn=urn, name="not"), arguments=(InPredicate(),)) if urn == BOOLEAN:
            return Place.BOUND  # it loses records if the query has outer references and nulls
        case _:
            return Place.FREE if _is_false_where_unknown(node) else Place.PAIR


def _is_false_where_unknown(node: Expression) -> bool:
    """Whether a condition keeps the same records if IN is false where it is unknown."""
    if isinstance(node, InPredicate):
        return True
    if isinstance(node, ScalarFunction) and node.function.urn == BOOLEAN and node.function.name in ("and", "or"):
        return all(map(_is_false_where_unknown, expression_children(node)))
    return not any(isinstance(query, InPredicate) and query.type.nullable for query, _ in queries(node, Place.FREE))


def _is_total(node: Relation) -> bool:
    """Whether a relation has one record: an aggregate without keys, with projections above at most."""
    while isinstance(node, Project):
        node = node.input
    return isinstance(node, Aggregate) and not node.grouping_expressions and len(node.groupings) < 2


def _leads_into(node: Relation) -> bool:
    """Whether an outer reference leads into a column."""
    outer = (one for one in all_expressions(node) if isinstance(one, FieldReference))
    return any(
        isinstance(one.root, OuterReference) and (isinstance(one.reference, MaskExpression) or len(one.reference) > 1)
        for one in outer
    )


def _is_plain(expressions: Sequence[Expression]) -> bool:
    """Whether expressions refer to their own record only, and hold no subquery or window function."""
    return not any(
        holds_query(one) or holds_window(one) or any(level > 0 for level, _ in references(one)) for one in expressions
    )


def _is_equality(condition: Expression) -> bool:
    """Whether a condition is an equality of a value of the own record and one of the outer record."""
    match condition:
        case ScalarFunction(function=Function(name="equal"), arguments=(left, right)):
            sides = [
                {level > 0 for level, _ in references(side)}
                for side in (left, right)
                if not isinstance(side, EnumArgument | TypeArgument)
            ]
            return sides in ([{True}, {False}], [{False}, {True}])
        case _:
            return False
