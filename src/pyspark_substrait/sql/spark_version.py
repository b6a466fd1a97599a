"""The versions of Spark that SQL text is made for."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pyspark_substrait.errors import SubstraitError

__all__ = ["NEWEST", "OLDEST", "VERSIONS", "SparkVersion", "parsed_version", "version_of_session"]


class SparkVersion(NamedTuple):
    """A minor release of Spark; releases of the same one take the same text.

    >>> SparkVersion(3, 5) < SparkVersion(4, 0)
    True
    """

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


VERSIONS: Final = (SparkVersion(3, 5), SparkVersion(4, 0), SparkVersion(4, 1), SparkVersion(4, 2), SparkVersion(4, 3))
"""The supported versions, the oldest first."""

OLDEST: Final = VERSIONS[0]
NEWEST: Final = VERSIONS[-1]


def parsed_version(text: str | SparkVersion | None) -> SparkVersion:
    """Return a version that is named by its number; the newest for None.

    Args:
        text: like ``3.5`` or ``4.0.2``.

    Raises:
        SubstraitError: it isn't one of :data:`VERSIONS`.

    >>> str(parsed_version("4.0.2"))
    '4.0'
    """
    if isinstance(text, SparkVersion):
        return text
    found = NEWEST if text is None else _number(text)
    if found not in VERSIONS:
        raise SubstraitError(f"there is no text for Spark {text}", hint=f"Name one of {', '.join(map(str, VERSIONS))}")
    return found


def version_of_session(text: str) -> SparkVersion:
    """Return the version that text for a session is made for: a newer Spark is taken for the newest that is known.

    Args:
        text: what the session says, like ``3.5.9`` or ``4.0.1-amzn-0``.

    Raises:
        SubstraitError: it is older than all that are supported.
    """
    found = _number(text) or NEWEST
    if found < OLDEST:
        raise SubstraitError(
            f"the session is one of Spark {text}", hint=f"Spark {OLDEST} is the oldest that plans run on; use a newer"
        )
    return min(found, NEWEST)


def _number(text: str) -> SparkVersion | None:
    found = re.match(r"(\d+)\.(\d+)(?![\d])", text.strip())
    return None if found is None else SparkVersion(int(found[1]), int(found[2]))
