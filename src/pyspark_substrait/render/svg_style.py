"""The style sheet of a drawing: colours for light and dark backgrounds, and the rules beside it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["COLOURS", "style"]

#: Each colour on a light and on a dark background. Texts have a contrast of at least 4.5, lines and symbols of 3.
COLOURS: Mapping[str, tuple[str, str]] = {
    "ground": ("#f6f7f9", "#11151a"),
    "card": ("#ffffff", "#1a2028"),
    "sunk": ("#f7f8fa", "#161b22"),
    "ink": ("#1b2027", "#e6eaef"),
    "quiet": ("#57606b", "#a3aebb"),
    "line": ("#d5dae1", "#323b46"),
    "edge": ("#7d8896", "#76828f"),
    "hover": ("#e9eff7", "#243040"),
    "select": ("#1f6feb", "#58a6ff"),
    "frame": ("#76818e", "#6c7885"),
    "frame-ground": ("#eef0f4", "#161b21"),
    "error": ("#b3261e", "#ff9d94"),
    "error-ground": ("#fdecea", "#3b1f1e"),
    "warning": ("#7a4d00", "#f0c674"),
    "warning-ground": ("#fff2d6", "#362a14"),
    "added": ("#1a7f37", "#57c777"),
    "added-ground": ("#e8f6ec", "#14301d"),
    "removed": ("#b3261e", "#ff9d94"),
    "removed-ground": ("#fdecea", "#3b1f1e"),
    "changed": ("#8a5a00", "#e3b35a"),
    "changed-ground": ("#fff5e0", "#33290f"),
    "warm": ("#b86e00", "#e0a13f"),
    "hot": ("#cf3f0a", "#ff7a45"),
    "read": ("#0b7285", "#5cc8dc"),
    "filter": ("#8a5a00", "#e3b35a"),
    "project": ("#4c44b5", "#aaa5f7"),
    "join": ("#1a7340", "#6fce98"),
    "aggregate": ("#9c2a78", "#ee8fca"),
    "set": ("#1c5fa8", "#7fb6f2"),
    "write": ("#a5381b", "#f29b85"),
    "exchange": ("#57606b", "#a7b1bc"),
    "extension": ("#6f4aa3", "#c3a6ee"),
    "broken": ("#b3261e", "#ff9d94"),
    "result": ("#1b2027", "#e6eaef"),
}

#: The selectors by which surrounding pages declare their background: our own, Jupyter, Visual Studio Code.
_LIGHT = ("[data-theme=light]", "[data-jp-theme-light=true]", ".vscode-light")
_DARK = ("[data-theme=dark]", "[data-jp-theme-light=false]", ".vscode-dark")


@cache
def style() -> str:
    """Return the style sheet. A drawing follows the background that the page declares, or else that of the system."""
    light, dark = (_colours(number) for number in range(2))
    return "\n".join(
        (
            f".plan-graph{{{light}}}",
            f"@media (prefers-color-scheme:dark){{.plan-graph{{{dark}}}}}",
            f"{_within(_LIGHT)}{{{light}}}",
            f"{_within(_DARK)}{{{dark}}}",
            files("pyspark_substrait.render").joinpath("assets/drawing.css").read_text(encoding="utf-8"),
        )
    )


def _colours(number: int) -> str:
    return "".join(f"--pg-{name}:{pair[number]};" for name, pair in COLOURS.items())


def _within(places: tuple[str, ...]) -> str:
    own = f".plan-graph{places[0]}"
    return ",".join((own, *(f"{place} .plan-graph" for place in places)))
