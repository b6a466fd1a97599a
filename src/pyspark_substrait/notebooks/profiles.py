"""The output for a profile: the drawing with its rows and times, and a table of the relations."""

from __future__ import annotations

from pyspark_substrait.analysis.profile import Profile
from pyspark_substrait.analysis.profile.text import seconds_text
from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.notebooks.pictures import picture
from pyspark_substrait.render.figures import node_figures, summary
from pyspark_substrait.text.explain.graph import Graph, graph
from pyspark_substrait.text.explain.literals import counted

__all__ = ["profile_html"]

_MOST_RELATIONS = 100
_MOST_CHARACTERS = 40


def profile_html(profile: Profile) -> str:
    """Return the HTML of a profile; the slowest relations come first in the table.

    Raises:
        SubstraitError: the plan can't be drawn here.
    """
    shown = graph(profile.document, places=profile.places)
    found = summary(shown, profile)
    return markup(
        "profile",
        title=f"{seconds_text(profile.seconds)}, {counted(profile.rows.num_rows, 'row')}",
        picture=picture(shown, node_figures(shown, profile)),
        rows=[(row, _first_property(shown, row.number)) for row in found.rows[:_MOST_RELATIONS]],
        more=max(len(found.rows) - _MOST_RELATIONS, 0),
        legend=found.legend[1:],
    )


def _first_property(graph: Graph, number: int) -> str:
    """Return the beginning of a relation's first property, which helps to identify it."""
    text = next(iter(graph.nodes[number].properties), "")
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
