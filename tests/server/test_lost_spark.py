"""The answers to clients when the Spark behind a server goes away, and after that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_server_lost import needs_connect

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [
    pytest.mark.sweep(sample=0),
    pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it starts sessions of its own"),
]


def found(how: str) -> dict[str, Any]:
    """The outcomes of ``tests.server.lost_spark_program``."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.server.lost_spark_program", how],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    outcomes: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    for name, outcome in outcomes.items():
        if "error" in outcome:
            assert outcome["error"] == "FlightUnavailableError", (name, outcome)
            assert not any(word in outcome["text"] for word in ("Traceback", ".py", "py4j", "java."))
    assert outcomes["before"]["rows"] == [{"s": 6}]
    return outcomes


def assert_goes_on(outcomes: dict[str, Any]) -> None:
    assert [row["table_name"] for row in outcomes["tables"]["rows"]] == ["given"]
    assert outcomes["kept"]["rows"] == [{"n": 3}]
    assert outcomes["prepared"]["rows"] == [{"s": 6}]


def test_a_server_starts_its_own_spark_again() -> None:
    outcomes = found("own")
    assert "Java process has ended" in outcomes["reading"]["text"]
    assert "The next request starts Spark" in outcomes["reading"]["text"]
    assert outcomes["next"]["rows"] == [{"a": 1}]
    assert_goes_on(outcomes)


def test_a_session_that_was_given_is_not_started_again() -> None:
    outcomes = found("given")
    assert "Java process has ended" in outcomes["reading"]["text"]
    for name in ("next", "tables", "kept", "prepared"):
        assert "Start the server again" in outcomes[name]["text"]


@needs_connect
@pytest.mark.since("4.1", "bounded retries")
def test_a_connect_server_that_is_gone() -> None:
    outcomes = found("server")
    for name in ("reading", "next", "tables", "prepared"):
        assert "is gone: it no longer answers" in outcomes[name]["text"]


@needs_connect
@pytest.mark.since("4.1", "bounded retries")
def test_a_connect_server_that_comes_back() -> None:
    outcomes = found("again")
    assert "is gone: it no longer answers" in outcomes["reading"]["text"]
    assert "no Spark Connect server answers at" in outcomes["next"]["text"]
    assert_goes_on(outcomes)
