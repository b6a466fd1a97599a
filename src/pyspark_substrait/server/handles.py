"""Things that clients refer to later by a name that nobody can guess: tickets, prepared statements, sessions.

There are only so many at once, and each is forgotten when it hasn't been used for a while.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Generic, TypeVar

from pyspark_substrait.server.refusals import NotFound, Unavailable

__all__ = ["Handles"]

_T = TypeVar("_T")
_BYTES = 32


@dataclass(slots=True)
class _Kept(Generic[_T]):
    value: _T
    owner: str
    until: float


class Handles(Generic[_T]):
    """A bounded table of values by handles.

    Args:
        kind: what the values are, for messages.
        most: how many there may be.
        seconds: after how many seconds without use one is forgotten.
        clock: the time in seconds.
    """

    def __init__(self, kind: str, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._kind = kind
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[bytes, _Kept[_T]] = {}
        self._lock = threading.Lock()

    def add(self, value: _T, owner: str) -> str:
        """Return the handle of a new value, which only its owner may use.

        Raises:
            Unavailable: there are too many.
        """
        handle = secrets.token_urlsafe(_BYTES)
        with self._lock:
            if len(self._kept) >= self._most:
                now = self._clock()
                self._kept = {key: kept for key, kept in self._kept.items() if kept.until > now}
            if len(self._kept) >= self._most:
                raise Unavailable(f"there are {self._most:,} {self._kind}s already; close one, or try again later")
            self._kept[_key(handle)] = _Kept(value, owner, self._clock() + self._seconds)
        return handle

    def get(self, handle: str | bytes, owner: str | None) -> _T:
        """Return the value of a handle, which is kept for longer then. ``owner`` None stands for anybody.

        Raises:
            NotFound: there is none of this owner, or no more.
        """
        with self._lock:
            found = self._kept.get(_key(handle))
            if found is None or found.until <= self._clock() or owner not in (None, found.owner):
                raise NotFound(f"there is no such {self._kind}: it was closed, has expired, or never existed")
            found.until = self._clock() + self._seconds
            return found.value

    def owner(self, handle: str | bytes) -> str | None:
        """Return the owner of a handle; None if there is no such handle, or no more."""
        with self._lock:
            found = self._kept.get(_key(handle))
            return None if found is None or found.until <= self._clock() else found.owner

    def remove(self, handle: str | bytes, owner: str | None) -> _T:
        """Forget a handle, and return its value.

        Raises:
            NotFound: as for :meth:`get`.
        """
        value = self.get(handle, owner)
        with self._lock:
            if self._kept.pop(_key(handle), None) is None:  # another thread was faster
                raise NotFound(f"there is no such {self._kind}: it was closed, has expired, or never existed")
        return value


def _key(handle: str | bytes) -> bytes:
    """A digest, so that the time of looking it up says nothing about the handle."""
    return sha256(handle.encode() if isinstance(handle, str) else handle).digest()
