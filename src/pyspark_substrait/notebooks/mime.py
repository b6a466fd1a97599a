"""An output of a notebook in the forms that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from pyspark_substrait.errors import SubstraitError

__all__ = ["Bundle", "Types", "bundle", "html_or_none"]

#: An output by its mime type.
Bundle: TypeAlias = dict[str, str]
#: Which mime types are wanted, or not wanted; None says nothing.
Types: TypeAlias = Collection[str] | None

_HTML, _TEXT = "text/html", "text/plain"
_MOST_LINES = 200


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


def html_or_none(html: Callable[[], str]) -> str | None:
    """What ``_repr_html_`` returns: None where a notebook is to show the text."""
    try:
        return html()
    except SubstraitError:
        return None


def _wanted(kind: str, include: Types, exclude: Types) -> bool:
    return (not include or kind in include) and (not exclude or kind not in exclude)


def _bounded(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES:
        return text
    return "\n".join([*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES:,} more lines"])
