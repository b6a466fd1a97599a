"""The output for a view: its page, in a frame that is isolated from the rest of the notebook."""

from __future__ import annotations

from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.render.view import View
from pyspark_substrait.text.explain.columns import escaped

__all__ = ["view_html"]

#: The height of the frame in pixels, by the number of nodes up to which it is used.
_HEIGHTS = {8: 480, 25: 620}
_HIGHEST = 740


def view_html(view: View) -> str:
    """Return the page of a view, in a frame whose scripts can't access anything outside of it."""
    nodes = sum(len(sheet.graph.nodes) for sheet in view.sheets)
    height = next((height for most, height in _HEIGHTS.items() if nodes <= most), _HIGHEST)
    names = " and ".join(sheet.name for sheet in view.sheets)
    return markup("view", page=view.to_html(), height=height, title=escaped(f"The page of {names}"))
