"""The order in which requests run: only so many at once, of all users and of one, and users take turns."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.server.refusals import Unavailable

__all__ = ["Turns"]

_LOOK_SECONDS: Final = 0.1


class _Waiter:
    """A request that waits. ``called`` is set when it is its turn, or when it was ``refused``."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.refused: Unavailable | None = None


class Turns:
    """Gives requests their turns.

    Free places go to the users who wait, one after the other, and to the requests of one user in order. A user whose
    requests may not run now is passed over. Where too many wait, the newest request of the user with most is refused.

    Args:
        limits: how many requests may run and wait.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        #: those who wait by user, the user first who is next; none of the queues is empty
        self._queues: dict[str, deque[_Waiter]] = {}

    @property
    def running(self) -> int:
        """The number of requests that run."""
        with self._lock:
            return self._running.total()

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        with self._lock:
            return sum(map(len, self._queues.values()))

    def enter(self, user: str, look: Callable[[], None]) -> None:
        """Wait until it is the turn of a request; :meth:`leave` ends that. ``look`` raises to give up.

        Raises:
            Unavailable: too many wait.
        """
        waiter = _Waiter()
        with self._lock:
            self._queues.setdefault(user, deque()).append(waiter)
            self._call()
            self._refuse(user)
        try:
            while not waiter.called.wait(_LOOK_SECONDS):
                look()
        except BaseException:
            self._give_up(user, waiter)
            raise
        if waiter.refused is not None:
            raise waiter.refused

    def leave(self, user: str) -> None:
        """Free the place of a request."""
        with self._lock:
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]
            self._call()

    def _call(self) -> None:
        """Call those for whom there are places."""
        while self._running.total() < self._limits.requests:
            user = next((user for user in self._queues if not self._is_at_limit(user)), None)
            if user is None:
                return
            waiters = self._queues.pop(user)
            self._running[user] += 1
            waiters.popleft().called.set()
            if waiters:  # the other users are next
                self._queues[user] = waiters

    def _is_at_limit(self, user: str) -> bool:
        return self._limits.user_requests is not None and self._running[user] >= self._limits.user_requests

    def _refuse(self, newcomer: str) -> None:
        """Refuse a request, if one more waits than may: of the user with most, and of the newcomer among equals."""
        if sum(map(len, self._queues.values())) <= self._limits.waiting:
            return
        user = max(self._queues, key=lambda user: (len(self._queues[user]), user == newcomer))
        waiter = self._queues[user].pop()
        if not self._queues[user]:
            del self._queues[user]
        waiter.refused = Unavailable(self._busy(user))
        waiter.called.set()

    def _busy(self, user: str) -> str:
        most = self._limits.user_requests
        if most is not None and self._is_at_limit(user):
            return (
                f"{most} requests of this user run, as many as may at once (--user-requests, user_requests={most}), "
                "and too many others wait; try again later"
            )
        return f"the server is busy: {self._limits.requests} requests run and too many others wait; try again later"

    def _give_up(self, user: str, waiter: _Waiter) -> None:
        """Take back a request that waits, or that was just called."""
        with self._lock:
            waiters = self._queues.get(user, deque())
            if waiter in waiters:
                waiters.remove(waiter)
                if not waiters:
                    del self._queues[user]
                return
        if waiter.refused is None:
            self.leave(user)
