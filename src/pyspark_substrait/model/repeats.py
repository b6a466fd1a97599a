"""What stands twice in a list."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

__all__ = ["repeats"]


def repeats(items: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The positions of items that stand before already, each with the position where the same stands first."""
    first: dict[Hashable, int] = {}
    for position, item in enumerate(items):
        earlier = first.setdefault(item, position)
        if earlier != position:
            yield position, earlier
