"""Paths with references to columns: ``/data/{year}/{month}``, a folder for each value.

A value never becomes more than one folder: letters, digits and ``-`` are kept, and ``_`` and ``.`` unless they are the
first character; every other byte in UTF-8 becomes ``%`` and two hexadecimal digits. A null becomes ``null``, the empty
string ``empty``; in strings equal to one of these, the first letter is escaped. After ``=``, a null has Hive's name.
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
    """A path with references to columns.

    Args:
        root: the fixed folder that contains all records.
        parts: the folders below it, each an alternation of texts and names of columns, text first.
    """

    root: str
    parts: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are referred to."""
        return tuple(name for part in self.parts for name in part[1::2])


def parsed(path: str) -> Template:
    """Parse a path with references to columns.

    Raises:
        InvalidPlanError: a brace has no counterpart, or the path begins with a reference or leads back behind one.
    """
    tokens = re.findall(r"\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]", path)
    if any(token in ("{", "}") for token in tokens):
        raise InvalidPlanError(
            "a brace in the path has no counterpart", path="path", hint="{name} is a column, {{ and }} are braces"
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
        raise InvalidPlanError("the path starts with a column", path="path", hint="Start with a fixed folder")
    if any(part in (("..",), (".",)) for part in below):
        raise InvalidPlanError("the path has .. after a column", path="path")
    return Template(root, below)


def folder_text(part: Sequence[str], values: Sequence[str]) -> str:
    """Return the Spark SQL expression for the name of a folder.

    Args:
        part: a part of a template.
        values: for each column in it, an expression for its value as a string.
    """
    pieces = [string_literal(part[0])]
    for number, value in enumerate(values):
        before, after = part[2 * number], part[2 * number + 2]
        hive = before.endswith("=") and not after
        pieces.append(_escaped(value, _HIVE_NULL if hive else "null"))
        pieces.append(string_literal(after))
    return f"concat({', '.join(pieces)})"


def _escaped(value: str, null: str) -> str:
    """Return the expression for a value as a part of a path."""
    # url_encode keeps letters, digits and - _ . *, and converts a space to a plus
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
