"""Names in Spark SQL text. Every name from a plan goes through :func:`quoted`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.fragment import Name

__all__ = ["NameSource", "quoted", "quoted_path"]

# Spark substitutes settings and environment variables for ${...} even in a quoted name; NUL marks frames in a statement
_IMPOSSIBLE = re.compile("[$][{]|[\\x00\\ud800-\\udfff]")


@lru_cache(maxsize=32768)
def quoted(name: str) -> Name:
    """Return a name as a quoted identifier: whatever its characters, it can only be a name.

    >>> print(quoted("a`b"))
    `a``b`

    Raises:
        UnsupportedPlanError: the name contains characters that would be changed on the way to Spark.
    """
    if _IMPOSSIBLE.search(name):
        raise UnsupportedPlanError(
            f"Spark cannot have the name {name!a}", hint="A name cannot hold `${`, NUL or half a character"
        )
    return Name("`" + name.replace("`", "``") + "`")


def quoted_path(names: Iterable[str]) -> str:
    """A name of several parts, like a table in a database."""
    return ".".join(quoted(name) for name in names)


@dataclass
class NameSource:
    """Generates names that no other column or relation of the statement has.

    Args:
        given: the number of the last name.
        users: the names of the result's columns, in lower case. In the same SELECT, ORDER BY would take one of them for
            a generated column of the same name.
    """

    given: int = 0
    users: frozenset[str] = frozenset()

    def fresh(self, prefix: str) -> Name:
        """Return the next name. ``prefix`` is one lower-case letter for the kind of thing that is named."""
        self.given += 1
        while (name := f"{prefix}{self.given}") in self.users:
            self.given += 1
        return Name(name)
