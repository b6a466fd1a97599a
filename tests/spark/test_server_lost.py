"""Spark that goes away in the middle of a run, or doesn't do what it is told: what a run then ends with."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyspark_substrait.errors import ExecutionError, LostSparkError
from pyspark_substrait.spark import lost_connection, progress
from pyspark_substrait.spark.failures import failed
from pyspark_substrait.spark.progress.interrupts import CANCELLED, UNANSWERED, cancelling
from pyspark_substrait.spark.progress.jobs import JobProgress, Jobs

ROOT = Path(__file__).resolve().parent.parent.parent
needs_connect = pytest.mark.skipif(
    importlib.util.find_spec("grpc") is None, reason="the extra `connect` isn't installed"
)


# how often a server is asked -----------------------------------------------------------------------------------------


class Client:
    """A client as far as its retry policies go."""

    host = "spark.example.com"

    def __init__(self, *policies: Any) -> None:
        self.policies = list(policies)

    def get_retry_policies(self) -> list[Any]:
        return list(self.policies)

    def set_retry_policies(self, policies: Any) -> None:
        self.policies = list(policies)


def tried(client: Client, error: Exception) -> list[float]:
    """The waits, in seconds, between the tries of a call that always fails."""
    from pyspark.sql.connect.client.retries import Retrying

    waits: list[float] = []
    with pytest.raises(type(error)):
        for attempt in Retrying(client.get_retry_policies(), sleep=waits.append):
            with attempt:
                raise error
    return waits


def lost() -> Exception:
    import grpc

    class Lost(grpc.RpcError):  # type: ignore[misc]
        def code(self) -> Any:
            return grpc.StatusCode.UNAVAILABLE

        def trailing_metadata(self) -> None:
            return None

    return Lost()


@needs_connect
@pytest.mark.since("4.1", "bounded retries")
@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED")
def test_a_server_that_is_gone_is_given_up_within_seconds() -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    from pyspark_substrait.spark.connect_retries import bound_retries, retrying_briefly, without_retries

    client = Client(DefaultPolicy())
    before = client.get_retry_policies()
    assert len(tried(client, lost())) == 15  # PySpark's own, of ten minutes
    with retrying_briefly(client):  # type: ignore[arg-type]
        waits = tried(client, lost())
        assert len(waits) == 7 and sum(waits) < 10
        assert tried(client, lost()) == []  # it is known to be gone
    assert tried(client, lost()) == []  # what is released after the run doesn't wait either
    with retrying_briefly(client):  # type: ignore[arg-type]
        assert len(tried(client, lost())) == 7
        client.policies[0].gone = False
        with without_retries():
            assert tried(client, lost()) == []
        client.policies[0].gone = False
        assert tried(client, ValueError()) == []
        other: list[float] = []
        thread = threading.Thread(target=lambda: other.extend(tried(client, lost())))
        thread.start()
        thread.join()
        assert len(other) == 15  # threads of the user's own keep what they have
    assert client.get_retry_policies() == before

    chosen = Client(DefaultPolicy(max_retries=3))
    with retrying_briefly(chosen):  # type: ignore[arg-type]
        assert len(tried(chosen, lost())) == 3  # the user's choice
    own = Client(DefaultPolicy())
    bound_retries(own)  # type: ignore[arg-type]
    bound_retries(own)  # type: ignore[arg-type]
    assert len(own.policies) == 2 and len(tried(own, lost())) == 7


class Connect:
    """A session of a server."""

    client = Client()


@needs_connect
@pytest.mark.since("4.1", "bounded retries")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (lost, "the Spark server at spark.example.com is gone"),
        (lambda: ValueError("[INVALID_HANDLE.SESSION_CHANGED] The handle is invalid"), "was restarted"),
    ],
)
def test_a_lost_server_is_named(monkeypatch: pytest.MonkeyPatch, error: Any, said: str) -> None:
    """Also where the error was taken for another one on its way."""
    monkeypatch.setattr(lost_connection, "is_connect", lambda spark: True)

    @contextmanager
    def unbound(client: object) -> Iterator[None]:
        yield

    monkeypatch.setattr("pyspark_substrait.spark.connect_retries.retrying_briefly", unbound)
    with pytest.raises(ExecutionError, match=said), lost_connection.reporting_loss(Connect()):  # type: ignore[arg-type]
        try:
            raise error()
        except Exception as cause:
            raise ExecutionError("the plan failed on its data") from cause
    with pytest.raises(ExecutionError, match="on its data"), lost_connection.reporting_loss(Connect()):  # type: ignore[arg-type]
        raise ExecutionError("the plan failed on its data")


class Classic:
    """A session whose Java is another process."""

    def __init__(self, seconds: float) -> None:
        process = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])
        self.process = process
        self.sparkContext = SimpleNamespace(_jsc=object(), _gateway=SimpleNamespace(proc=process))


def _refused() -> None:
    raise ConnectionRefusedError("Connection refused")


def _socket() -> None:
    from pyspark.errors import PySparkRuntimeError

    try:
        raise PySparkRuntimeError("[CANNOT_OPEN_SOCKET] Can not open socket")
    finally:
        raise UnboundLocalError("sockfile")


def _schema() -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        raise Py4JError("An error occurred while calling o1.schema")
    except Py4JError as error:
        raise PySparkException("[CANNOT_PARSE_DATATYPE] Unable to parse datatype") from error


@pytest.mark.parametrize("fail", [_refused, _socket, _schema])
def test_a_java_that_is_ending_is_waited_for(fail: Callable[[], None]) -> None:
    """The connections to it end first, and pyspark has other errors for that."""
    session: Any = Classic(1)
    with pytest.raises(LostSparkError, match="process has ended"), lost_connection.reporting_loss(session):
        fail()


def test_a_java_that_refuses_connections_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_connection, "_ENDING_SECONDS", 0.1)
    session: Any = Classic(60)
    try:
        with pytest.raises(LostSparkError, match="no longer answers"), lost_connection.reporting_loss(session):
            _refused()
        with pytest.raises(ValueError, match="of the plan"), lost_connection.reporting_loss(session):
            raise ValueError("of the plan")
    finally:
        session.process.kill()
        session.process.wait()


# Ctrl-C --------------------------------------------------------------------------------------------------------------


class Deaf(Jobs):
    """Jobs of a Spark that doesn't answer, or whose tasks go on."""

    def __init__(self, tasks: int | None) -> None:
        super().__init__()
        self.tasks = tasks
        self.asked = 0

    def marked(self) -> Any:
        raise NotImplementedError

    def standing(self) -> JobProgress:
        return JobProgress()

    def cancel(self) -> None:
        self.asked += 1
        if self.tasks is None:
            threading.Event().wait(3600)

    def left(self, seconds: float) -> int:
        return self.tasks or 0

    @property
    def answers_within(self) -> float:
        return 0.05 if self.tasks is None else 5.0

    @property
    def spark_shows(self) -> bool:
        return False


