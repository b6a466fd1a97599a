"""Parts of a message as JSON text, each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.proto.json_write import message_to_json

__all__ = ["json_parts"]

_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def json_parts(message: Message, paths: Iterable[str]) -> dict[str, str]:
    """The messages that stand at some paths, as JSON text; parts within parts are written as ``"…"``.

    Together, the texts are about as long as the JSON text of the whole message.

    Args:
        message: the plan or the extended expression.
        paths: like ``relations[0].root.input.filter``. Paths that lead to no message, or to one of a type that JSON
            can't name, are left out.
    """
    found = _messages(message, paths)
    apart = frozenset(map(id, found.values()))
    texts = {}
    for path, part in found.items():
        try:
            texts[path] = message_to_json(part, apart)
        except UnsupportedPlanError:
            continue
    return texts


def _messages(message: Message, paths: Iterable[str]) -> dict[str, Any]:
    """The messages by their paths. Each lookup starts at the nearest message found above, because paths may be long."""
    found: dict[str, Any] = {}
    above: list[tuple[str, Any]] = [("", message)]
    for path in sorted(set(paths)):
        while not _within(path, above[-1][0]):
            above.pop()
        beginning, start = above[-1]
        part = _descended(start, path[len(beginning) :])
        if isinstance(part, Message):
            found[path] = part
            above.append((path, part))
    return found


def _within(path: str, beginning: str) -> bool:
    return not beginning or (path.startswith(beginning) and path[len(beginning) : len(beginning) + 1] in ("", ".", "["))


def _descended(message: Any, way: str) -> Any:
    for name, index in _SEGMENT.findall(way):
        try:
            message = message[int(index)] if index else getattr(message, name)
        except (AttributeError, IndexError, KeyError, TypeError):
            return None
    return message
