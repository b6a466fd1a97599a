"""Subqueries turned into columns of the relation over which they are evaluated.

A subquery's value becomes a column in one of two ways: by a projection, where Spark takes it there; or else by a join
with the subquery's records for all values of the outer columns that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model import orderedness
from pyspark_substrait.model.expressions import (
    ComparisonOp,
    Expression,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SortField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    DetachedRel,
    Fetch,
    Filter,
    Join,
    JoinType,
    Project,
    Relation,
    Sort,
)
from pyspark_substrait.model.types import I64, Struct
from pyspark_substrait.model.walk import (
    expression_children,
    holds_query,
    holds_window,
    subquery_relation,
    with_children,
)
from pyspark_substrait.sql.conjuncts import COMPARISON
from pyspark_substrait.sql.decorrelation.constructors import (
    ONLY_VALUE,
    all_of,
    called,
    column,
    counted,
    distinct,
    internal,
    negation,
    not_distinct,
    null,
    selected_columns,
    with_columns,
)
from pyspark_substrait.sql.decorrelation.domain_pushdown import carried, in_order
from pyspark_substrait.sql.decorrelation.keys import Domain
from pyspark_substrait.sql.decorrelation.native import Natives, Place, inside
from pyspark_substrait.sql.decorrelation.outer import Subquery, outer_fields, uses_parameters

__all__ = ["Lifting"]


class Lifting:
    """A relation to which columns are added, and the expressions over it.

    Args:
        input: the relation; no outer reference leads out of it, and it needs no rewriting.
        rewritten: rewrites another such relation.
        inside: rewrites the relations inside an expression's subqueries.
        shared: turns a relation into one that may be used several times.
        natives: the subqueries that stay as they are.
        refused: called for a subquery that can't be rewritten, which becomes a null; None to raise the refusal.
    """

    def __init__(
        self,
        input: Relation,
        *,
        rewritten: Callable[[Relation], Relation],
        inside: Callable[[Expression], Expression],
        shared: Callable[[Relation], Relation],
        natives: Natives,
        refused: Callable[[UnsupportedPlanError], None] | None = None,
    ) -> None:
        self._refused = refused
        self._relation = input
        self._rewritten = rewritten
        self._inside = inside
        self._shared = shared
        self._natives = natives
        self._base: Relation | None = None
        self._sorts: tuple[SortField, ...] = ()

    def relation(self) -> Relation:
        """Return the relation with the columns, its records in their original order."""
        return Sort(input=self._relation, sorts=self._sorts) if self._sorts else self._relation

    def expression(self, node: Expression, place: Place) -> Expression:
        """The expression over the relation, without the subqueries that Spark doesn't take in its place."""
        if isinstance(node, Subquery):
            return self._inside(node) if self._natives.allows(node, place) else self._lifted_or_null(node, place)
        return with_children(node, lambda child: self.expression(child, inside(node, child, place)))

    def _lifted_or_null(self, node: Subquery, place: Place) -> Expression:
        try:
            return self._lifted(node, place)
        except UnsupportedPlanError as error:
            if self._refused is None:
                raise
            self._refused(error)
            return null(node.type)

    def _lifted(self, node: Subquery, place: Place) -> Expression:
        if uses_parameters(node):
            raise UnsupportedPlanError(
                "a subquery that depends on a lambda's parameters cannot run on Spark",
                hint="Spark supports no subquery inside a lambda",
            )
        if any(map(holds_query, expression_children(node))):
            changed = with_children(node, lambda child: self.expression(child, Place.NOWHERE))
            assert isinstance(changed, Subquery)
            node = changed
        if any(map(holds_window, expression_children(node))):
            changed = with_children(node, self._as_column)  # a join's condition takes none
            assert isinstance(changed, Subquery)
            node = changed
        if place is Place.KEY and isinstance(node, ScalarSubquery) and not outer_fields(node.input):
            return self._scalar(self._rewritten(node.input), [], alone=_at_most_one(node.input))
        # Spark makes a join of one in a projection, too, and leaves out the sorts below
        is_native = self._natives.allows(node, self._natives.of_column()) and not orderedness.in_order(self._relation)
        return self._projected(node) if is_native else self._joined(node)

    def _projected(self, node: Subquery) -> Expression:
        return self._as_column(self._inside(node))

    def _as_column(self, node: Expression) -> Expression:
        position = len(self._relation.schema.types)
        self._relation = with_columns(self._relation, [node])
        return column(self._relation.schema, position)

    def _joined(self, node: Subquery) -> Expression:
        inner = subquery_relation(node)
        assert inner is not None
        fields, width, alone = sorted(outer_fields(inner)), len(inner.schema.types), _at_most_one(inner)
        base = self._several()
        if fields:
            domain = Domain(relation=distinct(base, fields), keys={field: key for key, field in enumerate(fields)})
            inner = carried(inner, domain)
        query = self._rewritten(inner)
        match node:
            case ScalarSubquery():
                return self._scalar(query, fields, alone=alone)
            case SetPredicate(predicate_op=PredicateOp.EXISTS):
                return self._marked(query, width, fields, lambda pair, at: [])
            case SetPredicate(predicate_op=PredicateOp.UNIQUE):
                return negation(self._marked(_repeated(query, width), width, fields, lambda pair, at: []))
            case InPredicate(needles=needles):

                def among(pair: Struct, at: int) -> list[Expression]:
                    return [
                        _compared(ComparisonOp.EQ, needle, column(pair, at + position))
                        for position, needle in enumerate(needles)
                    ]

                return self._marked(query, width, fields, among)
            case SetComparison(comparison_op=op, left=left, reduction_op=ReductionOp.ANY):
                return self._marked(query, width, fields, lambda pair, at: [_compared(op, left, column(pair, at))])
            case SetComparison(comparison_op=op, left=left, reduction_op=ReductionOp.ALL):
                # all are true unless one isn't
                return negation(
                    self._marked(
                        query, width, fields, lambda pair, at: [negation(_compared(op, left, column(pair, at)))]
                    )
                )
            case SetPredicate() | SetComparison():
                raise AssertionError("all operations are handled")
            case _:
                assert_never(node)

    def _several(self) -> Relation:
        """The relation, shared: it is needed for the values of the outer columns, and for the join with them."""
        if self._base is None:
            ordered = in_order(self._relation)
            if ordered is not None:
                self._relation = ordered.relation
                self._sorts = tuple(
                    replace(sort, expr=column(ordered.relation.schema, ordered.width + position))
                    for position, sort in enumerate(ordered.order)
                )
            self._base = self._relation = self._shared(self._relation)
        return self._base

    def _scalar(self, query: Relation, fields: Sequence[int], *, alone: bool) -> Expression:
        keys = range(1, 1 + len(fields))
        if not alone:
            query, keys = counted(query, keys, 0), range(len(fields))
        start = len(self._relation.schema.types)
        self._join(query, start, keys, fields, JoinType.LEFT, lambda pair, at: [])
        schema = self._relation.schema
        if alone:
            return column(schema, start)
        number, value = column(schema, start + len(fields)), column(schema, start + len(fields) + 1)
        return internal(ONLY_VALUE, [number, value], value.type)

    def _marked(
        self,
        query: Relation,
        width: int,
        fields: Sequence[int],
        conditions: Callable[[Struct, int], list[Expression]],
    ) -> Expression:
        """Return the condition that one of a query's records fulfils conditions; null if none does and one may."""
        start = len(self._relation.schema.types)
        keys = range(width, width + len(fields))
        self._join(query, start, keys, fields, JoinType.LEFT_MARK, conditions)
        return column(self._relation.schema, start)

    def _join(
        self,
        query: Relation,
        start: int,
        keys: range,
        fields: Sequence[int],
        type: JoinType,
        conditions: Callable[[Struct, int], list[Expression]],
    ) -> None:
        """Join the relation with a query whose ``keys`` are the outer ``fields``."""
        pair = Struct(types=(*self._relation.schema.types, *query.schema.types))
        matches = [
            not_distinct(column(pair, field), column(pair, start + key))
            for field, key in zip(fields, keys, strict=True)
        ]
        condition = all_of([*matches, *conditions(pair, start)])
        self._relation = Join(left=self._relation, right=query, type=type, expression=condition)


