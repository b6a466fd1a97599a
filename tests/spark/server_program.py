"""Lose a Spark Connect server in the middle of a run, and say what came of it.

Run as ``python -m tests.spark.server_program`` in a process of its own, since it has a Connect session.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import pyspark_substrait
from pyspark_substrait.spark import progress
from pyspark_substrait.spark.java import java_environment
from pyspark_substrait.spark.session import PLAN_SETTINGS
from tests.spark.test_progress import PAIRS, numbers


def server(port: int) -> subprocess.Popen[bytes]:
    """A Connect server on this machine."""
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        **PLAN_SETTINGS,
    }
    options = [item for key, value in settings.items() for item in ("--conf", f"{key}={value}")]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with java_environment():
        process = subprocess.Popen(
            [submit, "--class", name, "--master", "local[2]", *options, "spark-internal"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return process
    raise SystemExit(f"the server ended with {process.returncode}")


class AtWork:
    """A display that does something when Spark has been at work for some seconds."""

    def __init__(self, do: Any) -> None:
        self._do = do

    def show(self, standing: Any, seconds: float) -> None:
        if seconds > 4 and self._do is not None:
            do, self._do = self._do, None
            threading.Thread(target=do, daemon=True).start()

    def clear(self) -> None:
        pass


def lost(spark: SparkSession, do: Any) -> dict[str, Any]:
    """The outcome of a long run during which ``do`` is called."""
    display = AtWork(do)
    progress._display = lambda what, *, always: display
    try:
        pyspark_substrait.run_query(PAIRS, tables={"numbers": numbers(400_000)}, spark=spark, progress=True)
    except BaseException as error:
        return {"error": type(error).__name__, "text": str(error)}
    return {"error": None}


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = server(port)

    def send(number: int) -> None:
        os.killpg(process.pid, number)

    def stop_and_interrupt() -> None:
        send(signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    try:
        spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        before = [type(item).__name__ for item in spark.client.get_retry_policies()]
        found: dict[str, Any] = {"address": f"127.0.0.1:{port}"}
        found["interrupted"] = lost(spark, stop_and_interrupt)
        send(signal.SIGCONT)
        found["again"] = pyspark_substrait.run_query(PAIRS, tables={"numbers": numbers(3)}, spark=spark).to_pylist()
        after = [type(item).__name__ for item in spark.client.get_retry_policies()]
        found["policies stay"] = before == after
        found["killed"] = lost(spark, lambda: send(signal.SIGKILL))
        found["next"] = lost(spark, None)
        try:
            pyspark_substrait.from_substrait(PAIRS, spark, tables={"numbers": numbers(3)})
        except pyspark_substrait.SubstraitError as error:
            found["frame"] = str(error)
        print(json.dumps(found))
    finally:
        send(signal.SIGKILL)


if __name__ == "__main__":
    main()
