"""Times of substrait-validator, in a process of its own.

Run by ``benchmarks.checking`` with a Python that has it. Arguments: rounds, a folder for the plans as bytes, and
plan files. Prints a JSON object: for each plan the median milliseconds of a check, and of one that lists all
diagnostics.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import substrait_validator as validator


def _milliseconds(action: Callable[[], object], rounds: int) -> float:
    action()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _measured(path: Path, folder: Path, rounds: int) -> dict[str, float | str]:
    content = path.read_bytes()
    if path.suffix == ".json":
        content = validator.load_plan_from_json(content.decode()).SerializeToString()
    (folder / f"{path.stem}.pb").write_bytes(content)
    config = validator.Config()
    found: dict[str, float | str] = {}
    found["checked"] = _milliseconds(lambda: validator.plan_to_result_handle(content, config), rounds)
    try:
        found["listed"] = _milliseconds(
            lambda: list(validator.plan_to_diagnostics(validator.plan_to_result_handle(content, config))), rounds
        )
    except Exception as error:  # its own result is nested too deeply for its own reader
        found["fault"] = str(error)[:100]
    return found


if __name__ == "__main__":
    rounds, folder = int(sys.argv[1]), Path(sys.argv[2])
    print(json.dumps({Path(path).stem: _measured(Path(path), folder, rounds) for path in sys.argv[3:]}))
