"""Processes that run plans, with a limit of time: a worker for many, or a command for each."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Final, Literal, Protocol, TypeAlias

import pyarrow as pa

from pyspark_substrait.conformance.frames import MOST_BYTES, read_blocks, table_of, write_blocks
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["REFUSED", "Command", "Failure", "Reply", "Request", "Runner", "Worker"]

#: the exit status of a command that refuses a plan
REFUSED: Final = 2
_START_SECONDS: Final = 600.0
_END_SECONDS: Final = 1.0
_MOST_CHARACTERS: Final = 400
_PART: Final = 1 << 16

#: ``refused``: the engine doesn't take the plan; ``error``: the plan failed while it ran; ``crash``: the process ended;
#: ``timeout``: it took too long; ``garbage``: the result is no Arrow stream
Failure: TypeAlias = Literal["refused", "error", "crash", "timeout", "garbage"]


@dataclass(frozen=True, slots=True)
class Request:
    """A plan to run: its bytes, whether it may be converted, and the Arrow streams of its named tables."""

    plan: bytes
    convert: bool = False
    tables: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The rows of a plan, or why there are none."""

    table: pa.Table | None = None
    failure: Failure | None = None
    text: str = ""


class Runner(Protocol):
    """Something that runs plans."""

    def ask(self, request: Request, seconds: float) -> Reply:
        """Return the reply to a request, within a time."""

    def close(self) -> None:
        """End its processes."""


class Worker:
    """A process that runs many plans, in messages (``worker``), and is started again when it ended.

    Args:
        arguments: its command.
        name: the engine, for errors.
    """

    def __init__(self, arguments: Sequence[str], name: str) -> None:
        self._arguments = tuple(arguments)
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._replies: queue.Queue[list[bytes] | None] = queue.Queue()
        self.version = ""

    def start(self) -> None:
        """Start the process, if there is none.

        Raises:
            UnsupportedPlanError: the engine doesn't start.
        """
        if self._process is not None:
            return
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._replies = queue.Queue()
        self._process = _started(self._arguments, self._errors)
        threading.Thread(target=_listen, args=(self._process.stdout, self._replies), daemon=True).start()
        found = self._next(_START_SECONDS)
        if isinstance(found, Reply) or found[0] != b"ready":
            reason = found.text if isinstance(found, Reply) else found[1].decode(errors="replace")
            self.close()
            raise UnsupportedPlanError(f"{self._name} does not start: {reason}")
        self.version = found[1].decode(errors="replace")

    def ask(self, request: Request, seconds: float) -> Reply:
        self.start()
        assert self._process is not None and self._process.stdin is not None
        tables = [block for name, content in request.tables for block in (name.encode(), content)]
        blocks = [request.plan, b"1" if request.convert else b"0", *tables]
        threading.Thread(target=_send, args=(self._process.stdin, blocks), daemon=True).start()
        found = self._next(seconds)
        if isinstance(found, Reply):
            self.close()
            return found
        kind, content = found
        if kind == b"rows":
            return _result(content)
        if kind in (b"crash", b"ready"):
            self.close()
        return Reply(failure=_FAILURES.get(kind, "garbage"), text=content.decode(errors="replace"))

    def _next(self, seconds: float) -> tuple[bytes, bytes] | Reply:
        """Return the kind and the content of the next message, or what came instead."""
        assert self._process is not None and self._errors is not None
        try:
            blocks = self._replies.get(timeout=seconds)
        except queue.Empty:
            return Reply(failure="timeout", text=f"no result within {seconds:g} s")
        if blocks is not None and len(blocks) == 2 and blocks[0] in _KINDS:
            return blocks[0], blocks[1]
        if blocks is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return Reply(failure="crash", text=_ending(self._process.wait(_END_SECONDS), self._errors))
        return Reply(failure="garbage", text="its standard output is no message")

    def close(self) -> None:
        if self._process is not None:
            _end(self._process)
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None


_FAILURES: Final[dict[bytes, Failure]] = {
    b"refused": "refused",
    b"error": "error",
    b"crash": "crash",
    b"garbage": "garbage",
}
_KINDS: Final = frozenset({b"ready", b"rows", *_FAILURES})


def _listen(stream: IO[bytes], replies: queue.Queue[list[bytes] | None]) -> None:
    """Put the messages of a process into a queue, and None when there are no more."""
    with contextlib.suppress(EOFError, OSError, ValueError):
        while True:
            replies.put(read_blocks(stream))  # type: ignore[arg-type]
    replies.put(None)


def _send(stream: IO[bytes], blocks: Sequence[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):  # the process ended; its output says so
        write_blocks(stream, blocks)  # type: ignore[arg-type]


class Command:
    """A command that is started for each plan: it reads the plan on standard input, and writes an Arrow stream.

    Exit status 2 means that it refuses the plan, every other one but 0 that the plan failed while it ran.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)
        self.version = ""

    def start(self) -> None:
        """Do nothing: each plan has a process of its own."""

    def ask(self, request: Request, seconds: float) -> Reply:
        with tempfile.TemporaryFile() as errors:
            process = _started(self._arguments, errors)
            try:
                return self._reply(process, request.plan, seconds, errors)
            finally:
                _end(process)

    def _reply(self, process: subprocess.Popen[bytes], plan: bytes, seconds: float, errors: IO[bytes]) -> Reply:
        found = bytearray()
        reader = threading.Thread(target=_collect, args=(process.stdout, found), daemon=True)
        reader.start()
        threading.Thread(target=_hand_over, args=(process.stdin, plan), daemon=True).start()
        reader.join(seconds)
        if len(found) > MOST_BYTES:
            return Reply(failure="garbage", text=f"more than {MOST_BYTES:,} bytes")
        try:
            status = process.wait(0 if reader.is_alive() else 1)
        except subprocess.TimeoutExpired:
            return Reply(failure="timeout", text=f"no result within {seconds:g} s")
        if status == 0:
            return _result(bytes(found))
        if status < 0:
            return Reply(failure="crash", text=_ending(status, errors))
        return Reply(failure="refused" if status == REFUSED else "error", text=_last_line(errors))

    def close(self) -> None:
        """Do nothing: no process is left."""


def _started(arguments: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    except OSError as error:
        raise UnsupportedPlanError(f"{arguments[0]} does not start: {error.strerror}") from error


def _collect(stream: IO[bytes], found: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError):
        while len(found) <= MOST_BYTES and (part := stream.read(_PART)):
            found += part


def _hand_over(stream: IO[bytes], plan: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # it may end without reading all
        stream.write(plan)
        stream.close()


def _result(content: bytes) -> Reply:
    try:
        return Reply(table=table_of(content))
    except (pa.ArrowException, OSError, EOFError) as error:
        text = str(error).strip() or type(error).__name__
        return Reply(failure="garbage", text=f"no Arrow stream: {text.splitlines()[0]}"[:_MOST_CHARACTERS])


def _ending(status: int, errors: IO[bytes]) -> str:
    """Return how a process ended, and the last line that it wrote to standard error."""
    how = f"status {status}"
    if status < 0:
        with contextlib.suppress(ValueError):
            how = signal.Signals(-status).name
    line = _last_line(errors)
    return f"the process ended with {how}{f': {line}' if line else ''}"


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 8192))
    lines = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:_MOST_CHARACTERS] if lines else ""


def _end(process: subprocess.Popen[Any]) -> None:
    """End a process and those that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
