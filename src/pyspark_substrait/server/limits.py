"""How much clients may ask of a server: the one description of its limits, for ``serve`` and the command."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_substrait.model.limits import RunLimits, limit_field

__all__ = ["ServerLimits"]


@dataclass(frozen=True, kw_only=True)
class ServerLimits(RunLimits):
    """The limits of a server: those of each request, and how many there may be; None stands for no limit.

    Args:
        requests: how many requests run at once.
        user_requests: how many requests of one user run at once.
        waiting: how many more may wait for their turn.
        message_bytes: the largest plan or SQL text.
        ingestion_bytes: the most bytes of the records of one ingestion, as Arrow has them in memory.

    Raises:
        SubstraitError: a limit is less than it can be.
    """

    requests: int = limit_field(16, "How many run at once (16).")
    user_requests: int | None = limit_field(None, "How many of one user run at once; by default as many as of all.")
    waiting: int = limit_field(64, "How many more may wait (64).", least=0)
    message_bytes: int = limit_field(16 * 1024 * 1024, "The largest plan or SQL text (16 MiB).")
    ingestion_bytes: int | None = limit_field(None, "The most bytes of one ingestion; a larger one is an error.")
