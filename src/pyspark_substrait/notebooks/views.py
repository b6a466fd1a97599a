"""What a notebook shows of a view: its page, in a frame of its own that the rest of the notebook can't reach."""

from __future__ import annotations

from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.render.view import View
from pyspark_substrait.text.explain.columns import escaped

__all__ = ["view_html"]

#: How high the frame is, in pixels, by the most nodes of a plan that one sees in it.
_HEIGHTS = {8: 480, 25: 620}
_HIGHEST = 740


def view_html(view: View) -> str:
    """The page of a view, in a frame whose scripts see nothing outside of it."""
    nodes = sum(len(sheet.graph.nodes) for sheet in view.sheets)
    height = next((height for most, height in _HEIGHTS.items() if nodes <= most), _HIGHEST)
    names = " and ".join(sheet.name for sheet in view.sheets)
    return markup("view", page=view.to_html(), height=height, title=escaped(f"The page of {names}"))
