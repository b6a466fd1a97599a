"""Recognition of the text form among the sources that a plan can be read from."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from pyspark_substrait.model.limits import check_size
from pyspark_substrait.text.lossless import parse, text_of

__all__ = ["without_text"]

_T = TypeVar("_T")


def without_text(source: _T) -> _T | bytes | dict[str, Any]:
    """Return the message of a source in the text form, or of a file with it; any other source as it is.

    A file is read once: its content is returned if it holds something else. Unreadable files are left to other readers.

    Raises:
        PlanFormatError: it has this form, but doesn't follow the grammar; it is too large.
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
