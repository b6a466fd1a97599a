"""Reads for engines that look at less of them."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.description import Target
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Filter, Read, Relation, RelCommon

__all__ = ["filtered", "unmasked"]


def unmasked(node: Read, target: Target) -> Read:
    """Return a read whose columns are chosen by its emit instead of a mask."""
    assert node.projection is not None
    items = node.projection.select.struct_items
    if any(item.child is not None for item in items):
        raise UnsupportedPlanError(f"{target.engine} does not take reads that keep parts of columns")
    kept = tuple(item.field for item in items)
    emit = kept if node.common.emit is None else tuple(kept[position] for position in node.common.emit)
    return replace(node, common=replace(node.common, emit=emit), projection=None)


def filtered(node: Read, target: Target) -> Relation:
    """Return a read, below its filter if the engine's reads don't apply any."""
    if target.read_filters or (node.filter is None and node.best_effort_filter is None):
        return node
    if node.filter is None:
        return replace(node, best_effort_filter=None)
    inner = replace(node, common=replace(node.common, emit=None, rel_anchor=None), filter=None, best_effort_filter=None)
    common = RelCommon(emit=node.common.emit, rel_anchor=node.common.rel_anchor)
    return Filter(common=common, input=inner, condition=node.filter)
