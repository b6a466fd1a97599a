"""The fields of messages that the fields of nodes stand for."""

from __future__ import annotations

from typing import Any

__all__ = ["message_field"]


def message_field(descriptor: Any, name: str) -> Any:
    """Return the descriptor of the field of a message that a node's field has the name of; None if there is none.

    A Python keyword has a trailing underscore in the node (``if_``), and several inputs are called ``members`` there.
    """
    return descriptor.fields_by_name.get("inputs" if name == "members" else name.rstrip("_"))
