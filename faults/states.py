"""The contents of a table, as they are compared and written to journals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Row", "State", "of_json", "state", "to_json"]

Row: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class State:
    """The columns of a table, and its rows in an order of their own."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def state(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> State:
    """Return the state of a table with these rows."""
    return State(tuple(columns), tuple(sorted((tuple(row) for row in rows), key=repr)))


def to_json(found: State | None) -> list[Any] | None:
    """Return the form of a state in journals; None is no table."""
    return None if found is None else [found.columns, found.rows]


def of_json(found: list[Any] | None) -> State | None:
    """Return the state of which :func:`to_json` made this."""
    return None if found is None else state(found[0], found[1])
