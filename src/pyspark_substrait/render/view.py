"""A plan to look at: as one page for the browser, or as a drawing."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pyspark_substrait.analysis.lineage import Lineage
from pyspark_substrait.analysis.profile import Profile
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.render.comparison import Comparison
from pyspark_substrait.render.drawing import drawing
from pyspark_substrait.render.figures import node_figures
from pyspark_substrait.text.explain.graph import Graph
from pyspark_substrait.text.notebook_output import NotebookOutput

__all__ = ["Sheet", "View"]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One plan, with everything that a page shows of it.

    Args:
        name: the name of the plan.
        about: a short description.
        graph: its relations, with the findings for each.
        lineage: the lineage of its columns; None for a plan that can't be read.
        parts: the JSON of the messages of its relations, by their paths.
        profile: the figures of a run.
    """

    name: str
    about: str
    graph: Graph = field(repr=False)
    lineage: Lineage | None = field(default=None, repr=False)
    parts: Mapping[str, str] = field(default_factory=dict, repr=False)
    profile: Profile | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, repr=False)
class View(NotebookOutput):
    """One plan to look at, or two side by side.

    Args:
        sheets: the plans.
        comparison: the differences of two plans; None for one plan.
    """

    sheets: tuple[Sheet, ...]
    comparison: Comparison | None = None

    def to_html(self) -> str:
        """Return a single page for the browser, which needs no other files and no network."""
        return self._page

    @cached_property
    def _page(self) -> str:
        from pyspark_substrait.render.page import html  # Jinja

        return html(self)

    def to_svg(self) -> str:
        """Return the drawing of the plan, as an SVG document.

        Raises:
            SubstraitError: there are two plans.
        """
        if len(self.sheets) != 1:
            raise SubstraitError("two plans have no drawing in common", hint="Save them as a page (.html)")
        sheet = self.sheets[0]
        return drawing(sheet.graph, figures=node_figures(sheet.graph, sheet.profile)).document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (``.html``, ``.htm``) or the drawing (``.svg``) to a file, atomically.

        Raises:
            SubstraitError: the suffix isn't one of these, or the file can't be written.
        """
        target = Path(path)
        match target.suffix.lower():
            case ".html" | ".htm":
                content = self.to_html()
            case ".svg":
                content = self.to_svg()
            case suffix:
                what = f"the suffix {suffix}" if suffix else "no suffix"
                raise SubstraitError(f"{target} has {what}", hint="A page is .html, a drawing is .svg")
        beside = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            beside.write_text(content, encoding="utf-8")
            beside.replace(target)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise SubstraitError(f"{target} cannot be written: {error.strerror or error}") from error

    def open(self) -> Path:
        """Write the page to a temporary file, and open it in the browser.

        Returns:
            The file. It stays until the system empties its temporary folder.
        """
        with tempfile.NamedTemporaryFile(prefix="plan-", suffix=".html", delete=False) as file:
            path = Path(file.name)
        self.save(path)
        webbrowser.open(path.as_uri())
        return path

    def __repr__(self) -> str:
        return f"<View of {' and '.join(sheet.name for sheet in self.sheets)}>"
