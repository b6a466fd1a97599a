"""Paths of nodes in a plan, rendered as text only on demand."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["Path", "render"]

# A path is the path of its parent and one segment more: a field name, or an index into a repeated field.
Path: TypeAlias = "tuple[Path, str | int] | None"


def render(path: Path) -> str:
    """The path as text, like ``relations[0].root.input.filter.condition``."""
    segments: list[str] = []
    while path is not None:
        path, segment = path
        if isinstance(segment, int):
            segments.append(f"[{segment}]")
        else:
            segments.append(f".{segment}" if path is not None else segment)
    return "".join(reversed(segments))
