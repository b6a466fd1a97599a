"""Sorts, frames and functions over them in the forms that an engine takes."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.description import Target
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import BoundsType, SortDirection, SortField, Unbounded, WindowFunction

__all__ = ["ascending", "in_rows", "over_window"]


def ascending(sort: SortField) -> SortField:
    """Return an ascending sort in place of one that only puts equal values together; any other as it is."""
    return replace(sort, sort_kind=SortDirection.ASC_NULLS_LAST) if sort.sort_kind is SortDirection.CLUSTERED else sort


def in_rows(node: WindowFunction) -> WindowFunction:
    """Return a window function whose frame is in rows, if it has no bounds: it is the whole partition either way."""
    if isinstance(node.lower_bound, Unbounded) and isinstance(node.upper_bound, Unbounded):
        return replace(node, bounds_type=BoundsType.ROWS)
    return node


def over_window(node: WindowFunction, target: Target) -> WindowFunction:
    """Return a window function with the function that the engine has for it over windows.

    Raises:
        UnsupportedPlanError: it has none.
    """
    name = target.over_windows.get(node.function.name)
    if name is None:
        return node
    if not name:
        raise UnsupportedPlanError(f"{target.engine} does not compute {node.function.key} over windows")
    return replace(node, function=replace(node.function, name=name))
