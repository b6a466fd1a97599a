"""Spark Connect: the plans of others, every kind of expression and type, all function cases, with a local server."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
QUICK = pytest.mark.sweep
SLOW = pytest.mark.sweep(sample=0)

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="the extra `connect` is not installed"),
    pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="this run is the one with Spark Connect"),
]


@pytest.mark.parametrize(
    "tests",
    [
        *(
            pytest.param(f"tests/spark/test_{name}.py", marks=QUICK)
            for name in (
                "tables",
                "coverage",
                "type_round_trips",
                "correlation",
                "evaluate",
                "phases",
                "user_functions",
                "threads",
            )
        ),
        pytest.param("tests/spark/profiling/test_profile.py", marks=QUICK),
        pytest.param("tests/server/test_connect_sessions.py", marks=QUICK),
        pytest.param("tests/server/test_protocol.py", marks=SLOW),
        pytest.param("tests/spark/test_foreign_plans.py", marks=SLOW),
        pytest.param("tests/spark/test_translation_calls.py", marks=SLOW),
        pytest.param("tests/conformance/test_catalog.py", marks=SLOW),
        pytest.param("tests/conformance/test_conformance.py", marks=SLOW),
    ],
)
def test_plans_run_the_same_with_spark_connect(tests: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", tests],
        cwd=ROOT,
        env={**os.environ, "TEST_REMOTE": "local[2]"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout[-5000:]}\n{run.stderr[-5000:]}"  # where a crash says which line it was
    assert " passed" in run.stdout and " failed" not in run.stdout


_ANSWERING = """
import sys
from pyspark_substrait.spark.session_start import embedded_session

spark = embedded_session(remote="local[1]")
print("ready", flush=True)
sys.stdin.readline()
print(spark.range(3).count(), flush=True)
spark.stop()
"""


@pytest.mark.sweep
def test_two_local_servers_run_at_once() -> None:
    command = [sys.executable, "-c", _ANSWERING]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as one, subprocess.Popen(command, text=True, **pipes) as two:
        assert [process.stdout and process.stdout.readline() for process in (one, two)] == ["ready\n"] * 2
        assert [process.communicate("\n")[0] for process in (one, two)] == ["3\n"] * 2
