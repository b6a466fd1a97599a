"""Recognises the text form among all that a plan can be read from."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from pyspark_substrait.model.limits import check_size
from pyspark_substrait.text.lossless import parse, text_of

__all__ = ["without_text"]

_T = TypeVar("_T")


def without_text(source: _T) -> _T | bytes | dict[str, Any]:
    """The source of a plan, or if it is text of this form, or a file with it, the message that it stands for.

    A file is read once: if it holds something else, that is returned. One that can't be read is left to others.

    Raises:
        PlanFormatError: it is this form, but doesn't follow the grammar; it is too large.
    """
    check_size(source)
    content: bytes | str
    match source:
        case bytes():
            content = source
        case str() if source.lstrip()[:1] in ("{", "[", ""):
            return source
        case str() if text_of(source) is not None:
            return parse(source)
        case str() | os.PathLike():
            try:
                with open(source, "rb") as file:
                    content = file.read()
            except (OSError, ValueError):
                return source
        case _:
            return source
    check_size(content)
    text = text_of(content)
    return content if text is None else parse(text)
