"""Numbers of type variations that an engine writes without declaring them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Variation"]


class Variation(NamedTuple):
    """The number of the variation of a type, and those of the types in it, in order."""

    number: int
    parts: tuple[Variation, ...] = ()
