"""Names in Spark SQL text. Every name that came from a plan reaches the text through :func:`quoted`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["NameSource", "quoted", "quoted_path"]

# Spark replaces ${...} by settings and environment variables even inside a quoted name; NUL marks frames in a statement
_IMPOSSIBLE = re.compile("[$][{]|[\\x00\\ud800-\\udfff]")


@lru_cache(maxsize=32768)
def quoted(name: str) -> str:
    """A name as a quoted identifier: whatever its characters, it is only ever a name.

    >>> print(quoted("a`b"))
    `a``b`

    Raises:
        UnsupportedPlanError: the name has something that would not stay what it is on the way to Spark.
    """
    if _IMPOSSIBLE.search(name):
        raise UnsupportedPlanError(
            f"Spark can't have the name {name!a}", hint="A name can't hold `${`, NUL or half a character"
        )
    return "`" + name.replace("`", "``") + "`"


def quoted_path(names: Iterable[str]) -> str:
    """A name of several parts, like a table in a database."""
    return ".".join(quoted(name) for name in names)


@dataclass
class NameSource:
    """Gives out names that no other column or relation of the statement has.

    Args:
        given: the number of the last one.
        users: the names that the result's columns get, in lower case. Beside them in a SELECT, ORDER BY would take one
            of them for a column of ours that is called the same.
    """

    given: int = 0
    users: frozenset[str] = frozenset()

    def fresh(self, prefix: str) -> str:
        """The next name. ``prefix`` is one lower-case letter that says what is named."""
        self.given += 1
        while (name := f"{prefix}{self.given}") in self.users:
            self.given += 1
        return name
