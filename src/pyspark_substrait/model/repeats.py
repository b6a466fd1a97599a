"""Repeated items of a list."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

__all__ = ["repeats"]


def repeats(items: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the positions of items that occur earlier in the list, each with the position of the first occurrence."""
    first: dict[Hashable, int] = {}
    for position, item in enumerate(items):
        earlier = first.setdefault(item, position)
        if earlier != position:
            yield position, earlier
