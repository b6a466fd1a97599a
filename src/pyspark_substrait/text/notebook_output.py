"""The output of results in notebooks: HTML, and plain text as an alternative.

A result that notebooks show derives from :class:`NotebookOutput`. The module named by :func:`register_formatter` makes
the HTML and the text; it is above all results in the import order, and imported when a notebook asks for output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, TypeAlias

from pyspark_substrait.errors import SubstraitError

__all__ = ["Bundle", "NotebookOutput", "Types", "bundle", "register_formatter"]

#: An output by its mime type.
Bundle: TypeAlias = dict[str, str]
#: The mime types that are wanted, or not wanted; None for no preference.
Types: TypeAlias = Collection[str] | None

_HTML, _TEXT = "text/html", "text/plain"
_MOST_LINES = 200
_formatter = ""


def register_formatter(module: str) -> None:
    """Register the module whose functions ``html`` and ``text`` format a result."""
    global _formatter
    _formatter = module


class NotebookOutput:
    """The base class of results that notebooks show."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return the HTML; None if the notebook should show the text."""
        try:
            return self._as_html()
        except SubstraitError:
            return None

    def _repr_mimebundle_(self, include: Types = None, exclude: Types = None) -> Bundle:
        return bundle(self._as_html, self._as_text, include, exclude)

    def _as_html(self) -> str:
        made: str = _formatting().html(self)
        return made

    def _as_text(self) -> str:
        made: str = _formatting().text(self)
        return made


def _formatting() -> Any:
    return import_module(_formatter)


def bundle(html: Callable[[], str], text: Callable[[], str], include: Types = None, exclude: Types = None) -> Bundle:
    """Return the value for ``_repr_mimebundle_``: HTML and text, or text alone with a line that states the reason.

    Args:
        html: makes the HTML; its ``SubstraitError`` states why that isn't possible.
        text: makes the text; a very long one is cut to its first lines.
        include, exclude: the mime types that IPython asks for.
    """
    made: Bundle = {}
    reason = ""
    if _wanted(_HTML, include, exclude):
        try:
            made[_HTML] = html()
        except SubstraitError as error:
            reason = f"\n\n(no drawing: {error})"
    if _wanted(_TEXT, include, exclude):
        made[_TEXT] = _bounded(text()) + reason
    return made


def _wanted(kind: str, include: Types, exclude: Types) -> bool:
    return (not include or kind in include) and (not exclude or kind not in exclude)


def _bounded(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES:
        return text
    return "\n".join([*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES:,} more lines"])
