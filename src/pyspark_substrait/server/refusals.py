"""The errors that clients get: a gRPC code and a sentence, and never a stack trace.

pyarrow makes the code of the class of the exception. It also appends the traceback of exceptions that are not its own
``FlightError``, which it formats with :mod:`traceback`; where that fails, it appends the name of the class alone. So
these classes can't be formatted.
"""

from __future__ import annotations

from typing import Final, NoReturn

import pyarrow as pa
from pyarrow import flight

from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError

__all__ = [
    "Cancelled",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "TimedOut",
    "TooLarge",
    "Unauthenticated",
    "Unauthorized",
    "Unavailable",
    "Unimplemented",
    "refusal",
    "verdict",
]


class _Untraced(Exception):
    """An exception whose traceback can't be formatted."""

    @property
    def __cause__(self) -> NoReturn:  # type: ignore[override]
        raise AttributeError("no traceback of this goes to a client")


class InvalidArgument(_Untraced, pa.ArrowInvalid):  # type: ignore[misc]
    """INVALID_ARGUMENT: the request is wrong."""


class TooLarge(_Untraced, pa.ArrowInvalid):  # type: ignore[misc]
    """INVALID_ARGUMENT, since pyarrow has no RESOURCE_EXHAUSTED: more than this server sends or takes."""


class Unimplemented(_Untraced, pa.ArrowNotImplementedError):  # type: ignore[misc]
    """UNIMPLEMENTED: the request is right, and this server doesn't do it."""


class NotFound(_Untraced, pa.ArrowKeyError):  # type: ignore[misc]
    """NOT_FOUND: there is no such statement, or no more."""


class Unavailable(_Untraced, flight.FlightUnavailableError):  # type: ignore[misc]
    """UNAVAILABLE: too much is going on; the same request may succeed later."""


class Unauthenticated(_Untraced, flight.FlightUnauthenticatedError):  # type: ignore[misc]
    """UNAUTHENTICATED: the client hasn't said who it is, or not rightly."""


class Unauthorized(_Untraced, flight.FlightUnauthorizedError):  # type: ignore[misc]
    """PERMISSION_DENIED: this server was started so that nobody may do this."""


class Cancelled(_Untraced, flight.FlightCancelledError):  # type: ignore[misc]
    """CANCELLED: the client asked for it, or went away, or the server stops."""


class TimedOut(_Untraced, flight.FlightTimedOutError):  # type: ignore[misc]
    """DEADLINE_EXCEEDED: the request took longer than this server allows."""


class Internal(_Untraced, flight.FlightInternalError):  # type: ignore[misc]
    """INTERNAL: a fault of this server, which its log describes."""


_KNOWN: Final = (
    InvalidArgument,
    TooLarge,
    Unimplemented,
    NotFound,
    Unavailable,
    Unauthenticated,
    Unauthorized,
    Cancelled,
    TimedOut,
    Internal,
)


def refusal(error: Exception) -> Exception | None:
    """Return what a client gets for an error; None for one that is a fault of this server."""
    match error:
        case _Untraced():
            return error
        case UnsupportedPlanError():
            return Unimplemented(str(error))
        case SubstraitError():
            return InvalidArgument(str(error))
    return None


def verdict(error: BaseException | None) -> str:
    """Return the outcome of a request in one word, for the log."""
    return "ok" if error is None else next((kind.__name__ for kind in _KNOWN if isinstance(error, kind)), "Internal")
