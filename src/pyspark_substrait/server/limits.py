"""How much clients may ask of a server: the one description of its limits, for ``serve`` and the command."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from pyspark_substrait.errors import SubstraitError

__all__ = ["ServerLimits"]


def _limit(default: float | None, about: str, *, least: int = 1) -> Any:
    """Return a limit: its default, its line in the help of the command, and its least value; 0 stands for above 0."""
    return field(default=default, metadata={"about": about, "least": least})


@dataclass(frozen=True, kw_only=True)
class ServerLimits:
    """The limits of a server; None stands for no limit.

    Args:
        requests: how many requests run at once.
        user_requests: how many requests of one user run at once.
        waiting: how many more may wait for their turn.
        seconds: after how many seconds a request is cancelled.
        result_rows: the most rows of one result.
        result_bytes: the most bytes of one result, as Arrow has them in memory.
        message_bytes: the largest plan or SQL text.
        ingestion_bytes: the most bytes of the records of one ingestion, as Arrow has them in memory.

    Raises:
        SubstraitError: a limit is less than it can be.
    """

    requests: int = _limit(16, "How many run at once (16).")
    user_requests: int | None = _limit(None, "How many of one user run at once; by default as many as of all.")
    waiting: int = _limit(64, "How many more may wait (64).", least=0)
    seconds: float | None = _limit(None, "Cancel a request after this time.", least=0)
    result_rows: int | None = _limit(None, "The most rows of one result; a larger one is an error.")
    result_bytes: int | None = _limit(None, "The most bytes of one result; a larger one is an error.")
    message_bytes: int = _limit(16 * 1024 * 1024, "The largest plan or SQL text (16 MiB).")
    ingestion_bytes: int | None = _limit(None, "The most bytes of one ingestion; a larger one is an error.")

    def __post_init__(self) -> None:
        for limit in fields(self):
            value, least = getattr(self, limit.name), limit.metadata["least"]
            if value is None and limit.default is None:
                continue
            if value is None or value < least or (limit.name == "seconds" and value == 0):
                wanted = "more than 0" if limit.name == "seconds" else f"{least} or more"
                raise SubstraitError(f"the limit {limit.name} is {value!r}, and must be {wanted}")
