"""Limits on the work that a plan may cause before it runs.

Most work on a plan grows in proportion to its message. A few forms expand exponentially: nested shared parts that are
each used twice, columns that double with each self-join. The limits bound these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pyspark_substrait.errors import PlanFormatError

__all__ = ["ExceededLimit", "Limits", "check_size", "current_limits", "limited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on the size of a plan. The defaults suit untrusted plans, and fit the plans of any engine.

    Args:
        message_bytes: the size of a plan as it is given: binary, JSON or text.
        columns: the columns of all relations together, before and after emit, with the fields and elements in them. It
            also bounds the types of nested constructors.
        repeated: how many relations and expressions the shared parts (references, detached parts, named lambdas) add
            when they are expanded at each use after the first.

    Examples:
        >>> substrait.Limits(columns=10_000)
        Limits(message_bytes=268435456, columns=10000, repeated=100000)
    """

    message_bytes: int = 256 * 1024 * 1024
    columns: int = 500_000
    repeated: int = 100_000


_limits: ContextVar[Limits | None] = ContextVar("limits of plans", default=None)
_DEFAULT = Limits()


def current_limits() -> Limits:
    """The limits of this thread or task."""
    return _limits.get() or _DEFAULT


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Set the limits for a block, in this thread or task.

    Examples:
        >>> with substrait.limited(substrait.Limits(columns=10_000_000)):
        ...     plan = substrait.load(substrait.samples.plan())
    """
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


def check_size(source: object) -> None:
    """Refuse a text or bytes beyond :attr:`Limits.message_bytes`.

    Raises:
        PlanFormatError: it is too large.
    """
    if not isinstance(source, bytes | bytearray | memoryview | str):
        return
    size, most = len(source), current_limits().message_bytes
    if size > most:
        raise PlanFormatError(
            f"the plan has {size:,} bytes, more than {most:,}",
            hint="Large tables belong into files; limited(Limits(message_bytes=…)) allows more",
        )


class ExceededLimit(Exception):
    """A limit is exceeded. It ends reading, even where other faults are collected.

    Args:
        error: the error for the user.
    """

    def __init__(self, error: PlanFormatError) -> None:
        super().__init__(error.message)
        self.error = error

    @classmethod
    def of(cls, field: str, what: str, path: str, hint: str = "") -> ExceededLimit:
        """The error that ``what`` is more than a field of the limits allows."""
        most = getattr(current_limits(), field)
        raised = f"limited(Limits({field}=…)) allows more"
        return cls(
            PlanFormatError(f"{what} more than {most:,}", path=path, hint=f"{hint}; {raised}" if hint else raised)
        )
