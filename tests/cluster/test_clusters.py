"""The same rows everywhere: in one process, on a cluster of its own, on a standalone master, through Spark Connect."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from tests.cluster.program import FILES, ROWS, make_tables

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = "local-cluster[2,1,2048]"

pytestmark = [
    pytest.mark.sweep(sample=0),
    pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="these sessions are the tests' own"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cluster")
    make_tables(made)
    return made


@pytest.fixture(scope="module")
def expected(folder: Path, tpch: dict[str, Path]) -> dict[str, Any]:
    """The rows in one process."""
    return _run("local[2]", folder, tpch)


def _run(master: str, folder: Path, tpch: dict[str, Path], *options: str, **environment: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.cluster.program", master, str(folder), *options]
    outside = {name: value for name, value in os.environ.items() if name != "SPARK_REMOTE"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**outside, "TPCH": str(tpch["orders"].parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_cluster_of_two_executors(folder: Path, expected: dict[str, Any], tpch: dict[str, Path]) -> None:
    assert _run(CLUSTER, folder, tpch) == expected


def test_a_standalone_master_with_two_workers(
    folder: Path, expected: dict[str, Any], tpch: dict[str, Path], tmp_path: Path
) -> None:
    with _standalone(tmp_path) as master:
        assert _run(master, folder, tpch) == expected


@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="the extra `connect` is not installed")
def test_a_spark_connect_server(folder: Path, expected: dict[str, Any], tpch: dict[str, Path]) -> None:
    assert _run("local[2]", folder, tpch, TEST_REMOTE="local[2]") == expected


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_an_executor_is_killed_while_a_query_runs(folder: Path, tpch: dict[str, Path]) -> None:
    found = _run(CLUSTER, folder, tpch, "--kill")
    assert len(found["killed"]) == 1 and not found["alive"], "no executor was killed in mid-query"
    number = np.arange(FILES * ROWS, dtype=np.int64)
    for step in range(1, 60):
        number = (number * 31 + step) % 1_000_003
    assert found["rows"] == [repr((int(number.sum()), FILES * ROWS))]


@contextmanager
def _standalone(logs: Path) -> Iterator[str]:
    """A master and two workers on this machine; gives the master's address."""
    processes: list[subprocess.Popen[bytes]] = []

    def started(name: str, kind: str, *options: str, says: str) -> str:
        log = logs / f"{name}.log"
        with log.open("wb") as output:
            processes.append(_daemon(kind, options, output))
        return _said(log, says)

    try:
        address = started(
            "master", "Master", "--port", "0", "--webui-port", "0", says=r"Starting Spark master at (spark://\S+)"
        )
        for number in (1, 2):
            size = ("--cores", "1", "--memory", "2g", "--port", "0", "--webui-port", "0")
            place = ("--work-dir", str(logs / f"work-{number}"))
            started(f"worker-{number}", "Worker", *size, *place, address, says="(Successfully registered with master)")
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(30)


def _said(log: Path, pattern: str) -> str:
    """What a daemon writes to its log, as soon as it does."""
    for _ in range(600):
        match = re.search(pattern, log.read_text(errors="replace"))
        if match:
            return match.group(1)
        time.sleep(0.1)
    raise AssertionError(f"{log.name}: {log.read_text(errors='replace')[-3000:]}")


def _daemon(kind: str, options: tuple[str, ...], output: IO[bytes]) -> subprocess.Popen[bytes]:
    import pyspark

    from pyspark_substrait.spark.java import java_environment

    home = Path(pyspark.__file__).parent
    with java_environment():
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind.lower()}.{kind}"]
        return subprocess.Popen(
            [*command, "--host", "127.0.0.1", *options], env=environment, stdout=output, stderr=subprocess.STDOUT
        )
