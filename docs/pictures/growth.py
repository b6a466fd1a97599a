"""Pictures of how time and memory grow with plans, drawn from what ``make bench ARGS=growth`` kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.pictures.picture import SCHEMES, Picture, Scheme
from docs.pictures.plans import ROOT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FIGURES = ROOT / "benchmarks" / "growth.json"
_PLANS = "plans in one session"
_ROWS = "rows of a virtual table"
#: what is drawn of a plan, what it is called, and its colour
_LINES = (
    ("load", "load", "#0072B2"),
    ("check", "check", "#56B4E9"),
    ("spark", "check for Spark", "#CC79A7"),
    ("compile", "to text", "#009E73"),
    ("analyse", "bytes to a DataFrame", "#E69F00"),
    ("by hand", "the same, SQL by hand", "#888888"),
)
_COLOURS: dict[Scheme, dict[str, str]] = {
    "light": {"paper": "#ffffff", "ink": "#24292f", "grid": "#d0d7de"},
    "dark": {"paper": "#0d1117", "ink": "#e6edf3", "grid": "#30363d"},
}
_Values = dict[str, list[float | None]]


def _make(draw: Callable[[dict[str, _Values], Scheme], Figure], scheme: Scheme, folder: Path, target: Path) -> None:
    if not _FIGURES.exists():
        sys.exit(f"there is no {_FIGURES.relative_to(ROOT)}: make bench ARGS=growth")
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    colours = _COLOURS[scheme]
    style: dict[str, Any] = {
        "figure.facecolor": colours["paper"],
        "axes.facecolor": colours["paper"],
        "savefig.facecolor": colours["paper"],
        "text.color": colours["ink"],
        "axes.labelcolor": colours["ink"],
        "axes.edgecolor": colours["grid"],
        "xtick.color": colours["ink"],
        "ytick.color": colours["ink"],
        "grid.color": colours["grid"],
        "legend.frameon": False,
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "growth",  # the same figures give the same file
    }
    with pyplot.rc_context(style):
        figure = draw(json.loads(_FIGURES.read_text(encoding="utf-8")), scheme)
        figure.savefig(target, metadata={"Date": None})
        pyplot.close(figure)


def _plans(found: dict[str, _Values], scheme: Scheme) -> Figure:
    """Time by size, a panel for each way in which a plan grows; both axes are logarithmic."""
    from matplotlib import pyplot

    shown = [what for what in found if what not in (_PLANS, _ROWS)]
    rows = -(-len(shown) // 3)
    figure, panels = pyplot.subplots(rows, 3, figsize=(12, 3.1 * rows + 0.8), layout="constrained")
    for panel, what in zip(panels.flat, shown, strict=False):
        values = found[what]
        for key, label, colour in _LINES:
            _line(panel, values["size"], values[key], label, colour, 1000)
        _proportional(panel, values, scheme)
        _logarithmic(panel, what, "milliseconds")
    for panel in list(panels.flat)[len(shown) :]:
        panel.set_visible(False)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _virtual_tables(found: dict[str, _Values], scheme: Scheme) -> Figure:
    """Time and memory of virtual tables by rows."""
    from matplotlib import pyplot

    values = found[_ROWS]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for key, label, colour in _LINES:
        if key in values:
            _line(left, values["size"], values[key], label, colour)
    _logarithmic(left, "time", "seconds", "rows")
    left.legend()
    _line(right, values["size"], values["memory"], "peak while loading", "#D55E00", 1e-6)
    _logarithmic(right, "memory", "megabytes", "rows")
    right.legend()
    return figure


def _session(found: dict[str, _Values], scheme: Scheme) -> Figure:
    """The time of each of many plans, and what stays in memory."""
    from matplotlib import pyplot

    values = found[_PLANS]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    times = [1000 * value for value in values["time"] if value is not None]
    left.plot(range(1, len(times) + 1), times, ".", color="#0072B2", markersize=2, alpha=0.6)
    left.set(title="bytes to a DataFrame", xlabel="plan", ylabel="milliseconds")
    left.set_ylim(0, 1.5 * sorted(times)[int(0.99 * (len(times) - 1))])
    left.grid(True, linewidth=0.5)
    _line(right, values["size"], values["heap"], "Java's heap, tidied", "#D55E00", 1e-6)
    right.set(title="what stays", xlabel="plan", ylabel="megabytes")
    right.set_ylim(bottom=0)
    right.grid(True, linewidth=0.5)
    objects = right.twinx()
    _line(objects, values["size"], values["objects"], "Java objects that Python holds", "#009E73")
    objects.set_ylim(bottom=0)
    both = zip(right.get_legend_handles_labels(), objects.get_legend_handles_labels(), strict=True)
    handles, labels = (of_one + of_other for of_one, of_other in both)
    right.legend(handles, labels, loc="lower right")
    return figure


def _line(
    panel: Axes, sizes: Sequence[float | None], values: Sequence[float | None], label: str, colour: str, unit: float = 1
) -> None:
    points = [(size, value * unit) for size, value in zip(sizes, values, strict=True) if value is not None]
    across, up = [size for size, _ in points], [value for _, value in points]
    panel.plot(across, up, "o-", label=label, color=colour, markersize=3.5, linewidth=1.4)


def _proportional(panel: Axes, values: _Values, scheme: Scheme) -> None:
    """A line of what is exactly proportional to the size, below the others."""
    sizes = [size for size in values["size"] if size is not None]
    last = values["compile"][-1] or 0.0
    panel.plot(
        [sizes[0], sizes[-1]],
        [300 * last * sizes[0] / sizes[-1], 300 * last],
        "--",
        label="proportional",
        color=_COLOURS[scheme]["ink"],
        linewidth=0.8,
    )


def _logarithmic(panel: Axes, title: str, unit: str, sizes: str = "") -> None:
    panel.set(xscale="log", yscale="log", title=title, ylabel=unit, xlabel=sizes)
    panel.grid(True, linewidth=0.5)


PICTURES = tuple(
    Picture(f"{name}-{scheme}.svg", partial(_make, draw, scheme))
    for name, draw in (
        ("growth-plans", _plans),
        ("growth-virtual-tables", _virtual_tables),
        ("growth-session", _session),
    )
    for scheme in SCHEMES
)
