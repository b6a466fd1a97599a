"""``make bench-checking``: how long a check of the TPC-H plans takes, beside substrait-validator, both warm.

The peer gets an environment of its own under the cache directory, made once. What is compared isn't the same work: it
checks neither calls against their definitions nor several relations, and lists what it doesn't look at.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.machine import cores
from benchmarks.timing import anew
from benchmarks.tpch import CACHE, PLANS, QUERIES, plan_file

PEER = "substrait-validator==0.1.4"


@click.command()
@click.option("--rounds", default=15, help="How often each plan is checked; the median counts.")
@click.option("--producer", default="isthmus", type=click.Choice(["datafusion", "isthmus"]))
def main(rounds: int, producer: str) -> None:
    """Measure checks of the TPC-H plans."""
    if not PLANS.is_dir():
        raise click.ClickException(
            "the TPC-H plans are missing: there is no ../shared/plans/tpch beside the repository"
        )
    files = [file for name in QUERIES if (file := plan_file(producer, name)).exists()]
    console = Console(width=100)
    console.print(f"{date.today()}, {platform.machine()}, {cores()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        peer = _peer(rounds, Path(folder), files)
        ours = {file.stem: _ours((Path(folder) / f"{file.stem}.pb").read_bytes(), rounds) for file in files}
    _print(console, producer, ours, peer)


def _peer(rounds: int, folder: Path, files: list[Path]) -> dict[str, dict[str, Any]]:
    python = CACHE / "validator" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", CACHE / "validator"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    script = Path(__file__).parent / "peer_validator.py"
    run = subprocess.run([python, script, str(rounds), folder, *files], check=True, capture_output=True, text=True)
    found: dict[str, dict[str, Any]] = json.loads(run.stdout)
    return found


def _ours(content: bytes, rounds: int) -> dict[str, float]:
    import pyspark_substrait as substrait

    return {
        "load": _milliseconds(anew(substrait.load, content), rounds),
        "validate": _milliseconds(lambda: substrait.validate(content), rounds),
        "spark": _milliseconds(lambda: substrait.validate(content, "spark"), rounds),
    }


def _milliseconds(action: Callable[[], object], rounds: int) -> float:
    action()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _print(console: Console, producer: str, ours: dict[str, dict[str, float]], peer: dict[str, dict[str, Any]]) -> None:
    table = Table(title=f"Checking the TPC-H plans of {producer}, milliseconds")
    for heading in ("", "load", "validate", "for Spark", "peer checks", "peer lists", "÷ checks", "÷ lists"):
        table.add_column(heading, justify="right")
    rows: list[list[float | None]] = []
    for name, times in ours.items():
        checked, listed = peer[name]["checked"], peer[name].get("listed")
        validated = times["validate"]
        ratios = [validated / checked, None if listed is None else validated / listed]
        rows.append([times["load"], validated, times["spark"], checked, listed, *ratios])
        table.add_row(name, *("fails" if value is None else f"{value:.2f}" for value in rows[-1]))
    columns = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    table.add_row("median", *(f"{statistics.median(column):.2f}" if column else "" for column in columns))
    console.print(table)
    console.print(
        "The peer's check leaves what it found in its own memory; listing hands it over, as validate does. "
        "÷ is validate by the peer."
    )


if __name__ == "__main__":
    main()
