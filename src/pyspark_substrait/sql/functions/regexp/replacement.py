r"""Replacement texts: ``\1`` is the match of a group, ``\0`` the whole match.

A backslash before any other character makes it literal. A number has one digit, as in PostgreSQL and RE2: ``\10`` is
the first group and a zero. A dollar sign is not special, unlike in ICU: the specification's cases have the backslash.
"""

from __future__ import annotations

import re

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.sql.compiler.literals import string_literal

__all__ = ["groups_in", "java_replacement", "translation"]


def groups_in(text: str) -> list[int]:
    """The groups that a replacement refers to."""
    return [int(escape[1]) for escape in re.findall(r"\\.", text, re.DOTALL) if escape[1] in "0123456789"]


def java_replacement(text: str, groups: int, before: int = 0) -> str:
    """Return a replacement in Java's syntax.

    Args:
        groups: the number of groups of the pattern.
        before: the number of groups before those.

    Raises:
        InvalidPlanError: it refers to a group that doesn't exist, or ends with a backslash.
    """
    parts: list[str] = []
    characters = iter(text)
    for character in characters:
        number = False
        if character == "\\":
            character = next(characters, "")
            if not character:
                raise InvalidPlanError("the replacement ends with a backslash", path="arguments[2]")
            number = character in "0123456789"
        if number:
            parts.append(_group(int(character), groups, before))
        elif character in "\\$" or (character in "0123456789" and parts and parts[-1].startswith("$")):
            parts.append(f"\\{character}")
        else:
            parts.append(character)
    return "".join(parts)


def _group(number: int, groups: int, before: int) -> str:
    if number > groups:
        raise InvalidPlanError(f"the replacement refers to group {number}, which does not exist", path="arguments[2]")
    return f"${number + before}"


def translation(column: str) -> str:
    """Return the expression that translates the replacements of a column, for a pattern with named groups.

    A reference to a group that doesn't exist fails when it is used.
    """
    dollars = f"regexp_replace({column}, {string_literal(_BARE_DOLLAR)}, {string_literal(_DOLLAR)})"
    return f"regexp_replace({dollars}, {string_literal(_NUMBER)}, {string_literal(_NAME)})"


#: a dollar sign that isn't escaped with a backslash, and all before it
_BARE_DOLLAR = r"\G((?:[^\\$]|\\[\s\S])*+)\$"
_DOLLAR = r"$1\\\$"
#: a number, and all before it: going from escape to escape, the second of two backslashes doesn't begin one
_NUMBER = r"\G((?:[^\\]|\\[^0-9])*+)\\([0-9])"
_NAME = r"$1\${g$2}"
