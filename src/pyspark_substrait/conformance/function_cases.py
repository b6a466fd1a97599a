"""Cases of functions: a call, its options, and the result that it must have.

Spec: tests/README, "Test File Format".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type

__all__ = ["Argument", "Call", "Case", "Column", "Function", "Name", "UnreadCase", "Word"]


@dataclass(frozen=True)
class Word:
    """An enumeration argument."""

    value: str


@dataclass(frozen=True)
class Column:
    """An argument of an aggregate: a column of its table."""

    position: int
    type: Type


@dataclass(frozen=True)
class Name:
    """A parameter of the lambda around."""

    value: str


@dataclass(frozen=True)
class Call:
    """A call inside a lambda."""

    function: str
    arguments: tuple[Literal | Word | Name | Call, ...]


@dataclass(frozen=True)
class Function:
    """A lambda: the names and types of its parameters, and its body."""

    parameters: tuple[tuple[str, Type], ...]
    body: Call


Argument: TypeAlias = Literal | Word | Column | Function


@dataclass(frozen=True)
class Case:
    """One case.

    Args:
        file: where it stands.
        text: the case as it is written, in one line.
        urn: the extension of the function.
        function: its name.
        arguments: what it is called with.
        options: names and values of options, as they are written.
        expected: the result, or "error" or "undefined"; of a window function the results for all records.
        types: of a table of records, the types of its columns; only those that an argument names.
        rows: its records; None for a scalar function.
        window: whether the function is called over a window: all records, in their order.
        line: the line of the file, from 1.
    """

    file: str
    text: str
    urn: str
    function: str
    arguments: tuple[Argument, ...]
    options: tuple[tuple[str, str], ...]
    expected: Literal | tuple[Literal, ...] | str
    types: tuple[Type, ...] = ()
    rows: tuple[tuple[Literal, ...], ...] | None = None
    window: bool = False
    line: int = 0

    @property
    def ours(self) -> bool:
        """Whether it is of this project, not of the specification."""
        return self.file.startswith("ours/")


@dataclass(frozen=True)
class UnreadCase:
    """A case that isn't understood: its file, line and text, and why."""

    file: str
    line: int
    text: str
    reason: str
