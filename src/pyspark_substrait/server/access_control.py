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
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from pyarrow import flight

from pyspark_substrait.server.handles import Handles
from pyspark_substrait.server.hashes import hashed_password, is_password
from pyspark_substrait.server.refusals import NotFound, Unauthenticated

__all__ = ["ANYBODY", "AcceptingHandler", "AccessControl", "AccessFactory", "Caller", "Login"]

ANYBODY: Final = "anybody"
"""The name of all clients of a server that asks for nothing."""

_HEADER: Final = "authorization"
_LOGINS: Final = 10_000
#: how many passwords are checked at once: each takes 16 MB and some 50 ms
_CHECKS: Final = 2


@dataclass(eq=False)
class Login:
    """The login of a user. ``place`` is the catalog and schema that the client chose; None if it chose none."""

    user: str
    place: tuple[str, str] | None = None


@dataclass(frozen=True)
class Caller:
    """The user of a call.

    Args:
        user: the name.
        token: the bearer token of the login that the call was; None if it was none.
        login: the login by whose token the user is known; None if it was by something else.
    """

    user: str
    token: str | None = None
    login: Login | None = None


class AccessControl:
    """The users of a server.

    Args:
        passwords: hashes by user.
        tokens: hashes by user.
        seconds: after how many seconds without use a login ends.
        verify: returns whose another bearer token is, or raises Unauthenticated; None if there are no others.

    Attributes:
        observers: called for each call that is refused because nobody who may made it.
    """

    def __init__(
        self,
        passwords: Mapping[str, str],
        tokens: Mapping[str, str],
        seconds: float,
        verify: Callable[[str], str] | None = None,
    ) -> None:
        self.observers: list[Callable[[], object]] = []
        self._verify = verify
        self._passwords = dict(passwords)
        self._users = {bytes.fromhex(hashed.partition(":")[2]): user for user, hashed in tokens.items()}
        self._logins: Handles[Login] = Handles("login", _LOGINS, seconds)
        self._checks = threading.BoundedSemaphore(_CHECKS)
        self._nobody = hashed_password(secrets.token_hex(16))

    @property
    def is_open(self) -> bool:
        """Whether anybody may call."""
        return not self._passwords and not self._users and self._verify is None

    def caller(self, headers: Mapping[str, list[str]]) -> Caller:
        """Return who calls.

        Raises:
            Unauthenticated: nobody who may.
        """
        if self.is_open:
            return Caller(ANYBODY)
        method, _, value = next(iter(headers.get(_HEADER, [])), "").partition(" ")
        match method.lower():
            case "bearer":
                return self._of_token(value.strip())
            case "basic":
                user = self._of_password(value.strip())
                return Caller(user, self._logins.add(Login(user), user))
        raise Unauthenticated("this server asks who you are: send a user and a password, or a bearer token")

    def end(self, headers: Mapping[str, list[str]]) -> bool:
        """End the login of a call; False if the call isn't of one."""
        token = next(iter(headers.get(_HEADER, [])), "").partition(" ")[2].strip()
        try:
            self._logins.remove(token, None)
        except NotFound:
            return False
        return True

    def _of_token(self, token: str) -> Caller:
        digest = sha256(token.encode("utf-8", "surrogateescape")).digest()
        if digest in self._users:
            return Caller(self._users[digest])
        try:
            login = self._logins.get(token.encode("utf-8", "surrogateescape"), None)
            return Caller(login.user, login=login)
        except NotFound:
            if self._verify is not None and token.count(".") == 2:
                return Caller(self._verify(token))
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


class _Call(flight.ServerMiddleware):  # type: ignore[misc]
    """One call: its caller, and the ``headers`` that came with it."""

    def __init__(self, caller: Caller, headers: Mapping[str, list[str]]) -> None:
        self.caller = caller
        self.headers = headers

    def sending_headers(self) -> dict[str, str]:
        return {} if self.caller.token is None else {_HEADER: f"Bearer {self.caller.token}"}


class AccessFactory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Asks each call who it is of."""

    def __init__(self, access: AccessControl) -> None:
        self._access = access

    def start_call(self, info: Any, headers: Mapping[str, list[str]]) -> _Call:
        lower = {name.lower(): [_text(value) for value in values] for name, values in headers.items()}
        try:
            return _Call(self._access.caller(lower), lower)
        except Unauthenticated:
            for observer in self._access.observers:
                observer()
            raise


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


class AcceptingHandler(flight.ServerAuthHandler):  # type: ignore[misc]
    """Accepts a Handshake, whose headers :class:`AccessFactory` has checked; without one, pyarrow refuses it."""

    def authenticate(self, outgoing: Any, incoming: Iterator[bytes]) -> None:
        """Do nothing: the bearer token is in the headers of the answer."""

    def is_valid(self, token: bytes) -> str:
        return ""
