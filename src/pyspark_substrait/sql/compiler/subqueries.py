"""Subqueries as Spark SQL.

Spark's ``IN (subquery)`` and ``NOT IN (subquery)`` have SQL's semantics for nulls only as conjuncts of a condition;
anywhere else they are expressed with EXISTS, which is never null.
"""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    ComparisonOp,
    Expression,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Type, same_type
from pyspark_substrait.model.walk import holds_window
from pyspark_substrait.sql.compiler import expressions, relations
from pyspark_substrait.sql.compiler.query import Query
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import has_map, has_order
from pyspark_substrait.sql.fragment import Atom

__all__ = ["conjunct", "subquery"]


def subquery(
    node: ScalarSubquery | InPredicate | SetPredicate | SetComparison, scope: Scope, compilation: Compilation
) -> Atom:
    """The text of a subquery expression, for any place."""
    match node:
        case ScalarSubquery(input=input):
            with at("scalar", "input"):
                query = _query(input, scope, compilation)
            if len(query.columns) != 1:
                raise InvalidPlanError(f"a scalar subquery has one column, this one has {len(query.columns)}")
            return Atom(f"({query.text()})")
        case SetPredicate(tuples=tuples):
            with at("set_predicate", "tuples"):
                query = _query(tuples, scope, compilation)
                if node.predicate_op is PredicateOp.UNIQUE:
                    for column in tuples.schema.types:
                        _comparable(column, "")
            match node.predicate_op:
                case PredicateOp.EXISTS:
                    return _exists(query)
                case PredicateOp.UNIQUE:
                    return Atom(f"(NOT {_exists_duplicate(query)})")
                case _:
                    assert_never(node.predicate_op)
        case InPredicate():
            if not node.type.nullable:
                return _in(node, scope, compilation)
            with at("in_predicate"):
                for position, needle in enumerate(node.needles):
                    with at("needles", position):
                        _refuse_windows(needle)
                needles, query = _needles(node, scope, compilation)
            pairs = " AND ".join(f"{needle} = {column}" for needle, column in zip(needles, query.columns, strict=True))
            return _three_valued(query, f"({pairs})", decisive=True)
        case SetComparison():
            with at("set_comparison"):
                comparison, query = _comparison(node, scope, compilation)
            return _three_valued(query, comparison, decisive=node.reduction_op is ReductionOp.ANY)
        case _:
            assert_never(node)


def query_copies(node: Expression) -> int:
    """Return how often the text has the query of a subquery expression: twice where the predicate may be unknown."""
    return 2 if isinstance(node, InPredicate | SetComparison) else 1


def conjunct(node: InPredicate | SetComparison, scope: Scope, compilation: Compilation) -> Atom:
    """Return the text of a predicate for a place where false and null are equivalent."""
    match node:
        case InPredicate():
            return _in(node, scope, compilation)
        case SetComparison(reduction_op=ReductionOp.ANY):
            with at("set_comparison"):
                comparison, query = _comparison(node, scope, compilation)
            return _exists(query.flat().filtered([comparison]))
        case _:
            return subquery(node, scope, compilation)


def _query(relation: Relation, scope: Scope, compilation: Compilation) -> Query:
    """The relation of a subquery; the current record is the nearest outer one inside it."""
    compilation.has_elsewhere = True
    return relations.relation(relation, (*scope.outer, scope.record), compilation)


def _exists(query: Query) -> Atom:
    return Atom(f"(EXISTS ({query.text()}))")


def _exists_duplicate(query: Query) -> Atom:
    """Whether there are two equal records; as in SQL, a record with a null equals none."""
    query = query.flat()
    known = query.filtered([f"{column} IS NOT NULL" for column in query.columns])
    groups = f"GROUP BY {', '.join(query.columns)} HAVING count(1) > 1"
    return _exists(replace(known, tail=groups))


def _in(node: InPredicate, scope: Scope, compilation: Compilation) -> Atom:
    with at("in_predicate"):
        needles, query = _needles(node, scope, compilation)
    row = needles[0] if len(needles) == 1 else f"({', '.join(needles)})"
    return Atom(f"({row} IN ({query.text()}))")


def _needles(node: InPredicate, scope: Scope, compilation: Compilation) -> tuple[list[Atom], Query]:
    needles = []
    for position, needle in enumerate(node.needles):
        with at("needles", position):
            needles.append(expressions.expression(needle, scope, compilation))
    with at("haystack"):
        query = _query(node.haystack, scope, compilation)
    if len(needles) != len(query.columns):
        raise InvalidPlanError(f"there are {len(needles)} needles, but the haystack has {len(query.columns)} columns")
    for position, (needle, type) in enumerate(zip(node.needles, node.haystack.schema.types, strict=True)):
        if not same_type(needle.type, type):
            raise InvalidPlanError(
                f"the needle is {needle.type}, the haystack's column {type}",
                path=f"needles[{position}]",
                hint="Cast one of them",
            )
        _comparable(type, f"needles[{position}]")
    return needles, query


def _comparison(node: SetComparison, scope: Scope, compilation: Compilation) -> tuple[str, Query]:
    with at("left"):
        _refuse_windows(node.left)
        left = expressions.expression(node.left, scope, compilation)
    with at("right"):
        query = _query(node.right, scope, compilation)
    if len(query.columns) != 1:
        raise InvalidPlanError(f"the query has {len(query.columns)} columns; a comparison takes one", path="right")
    type = node.right.schema.types[0]
    if not same_type(node.left.type, type):
        raise InvalidPlanError(f"the left side is {node.left.type}, the query's column {type}", hint="Cast one of them")
    _comparable(type, "left")
    if node.comparison_op not in (ComparisonOp.EQ, ComparisonOp.NE) and not has_order(type):
        raise UnsupportedPlanError(f"values of type {type} have no order", path="comparison_op")
    return f"({left} {node.comparison_op.value} {query.columns[0]})", query


def _refuse_windows(operand: Expression) -> None:
    """Refuse a window function in an operand, which Spark would have to compute in a condition."""
    if holds_window(operand):
        raise UnsupportedPlanError(
            "a window function that is compared with a subquery cannot run on Spark",
            hint="Compute it in a projection below",
        )


def _comparable(type: Type, path: str) -> None:
    if has_map(type):
        raise UnsupportedPlanError(
            f"a value of type {type} cannot be compared: Spark has no equality of maps", path=path
        )


def _three_valued(query: Query, comparison: str, *, decisive: bool) -> Atom:
    """Reduce a comparison over all records: a ``decisive`` one determines the result, else a null one makes it null."""
    query = query.flat()
    deciding = comparison if decisive else f"(NOT {comparison})"
    found = _exists(query.filtered([deciding]))
    unknown = _exists(query.filtered([f"({comparison} IS NULL)"]))
    decided, otherwise = ("true", "false") if decisive else ("false", "true")
    return Atom(f"(CASE WHEN {found} THEN {decided} WHEN {unknown} THEN NULL ELSE {otherwise} END)")
