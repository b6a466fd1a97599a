"""Sort fields."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import SortDirection, SortField
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.expressions.collations import keyed
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["sort_fields"]

_DIRECTIONS: Final = {
    ("Ascending", "NullsFirst"): SortDirection.ASC_NULLS_FIRST,
    ("Ascending", "NullsLast"): SortDirection.ASC_NULLS_LAST,
    ("Descending", "NullsFirst"): SortDirection.DESC_NULLS_FIRST,
    ("Descending", "NullsLast"): SortDirection.DESC_NULLS_LAST,
}


def sort_fields(orders: tuple[Node, ...], scope: Scope) -> tuple[SortField, ...]:
    """Translate ``SortOrder`` expressions to sort fields."""
    return tuple(
        SortField(
            expr=expression(order.children[0], keyed(order, scope)),
            sort_kind=_DIRECTIONS[order.object_name("direction"), order.object_name("nullOrdering")],
        )
        for order in orders
    )
