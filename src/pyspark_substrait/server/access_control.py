"""Who may call: users with a password, a token or one of an identity provider, or a certificate of an authority.

A password is sent once, in a Handshake or in the header of any call, and answered with a bearer token. Only hashes are
kept: scrypt of passwords, SHA-256 of tokens, which are too long to be guessed.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from pyarrow import flight

from pyspark_substrait.server.handles import Handles
from pyspark_substrait.server.hashes import hashed_password, is_password
from pyspark_substrait.server.refusals import NotFound, Unauthenticated

__all__ = ["ANYBODY", "AcceptingHandler", "AccessControl", "AccessFactory"]

ANYBODY: Final = "anybody"
"""The name of all clients of a server that asks for nothing."""

_HEADER: Final = "authorization"
_SESSIONS: Final = 10_000
#: how many passwords are checked at once: each takes 16 MB and some 50 ms
_CHECKS: Final = 2


class AccessControl:
    """The users of a server.

    Args:
        passwords: hashes by user.
        tokens: hashes by user.
        seconds: after how many seconds without use a login ends.
        verify: returns whose another bearer token is, or raises Unauthenticated; None if there are no others.
    """

    def __init__(
        self,
        passwords: Mapping[str, str],
        tokens: Mapping[str, str],
        seconds: float,
        verify: Callable[[str], str] | None = None,
    ) -> None:
        self._verify = verify
        self._passwords = dict(passwords)
        self._users = {bytes.fromhex(hashed.partition(":")[2]): user for user, hashed in tokens.items()}
        self._sessions: Handles[str] = Handles("login", _SESSIONS, seconds)
        self._checks = threading.BoundedSemaphore(_CHECKS)
        self._nobody = hashed_password(secrets.token_hex(16))

    @property
    def is_open(self) -> bool:
        """Whether anybody may call."""
        return not self._passwords and not self._users and self._verify is None

    def user(self, headers: Mapping[str, list[str]]) -> tuple[str, str | None]:
        """Return who calls, and the bearer token of a login that this call was.

        Raises:
            Unauthenticated: nobody who may.
        """
        if self.is_open:
            return ANYBODY, None
        method, _, value = next(iter(headers.get(_HEADER, [])), "").partition(" ")
        match method.lower():
            case "bearer":
                return self._of_token(value.strip()), None
            case "basic":
                user = self._of_password(value.strip())
                return user, self._sessions.add(user, user)
        raise Unauthenticated("this server asks who you are: send a user and a password, or a bearer token")

    def end(self, headers: Mapping[str, list[str]]) -> bool:
        """End the login of a call; False if the call isn't of one."""
        token = next(iter(headers.get(_HEADER, [])), "").partition(" ")[2].strip()
        try:
            self._sessions.remove(token, None)
        except NotFound:
            return False
        return True

    def _of_token(self, token: str) -> str:
        digest = sha256(token.encode("utf-8", "surrogateescape")).digest()
        if digest in self._users:
            return self._users[digest]
        try:
            return self._sessions.get(token.encode("utf-8", "surrogateescape"), None)
        except NotFound:
            if self._verify is not None and token.count(".") == 2:
                return self._verify(token)
            raise Unauthenticated("the bearer token is not one of this server, or its login has expired") from None

    def _of_password(self, value: str) -> str:
        try:  # some clients leave out the padding
            user, _, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            user, password = "", ""
        with self._checks:
            right = is_password(password, self._passwords.get(user, self._nobody))
        if right and user in self._passwords:
            return user
        raise Unauthenticated("the user or the password is wrong")


class _Caller(flight.ServerMiddleware):  # type: ignore[misc]
    """The user of one call. ``headers`` are those that came with it."""

    def __init__(self, user: str, token: str | None, headers: Mapping[str, list[str]]) -> None:
        self.user = user
        self.headers = headers
        self._token = token

    def sending_headers(self) -> dict[str, str]:
        return {} if self._token is None else {_HEADER: f"Bearer {self._token}"}


class AccessFactory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Asks each call who it is of."""

    def __init__(self, access: AccessControl) -> None:
        self._access = access

    def start_call(self, info: Any, headers: Mapping[str, list[str]]) -> _Caller:
        lower = {name.lower(): [_text(value) for value in values] for name, values in headers.items()}
        return _Caller(*self._access.user(lower), lower)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


class AcceptingHandler(flight.ServerAuthHandler):  # type: ignore[misc]
    """Accepts a Handshake, whose headers :class:`AccessFactory` has checked; without one, pyarrow refuses it."""

    def authenticate(self, outgoing: Any, incoming: Iterator[bytes]) -> None:
        """Do nothing: the bearer token is in the headers of the answer."""

    def is_valid(self, token: bytes) -> str:
        return ""
