"""The engines that can be tried."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark_substrait.conformance.processes import Command, Worker
from pyspark_substrait.engines import sessions
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["ENGINES", "Engine", "engine_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine.

    Args:
        name: its name in reports.
        start: makes what runs its plans.
        inline: whether the tables are in the plans, as virtual tables; else they are named.
        converts: whether this package converts plans for it (:func:`pyspark_substrait.for_target`).
        together: the most function cases that one plan may have, for an engine that takes long for each.
        note: how it gets plans, where that isn't plain.
    """

    name: str
    start: Callable[[], Worker | Command]
    inline: bool = False
    converts: bool = False
    together: int = 1
    note: str = ""


#: the engines of this package's own adapters
ENGINES: Final = ("spark", "datafusion", "duckdb", "acero")

_NOTES: Final = {
    "spark": "through this package",
    "duckdb": "DuckDB has no Substrait any more: plans become its SQL",
}


def engine_of(name: str, label: str = "", *, persistent: bool = False) -> Engine:
    """Return an engine.

    Args:
        name: one of ``ENGINES``, or a command.
        label: its name in reports; by default ``name``.
        persistent: whether a command runs many plans, in messages (``worker``).

    Raises:
        UnsupportedPlanError: it isn't installed; the command is empty or has quotes that don't match; ``persistent`` is
            about one of ``ENGINES``.
    """
    if name in ENGINES:
        if persistent:
            raise UnsupportedPlanError(f"only a command is persistent; {name} is an engine of this package")
        if name != "spark":
            sessions.session(name, {}, isolated=False)  # an error names what isn't installed
        return Engine(
            name=label or name,
            start=lambda: Worker([sys.executable, "-m", "pyspark_substrait.conformance.worker", name], name),
            converts=name in ("datafusion", "acero"),
            together=60 if name == "spark" else 1,
            note=_NOTES.get(name, ""),
        )
    try:
        arguments = shlex.split(name)
    except ValueError as error:
        raise UnsupportedPlanError(f"the command {name!r} can't be read: {error}") from None
    if not arguments:
        raise UnsupportedPlanError("the command is empty", hint=f"Name one of {', '.join(ENGINES)}, or a command")
    start = partial(Worker, arguments, arguments[0]) if persistent else partial(Command, arguments)
    return Engine(name=label or name, start=start, inline=True, converts=persistent)
