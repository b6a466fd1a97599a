"""The session this package starts, and the settings it checks."""

from __future__ import annotations

import datetime
import importlib.util
import os
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.spark import connect_start, session_start
from pyspark_substrait.spark.session import PLAN_SETTINGS, require_settings
from pyspark_substrait.spark.session_start import embedded_session, is_embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_our_own_session_has_what_plans_need(spark: SparkSession) -> None:
    require_settings(spark, PLAN_SETTINGS)
    assert spark.sql("SELECT current_timezone() AS z").collect()[0]["z"] == "UTC"


@pytest.mark.since("4.2", "TIME")
def test_our_own_session_has_times(spark: SparkSession) -> None:
    [row] = spark.sql("SELECT TIME'10:30:00' AS t").toArrow().to_pylist()
    assert row == {"t": datetime.time(10, 30)}


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it is about a classic session")
def test_our_own_session_opens_no_door(spark: SparkSession) -> None:
    assert spark.sparkContext.uiWebUrl is None
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"
    assert spark.conf.get("spark.sql.catalogImplementation") == "in-memory"


def test_missing_settings_are_named_with_the_remedy(spark: SparkSession) -> None:
    needed = {"spark.sql.ansi.enabled": "false", "spark.sql.timeType.enabled": "TRUE"}
    with pytest.raises(UnsupportedPlanError) as caught:
        require_settings(spark, needed)
    assert "spark.sql.ansi.enabled is true" in str(caught.value)
    assert 'spark.conf.set("spark.sql.ansi.enabled", "false")' in str(caught.value)
    assert "timeType" not in str(caught.value)
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


_LOCKS = """
import logging, subprocess, sys, time
from pyspark_substrait.spark import session_start

class Finder:
    def find_spec(self, name, path=None, target=None):  # imports wait meanwhile
        if name == "pyspark.testing":
            time.sleep(0.5)
            logging.getLogger("one of a module that it imports")

sys.meta_path.insert(0, Finder())
with session_start._importing_meanwhile():
    time.sleep(0.2)
    subprocess.Popen(["true"], preexec_fn=lambda: None).wait()
assert "pyarrow.parquet" in sys.modules
"""


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="Java is not started by a fork")
def test_imports_while_java_starts_hold_no_lock_that_the_fork_waits_for() -> None:
    subprocess.run([sys.executable, "-c", _LOCKS], check=True, timeout=120)


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it is about a classic session")
def test_a_running_session_is_used_in_every_thread(spark: SparkSession) -> None:
    assert embedded_session() is spark
    found: list[SparkSession] = []
    thread = threading.Thread(target=lambda: found.append(embedded_session(spark.sparkContext.master)))
    thread.start()
    thread.join()
    assert found == [spark]


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it is about a classic session")
def test_a_running_session_is_not_passed_off_as_another(spark: SparkSession) -> None:
    with pytest.raises(SubstraitError, match=r"its master is local\[[12]\]"):
        embedded_session("local[7]")
    with pytest.raises(SubstraitError, match="not remote"):
        embedded_session(remote="sc://127.0.0.1:1")
    settings: dict[str, Any] = {"spark.sql.ansi.enabled": False}
    with pytest.raises(SubstraitError, match=r"spark\.sql\.ansi\.enabled=false"):
        embedded_session(**settings)
    with pytest.raises(SubstraitError, match="not both"):
        embedded_session("local", "sc://127.0.0.1:1")


@pytest.mark.parametrize(("process", "ours"), [(object(), True), (None, False)])
def test_a_java_process_that_spark_submit_has_started_is_not_ours(
    process: object, ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(_gateway=SimpleNamespace(proc=process))
    spark: Any = SimpleNamespace(sparkContext=context)
    monkeypatch.setattr(session_start, "_embedded", context)
    monkeypatch.setattr(session_start, "is_connect", lambda spark: False)
    assert is_embedded(spark) is ours


@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="the extra `connect` is not installed")
def test_a_server_whose_jar_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*arguments: object) -> Any:
        assert "SPARK_REMOTE" not in os.environ
        raise SubstraitError("Spark did not start") from RuntimeError("ClassNotFoundException: …SparkConnectPlugin")

    monkeypatch.delenv("SPARK_LOCAL_REMOTE", raising=False)
    monkeypatch.setenv("SPARK_REMOTE", "local[1]")
    with pytest.raises(SubstraitError, match="without its Connect server") as caught:
        connect_start.serve("local[1]", {}, start)
    assert "spark-connect_2.12" in str(caught.value)
    assert "SPARK_LOCAL_REMOTE" not in os.environ and os.environ["SPARK_REMOTE"] == "local[1]"


def test_a_server_of_the_parent_process_is_none_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variables of its parent, a process would wait many minutes for a server that it hasn't."""
    names = ("SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "PYSPARK_SUBSTRAIT_SERVER_OF")
    for owner, expected in ((os.getppid(), set()), (os.getpid(), set(names))):
        for name in names[:2]:
            monkeypatch.setenv(name, "1")
        monkeypatch.setenv(names[2], str(owner))
        connect_start.forget_server_of_parent()
        assert {name for name in names if name in os.environ} == expected
