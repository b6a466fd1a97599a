"""A PostgreSQL server of its own, in a temporary folder, and its answers."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["Server", "server"]

#: the user whose process it is, where the tests run as root, which PostgreSQL refuses
_UNPRIVILEGED = "nobody"


#: a query in the log, as the driver has it executed
_QUERY = re.compile(r"execute [^:]+: (SELECT .*)")


class Server:
    """The server, and a database ``postgres`` in it.

    Args:
        folder: where it is; nothing else is there.
        programs: the folder of PostgreSQL's programs.
    """

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder = folder
        self._programs = programs
        self._user = _UNPRIVILEGED if hasattr(os, "geteuid") and os.geteuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        if self._user is not None:
            shutil.chown(folder, self._user)
        data = str(folder / "data")
        self._run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        # every statement is written to the log, so that tests see what Spark asked for
        options = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "log_statement=all", "fsync=off")
        own = " ".join((f"-p {self.port}", *(f"-c {option}" for option in options)))
        self._run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", own, "start")

    @property
    def url(self) -> str:
        """The address for JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres?user=postgres"

    def run(self, text: str) -> list[tuple[str | None, ...]]:
        """The result of statements, as PostgreSQL writes the values."""
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "--csv", "-P", "null=\x01", "-t", "-d", self._address]
        found = self._run(*command, "-c", text).stdout
        return _records(found)

    def answers(self, texts: Sequence[str]) -> list[list[tuple[str | None, ...]] | str]:
        """The results of statements, each by itself, as :meth:`run` has them; of one that fails, the message."""
        mark = "end of an answer"
        script = "\\set VERBOSITY terse\n"
        for text in texts:
            script += f"{text}\n;\n\\if :ERROR\n\\echo ERROR :LAST_ERROR_MESSAGE\n\\endif\n\\echo {mark}\n"
        command = ["psql", "-X", "-q", "--csv", "-P", "null=\x01", "-t", "-d", self._address]
        done = subprocess.run(
            [self._programs / command[0], *command[1:]],
            input=script,
            user=self._user,
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TZ": "UTC"},
        )
        parts = done.stdout.split(f"{mark}\n")[:-1]
        assert len(parts) == len(texts), f"{len(parts)} answers to {len(texts)} statements"
        return [part if part.startswith("ERROR ") else _records(part) for part in parts]

    @contextmanager
    def asked(self) -> Iterator[list[str]]:
        """The queries of records that the server is asked meanwhile; the list is filled at the end."""
        log = self._folder / "log"
        before, found = log.stat().st_size, list[str]()
        yield found
        time.sleep(0.1)
        with log.open() as file:
            file.seek(before)
            for line in file:
                statement = _QUERY.search(line)
                if statement is not None and "pg_catalog" not in line and " WHERE 1=0" not in line:
                    found.append(" ".join(statement[1].split()))

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop")

    @property
    def _address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        # what pg_ctl starts keeps its output open: a pipe would never end
        with tempfile.TemporaryFile("w+") as out:
            done = subprocess.run(
                [self._programs / program, *arguments],
                user=self._user,
                cwd=self._folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TZ": "UTC"},
            )
            out.seek(0)
            text = out.read()
        assert done.returncode == 0, text
        return subprocess.CompletedProcess(done.args, done.returncode, text)


def _records(text: str) -> list[tuple[str | None, ...]]:
    return [tuple(None if cell == "\x01" else cell for cell in row) for row in csv.reader(io.StringIO(text))]


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs: Debian keeps them off the PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda place: int(place.parts[-3]))
    return places[-1].parent if places else None


@contextmanager
def server() -> Iterator[Server]:
    """A server; tests that need it skip where PostgreSQL isn't installed."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: on Debian and Ubuntu, apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pyspark-substrait-postgresql-"))
    try:
        found = Server(folder, programs)
        try:
            yield found
        finally:
            found.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
