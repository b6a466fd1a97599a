"""Plans and extended expressions as text that people read and write, without loss.

The text represents the whole message: every field has a place in it. ``write`` makes the text from the fields of a
message, ``parse`` makes the fields from the text; the reader of the message binds and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyspark_substrait.errors import PlanFormatError

__all__ = ["parse", "text_of", "write"]

_FIRST = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:--[^\n]*)?\r?\n)*[ \t]*substrait[ \t]+(?:plan|expressions)\b[^\n]*(?:\n|\Z)"
)
_LONGEST_FIRST = 65_536


def text_of(content: bytes | str) -> str | None:
    """Return the text if it starts like this form, with ``substrait plan`` or ``substrait expressions``; else None.

    Raises:
        PlanFormatError: it starts like this form, but isn't UTF-8.
    """
    start = content[:_LONGEST_FIRST]
    if _FIRST.match(start.encode(errors="replace") if isinstance(start, str) else start) is None:
        return None
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise PlanFormatError(f"the text is not UTF-8, at byte {error.start}", hint="Save it as UTF-8") from error


def write(document: Mapping[str, Any], *, is_plan: bool) -> str:
    """A plan or an extended expression as text that :func:`parse` reads back.

    Args:
        document: the fields of the message by their names in the specification; enumerations by name, bytes as bytes.
        is_plan: whether it is a plan; otherwise it is an extended expression.
    """
    from pyspark_substrait.text.lossless.writer import write as written

    return written(document, is_plan=is_plan)


def parse(text: str) -> dict[str, Any]:
    """Return the fields of the ``Plan`` or ``ExtendedExpression`` that a text represents.

    Args:
        text: the output of :func:`write`, or text written by hand.

    Returns:
        The message as protobuf's JSON mapping has it, with bytes as bytes.

    Raises:
        PlanFormatError: the text doesn't follow the grammar; the message states where, and what was expected.
    """
    from pyspark_substrait.text.lossless.parser import parse as parsed

    return parsed(text)
