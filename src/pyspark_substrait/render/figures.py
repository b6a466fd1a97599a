"""The figures of a profile as the drawing, the panel and the table of the page show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark_substrait.analysis.profile import Basis, Figure, Profile, RelationProfile
from pyspark_substrait.analysis.profile.text import bytes_text, figure_text, legend, seconds_text
from pyspark_substrait.render.drawing import NodeFigures
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import Graph, Node

__all__ = ["Summary", "TableRow", "figure_rows", "node_figures", "summary"]

#: From this number of rows on, a number is shown in scientific notation.
_LARGE = 1e12
#: The most characters of a property that identifies a relation in the table.
_LEAD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A relation in the table of relations: texts, and the basis of each figure."""

    number: int
    title: str
    lead: str
    rows: str
    sorting: float
    rows_basis: str
    change: str
    time: str
    time_basis: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a run as a whole.

    Args:
        rows: the relations, the slowest first.
        legend: the explanation of the figures, as lines; the first states the duration.
    """

    rows: tuple[TableRow, ...]
    legend: tuple[str, ...]


def node_figures(graph: Graph, profile: Profile | None) -> dict[int, NodeFigures]:
    """Return the figures of a run that the drawing shows, by the numbers of nodes."""
    found = {}
    for node, measured in _measured(graph, profile):
        rows, share = measured.rows_out, measured.time_share
        found[node.number] = NodeFigures(
            rows=None if rows is None else rows.value,
            time_share=None if share is None else share.value,
            basis=Basis.MEASURED.value if rows is None else rows.basis.value,
            note=measured.note,
        )
    return found


def summary(graph: Graph, profile: Profile) -> Summary:
    """Return the table of relations, and the explanation of its figures."""
    rows = [_table_row(node, measured) for node, measured in _measured(graph, profile)]
    return Summary(rows=tuple(sorted(rows, key=lambda row: -row.share)), legend=tuple(legend(profile)))


def figure_rows(measured: RelationProfile) -> dict[str, Any]:
    """Return the figures of a relation for the panel: name, text and basis of each; and its note."""
    taken = measured.rows_in
    named: list[tuple[str, Figure | None, str]] = [
        ("rows in" if len(taken) == 1 else f"rows in, input {position}", figure, _plain(figure))
        for position, figure in enumerate(taken)
    ]
    named.append(("rows out", measured.rows_out, _plain(measured.rows_out)))
    change = measured.selectivity
    rows = [[name, text, "" if figure is None else figure.basis.value] for name, figure, text in named]
    if change is not None:
        rows.append(["rows out for each row in", _factor(change), ""])
    if measured.bytes_read is not None:
        rows.append(["size of files", bytes_text(measured.bytes_read.value), measured.bytes_read.basis.value])
    if measured.seconds is not None:
        rows.append(["time of tasks", seconds_text(measured.seconds.value), measured.seconds.basis.value])
    if measured.time_share is not None:
        rows.append(["part of the time", f"{measured.time_share.value:.1%}", measured.time_share.basis.value])
    return {"rows": rows, "note": escaped(measured.note)}


def _measured(graph: Graph, profile: Profile | None) -> Iterator[tuple[Node, RelationProfile]]:
    if profile is None:
        return
    for node in graph.nodes:
        measured = None if node.path is None or node.relation is None else profile.at(node.path)
        if measured is not None:
            yield node, measured


def _table_row(node: Node, measured: RelationProfile) -> TableRow:
    rows, seconds, share = measured.rows_out, measured.seconds, measured.time_share
    change = measured.selectivity
    return TableRow(
        number=node.number,
        title=node.title,
        lead=_short(node.properties[0]) if node.properties else "",
        rows=figure_text(rows) if rows is None or rows.value < _LARGE else f"{rows.value:.2e}",
        sorting=-1.0 if rows is None else rows.value,
        rows_basis="" if rows is None else rows.basis.value,
        change="" if change is None or change == 1 else f"× {_factor(change)}",
        time="" if seconds is None else f"{_almost(seconds)}{seconds_text(seconds.value)}",
        time_basis="" if seconds is None else seconds.basis.value,
        share=0.0 if share is None else share.value,
    )


def _factor(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _almost(figure: Figure) -> str:
    return "~" if figure.basis is Basis.ESTIMATED else ""


def _short(text: str) -> str:
    return text if len(text) <= _LEAD else f"{text[: _LEAD - 1]}…"


def _plain(figure: Figure | None) -> str:
    return "not known" if figure is None else f"{figure.value:,.0f}"
