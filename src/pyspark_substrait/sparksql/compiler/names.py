"""Names in Spark SQL text. Every name that came from a plan reaches the text through :func:`quoted`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["NameSource", "quoted", "quoted_path"]


def quoted(name: str) -> str:
    """A name as a quoted identifier: whatever its characters, it is only ever a name.

    >>> print(quoted("a`b"))
    `a``b`
    """
    return "`" + name.replace("`", "``") + "`"


def quoted_path(names: Iterable[str]) -> str:
    """A name of several parts, like a table in a database."""
    return ".".join(quoted(name) for name in names)


@dataclass
class NameSource:
    """Gives out names that no other column or relation of the statement has."""

    given: int = 0

    def fresh(self, prefix: str) -> str:
        """The next name. ``prefix`` is one lower-case letter that says what is named."""
        self.given += 1
        return f"{prefix}{self.given}"
