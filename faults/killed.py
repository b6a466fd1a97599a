"""Kill processes that write, at random moments, and look at what they left.

A writer (``faults.writer``) writes one table in each of several threads, all the time. So a kill hits a write of each
table, at a moment that is random in that write. Killed is the driver (Python and Java), its Java alone, or its Python
alone, whose Java then ends by itself. The next writer checks each table, goes on, and is killed in turn.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from faults.outcomes import KILLED, MISSING, Counts

__all__ = ["VICTIMS", "interrupted", "killed"]

VICTIMS: Final = ("the driver", "Java", "Python")
_ROOT = Path(__file__).parents[1]
_ERRORS: Final = "the error of a plan that loses Java"
_LONGEST_SECONDS = 600
#: how long writers write at most before they are killed; the longest writes take some seconds
_WINDOW_SECONDS = 12.0


@contextmanager
def _started(folder: Path, number: int, seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """A writer in a group of processes of its own, which ends with the body."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])}
    environment |= {"PYSPARK_SUBSTRAIT_ARCHIVE": "0", "TMPDIR": str(temporary)}
    environment.pop("SPARK_REMOTE", None)
    command = [sys.executable, "-m", "faults.writer", str(folder), str(number), str(seed)]
    with (folder / f"{number}.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=_ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _journal(folder: Path, number: int) -> list[dict[str, Any]]:
    path = folder / f"{number}.journal"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def _awaited(folder: Path, number: int, process: subprocess.Popen[bytes], event: str) -> bool:
    """Wait until a writer has come to an event; return whether it has, before it ended."""
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        ended = process.poll() is not None
        if any(line["event"] == event for line in _journal(folder, number)):
            return True
        if ended:
            return False
        time.sleep(0.05)
    return False


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _kill(process: subprocess.Popen[bytes], java: int, victim: str) -> None:
    """Kill a writer, or a part of it, and wait until all of it has ended."""
    if victim == "the driver":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        os.kill(java if victim == "Java" else process.pid, signal.SIGKILL)
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end and (process.poll() is None or _lives(java)):
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def interrupted(
    journal: list[dict[str, Any]], before: dict[str, list[Any]]
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return the states in which each table may be after a writer has ended, and the writes that were interrupted."""
    states = dict(before)
    open_: dict[str, str] = {}
    for line in journal:
        match line["event"]:
            case "begins":
                states[line["subject"]] = [line["before"], line["after"]]
                open_[line["subject"]] = line["kind"]
            case "ended":
                states[line["subject"]] = states[line["subject"]][1:]
                del open_[line["subject"]]
    return states, open_


def killed(
    folder: Path,
    counts: Counts,
    seed: int,
    *,
    until: Callable[[], bool],
    victims: tuple[str, ...] = VICTIMS,
    told: Callable[[int], None] = lambda _: None,
) -> None:
    """Kill writers, again and again, and count what they leave.

    Args:
        folder: an empty folder for the tables and journals.
        counts: gets the tries.
        seed: of moments and writes.
        until: whether to stop.
        victims: which processes are killed, in turn.
        told: called with the number of kills after each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    number, states, open_writes = 0, dict[str, list[Any]](), dict[str, str]()
    group = ""
    last = False
    while True:
        (folder / f"{number}.before.json").write_text(json.dumps(states))
        with _started(folder, number, chance.randrange(2**32)) as process:
            ready = _awaited(folder, number, process, "ready")
            journal = _journal(folder, number)
            _count(counts, group, open_writes, journal)
            if not ready:
                _broken(folder, number, counts, group)
                return
            if last:
                return
            if (folder / "classes.jsa").exists():
                java = next(line["java"] for line in journal if line["event"] == "started")
                victim = victims[number % len(victims)]
                group = f"{victim}{KILLED}"
                time.sleep(chance.random() * _WINDOW_SECONDS)
                _kill(process, java, victim)
            else:  # the first writer only makes the tables
                process.wait()
        journal = _journal(folder, number)
        states, open_writes = interrupted(journal, states)
        for line in journal:
            if line["event"] == "failed" and victim == "Java":
                if line["clear"]:
                    counts.add(_ERRORS, line["kind"], "clear")
                else:
                    counts.fault(_ERRORS, line["kind"], line["text"])
            elif line["event"] == "failed":
                counts.fault(group, line["kind"], f"before the kill: {line['text']}")
        told(number)
        number += 1
        last = until()


def _count(counts: Counts, group: str, writes: dict[str, str], journal: list[dict[str, Any]]) -> None:
    """Count what a writer found of the writes that the one before was killed in."""
    for line in journal:
        kind = writes.get(line.get("subject", ""), "none")
        if line["event"] == "checked" and kind != "none":
            counts.add(group, kind, line["found"] + (MISSING if line["missing"] else ""))
        elif line["event"] == "fault":
            counts.fault(group, kind, line["text"])
        elif line["event"] == "left" and line["names"]:
            counts.fault(group, "what is left", ", ".join(line["names"]))


def _broken(folder: Path, number: int, counts: Counts, group: str) -> None:
    """Keep what a writer left that did not become ready."""
    if not any(line["event"] == "fault" for line in _journal(folder, number)):
        text = (folder / f"{number}.log").read_text(errors="replace")[-2000:]
        counts.fault(group, "the next process", f"it does not start: {text}")
    shutil.copytree(folder, folder.with_name(f"{folder.name}-{number}"), dirs_exist_ok=True, symlinks=True)
