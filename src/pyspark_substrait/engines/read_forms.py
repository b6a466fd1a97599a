"""Reads for engines that look at less of them."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.description import Target
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Filter, Read, RelCommon

__all__ = ["filtered_above", "unmasked"]


def filtered_above(node: Read, target: Target) -> Filter | Read:
    """Return a filter over a read of all columns in place of the filter in it; a read without one as it is.

    A filter that need not be applied is left out.
    """
    if node.filter is None:
        return node if node.best_effort_filter is None else replace(node, best_effort_filter=None)
    emit = node.common.emit if node.projection is None else _kept_columns(node, target)
    bare = replace(node, common=RelCommon(), projection=None, filter=None, best_effort_filter=None)
    return Filter(common=replace(node.common, emit=emit), input=bare, condition=node.filter)


def unmasked(node: Read, target: Target) -> Read:
    """Return a read whose columns are chosen by its emit instead of a mask."""
    return replace(node, common=replace(node.common, emit=_kept_columns(node, target)), projection=None)


def _kept_columns(node: Read, target: Target) -> tuple[int, ...]:
    """Return the positions of the columns that the mask and the emit of a read keep."""
    assert node.projection is not None
    items = node.projection.select.struct_items
    if any(item.child is not None for item in items):
        raise UnsupportedPlanError(f"{target.engine} does not take reads that keep parts of columns")
    kept = tuple(item.field for item in items)
    return kept if node.common.emit is None else tuple(kept[position] for position in node.common.emit)
