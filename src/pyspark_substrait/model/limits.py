"""Limits on the work that a plan may cause before it runs, and while it runs.

Most work on a plan grows in proportion to its message. A few forms expand exponentially: nested shared parts that are
each used twice, columns that double with each self-join. :class:`Limits` bounds these, :class:`RunLimits` a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any

from pyspark_substrait.errors import PlanFormatError, RunLimitError, SubstraitError

__all__ = ["ExceededLimit", "Limits", "RunLimits", "check_size", "current_limits", "limit_field", "limited"]


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


def limit_field(default: float | None, about: str, *, least: int = 1, above: bool = False) -> Any:
    """Return a field of a class of limits.

    Args:
        default: its default; None for no limit.
        about: the line in the help of commands.
        least: its least value.
        above: whether it must be more than that.
    """
    return field(default=default, metadata={"about": about, "least": least, "above": above})


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Bounds on one run of a plan; None stands for no limit. A run that exceeds one ends with a :class:`RunLimitError`.

    Args:
        seconds: how long it may take, once there is a session; then its Spark jobs are cancelled. If a task can't be
            interrupted, or Spark hangs while it plans, an embedded session is ended.
        result_rows: the rows of the result. Spark computes one more at most.
        result_bytes: the bytes of the result, as Arrow has them in memory.
        scan_bytes: the size of the files that a query scans; a larger one is refused before it runs. A file counts
            whole, and each time that a relation scans it. In a classic session only, and where Spark knows the size.

    Raises:
        SubstraitError: a limit is less than it can be.

    Examples:
        >>> tables = substrait.samples.tables()
        >>> limits = substrait.RunLimits(seconds=60, result_rows=1_000, scan_bytes=10**9)
        >>> substrait.run_query(substrait.samples.plan(), tables=tables, limits=limits).num_rows
        4
    """

    seconds: float | None = limit_field(None, "Cancel a run after this time.", least=0, above=True)
    result_rows: int | None = limit_field(None, "The most rows of a result; a larger one is an error.")
    result_bytes: int | None = limit_field(None, "The most bytes of a result; a larger one is an error.")
    scan_bytes: int | None = limit_field(None, "The most bytes of the files that a run scans; more are an error.")

    def __post_init__(self) -> None:
        for limit in fields(self):
            value, least, above = getattr(self, limit.name), limit.metadata["least"], limit.metadata["above"]
            if value is None and limit.default is None:
                continue
            if value is None or value < least or (above and value == least):
                wanted = f"more than {least}" if above else f"{least} or more"
                raise SubstraitError(f"the limit {limit.name} is {value!r}, and must be {wanted}")

    def check_result(self, rows: int, bytes: int) -> None:
        """Refuse a result, or what there is of it so far.

        Raises:
            RunLimitError: it is too large.
        """
        for unit, size in (("rows", rows), ("bytes", bytes)):
            most = getattr(self, f"result_{unit}")
            if most is not None and size > most:
                raise RunLimitError(f"the result has more than {most:,} {unit}", limit=f"result_{unit}")

    def check_scan(self, bytes: int) -> None:
        """Refuse the files that a query scans.

        Raises:
            RunLimitError: they are too large together.
        """
        if self.scan_bytes is not None and bytes > self.scan_bytes:
            raise RunLimitError(
                f"the files that the plan scans have {bytes:,} bytes, more than {self.scan_bytes:,}", limit="scan_bytes"
            )
