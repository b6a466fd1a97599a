"""Users and the hashes of their passwords and tokens, in files of lines ``user:method:…``."""

from __future__ import annotations

import hmac
import secrets
from hashlib import scrypt, sha256
from pathlib import Path
from typing import Final

from pyspark_substrait.errors import SubstraitError

__all__ = ["hashed_password", "hashed_token", "is_password", "read_users"]

_SCRYPT: Final = {"n": 16384, "r": 8, "p": 1}


def hashed_password(password: str) -> str:
    """Return the hash of a password, with its salt, for a password file."""
    salt = secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{_scrypt(password, salt).hex()}"


def hashed_token(token: str) -> str:
    """Return the hash of a token, for a token file."""
    return f"sha256:{sha256(token.encode()).hexdigest()}"


def is_password(password: str, hashed: str) -> bool:
    """Whether a password is that of a hash."""
    _, salt, expected = hashed.split(":")
    return hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(expected))


def _scrypt(password: str, salt: bytes) -> bytes:
    return scrypt(password.encode(), salt=salt, **_SCRYPT)


def read_users(file: Path, kind: str) -> dict[str, str]:
    """Return the hashes of a password file or a token file by user; a line is ``user:hash``.

    Args:
        file: the file.
        kind: the method of its hashes: ``scrypt`` or ``sha256``.

    Raises:
        SubstraitError: it can't be read, or a line has another form.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SubstraitError(f"{file} cannot be read: {error}") from error
    users: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, hashed = line.strip().partition(":")
        if not name or name in users or not _is_hash(hashed, kind):
            raise SubstraitError(
                f"line {number} of {file} is not of the form user:{kind}:…, or names a user again",
                hint="`pyspark-substrait serve-user NAME` prints such lines",
            )
        users[name] = hashed
    if not users:
        raise SubstraitError(f"{file} names no user")
    return users


def _is_hash(text: str, kind: str) -> bool:
    method, *parts = text.split(":")
    try:
        sizes = [len(bytes.fromhex(part)) for part in parts]
    except ValueError:
        return False
    return method == kind and sizes == ([16, 64] if kind == "scrypt" else [32])
