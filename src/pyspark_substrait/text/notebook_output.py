"""What notebooks show of a result: HTML, and a text beside it.

A result that notebooks show derives from :class:`NotebookOutput`. What its forms are is said by the module that
:func:`register_formatter` names, which stands above all results and is imported when a notebook asks for one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, TypeAlias

from pyspark_substrait.errors import SubstraitError

__all__ = ["Bundle", "NotebookOutput", "Types", "bundle", "register_formatter"]

#: An output by its mime type.
Bundle: TypeAlias = dict[str, str]
#: Which mime types are wanted, or not wanted; None says nothing.
Types: TypeAlias = Collection[str] | None

_HTML, _TEXT = "text/html", "text/plain"
_MOST_LINES = 200
_formatter = ""


def register_formatter(module: str) -> None:
    """Name the module whose functions ``html`` and ``text`` make the forms of a result."""
    global _formatter
    _formatter = module


class NotebookOutput:
    """The base of results that notebooks show."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """The HTML; None where a notebook is to show the text."""
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
    """What ``_repr_mimebundle_`` returns: HTML and a text, or the text alone, with a line that says why.

    Args:
        html: makes the HTML; its ``SubstraitError`` says why it can't be made here.
        text: makes the text; of a very long one, the first lines are taken.
        include, exclude: what IPython asks for.
    """
    made: Bundle = {}
    reason = ""
    if _wanted(_HTML, include, exclude):
        try:
            made[_HTML] = html()
        except SubstraitError as error:
            reason = f"\n\n(nothing is drawn: {error})"
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
