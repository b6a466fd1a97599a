"""Limit how long a run of this package tries to reach a Spark Connect server that doesn't answer.

PySpark tries for ten minutes, with waits of up to a minute. A server that was killed has lost all of its sessions, so
that retries are useless. Imported for Connect sessions only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import grpc
from pyspark.sql.connect.client.retries import DefaultPolicy, RetryPolicy, RetryPolicyState, extract_retry_info

if TYPE_CHECKING:
    from pyspark.sql.connect.client import SparkConnectClient

__all__ = ["BriefRetries", "bound_retries", "retrying_briefly", "without_retries"]

_changing = threading.Lock()
_without = threading.local()


class BriefRetries(RetryPolicy):
    """A retry policy that gives up some seconds after a server was lost.

    It handles only errors that mean that there is no server (gRPC's UNAVAILABLE). An error with a retry delay, and
    every other error, is left to the policies after this one.

    Args:
        everywhere: for all calls of a session; otherwise only for runs of this package, in their threads.

    Attributes:
        gone: whether the server wasn't reached; until the next run, no call of the session is retried.
    """

    def __init__(self, *, everywhere: bool) -> None:
        super().__init__(max_retries=7, initial_backoff=50, backoff_multiplier=3.0, max_backoff=2_000)  # about 8 s
        self.everywhere = everywhere
        self.gone = False
        self.runs = 0
        self._here = threading.local()

    def can_retry(self, exception: BaseException) -> bool:
        return (
            (self.everywhere or self.gone or getattr(self._here, "runs", 0) > 0 or _is_without())
            and isinstance(exception, grpc.RpcError)
            and exception.code() is grpc.StatusCode.UNAVAILABLE
            and extract_retry_info(exception) is None
        )

    def to_state(self) -> RetryPolicyState:
        return _State(self)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a run in this thread."""
        with _changing:
            self.runs += 1
            self.gone = False
        self._here.runs = getattr(self._here, "runs", 0) + 1
        try:
            yield
        finally:
            self._here.runs -= 1
            with _changing:
                self.runs -= 1


class _State(RetryPolicyState):
    def next_attempt(self, exception: BaseException | None = None) -> int | None:
        assert isinstance(self.policy, BriefRetries)
        wait = None if self.policy.gone or _is_without() else super().next_attempt(exception)
        if wait is None and exception is not None:
            self.policy.gone = True
            raise exception  # as pyspark does, but without its warning: the error of this package is clearer
        return wait


def bound_retries(client: SparkConnectClient) -> None:
    """Bound the retries of a client that this package has made."""
    policies = client.get_retry_policies()
    if not any(isinstance(item, BriefRetries) for item in policies):
        client.set_retry_policies([BriefRetries(everywhere=True), *policies])


@contextmanager
def retrying_briefly(client: SparkConnectClient) -> Iterator[None]:
    """Bound the retries of what the body does in this thread.

    Policies that a user has set are kept. Other threads, and later calls, keep the usual policies, except that nothing
    retries a server that the body has found gone.
    """
    policy = _entered(client)
    if policy is None:
        yield
        return
    try:
        with policy.counted():
            yield
    finally:
        with _changing:
            if policy.runs == 0 and not (policy.everywhere or policy.gone):
                client.set_retry_policies([item for item in client.get_retry_policies() if item is not policy])


@contextmanager
def without_retries() -> Iterator[None]:
    """Send the body's requests from this thread once, without retries, if the session has :class:`BriefRetries`."""
    before = _is_without()
    _without.here = True
    try:
        yield
    finally:
        _without.here = before


def _is_without() -> bool:
    return getattr(_without, "here", False)


def _entered(client: SparkConnectClient) -> BriefRetries | None:
    with _changing:
        policies = client.get_retry_policies()
        for item in policies:
            if isinstance(item, BriefRetries):
                return item
        default = vars(DefaultPolicy())
        if any(type(item) is not DefaultPolicy or vars(item) != default for item in policies):
            return None
        policy = BriefRetries(everywhere=False)
        client.set_retry_policies([policy, *policies])
        return policy
