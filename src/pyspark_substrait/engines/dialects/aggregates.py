"""Aggregates. Keys that aren't columns are computed below, so that they are written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import expressions, relations
from pyspark_substrait.engines.dialects.query import Item, Query
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope
from pyspark_substrait.engines.dialects.tree import is_column, number, repeated
from pyspark_substrait.engines.grouping_sets import in_one_grouping
from pyspark_substrait.engines.totals import with_kept_totals
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    EnumArgument,
    Expression,
    FieldReference,
    RootReference,
    SortField,
    StructField,
    TypeArgument,
)
from pyspark_substrait.model.relations import Aggregate, Project, Relation, RelCommon
from pyspark_substrait.model.types import FP32, FP64, I32, Type, concrete
from pyspark_substrait.model.walk import expressions_within, is_outer_reference, relation_expressions

__all__ = ["aggregate", "decorated"]

Outer = tuple[Record, ...]


def aggregate(node: Aggregate, outer: Outer, compilation: Compilation) -> Query:
    """Return the query of an aggregate."""
    if not node.direct_schema.types:
        raise InvalidPlanError("an aggregate has at least one grouping expression or measure")
    if any(is_outer_reference(item) for item in expressions_within(relation_expressions(node))):
        below = _outer_values_below(node)
        if below is not node:
            return relations.relation(below, outer, compilation)
    sets = [grouping.expression_references for grouping in node.groupings]
    if len(sets) > 1 and not (compilation.dialect.grouping_sets and len({frozenset(one) for one in sets}) == len(sets)):
        bare = replace(node, common=replace(node.common, emit=None))
        one = in_one_grouping(bare)
        if not compilation.dialect.keeps_conditions:
            one = with_kept_totals(one, filtered=True)
        return relations.relation(one, outer, compilation)
    for position, expression in enumerate(node.grouping_expressions):
        with at("grouping_expressions", position):
            relations.equality_template(expression.type, compilation)
    with at("input"):
        query = relations.relation(node.input, outer, compilation)
    query, keys = _keys(node, query, outer, compilation)
    scope = Scope(Record(query.columns[: len(node.input.schema.types)], node.common.rel_anchor), outer)
    items = [Item(key.copy(), query_name(query, key)) for key in keys]
    for position, item in enumerate(node.measures):
        with at("measures", position):
            condition = None
            if item.filter is not None:
                with at("filter"):
                    condition = expressions.expression(item.filter, scope, compilation)
            with at("measure"):
                items.append(Item(_measure(item.measure, condition, scope, compilation)))
    if len(sets) <= 1:
        return _one_set(node, query, items, keys, compilation)
    items.append(Item(_set_number(sets, keys, compilation), "grouping_set"))
    listed = [exp.Tuple(expressions=[keys[place].copy() for place in one]) for one in sets]
    found = replace(query, items=tuple(items), keys=(exp.GroupingSets(expressions=listed),), order=())
    return found.nested(compilation.names)


def _one_set(
    node: Aggregate, query: Query, items: Sequence[Item], keys: Sequence[exp.Expression], compilation: Compilation
) -> Query:
    """Return the groups of one set, in which the keys that it leaves out are null."""
    listed = set(node.groupings[0].expression_references) if node.groupings else set()
    if len(listed) == len(keys):
        return replace(query, items=tuple(items), keys=tuple(keys), order=())
    types = node.direct_schema.types
    kept = [
        item if place in listed or place >= len(keys) else Item(compilation.dialect.typed(exp.null(), types[place]))
        for place, item in enumerate(items)
    ]
    if not listed and not node.measures:  # one record, whatever there is
        return Query(source=None, items=tuple(kept)).nested(compilation.names)
    grouped = replace(query, items=tuple(kept), keys=tuple(keys[place] for place in sorted(listed)), order=())
    return grouped.nested(compilation.names)


def _outer_values_below(node: Aggregate) -> Relation:
    """Return an aggregate whose outer columns are computed below: one of these alone would be the outer query's."""
    width = len(node.input.schema.types)
    made: list[Expression] = []

    def below(value: Expression) -> Expression:
        if not any(is_outer_reference(item) for item in expressions_within((value,))):
            return value
        made.append(value)
        place = (StructField(width + len(made) - 1),)
        return FieldReference(root=RootReference(), reference=place, type=value.type)

    measures = []
    for measure in node.measures:
        arguments = [
            one if isinstance(one, EnumArgument | TypeArgument) else below(one) for one in measure.measure.arguments
        ]
        sorts = [replace(one, expr=below(one.expr)) for one in measure.measure.sorts]
        call = replace(measure.measure, arguments=tuple(arguments), sorts=tuple(sorts))
        condition = None if measure.filter is None else below(measure.filter)
        measures.append(replace(measure, measure=call, filter=condition))
    keys = tuple(below(key) for key in node.grouping_expressions)
    if not made:
        return node
    common = RelCommon(rel_anchor=node.common.rel_anchor)
    values = Project(common=common, input=node.input, expressions=tuple(made))
    bare = replace(node.common, emit=None)
    return replace(node, common=bare, input=values, measures=tuple(measures), grouping_expressions=keys)


def query_name(query: Query, key: exp.Expression) -> str:
    """Return the name of a column of a query."""
    return next((item.name for item in query.items if item.tree == key), "")