#: waits as code of gRPC does, which nothing but a signal ends
WAITING = """
import signal, threading
def wait():
    signal.raise_signal(signal.SIGINT)
    while True:
        threading.Event().wait(0.01)
"""


def test_ctrl_c_where_nobody_answers() -> None:
    names: dict[str, Any] = {"__name__": "grpc._channel"}
    exec(WAITING, names)
    jobs = Deaf(None)
    with pytest.raises(KeyboardInterrupt, match=UNANSWERED), cancelling(jobs):
        names["wait"]()
    assert jobs.asked == 1
    # and where Python itself was interrupted, it is asked only once more
    with pytest.raises(KeyboardInterrupt, match=UNANSWERED), cancelling(jobs):
        signal.raise_signal(signal.SIGINT)
    assert jobs.asked == 2


def test_tasks_that_go_on_are_said() -> None:
    told: list[int] = []

    def left(tasks: int) -> str:
        told.append(tasks)
        return ". The rest"

    with pytest.raises(KeyboardInterrupt) as caught, cancelling(Deaf(2), left):
        signal.raise_signal(signal.SIGINT)
    assert str(caught.value).startswith(f"{CANCELLED}, but 2 of its tasks go on")
    assert str(caught.value).endswith(". The rest") and told == [2]
    with pytest.raises(KeyboardInterrupt, match=f"^{CANCELLED}$"), cancelling(Deaf(0), left):
        signal.raise_signal(signal.SIGINT)
    assert told == [2]


def test_what_is_done_about_tasks_that_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[object] = []
    monkeypatch.setattr(progress, "end_session", ended.append)
    monkeypatch.setattr(progress, "is_embedded", lambda spark: spark == "ours")
    said = progress.after_those_left("theirs", ["(a+)+b"])  # type: ignore[arg-type]
    assert "'(a+)+b'" in said and "spark.stop()" in said and ended == []
    said = progress.after_those_left("ours", [])  # type: ignore[arg-type]
    assert "the session was ended" in said and ended == ["ours"]


# whose fault it is ---------------------------------------------------------------------------------------------------


class Raised(Exception):
    """An error as pyspark raises it."""

    def __init__(self, text: str, condition: str | None = None) -> None:
        super().__init__(text)
        self._condition = condition

    def getCondition(self) -> str | None:
        return self._condition


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (Raised("[INTERNAL_ERROR] Couldn't find c1#3 SQLSTATE: XX000", "INTERNAL_ERROR"), False),
        (Raised("[INTERNAL_ERROR_BROADCAST] x", "INTERNAL_ERROR_BROADCAST"), False),
        (Raised("requirement failed: Subquery subquery#12, [id=#418] has not finished"), False),
        (Raised("(java.lang.IllegalArgumentException) requirement failed: Subquery has not finished"), False),
        (Raised("(java.lang.ClassCastException) class A cannot be cast to class B"), False),
        (Raised("(scala.MatchError) 3 (of class java.lang.Integer)"), False),
        (Raised("Job aborted due to stage failure: Task 0 in stage 1.0: java.lang.NullPointerException: x"), False),
        (Raised("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", "DIVIDE_BY_ZERO"), True),
        (Raised("[USER_RAISED_EXCEPTION] no. SQLSTATE: P0001", "USER_RAISED_EXCEPTION"), True),
        (Raised("(java.lang.IllegalArgumentException) Illegal base64 character 2d"), True),
    ],
)
def test_whose_fault_it_is(error: Exception, ours: bool) -> None:
    said = str(failed(error))
    assert said.startswith("the plan failed on its data" if ours else "Spark failed with an internal error")


# a server of its own -------------------------------------------------------------------------------------------------


@pytest.mark.sweep(sample=0)
@needs_connect
@pytest.mark.since("4.1", "bounded retries")
@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it starts a server of its own")
def test_a_server_killed_in_the_middle_of_a_query() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.spark.server_program"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,  # PySpark itself would try for ten minutes, and once more at the end of the process
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert (found["interrupted"]["error"], found["interrupted"]["text"]) == ("KeyboardInterrupt", UNANSWERED)
    assert found["again"] == [{"pairs": 9}] and found["policies stay"]
    for name in ("killed", "next"):
        assert found[name]["error"] == "LostSparkError"
        assert f"the Spark server at {found['address']} is gone" in found[name]["text"]
    assert "is gone" in found["frame"]
