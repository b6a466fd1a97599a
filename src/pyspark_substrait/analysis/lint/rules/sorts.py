"""Rules about the order of records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.columns import in_place_of
from pyspark_substrait.analysis.lint.expression_match import deterministic, worded
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.analysis.lint.rules.measures import heedless_of_order
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import SortDirection, SortField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import Aggregate, Cross, Fetch, Filter, Join, Project, Relation, Set, Sort
from pyspark_substrait.model.walk import holds_query, holds_window

__all__: list[str] = []


@rule(Code.LINT_SORT_KEY_WITHOUT_EFFECT, Sort, fixes=True)
def sort_key_without_effect(node: Sort, context: Context) -> Iterator[Remark]:
    """A literal is the same for all records, and a repeated key cannot break further ties. Such a key does not change
    the order."""
    kept: list[SortField] = []
    dropped: list[SortField] = []
    for sort in node.sorts:
        if isinstance(sort.expr, Literal) or (
            isinstance(sort.sort_kind, SortDirection)
            and any(sort.expr == other.expr and isinstance(other.sort_kind, SortDirection) for other in kept)
            and deterministic(sort.expr, context)
        ):
            dropped.append(sort)
        else:
            kept.append(sort)
    for sort in dropped:
        what = f"the sort key {worded(sort.expr, context.names)} does not change the order"
        yield Remark(what=what, at=sort, instead=replace(node, sorts=tuple(kept)))


@rule(Code.LINT_SORT_WITHOUT_KEYS, Sort, fixes=True)
def sort_without_keys(node: Sort, context: Context) -> Iterator[Remark]:
    """A sort without keys has no effect."""
    if not node.sorts:
        yield Remark(what="the sort has no keys", instead=in_place_of(node, node.input, context))


@rule(Code.LINT_SORT_LOST, Aggregate, Join, Cross, Set, Sort, fixes=True)
def sort_that_is_lost(node: Relation, context: Context) -> Iterator[Remark]:
    """Aggregates, joins, set operations and sorts do not keep the order of their inputs. A sort directly below one has
    no effect, unless a measure depends on the order."""
    if isinstance(node, Aggregate) and not heedless_of_order(node):
        return
    for number, input in enumerate(node.inputs):
        lost = _lost_sort(input)
        if lost is None:
            continue
        instead = None
        rest = _without_sort(input, context)
        # records that are equal to a sort have no defined order, but a fetch above may show the order that they have
        if rest is not None and not isinstance(node, Sort):
            inputs = [*node.inputs]
            inputs[number] = rest
            instead = _with_inputs(node, inputs)
        what = f"the records are sorted for {_NAMES[type(node)]}, which loses the order"
        yield Remark(what=what, fix="Leave out the sort", at=lost, instead=instead)


_NAMES: dict[type, str] = {
    Aggregate: "an aggregate",
    Join: "a join",
    Cross: "a cross product",
    Set: "a set operation",
    Sort: "another sort",
}


def _lost_sort(node: Relation) -> Sort | None:
    """Return the sort that orders an input, through filters and projections that don't depend on the order."""
    match node:
        case Sort():
            return node
        case Filter(input=input, condition=condition) if not holds_query(condition):
            return _lost_sort(input)
        case Project(input=input, expressions=expressions) if not any(
            holds_window(item) or holds_query(item) for item in expressions
        ):
            return _lost_sort(input)
        case _:
            return None


def _without_sort(node: Relation, context: Context) -> Relation | None:
    match node:
        case Sort():
            return in_place_of(node, node.input, context)
        case Filter() | Project():
            rest = _without_sort(node.input, context)
            return None if rest is None else replace(node, input=rest)
        case _:
            return None


def _with_inputs(node: Relation, inputs: list[Relation]) -> Relation:
    match node:
        case Aggregate():
            return replace(node, input=inputs[0])
        case Join() | Cross():
            return replace(node, left=inputs[0], right=inputs[1])
        case Set():
            return replace(node, members=tuple(inputs))
        case _:
            return node


@rule(Code.LINT_FETCH_WITHOUT_ORDER, Fetch)
def fetch_without_order(node: Fetch, context: Context) -> Iterator[Remark]:
    """The records that a fetch keeps depend on their order. Without a sort below, each run may keep others."""
    offset, count = node.offset_expr, node.count_expr
    skips = offset is not None and not (isinstance(offset, Literal) and not offset.value)
    keeps_some = count is not None and not (isinstance(count, Literal) and not count.value)
    if (skips or keeps_some) and not in_order(node.input):
        yield Remark(what="the fetch keeps some records of an input that has no order", fix="Sort the input")