_FUNCTIONS = {
    ComparisonOp.EQ: "equal",
    ComparisonOp.NE: "not_equal",
    ComparisonOp.LT: "lt",
    ComparisonOp.GT: "gt",
    ComparisonOp.LE: "lte",
    ComparisonOp.GE: "gte",
}


def _compared(op: ComparisonOp, left: Expression, right: Expression) -> Expression:
    nullable = left.type.nullable or right.type.nullable
    return called(COMPARISON, _FUNCTIONS[op], "any_any", [left, right], nullable)


def _repeated(query: Relation, width: int) -> Relation:
    """The records of a query that aren't unique for their keys; as in SQL, one with a null equals none."""
    schema = query.schema
    known = [called(COMPARISON, "is_not_null", "any", [column(schema, position)], False) for position in range(width)]
    groups = counted(Filter(input=query, condition=all_of(known)), range(len(schema.types)), 0)
    number = column(groups.schema, len(schema.types))
    many = _compared(ComparisonOp.GT, number, Literal(type=I64(), value=1))
    return selected_columns(Filter(input=groups, condition=many), range(len(schema.types)))


def _at_most_one(node: Relation) -> bool:
    """Whether a relation clearly has no more than one record."""
    match node:
        case Aggregate():
            return not node.grouping_expressions and len(node.groupings) <= 1
        case Fetch(count_expr=Literal(value=int(count))) if count <= 1:
            return True
        case Filter(input=input) | Project(input=input) | Sort(input=input) | Fetch(input=input):
            return _at_most_one(input)
        case DetachedRel(relation=inner):
            return _at_most_one(inner)
        case _:
            return False
