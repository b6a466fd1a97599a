"""Offsets without a count, for an engine that may put records in another order before it skips some.

DataFusion sorts below such an offset where a sort, or a window, above needs the order: ``SELECT * FROM (SELECT * FROM t
ORDER BY k OFFSET 1) ORDER BY k DESC`` skips the last record. With a count it doesn't. But a count of all records on top
of an aggregate in order is an error there, so an offset has one only where something above may need an order.

A fetch of all records is left out: between two sorts, an offset below them counts twice there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Fetch, Project, Reference, Relation, RelCommon
from pyspark_substrait.model.types import I64
from pyspark_substrait.model.walk import (
    holds_window,
    with_expressions,
    with_inputs,
    with_queries,
)

__all__ = ["with_counted_offsets"]

_MOST: Final = 2**63 - 1


def with_counted_offsets(node: Relation, *, on_top: bool = True) -> Relation:
    """Return a tree in which an offset has a count unless nothing above it needs an order.

    Args:
        node: the tree.
        on_top: whether nothing above does.
    """
    match node:
        case Reference():
            return replace(node, subtree=with_counted_offsets(node.subtree, on_top=False))
        case Fetch(offset_expr=None | Literal(value=None | 0), count_expr=None | Literal(value=None)) if (
            node.common == RelCommon() and node.advanced_extension is None
        ):
            return with_counted_offsets(node.input, on_top=on_top)
        case Fetch(offset_expr=Literal(value=int(offset)), count_expr=None | Literal(value=None)) if offset:
            if not on_top:
                node = replace(node, count_expr=Literal(type=I64(), value=_MOST - offset))
        case Fetch():
            pass
        case Project(expressions=expressions):
            on_top = on_top and not any(map(holds_window, expressions))
        case _:
            on_top = False
    inner = with_inputs(node, lambda input: with_counted_offsets(input, on_top=on_top))
    return with_expressions(inner, lambda one: with_queries(one, partial(with_counted_offsets, on_top=False)))
