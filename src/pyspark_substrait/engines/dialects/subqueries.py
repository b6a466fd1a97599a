"""Expressions with a query in them. Nulls are those of SQL's three-valued logic, written out where engines differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp
from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import expressions, relations
from pyspark_substrait.engines.dialects.query import Query, conjunction
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope
from pyspark_substrait.engines.dialects.tree import operand, repeated
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    ComparisonOp,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.relations import Aggregate, Fetch, Filter, Project, Relation
from pyspark_substrait.model.types import FP32, FP64, concrete, same_type

__all__ = ["exists", "subquery", "three_valued"]

_COMPARISONS: dict[ComparisonOp, type[exp.Binary]] = {
    ComparisonOp.EQ: exp.EQ,
    ComparisonOp.NE: exp.NEQ,
    ComparisonOp.LT: exp.LT,
    ComparisonOp.GT: exp.GT,
    ComparisonOp.LE: exp.LTE,
    ComparisonOp.GE: exp.GTE,
}


def subquery(
    node: ScalarSubquery | InPredicate | SetPredicate | SetComparison, scope: Scope, compilation: Compilation
) -> exp.Expression:
    """Return an expression with a query in it."""
    inner = (*scope.outer, scope.record)
    match node:
        case ScalarSubquery():
            if not compilation.dialect.single_rows and not _has_one_row(node.input):
                raise UnsupportedPlanError(
                    f"{compilation.dialect.engine} takes the first of several records where one is needed",
                    path="scalar",
                    hint="Aggregate the query, or limit it to one record",
                    code=Code.TARGET_FEATURE,
                )
            with at("scalar", "input"):
                return exp.Subquery(this=relations.relation(node.input, inner, compilation).select())
        case SetPredicate(predicate_op=PredicateOp.EXISTS):
            with at("set_predicate", "tuples"):
                return exists(relations.relation(node.tuples, inner, compilation), (), compilation)
        case SetPredicate():
            raise UnsupportedPlanError(
                f"the predicate {node.predicate_op.value} has no form in {compilation.dialect.engine} yet",
                path="set_predicate",
                code=Code.TARGET_EXPRESSION,
            )
        case InPredicate():
            with at("in_predicate"):
                return _in(node, scope, inner, compilation)
        case SetComparison():
            with at("set_comparison"):
                return _compared(node, scope, inner, compilation)
        case _:
            assert_never(node)


def _has_one_row(node: Relation) -> bool:
    """Whether a relation never has more than one record."""
    match node:
        case Aggregate(grouping_expressions=()):
            return len(node.groupings) <= 1
        case Project(input=inner) | Filter(input=inner):
            return _has_one_row(inner)
        case Fetch(count_expr=count):
            return getattr(count, "value", None) in (0, 1) or _has_one_row(node.input)
        case _:
            return False


def exists(query: Query, conditions: Sequence[exp.Expression], compilation: Compilation) -> exp.Expression:
    """Return whether a query has a record for which all conditions, over its columns, are true."""
    if query.keys is not None or query.is_limited:
        query = query.nested(compilation.names)
    bare = replace(query.filtered(conditions), items=(), order=())
    return exp.Exists(this=bare.select())


def three_valued(
    query: Query,
    certain: Sequence[exp.Expression],
    uncertain: Sequence[exp.Expression],
    compilation: Compilation,
    *,
    found: bool = True,
) -> exp.Expression:
    """Return whether some record of a query fulfils all conditions; null if that is unknown.

    Args:
        query: a flat query.
        certain: conditions that are never null.
        uncertain: conditions that may be.
        compilation: the statement in the making.
        found: the value where there is such a record; else its opposite.
    """
    yes, no = (exp.true(), exp.false()) if found else (exp.false(), exp.true())
    here = exists(query, [*certain, *uncertain], compilation)
    if not uncertain:
        return here if found else exp.Not(this=here)
    copied = replace(
        query,
        source=None if query.source is None else repeated(query.source),
        joins=tuple(repeated(join) for join in query.joins),
        where=tuple(repeated(one) for one in query.where),
    )
    unknown = exp.Is(this=exp.Paren(this=conjunction([repeated(one) for one in uncertain])), expression=exp.null())
    maybe = exists(copied, [*(repeated(one) for one in certain), unknown], compilation)
    return exp.Case(ifs=[exp.If(this=here, true=yes), exp.If(this=maybe, true=exp.null())], default=no)


def _in(node: InPredicate, scope: Scope, inner: tuple[Record, ...], compilation: Compilation) -> exp.Expression:
    types = node.haystack.schema.types
    if len(types) != len(node.needles):
        raise InvalidPlanError(f"there are {len(node.needles)} needles for {len(types)} columns", path="needles")
    for position, (needle_node, type) in enumerate(zip(node.needles, types, strict=True)):
        if not same_type(needle_node.type, type):
            raise InvalidPlanError(f"a {needle_node.type} is looked for in {type}", path=f"needles[{position}]")
    nullable = any(type.nullable for type in (*types, *(needle.type for needle in node.needles)))
    is_told = compilation.dialect.unknown_in or scope.filtering or not nullable
    is_plain = len(node.needles) == 1 and is_told and not isinstance(concrete(types[0]), FP32 | FP64)
    needles = []
    around = replace(scope, filtering=False, windows=scope.windows and is_plain)  # others go into a WHERE
    for position, needle in enumerate(node.needles):
        with at("needles", position):
            needles.append(expressions.expression(needle, around, compilation))
    with at("haystack"):
        query = relations.relation(node.haystack, inner, compilation)
    if is_plain:
        return exp.In(this=operand(needles[0]), query=exp.Subquery(this=query.unordered().select()))
    query = query.flat(compilation.names)
    certain: list[exp.Expression] = []
    uncertain: list[exp.Expression] = []
    for value, item, one, type in zip(needles, query.items, node.needles, types, strict=True):
        condition = expressions.equal(value, item.tree.copy(), type, compilation)
        (uncertain if one.type.nullable or type.nullable else certain).append(condition)
    return three_valued(query, certain, uncertain, compilation)


def _compared(node: SetComparison, scope: Scope, inner: tuple[Record, ...], compilation: Compilation) -> exp.Expression:
    with at("left"):
        left = expressions.expression(node.left, replace(scope, windows=False), compilation)
    with at("right"):
        query = relations.relation(node.right, inner, compilation).flat(compilation.names)
    if len(query.items) != 1:
        raise InvalidPlanError(f"the query has {len(query.items)} columns, and one is compared", path="right")
    template = relations.order_template(node.left.type, compilation)
    one, other = (compilation.dialect.filled(template, value) for value in (left, query.items[0].tree.copy()))
    compare = _COMPARISONS[node.comparison_op]
    condition = compilation.dialect.compared(compare, one, other, node.left.type)
    some = node.reduction_op is ReductionOp.ANY
    if not some:
        condition = exp.Not(this=exp.Paren(this=condition))
    nullable = node.left.type.nullable or node.right.schema.types[0].nullable
    return three_valued(
        query, () if nullable else [condition], [condition] if nullable else (), compilation, found=some
    )
