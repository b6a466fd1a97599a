"""Sorts and frames in the forms that an engine takes."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.model.expressions import BoundsType, SortDirection, SortField, Unbounded, WindowFunction

__all__ = ["ascending", "in_rows"]


def ascending(sort: SortField) -> SortField:
    """Return an ascending sort in place of one that only puts equal values together; any other as it is."""
    return replace(sort, sort_kind=SortDirection.ASC_NULLS_LAST) if sort.sort_kind is SortDirection.CLUSTERED else sort


def in_rows(node: WindowFunction) -> WindowFunction:
    """Return a window function whose frame is in rows, if it has no bounds: it is the whole partition either way."""
    if isinstance(node.lower_bound, Unbounded) and isinstance(node.upper_bound, Unbounded):
        return replace(node, bounds_type=BoundsType.ROWS)
    return node
