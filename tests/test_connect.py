"""Spark Connect: the plans of others, every kind of expression and type, all function cases, with a local server."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sweep

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="the extra `connect` is not installed")
@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="this run is the one with Spark Connect")
def test_plans_run_the_same_with_spark_connect() -> None:
    rooms = (
        "foreign_plans",
        "tables",
        "translation_calls",
        "coverage",
        "type_round_trips",
        "correlation",
        "evaluate",
        "phases",
        "user_functions",
        "threads",
    )
    tests = [
        *(f"tests/spark/test_{room}.py" for room in rooms),
        "tests/spark/profiling/test_profile.py",
        "tests/conformance",
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, "TEST_REMOTE": "local[2]"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:]
    assert " passed" in run.stdout and " failed" not in run.stdout
