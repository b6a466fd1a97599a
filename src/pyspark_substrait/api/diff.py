"""The differences between two plans in their meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.analysis.diff import Difference, Record, Shown, compared
from pyspark_substrait.api.loading import PlanSource, extensions_of, understood
from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.text.explain.columns import Column, Scope, labels
from pyspark_substrait.text.explain.expressions import aggregate_text, expression_text, window_text
from pyspark_substrait.text.explain.page_state import PageState

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["diff"]


def diff(a: PlanSource, b: PlanSource, *, registry: Registry | None = None) -> Difference:
    """Compare the meaning of two plans, or of two extended expressions.

    Not compared: anchors, the order of declarations, unused declarations, positions of columns (columns are compared by
    their definition), hints, statistics, optimizations that may be ignored, and whether a part is inline or detached.

    Args:
        a, b: anything that :func:`load` takes.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.

    Raises:
        PlanFormatError: one of them isn't a plan, or has fields that no release has.
        InvalidPlanError: one of them contradicts the specification, so that its meaning isn't known.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> orders = read("orders", {"id": "i64", "price": "fp64?"})
        >>> before, after = (orders.filter(lambda o: o.price > least).to_plan() for least in (10, 20))
        >>> for change in substrait.diff(before, after):
        ...     print(change.what)
        ...
        the condition `price > 10.0` of the Filter over orders became `price > 20.0`
    """
    known = extensions_of(a, registry)
    first, second = understood(a, known), understood(b, extensions_of(b, registry))
    places = first.places, second.places

    def found() -> Difference:
        return compared(first.document, second.document, places, registry=known, words=_shown, called=with_enough_stack)

    return with_enough_stack(found)


def _shown(node: Shown, record: Record) -> str:
    """Return an expression as text, given the record that it sees."""

    def scope(seen: Record) -> Scope:
        columns = tuple(Column(name=name, type=type) for name, type in zip(seen.names, seen.types, strict=False))
        outer = None if seen.outer is None else scope(seen.outer)
        lateral = seen.outer is not None and seen.outer.lateral
        listed = labels(columns, seen.left)
        return Scope(columns=columns, labels=listed, outer=outer, lateral=lateral, anchor=seen.anchor)

    match node:
        case AggregateFunction():
            return aggregate_text(node, scope(record), PageState())
        case WindowRelFunction():
            return window_text(node, scope(record), PageState())
        case _:
            return expression_text(node, scope(record), PageState())