def is_float(type: Type) -> bool:
    """Whether a type is one of floating-point numbers."""
    return isinstance(concrete(type), FP32 | FP64)


def _keys(node: Aggregate, query: Query, outer: Outer, compilation: Compilation) -> tuple[Query, list[exp.Expression]]:
    """Return the input with the grouping keys as its last columns, and these."""
    width = len(query.items)
    query, keys = relations.values(
        query, node.grouping_expressions, node.common.rel_anchor, outer, compilation, "grouping_expressions"
    )
    keys = [
        compilation.dialect.filled(compilation.dialect.float_equality, key) if is_float(node.type) else key
        for key, node in zip(keys, node.grouping_expressions, strict=True)
    ]
    if all(map(is_column, keys)) and len(set(keys)) == len(keys):
        return replace(query, items=(*query.items[:width], *(Item(key, query_name(query, key)) for key in keys))), keys
    query = replace(query, items=(*query.items[:width], *map(Item, keys))).nested(compilation.names)
    return query, list(query.columns[width:])


def _set_number(
    sets: Sequence[tuple[int, ...]], keys: Sequence[exp.Expression], compilation: Compilation
) -> exp.Expression:
    """Return the position of the grouping set of a record, by the keys that GROUPING says aren't in it."""
    arms = []
    for position, one in enumerate(sets):
        bits = sum(1 << (len(keys) - 1 - place) for place in range(len(keys)) if place not in one)
        grouping = exp.Anonymous(this="GROUPING", expressions=[key.copy() for key in keys])
        arms.append(exp.If(this=exp.EQ(this=grouping, expression=number(bits)), true=number(position)))
    return compilation.dialect.typed(exp.Case(ifs=arms), I32())


def _measure(
    node: AggregateFunction, condition: exp.Expression | None, scope: Scope, compilation: Compilation
) -> exp.Expression:
    if node.phase is not AggregationPhase.INITIAL_TO_RESULT:
        raise UnsupportedPlanError(
            f"the phase {node.phase.name} has no form in {compilation.dialect.engine}",
            path="phase",
            code=Code.TARGET_FEATURE,
        )
    distinct = node.invocation is AggregationInvocation.DISTINCT
    if distinct and not node.arguments:
        raise UnsupportedPlanError(
            f"DISTINCT of {node.function.key} has no form in {compilation.dialect.engine}",
            path="invocation",
            code=Code.TARGET_FEATURE,
        )
    call, row = expressions.call(node, scope, compilation)
    order = _order(node.sorts, scope, compilation)
    value = row.made(call)
    if condition is not None and not compilation.dialect.filters:
        value, condition = _of_values_where(value, condition), None
    made = decorated(value, distinct=distinct, order=order, condition=condition)
    return expressions.declared(made, node, compilation)


def _order(sorts: Sequence[SortField], scope: Scope, compilation: Compilation) -> list[exp.Ordered]:
    keys = []
    for position, field in enumerate(sorts):
        with at("sorts", position):
            keys.append(expressions.expression(field.expr, scope, compilation))
    return relations.orders(sorts, keys, compilation)


def _of_values_where(made: exp.Expression, condition: exp.Expression) -> exp.Expression:
    """Return an aggregate of the values in records for which a condition is true; the others are null."""
    marks = [item.expressions[0] for item in _marks(made)] or [made]
    for found in marks:
        first, *others = found.expressions
        value = number(1) if isinstance(first, exp.Star) else first
        kept = exp.Case(ifs=[exp.If(this=repeated(condition), true=value)])
        found.set("expressions", [kept, *others])
    return made


def _marks(made: exp.Expression) -> list[exp.Anonymous]:
    return [item for item in made.find_all(exp.Anonymous) if item.name.lower() == "agg"]


def decorated(
    made: exp.Expression,
    *,
    distinct: bool = False,
    order: Sequence[exp.Ordered] = (),
    condition: exp.Expression | None = None,
    window: exp.Window | None = None,
) -> exp.Expression:
    """Return an aggregate with DISTINCT, ORDER BY, FILTER and OVER, at the calls that ``agg(…)`` is around.

    Args:
        made: the value, in which such calls are; or one call.
        distinct: whether equal arguments are merged.
        order: the sort keys inside of the call.
        condition: the condition of FILTER.
        window: a window without its function.
    """
    marks = _marks(made)
    if not marks:
        marks = [made := exp.Anonymous(this="agg", expressions=[made])]
    for position, mark in enumerate(marks):
        found: exp.Expression = mark.expressions[0]
        is_call = isinstance(found, exp.Anonymous)  # a node of sqlglot's own has its one argument by itself
        arguments = list(found.expressions) if is_call else [found.this]
        if distinct:
            arguments = [exp.Distinct(expressions=arguments[:1]), *arguments[1:]]
        if order and arguments:
            arguments[-1] = exp.Order(this=arguments[-1], expressions=[key.copy() for key in order])
        if is_call:
            found.set("expressions", arguments)
        else:
            found.set("this", arguments[0])
        if condition is not None:
            where = exp.Where(this=repeated(condition) if position else condition)
            found = exp.Filter(this=found, expression=where)
        if window is not None:
            over = window.copy()
            over.set("this", found)
            found = over
        if mark is made:
            return found
        mark.replace(found)
    return made
