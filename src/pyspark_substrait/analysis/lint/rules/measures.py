"""Rules about aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.expression_match import column, is_constant, position, worded
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import AggregateFunction, AggregationInvocation
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate
from pyspark_substrait.model.repeats import repeats

__all__ = ["heedless_of_order"]

_SAME_WHEN_DISTINCT = {"min", "max", "bool_and", "bool_or", "any_value"}
_HEEDLESS = {"count", "min", "max", "bool_and", "bool_or"}
_OFFICIAL = "extension:io.substrait:"


def _standard(call: AggregateFunction, names: set[str]) -> bool:
    return call.function.urn.startswith(_OFFICIAL) and call.function.name in names


def heedless_of_order(node: Aggregate) -> bool:
    """Whether the measures don't depend on the order of the records."""
    return all(_standard(item.measure, _HEEDLESS) for item in node.measures)


@rule(Code.LINT_DISTINCT_WITHOUT_EFFECT, Aggregate, fixes=True)
def distinct_without_effect(node: Aggregate, context: Context) -> Iterator[Remark]:
    """The minimum and the maximum are the same with and without repeated values, and so are the logical aggregates.
    Engines may still sort or hash to merge them."""
    for number, item in enumerate(node.measures):
        call = item.measure
        if call.invocation is AggregationInvocation.DISTINCT and _standard(call, _SAME_WHEN_DISTINCT):
            instead = None
            if call.function.name != "any_value":
                changed = replace(item, measure=replace(call, invocation=AggregationInvocation.ALL))
                instead = _with_measure(node, number, changed)
            what = f"{worded(call, context.names)} is the same whether repeated values are merged or not"
            yield Remark(what=what, fix="Leave out the invocation distinct", at=item, instead=instead)


@rule(Code.LINT_ORDER_WITHOUT_EFFECT, Aggregate, fixes=True)
def order_without_effect(node: Aggregate, context: Context) -> Iterator[Remark]:
    """A count, a minimum or a maximum does not depend on the order of the records."""
    for number, item in enumerate(node.measures):
        call = item.measure
        if call.sorts and _standard(call, _HEEDLESS):
            instead = _with_measure(node, number, replace(item, measure=replace(call, sorts=())))
            what = f"{worded(call, context.names)} is the same in any order, and sorts its records"
            yield Remark(what=what, fix="Leave out the sorts", at=item, instead=instead)


@rule(Code.LINT_FILTERED_MEASURE, Aggregate, fixes=True)
def filtered_measure(node: Aggregate, context: Context) -> Iterator[Remark]:
    """A measure whose filter is true includes all records, as without one; one whose filter is false or null includes
    none."""
    for number, item in enumerate(node.measures):
        if item.filter is None:
            continue
        if is_constant(item.filter, True):
            what = f"the filter of {worded(item.measure, context.names)} is true"
            yield Remark(what=what, at=item, instead=_with_measure(node, number, replace(item, filter=None)))
        elif is_constant(item.filter, False) or is_constant(item.filter, None):
            yield Remark(what=f"the filter of {worded(item.measure, context.names)} drops every record", at=item)


@rule(Code.LINT_GROUPED_BY_CONSTANT, Aggregate)
def grouped_by_constant(node: Aggregate, context: Context) -> Iterator[Remark]:
    """A literal is the same for all records; grouping by it only adds a column. (Without other keys, it makes a
    difference for an empty input: no group instead of one.)"""
    for item in node.grouping_expressions:
        if isinstance(item, Literal):
            what = f"records are grouped by the literal {worded(item, context.names)}"
            yield Remark(what=what, fix="Add the column in a projection above", at=item)


@rule(Code.LINT_REPEATED_KEY, Aggregate)
def repeated_grouping_key(node: Aggregate, context: Context) -> Iterator[Remark]:
    """Grouping twice by the same expression makes the same groups as once."""
    for number, _ in repeats(node.grouping_expressions):
        item = node.grouping_expressions[number]
        where = position(item)
        name = worded(item, context.names) if where is None else column(where, context.names)
        yield Remark(what=f"records are grouped by {name} twice", fix="Leave one", at=item)


@rule(Code.LINT_REPEATED_EXPRESSION, Aggregate)
def repeated_measure(node: Aggregate, context: Context) -> Iterator[Remark]:
    """The same measure twice in one relation is computed twice by engines that do not notice; a projection above can
    output the column twice."""
    for number, _ in repeats(node.measures):
        item = node.measures[number]
        yield Remark(what=f"{worded(item.measure, context.names)} is computed twice", at=item)


def _with_measure(node: Aggregate, number: int, item: object) -> Aggregate:
    measures = [*node.measures]
    measures[number] = item  # type: ignore[call-overload]
    return replace(node, measures=tuple(measures))
