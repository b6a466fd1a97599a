"""``make faults``: kill, fill, remove and interrupt for some minutes, and count what comes of it.

``python -m faults.run --minutes 30`` tries every kind of fault, ``--kinds killed,disk`` some of them. The tries are
kept in ``build/faults``; ``--merge`` shows those of several runs in one table.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from faults.killed import killed
from faults.outcomes import Counts

__all__ = ["KINDS", "main", "tried"]

KINDS: Final = ("killed", "client", "disk", "vanish", "two", "clock", "executors")
"""The kinds of faults."""

FOLDER: Final = Path("build/faults")
_ROOT = Path(__file__).parents[1]
#: sees only its own mounts, may make some, and ends with this process
_NAMESPACE: Final = ("unshare", "--user", "--map-root-user", "--mount", "--fork", "--kill-child")
_START_SECONDS = 300


@click.command()
@click.option("--minutes", type=float, default=10.0, show_default=True, help="How long each kind is tried.")
@click.option("--kinds", default=",".join(KINDS), show_default=True, help="Which kinds, separated by commas.")
@click.option("--seed", type=int, help="The seed of moments and writes; by default a new one.")
@click.option("--merge", "merged", type=click.Path(path_type=Path), multiple=True, help="Only show kept tries.")
def main(minutes: float, kinds: str, seed: int | None, merged: Sequence[Path]) -> None:
    """Try faults, and print how often each was tried, with which outcome. Exits with 1 if the package is at fault."""
    console = Console()
    if merged:
        counts = Counts.of_files(merged)
    else:
        unknown = set(kinds.split(",")) - set(KINDS)
        if unknown:
            raise click.UsageError(f"there is no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
        seed = random.randrange(2**32) if seed is None else seed
        FOLDER.mkdir(parents=True, exist_ok=True)
        counts = Counts()
        for kind in kinds.split(","):
            console.print(f"{kind}: seed {seed}, {minutes:g} minutes")
            found = tried(kind, seed, minutes * 60)
            (FOLDER / f"{kind}-{seed}.json").write_text(found.to_json() + "\n", encoding="utf-8")
            counts.merge(found)
    (FOLDER / "table.md").write_text(counts.markdown(), encoding="utf-8")
    for title, heads, lines in counts.tables():
        table = Table(*heads, title=title)
        for line in lines:
            table.add_row(*line)
        console.print(table)
    for fault in counts.faults:
        console.print(f"{fault.group}, {fault.kind}: {fault.text}\n", markup=False)
    sys.exit(1 if counts.faults else 0)


def tried(kind: str, seed: int, seconds: float, folder: Path | None = None) -> Counts:
    """Try one kind of fault for some seconds, and return the tries.

    Args:
        kind: one of :data:`KINDS`.
        seed: of moments and writes.
        seconds: how long, without the time that Spark takes to start.
        folder: an empty folder for tables and journals; by default a new one, which is removed.
    """
    if folder is None:
        made = Path(tempfile.mkdtemp(prefix="faults-"))
        try:
            return tried(kind, seed, seconds, made / "here")
        finally:
            shutil.rmtree(made, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "killed":
        counts = Counts()
        end = time.monotonic() + seconds
        killed(folder, counts, seed, until=lambda: time.monotonic() > end)
        return counts
    return _program(kind, seed, seconds, folder)


def _program(kind: str, seed: int, seconds: float, folder: Path) -> Counts:
    """Return the tries of a program of this folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])}
    environment.pop("SPARK_REMOTE", None)
    environment["TMPDIR"] = str(folder)
    end: list[str] = []
    if kind == "executors":
        command = [sys.executable, "-m", "faults.executors", str(folder / "cluster"), str(seed), str(seconds)]
    else:
        command = [sys.executable, "-m", "faults.conditions", str(folder / "tables"), str(seed), str(seconds), kind]
    if kind == "disk":
        if shutil.which(_NAMESPACE[0]) is None:
            raise click.UsageError("full disks are tried only where there is unshare (Linux)")
        end = [*_NAMESPACE]
    log = folder / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*end, *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=_ROOT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(seconds + _START_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
    counts = Counts.of_files([log])
    if process.returncode or not counts.tries:
        counts.fault(kind, "the program", log.read_text(errors="replace")[-2000:])
    return counts


if __name__ == "__main__":
    main()
