"""A process that changes a table is killed: the table is the old or the new one, and the next change works.

Every step of the exchange itself is in ``test_folders.py``; here, Spark is at work, and is killed with it.
"""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.spark.plans import LONG, run, values
from tests.spark.writing.killed import COLUMNS, changed
from tests.spark.writing.records import insert, table

pytestmark = pytest.mark.sweep

_KILLED = Path(__file__).with_name("killed.py")


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_killed_at_any_moment_the_table_is_the_old_or_the_new_one(spark: SparkSession, tmp_path: Path) -> None:
    for attempt in range(3):
        place = tmp_path / f"table{attempt}"
        kind, before = _kill(place, changes=2 + attempt)
        found = sorted(number for (number,) in duckdb.read_parquet(f"{place}/*.parquet").fetchall())
        assert found in (sorted(before), sorted(changed(kind, before))), kind
        with table(spark, "n BIGINT", f"USING parquet LOCATION '{place}'") as name:
            run(spark, insert(name, values([LONG], [(7,)]), COLUMNS))
            assert sorted(row.n for row in spark.table(name).collect()) == sorted([*found, 7])
        assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def _kill(place: Path, changes: int) -> tuple[str, list[int]]:
    """Start changes, kill them in the middle of one, and say which that is and what was there before it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment.pop("SPARK_REMOTE", None)
    command = [sys.executable, str(_KILLED), str(place)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            line, began = "", time.monotonic()
            for _ in range(changes):
                line, lasted = process.stdout.readline(), time.monotonic() - began
                began = time.monotonic()
            # as long as the last change took is how long this one may take
            time.sleep(random.random() * lasted)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        line = [line, *process.stdout.read().splitlines()][-1]
    kind, _, records = line.partition(" ")
    return kind, ast.literal_eval(records)
