"""Relations in each other."""

from __future__ import annotations

from typing import Any

from tests.nesting.parts import (
    ANCHORS,
    NULLABLE,
    Maker,
    Step,
    nested,
    put_call,
    put_call_of_field,
    put_comparison,
    put_emit,
    put_field,
    put_filter,
    put_number,
    put_read,
    put_sort,
    put_window,
)

__all__ = ["NESTED_RELATIONS"]


def _project(rel: Any) -> Any:
    put_emit(rel.project.common, 2, 1)
    put_number(put_call_of_field(rel.project.expressions.add(), "add:i64_i64"))
    return rel.project.input


def _widening(rel: Any) -> Any:
    put_number(rel.project.expressions.add())
    return rel.project.input


def _fetch(rel: Any) -> Any:
    put_number(rel.fetch.count_expr, 5)
    return rel.fetch.input


def _sort(rel: Any) -> Any:
    put_sort(rel.sort.sorts)
    return rel.sort.input


def _top(rel: Any) -> Any:
    put_sort(rel.top_n.sorts)
    put_number(rel.top_n.count, 5)
    rel.top_n.mode = 1
    return rel.top_n.input


def _aggregate(rel: Any) -> Any:
    aggregate = rel.aggregate
    put_field(aggregate.grouping_expressions.add())
    aggregate.groupings.add().expression_references.append(0)
    measure = aggregate.measures.add().measure
    measure.function_reference = ANCHORS["sum:i64"]
    measure.output_type.i64.nullability = NULLABLE
    measure.phase = 3
    measure.invocation = 1
    put_field(measure.arguments.add().value, 1)
    return aggregate.input


def _sets(rel: Any) -> Any:
    rel.set.op = 6
    put_read(rel.set.inputs.add())
    return rel.set.inputs.add()


def _joined(kind: str, side: str, *, narrow: bool) -> Step:
    def step(rel: Any) -> Any:
        node = getattr(rel, kind)
        if narrow:
            put_emit(node.common, 0, 1)
        if kind != "cross":
            node.type = 1
        if kind in ("join", "nested_loop_join", "lateral_join"):
            arguments = put_call(node.expression, "equal:any_any", "bool")
            put_field(arguments.add().value)
            put_field(arguments.add().value, 1)
        elif kind != "cross":
            key = node.keys.add()
            key.left.direct_reference.struct_field.SetInParent()
            key.left.root_reference.SetInParent()
            key.right.CopyFrom(key.left)
            key.comparison.simple = 1
        put_read(getattr(node, "right" if side == "left" else "left"))
        return getattr(node, side)

    return step


def _expand(rel: Any) -> Any:
    for position in range(2):
        put_field(rel.expand.fields.add().consistent_field, position)
    put_emit(rel.expand.common, 0, 1)
    return rel.expand.input


def _exchange(rel: Any) -> Any:
    rel.exchange.partition_count = 2
    rel.exchange.round_robin.exact = True
    return rel.exchange.input


def _scalar_subquery(rel: Any) -> Any:
    put_emit(rel.project.common, 0, 2)
    put_read(rel.project.input)
    inner = rel.project.expressions.add().subquery.scalar.input
    put_emit(inner.fetch.common, 0)
    put_number(inner.fetch.count_expr)
    return inner.fetch.input


def _in_predicate(rel: Any) -> Any:
    put_read(rel.filter.input)
    predicate = rel.filter.condition.subquery.in_predicate
    put_field(predicate.needles.add())
    put_emit(predicate.haystack.filter.common, 0)
    put_comparison(predicate.haystack.filter.condition)
    return predicate.haystack.filter.input


def _exists(rel: Any) -> Any:
    put_read(rel.filter.input)
    predicate = rel.filter.condition.subquery.set_predicate
    predicate.predicate_op = 1
    return predicate.tuples


def _comparison_with_any(rel: Any) -> Any:
    put_read(rel.filter.input)
    comparison = rel.filter.condition.subquery.set_comparison
    comparison.reduction_op = 1
    comparison.comparison_op = 3
    put_field(comparison.left)
    put_emit(comparison.right.filter.common, 0)
    put_comparison(comparison.right.filter.condition)
    return comparison.right.filter.input


#: a relation in each relation: the step, and how many columns one adds
_RELATIONS: dict[str, tuple[Step, int]] = {
    "filters": (put_filter, 0),
    "projections": (_project, 0),
    "projections that widen": (_widening, 1),
    "fetches": (_fetch, 0),
    "sorts": (_sort, 0),
    "top-n": (_top, 0),
    "aggregates": (_aggregate, 0),
    "unions": (_sets, 0),
    "joins on the left": (_joined("join", "left", narrow=True), 0),
    "joins on the right": (_joined("join", "right", narrow=True), 0),
    "joins that widen": (_joined("join", "left", narrow=False), 2),
    "cross joins": (_joined("cross", "right", narrow=True), 0),
    "cross joins that widen": (_joined("cross", "left", narrow=False), 2),
    "hash joins": (_joined("hash_join", "left", narrow=True), 0),
    "merge joins": (_joined("merge_join", "right", narrow=True), 0),
    "nested loop joins": (_joined("nested_loop_join", "left", narrow=True), 0),
    "lateral joins on the left": (_joined("lateral_join", "left", narrow=True), 0),
    "lateral joins on the right": (_joined("lateral_join", "right", narrow=True), 0),
    "expands": (_expand, 0),
    "window relations": (put_window, 0),
    "exchanges": (_exchange, 0),
    "scalar subqueries": (_scalar_subquery, 0),
    "in predicates": (_in_predicate, 0),
    "exists": (_exists, 0),
    "comparisons with any": (_comparison_with_any, 0),
}


def _nested(step: Step, wider: int) -> Maker:
    def begin(plan: Any, size: int) -> Any:
        root = plan.relations.add().root
        root.names.extend(f"c{number}" for number in range(2 + wider * size))
        return root.input

    return nested(begin, step, put_read)


NESTED_RELATIONS: dict[str, Maker] = {
    f"{what} in each other": _nested(step, wider) for what, (step, wider) in _RELATIONS.items()
}
