"""The output for a difference: the changes, each with the part before and after it, and the two trees."""

from __future__ import annotations

from pyspark_substrait.analysis.diff import Difference
from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.text.explain.literals import counted

__all__ = ["difference_html"]

_MOST_CHANGES = 100
_MOST_LINES = 300
_MARKS = {"+": "added", "-": "removed"}


def difference_html(difference: Difference) -> str:
    """Return the HTML of a difference."""
    lines = difference.drawn() if difference.changes else ()
    return markup(
        "difference",
        title=counted(len(difference), "change") if difference.changes else "The plans mean the same",
        same=difference.same,
        changes=difference.changes[:_MOST_CHANGES],
        more_changes=max(len(difference) - _MOST_CHANGES, 0),
        remarks=difference.remarks[:_MOST_CHANGES],
        lines=[(_MARKS.get(line[:1], "same"), line) for line in lines[:_MOST_LINES]],
        more_lines=max(len(lines) - _MOST_LINES, 0),
    )
