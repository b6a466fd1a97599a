"""Errors of this package in a notebook: the error, its place and the advice, without a long traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.text.explain.columns import escaped

__all__ = ["error_lines", "in_short"]

_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"


@contextmanager
def in_short() -> Iterator[None]:
    """Let IPython show errors of this package that the body raises as a few lines. They are raised all the same."""
    try:
        yield
    except SubstraitError as error:
        lines = error_lines(error)
        error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]  # IPython looks for it
        raise


def error_lines(error: SubstraitError) -> list[str]:
    """Return an error as lines for a notebook, with terminal colours."""
    first, *more = error.message.split("\n")
    lines = [f"{_RED}{_BOLD}{type(error).__name__}{_PLAIN}: {escaped(first)}"]
    lines.extend(f"  {escaped(line)}" for line in more)
    if error.path:
        lines.append(f"  at {escaped(error.path)}")
    if error.hint:
        lines.append(f"  {escaped(error.hint)}")
    return lines
