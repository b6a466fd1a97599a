"""A process that changes a table is killed: the table is the old or the new one, and the next change works.

Every step of the exchange itself is in ``test_folders.py``, every step of a replacement in ``test_replacing.py``; here,
Spark is at work, and is killed with it.
"""

from __future__ import annotations

import ast
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.spark.plans import LONG, run, values
from tests.spark.writing.killed import COLUMNS, changed
from tests.spark.writing.killed_replacing import ALTERED, CREATED, STATES
from tests.spark.writing.records import insert, table

pytestmark = pytest.mark.sweep

_KILLED = Path(__file__).with_name("killed.py")
_KILLED_REPLACING = Path(__file__).with_name("killed_replacing.py")
TABLES = (ALTERED, CREATED)


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


@contextmanager
def _started(program: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program in a group of processes of its own, with the Java that it starts; killed in the end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment.pop("SPARK_REMOTE", None)
    command = [sys.executable, str(program), *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


#: how often the processes are killed that replace tables in a catalog that stays
_KILLS = int(os.environ.get("SUBSTRAIT_KILLS", "12"))


@pytest.mark.sweep(sample=0)
@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_killed_while_it_replaces_a_table_the_next_command_finds_the_old_or_the_new_one(tmp_path: Path) -> None:
    """In Hive's metastore. Half of the kills are meant for each kind of command."""
    (tmp_path / "warehouse").mkdir()
    hit, missing, lasted = Counter[str](), 0, dict[str, float]()
    for attempt in range(_KILLS + 1):
        wanted = TABLES[attempt % 2]
        with _started(_KILLED_REPLACING, str(tmp_path), wanted) as process:
            assert process.stdout is not None
            verdict = json.loads(process.stdout.readline())
            for name in TABLES:
                columns, records = verdict[name]
                assert [columns, records] in STATES, verdict
                missing += attempt > 0 and not verdict[f"{name} before"]
            assert verdict["tables"] == verdict["folders"] == sorted(TABLES), verdict
            assert verdict["records"] == [], verdict
            if attempt == _KILLS:
                break
            began = time.monotonic()
            assert process.stdout.readline().strip() == wanted
            if wanted in lasted:
                # the first command of a process may take as long as that of the first process
                time.sleep(random.random() * lasted[wanted])
                hit[wanted] += 1
            else:
                assert process.stdout.readline() == "\n"
                lasted[wanted] = time.monotonic() - began
    print(f"killed {dict(hit)}; {missing} times, no table was there")
    assert sum(hit.values()) == _KILLS - len(TABLES)


def _kill(place: Path, changes: int) -> tuple[str, list[int]]:
    """Start changes, kill them in the middle of one, and say which that is and what was there before it."""
    with _started(_KILLED, str(place)) as process:
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
