"""Bearer tokens of an identity provider: JSON Web Tokens (RFC 7519), checked by the keys of a key set (RFC 7517).

Which algorithm may have signed a token follows from the key, and never from the token.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import jwt

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.server.refusals import Unauthenticated
from pyspark_substrait.server.requests import LOGGER

__all__ = ["TokenVerifier"]

#: the algorithms of a key, by its type and its curve; all are asymmetric
_ALGORITHMS: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
_LEAST_RSA_BITS: Final = 2048
#: how much the clocks of two machines may differ
_LEEWAY_SECONDS: Final = 30

#: the keys of a set by their names (``kid``), and each by its algorithms
_Keys = Mapping["str | None", Mapping[str, jwt.PyJWK]]


class TokenVerifier:
    """Tells whose a token is. The file is read again when it has changed; one with a fault doesn't replace the keys.

    Args:
        file: the key set, in JSON.
        audience: whom tokens must be for (``aud``).
        issuer: whose they must be (``iss``); None for anybody who has one of the keys.
        claim: which claim names the user.

    Raises:
        SubstraitError: the file is no key set, or has a key that must not be in one.
    """

    def __init__(self, file: Path, audience: str, issuer: str | None, claim: str) -> None:
        self._file = file
        self._audience = audience
        self._issuer = issuer
        self._claim = claim
        self._lock = threading.Lock()
        self._stamp = _stamp(file)
        self._keys = _read(file)

    def user(self, token: str) -> str:
        """Return the user whose token this is.

        Raises:
            Unauthenticated: it isn't right.
        """
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            raise Unauthenticated("the bearer token is neither one of this server nor a JSON Web Token") from None
        algorithm = str(header.get("alg"))
        key = self._key(header.get("kid"), algorithm)
        if "crit" in header:
            raise Unauthenticated("the token has critical extensions (`crit`), which this server does not know")
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", self._claim]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            raise Unauthenticated(_sentence(error)) from None
        user = claims[self._claim]
        if not isinstance(user, str) or not user.strip():
            raise Unauthenticated(f"the claim `{self._claim}` of the token is no name of a user")
        return user

    def _key(self, name: object, algorithm: str) -> jwt.PyJWK:
        """Return the key that a token names, for its algorithm."""
        keys = self._current()
        only = next(iter(keys.values())) if len(keys) == 1 else None
        if name is None:
            by_algorithm = only
        else:
            by_algorithm = keys.get(name) if isinstance(name, str) else None
            if by_algorithm is None and None in keys:
                by_algorithm = only
        if by_algorithm is None:
            raise Unauthenticated(
                "the token names no key (`kid`), and this server has several"
                if name is None
                else "the token is signed with a key that this server does not have"
            )
        if algorithm not in by_algorithm:
            raise Unauthenticated("the token is signed by an algorithm (`alg`) that its key is not for")
        return by_algorithm[algorithm]

    def _current(self) -> _Keys:
        with self._lock:
            stamp = _stamp(self._file)
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._keys = _read(self._file)
                except SubstraitError as error:
                    LOGGER.error("the keys of tokens stay as they were: %s", error)
            return self._keys


def _sentence(error: Exception) -> str:
    match error:
        case jwt.ExpiredSignatureError():
            return "the token has expired"
        case jwt.ImmatureSignatureError() | jwt.InvalidIssuedAtError():
            return "the token is not valid yet"
        case jwt.InvalidAudienceError():
            return "the token is for another audience (`aud`) than this server"
        case jwt.InvalidIssuerError():
            return "the token is of another issuer (`iss`) than this server takes"
        case jwt.MissingRequiredClaimError():
            return f"the token has no claim `{error.claim}`"
        case jwt.InvalidSignatureError():
            return "the signature of the token is wrong"
    return "the token is not one that this server understands"


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file does; None for one that is missing."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(file: Path) -> _Keys:
    """Return the keys of a file for signatures; those for something else are ignored."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["keys"]
        found = [(entry.get("kid"), dict(_usable(entry))) for entry in entries]
    except OSError as error:
        raise SubstraitError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, jwt.PyJWTError) as error:
        raise SubstraitError(
            f"{file} is no JSON Web Key Set: {type(error).__name__}", hint='It has the form {"keys": [{"kty": …}, …]}'
        ) from error
    except _Unsafe as error:
        raise SubstraitError(f"{file} has {error}") from None
    usable = [(name, keys) for name, keys in found if keys]
    if not usable:
        raise SubstraitError(f"{file} has no key for signatures by RSA, by P-256, P-384 or P-521, or by Ed25519")
    if len({name for name, _ in usable}) < len(usable):
        raise SubstraitError(f"{file} has several keys of the same name (`kid`), or without one")
    return dict(usable)


class _Unsafe(Exception):
    """A key must not be in the set."""


def _usable(entry: Mapping[str, Any]) -> Iterator[tuple[str, jwt.PyJWK]]:
    """Yield an entry's public key by the algorithms that it is for.

    Raises:
        _Unsafe: it is secret, or too short.
    """
    kind = entry["kty"]
    if kind == "oct" or "d" in entry:
        raise _Unsafe("a secret key: only public keys may be in it")
    if entry.get("use", "sig") != "sig" or "verify" not in entry.get("key_ops", ["verify"]):
        return
    for algorithm in _ALGORITHMS.get((kind, entry.get("crv")), ()):
        if entry.get("alg", algorithm) == algorithm:
            key = jwt.PyJWK(dict(entry), algorithm)
            if kind == "RSA" and key.key.key_size < _LEAST_RSA_BITS:
                raise _Unsafe(f"an RSA key of {key.key.key_size} bits: {_LEAST_RSA_BITS} are the least")
            yield algorithm, key
