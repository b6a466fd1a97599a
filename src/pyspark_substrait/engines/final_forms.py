"""Forms of aggregates, projections, sorts and windows that all of them must have for an engine, made ones included."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.constructors import called, coalesced
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.offsets import with_counted_offsets
from pyspark_substrait.engines.totals import with_kept_totals
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    Function,
    IfThen,
    SortField,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Grouping, Project, Relation, Sort, SortBase
from pyspark_substrait.model.types import FP32, FP64, Boolean, concrete, with_nullability
from pyspark_substrait.model.walk import subquery_relation, with_children, with_expressions, with_inputs, with_query

__all__ = ["in_final_form"]


def in_final_form(node: Relation, target: Target) -> Relation:
    """Return a tree in which all aggregates and projections have the form that the engine takes."""
    if not target.keeps_conditions:
        node = with_kept_totals(node)
    if not target.keeps_offsets:
        node = with_counted_offsets(node)
    forms = (target.sets_of_groupings, target.aggregate_emits, target.own_columns, target.two_zeros)
    if not any(forms) and target.null_conditions:
        return node

    def relation(node: Relation) -> Relation:
        node = with_expressions(with_inputs(node, relation), expression)
        match node:
            case Aggregate():
                return _aggregate(node, target)
            case Project() if target.own_columns:
                return _with_own_columns(node)
            case SortBase() if target.two_zeros:
                node = replace(node, sorts=tuple(map(_with_one_zero, node.sorts)))
                inner = node.input
                if isinstance(inner, Sort) and inner.common.emit is None:
                    # undone by this one; and DataFusion takes a computed key that both have for a column
                    node = replace(node, input=inner.input)
                return node
            case _:
                return node

    def expression(node: Expression) -> Expression:
        node = with_children(node, expression)
        query = subquery_relation(node)
        if isinstance(node, WindowFunction) and target.two_zeros:
            sorts, partitions = tuple(map(_with_one_zero, node.sorts)), tuple(map(_one_zero, node.partitions))
            return replace(node, sorts=sorts, partitions=partitions)
        if isinstance(node, IfThen) and not target.null_conditions:
            return _with_known_condition(node)
        return node if query is None else with_query(node, relation(query))

    return relation(node)


def _with_known_condition(node: IfThen) -> IfThen:
    """Return a conditional whose only condition is false where it was null."""
    condition = node.ifs[0].if_
    if len(node.ifs) > 1 or not condition.type.nullable:
        return node
    known = coalesced(condition.type, condition, Literal(type=Boolean(), value=False))
    return replace(node, ifs=(replace(node.ifs[0], if_=known),))


def _with_one_zero(sort: SortField) -> SortField:
    return replace(sort, expr=_one_zero(sort.expr))


def _one_zero(value: Expression) -> Expression:
    """Return a floating-point number without the sign of zero; any other value as it is."""
    signature = {FP32: "fp32_fp32", FP64: "fp64_fp64"}.get(type(concrete(value.type)))
    if signature is None or isinstance(value, Literal):
        return value
    zero = Literal(type=with_nullability(value.type, False), value=0.0)
    function = Function("extension:io.substrait:functions_arithmetic", "add", signature)
    return called(function, value.type, value, zero)


def _aggregate(node: Aggregate, target: Target) -> Aggregate:
    if target.sets_of_groupings and not node.groupings:
        node = replace(node, groupings=(Grouping(tuple(range(len(node.grouping_expressions)))),))
    if target.aggregate_emits and node.common.emit is None:
        emit = tuple(range(len(node.direct_schema.types)))
        node = replace(node, common=replace(node.common, emit=emit))
    return node


def _with_own_columns(node: Project) -> Project:
    """Return a projection in which a column of its input that is there twice is a cast to its own type."""
    seen: list[Expression] = []
    made: list[Expression] = []
    for expression in node.expressions:
        if isinstance(expression, FieldReference) and expression in seen:
            made.append(Cast(type=expression.type, input=expression, failure_behavior=FailureBehavior.THROW_EXCEPTION))
        else:
            seen.append(expression)
            made.append(expression)
    return replace(node, expressions=tuple(made))
