"""Sessions that commands keep for the next ones: used by one command at a time, and gone when nobody needs them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait
from pyspark_substrait.spark import kept_session
from pyspark_substrait.spark.kept_session import SWITCH, may_keep
from pyspark_substrait.spark.session_keeper import LIST, ask

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no sessions")

_QUERY = "SELECT id % 7 AS rest, count(*) AS many FROM numbers WHERE id > 10 GROUP BY id % 7 ORDER BY rest"
_SLOW = "SELECT sum(length(replace(repeat('ab', 9000000 + CAST(id AS INT)), 'a', 'bb'))) AS many FROM numbers"
_TABLE = ("--table", "numbers=numbers.parquet")
_END_SECONDS = 60


class _Commands:
    """The command line in an environment of its own."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.temporary = Path(tempfile.mkdtemp(prefix="kept-"))  # the path of a socket must be short
        self.environment = {**os.environ, SWITCH: str(seconds), "TMPDIR": str(self.temporary)}
        self.sockets = self.temporary / f"pyspark-substrait-{os.getuid()}"
        pq.write_table(pa.table({"id": range(1000)}), folder / "numbers.parquet")
        plan = pyspark_substrait.from_sql(_QUERY, tables={"numbers": "id BIGINT NOT NULL"}, engine="datafusion")
        (folder / "plan.pb").write_bytes(plan.to_bytes())

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start a command."""
        return subprocess.Popen(
            [sys.executable, "-m", "pyspark_substrait", *arguments],
            cwd=self.folder,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rows(self, *arguments: str, **variables: str) -> str:
        """Run the plan; return its rows as CSV."""
        process = self.start("run", "plan.pb", *_TABLE, "--format", "csv", *arguments, **variables)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return output

    def kept(self) -> list[dict[str, Any]]:
        """The kept sessions, as their keepers describe them."""
        found = []
        for place in self.sockets.glob("*.socket"):
            connection, answer = ask(place, LIST)
            connection.close()
            found.append(answer)
        return found

    def files(self) -> list[str]:
        """The temporary files of this package."""
        return sorted(path.name for path in self.temporary.glob("pyspark-substrait-*/*"))


@pytest.fixture
def commands(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[_Commands]:
    """Commands whose sessions are kept for as many seconds as the parameter says, and stopped at the end."""
    found = _Commands(tmp_path, getattr(request, "param", 300))
    yield found
    found.start("sessions", "--stop").communicate(timeout=60)
    shutil.rmtree(found.temporary)


def _until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, for a minute at most; return whether it does."""
    end = time.monotonic() + _END_SECONDS
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.sweep
def test_the_next_command_uses_the_session_of_the_one_before(commands: _Commands) -> None:
    expected = duckdb.execute(_QUERY.replace("numbers", f"'{commands.folder}/numbers.parquet'")).fetchall()
    first = commands.rows()
    assert [tuple(map(int, line.split(","))) for line in first.splitlines()[1:]] == expected
    [kept] = commands.kept()
    assert (kept["uses"], kept["busy"], kept["folder"]) == (1, False, str(commands.folder))
    assert commands.sockets.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in commands.sockets.iterdir()} == {0o600}

    # a new session in the same process: a terminal of another width changes nothing
    assert commands.rows(COLUMNS="50") == first
    again, _ = commands.start("plan", "SELECT id + 1 AS next FROM numbers", *_TABLE).communicate(timeout=300)
    assert json.loads(again)["relations"]
    [found] = commands.kept()
    assert (found["java"], found["uses"]) == (kept["java"], 3)
    assert str(kept["java"]) in commands.start("sessions").communicate(timeout=60)[0]

    # other settings: a session of their own, as without keeping any
    assert commands.rows("--no-keep") == commands.rows("--master", "local[1]", **{SWITCH: "0"}) == first
    assert [each["uses"] for each in commands.kept()] == [3]

    # a command that is killed in the middle takes its session with it, and the next one starts another
    slow = commands.start("plan", _SLOW, *_TABLE, "-o", "slow.pb")
    assert slow.communicate(timeout=300)[1] == "written to slow.pb\n"
    slow = commands.start("run", "slow.pb", *_TABLE)
    assert _until(lambda: commands.kept()[0]["busy"])
    assert commands.rows("--no-keep") == first  # meanwhile
    slow.kill()
    assert _until(lambda: _ended(kept["java"]) and not commands.files())
    assert commands.rows() == first
    assert [each["uses"] for each in commands.kept()] == [1]


@pytest.mark.sweep
@pytest.mark.parametrize("commands", [2], indirect=True)
def test_nothing_is_left_when_the_time_is_over(commands: _Commands) -> None:
    commands.rows()
    [kept] = commands.kept()
    assert _until(lambda: _ended(kept["java"]) and not commands.files())
    assert not commands.kept()


@pytest.mark.sweep
def test_a_killed_process_is_noticed(commands: _Commands) -> None:
    first = commands.rows()
    [kept] = commands.kept()
    os.kill(kept["java"], signal.SIGKILL)
    assert _until(lambda: not commands.files())
    assert commands.rows() == first
    [kept] = commands.kept()
    assert subprocess.run(["pkill", "-9", "-f", f"session_keeper .*{commands.folder}"]).returncode in (0, 1)
    assert commands.start("sessions", "--stop").communicate(timeout=60)[0] == "1 session stopped\n"
    assert _until(lambda: _ended(kept["java"]) and not commands.files())


@pytest.mark.sweep
def test_two_are_kept_at_most(commands: _Commands) -> None:
    """Another environment has another session."""
    commands.rows(ONE="1")
    [first] = commands.kept()
    commands.rows(ONE="2")
    assert len(commands.kept()) == 2
    commands.rows(ONE="3")
    assert _until(lambda: _ended(first["java"]) and len(commands.kept()) == 2)


def test_what_keeps_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for stated, ci, expected in (
        ("", "", True),
        ("", "1", False),
        ("60", "1", True),
        ("0", "", False),
        ("x", "", False),
    ):
        monkeypatch.setenv(SWITCH, stated)
        monkeypatch.setenv("CI", ci)
        assert (may_keep() > 0) is expected


def test_only_what_a_terminal_sets_is_left_out_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("COLUMNS", "TERM_PROGRAM", "SSH_TTY", "TZ", "SPARK_HOME", "AWS_PROFILE", "LC_ALL", "PATHS", "TERMS")
    for name in names:
        monkeypatch.setenv(name, "x")
    assert set(names) & set(kept_session._environment()) == set(names[3:])
