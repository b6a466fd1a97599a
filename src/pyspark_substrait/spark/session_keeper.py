"""``python -m pyspark_substrait.spark.session_keeper``: a process that keeps the Java process of a command for others.

Java ends when the pipe at its standard input is closed. A command that ends hands the other end of that pipe to this
process, with a socket in a folder of the user's own, and a :class:`Record` at standard input. The process lends Java to
one command at a time, and ends it after a while without use, or when a command disappears without giving it back.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["GIVEN_BACK", "LIST", "STOP", "USE", "Record", "ask", "start"]

USE, LIST, STOP, GIVEN_BACK = "use", "list", "stop", "given back"
"""The lines that a command sends: it wants to use Java, to know about it, to end it; it has done with it."""

_LINE_BYTES = 65536
_ANSWER_SECONDS = 15
_END_SECONDS = 10


@dataclass(frozen=True)
class Record:
    """A kept Java process.

    Args:
        port, secret: of Java's end of the bridge to Python.
        java: the number of the process.
        folder: its temporary files, to be removed afterwards.
        seconds: the longest time without use.
        place: the socket.
        about: what the process is, for people.
    """

    port: int
    secret: str
    java: int
    folder: str
    seconds: float
    place: str
    about: dict[str, str]


def ask(place: Path, line: str) -> tuple[socket.socket, dict[str, object]]:
    """Send a line to the process that listens on a socket; return the connection and the answer.

    Raises:
        OSError: nothing listens, or it doesn't answer.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_ANSWER_SECONDS)
        connection.connect(str(place))
        connection.sendall(line.encode() + b"\n")
        answer = json.loads(_line(connection))
    except ValueError as error:
        connection.close()
        raise OSError(f"{place} does not answer") from error
    except OSError:
        connection.close()
        raise
    return connection, answer


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder of sockets, in which sockets are made and removed."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _line(connection: socket.socket) -> str:
    """Receive a line."""
    content = b""
    while not content.endswith(b"\n") and len(content) < _LINE_BYTES:
        part = connection.recv(_LINE_BYTES)
        if not part:
            break
        content += part
    return content.decode(errors="replace").strip()


class _Keeper:
    """The process's state.

    Args:
        record: the Java process.
        pipe: the descriptor of the end of the pipe that Java ends with.
        listener: the socket.
    """

    def __init__(self, record: Record, pipe: int, listener: socket.socket) -> None:
        self._record = record
        self._pipe = pipe
        self._listener = listener
        self._user: socket.socket | None = None
        self._uses = 1
        self._idle_since = time.monotonic()
        self._kept_since = time.time()

    def keep(self) -> None:
        """Lend Java until it ends or is no longer wanted."""
        watched = select.poll()
        watched.register(self._pipe, 0)  # reports only that its other end is closed
        watched.register(self._listener, select.POLLIN)
        while True:
            left = self._record.seconds - (time.monotonic() - self._idle_since)
            if self._user is None and left <= 0:
                return
            for descriptor, _ in watched.poll(None if self._user else left * 1000 + 1):
                if descriptor == self._pipe:
                    return
                if descriptor == self._listener.fileno():
                    if not self._answer(watched):
                        return
                elif self._user is not None and not self._given_back(watched):
                    return

    def _answer(self, watched: select.poll) -> bool:
        """Answer a command; return whether to go on."""
        connection, _ = self._listener.accept()
        connection.settimeout(_ANSWER_SECONDS)
        wish, lent = "", False
        with suppress(OSError):
            wish = _line(connection)
            if wish == USE and self._user is None:
                _send(connection, {"port": self._record.port, "secret": self._record.secret, "java": self._record.java})
                self._user = connection
                self._uses += 1
                watched.register(connection, select.POLLIN)
                lent = True
            elif wish in (USE, LIST, STOP):
                _send(connection, self._about())
        if not lent:
            connection.close()
        return wish != STOP

    def _given_back(self, watched: select.poll) -> bool:
        """Return whether the command in whose hands Java was gave it back."""
        user, self._user = self._user, None
        assert user is not None
        watched.unregister(user)
        word = ""
        with suppress(OSError), user:
            word = _line(user)
            if word == GIVEN_BACK:
                _send(user, {})
        self._idle_since = time.monotonic()
        return word == GIVEN_BACK

    def _about(self) -> dict[str, object]:
        busy = self._user is not None
        return {
            **self._record.about,
            "java": self._record.java,
            "busy": busy,
            "uses": self._uses,
            "since": self._kept_since,
            "seconds left": None if busy else self._record.seconds - (time.monotonic() - self._idle_since),
        }

    def end(self) -> None:
        """End Java, by force if it doesn't end by itself, and remove its files."""
        os.close(self._pipe)
        until = time.monotonic() + _END_SECONDS
        with suppress(ProcessLookupError):
            while time.monotonic() < until:
                os.kill(self._record.java, 0)
                time.sleep(0.05)
            os.kill(self._record.java, signal.SIGKILL)
        shutil.rmtree(self._record.folder, ignore_errors=True)
        if self._user is not None:
            self._user.close()


def _send(connection: socket.socket, answer: dict[str, object]) -> None:
    connection.sendall(json.dumps(answer).encode() + b"\n")


def _listening(place: Path) -> socket.socket | None:
    """Return a new socket at a place; None if another process listens there already."""
    with _locked(place.parent):
        try:
            ask(place, LIST)[0].close()
        except OSError:
            place.unlink(missing_ok=True)
        else:
            return None
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(place))
        place.chmod(0o600)
        listener.listen()
        return listener


def start(record: Record, pipe: int) -> bool:
    """Start the process; return whether it was started: another one may listen at that place already.

    Args:
        record: the Java process.
        pipe: the descriptor of the pipe that Java ends with.

    Raises:
        OSError: it can't be started.
    """
    listener = _listening(Path(record.place))
    if listener is None:
        return False
    with listener:
        passed = [pipe, listener.fileno()]
        process = subprocess.Popen(
            [sys.executable, "-m", "pyspark_substrait.spark.session_keeper", *map(str, passed)],
            pass_fds=passed,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    assert process.stdin is not None
    with process.stdin as file:
        file.write(json.dumps(asdict(record)).encode())
    return True


def main() -> None:
    """Keep the Java process of the record at standard input."""
    record = Record(**json.load(sys.stdin))
    pipe, listener = int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    keeper = _Keeper(record, pipe, listener)
    os.chdir("/")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit())
    try:
        keeper.keep()
    finally:
        with _locked(Path(record.place).parent):
            listener.close()
            Path(record.place).unlink(missing_ok=True)
        keeper.end()


if __name__ == "__main__":
    main()
