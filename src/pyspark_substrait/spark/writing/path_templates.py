"""Paths with references to columns: ``/data/{year}/{month}``, a folder for each value.

What a value becomes is never more than one folder: letters, digits and ``-`` stay, and so do ``_`` and ``.`` but in
front; every other byte of its UTF-8 form is ``%`` and two hexadecimal digits. A null is ``null``, the empty string
``empty``, and a string that reads like one of these has its first letter as digits. Behind ``=``, a null is what Hive
calls it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.sql.compiler.literals import string_literal

__all__ = ["Template", "folder_text", "parsed"]

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Template:
    """A path.

    Args:
        root: the folder that all records are below, which no column has a say in.
        parts: the folders below it, each made of text and names of columns in turn, text first.
    """

    root: str
    parts: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are referred to."""
        return tuple(name for part in self.parts for name in part[1::2])


def parsed(path: str) -> Template:
    """Read a path.

    Raises:
        InvalidPlanError: a brace is alone, or the path begins with a reference.
    """
    tokens = re.findall(r"\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]", path)
    if any(token in ("{", "}") for token in tokens):
        raise InvalidPlanError(
            "a brace of the path has no other", path="path", hint="{name} is a column, {{ and }} are braces"
        )
    folders: list[list[str]] = [[""]]
    for token in tokens:
        if token in ("{{", "}}"):
            folders[-1][-1] += token[0]
        elif token.startswith("{"):
            folders[-1] += [token[1:-1], ""]
        else:
            first, *others = token.split("/")
            folders[-1][-1] += first
            folders += [[other] for other in others]
    fixed = next((place for place, part in enumerate(folders) if len(part) > 1), len(folders))
    root = "/".join(part[0] for part in folders[:fixed])
    below = tuple(tuple(part) for part in folders[fixed:] if part != [""])
    if below and not root.strip("/"):
        raise InvalidPlanError("the path begins with a column", path="path", hint="Begin with a folder that is fixed")
    if any(part in (("..",), (".",)) for part in below):
        raise InvalidPlanError("the path leads back behind a column", path="path")
    return Template(root, below)


def folder_text(part: Sequence[str], values: Sequence[str]) -> str:
    """The name of a folder as a Spark SQL expression.

    Args:
        part: a part of a template.
        values: for each column in it, an expression that gives its value as a string.
    """
    pieces = [string_literal(part[0])]
    for number, value in enumerate(values):
        before, after = part[2 * number], part[2 * number + 2]
        hive = before.endswith("=") and not after
        pieces.append(_escaped(value, _HIVE_NULL if hive else "null"))
        pieces.append(string_literal(after))
    return f"concat({', '.join(pieces)})"


def _escaped(value: str, null: str) -> str:
    """A value as a part of a path."""
    # url_encode leaves letters, digits and - _ . * as they are, and makes a space a plus
    plain = f"replace(replace(url_encode({value}), '+', '%20'), '*', '%2A')"
    cases = [
        f"{value} IS NULL THEN '{null}'",
        f"{value} = '' THEN 'empty'",
        f"{value} = 'null' THEN '%6Eull'",
        f"{value} = 'empty' THEN '%65mpty'",
        f"startswith({value}, '.') THEN concat('%2E', substr({plain}, 2))",
        f"startswith({value}, '_') THEN concat('%5F', substr({plain}, 2))",
    ]
    return f"(CASE {' '.join(f'WHEN {case}' for case in cases)} ELSE {plain} END)"
