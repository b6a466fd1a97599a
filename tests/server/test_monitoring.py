"""Health and figures of a server over HTTP: they are read by Prometheus' own parser, and counted by hand."""

from __future__ import annotations

import http.client
import importlib.util
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.server.access_control import AccessControl
from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.server.monitoring import Health, Monitor
from pyspark_substrait.server.refusals import Unavailable
from pyspark_substrait.server.requests import Requests
from tests.server.clients import RawClient
from tests.server.test_protocol import SLOW, fetched, jobs, query, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def got(uri: str, path: str) -> tuple[int, str]:
    """The status and the text of a page."""
    try:
        with urllib.request.urlopen(uri + path, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def figures(uri: str) -> dict[tuple[str, ...], float]:
    """The figures by their names and the values of their labels."""
    status, text = got(uri, "/metrics")
    assert status == 200
    return {
        (sample.name.removeprefix("pyspark_substrait_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_figures_are_those_of_the_requests(spark: SparkSession) -> None:
    with (
        pyspark_substrait.serve(spark, tokens={"ana": "t"}, allow_sql=True, metrics_port=0) as server,
        pyspark_substrait.serve(spark, metrics_port=0) as other,
        RawClient(server.uri, "t") as client,
    ):
        assert server.metrics_uri is not None and other.metrics_uri is not None
        assert server.metrics_uri.startswith("http://127.0.0.1:")
        for count in (3, 5):
            client.table(query(f"SELECT id FROM range({count})"))
        for _ in range(2):
            with pytest.raises(pa.ArrowInvalid):
                client.info(query("SELECT nope"))
        found = figures(server.metrics_uri)
        assert {key: value for key, value in found.items() if key[0] == "requests_total"} == {
            ("requests_total", "GetFlightInfo", "ok"): 2,
            ("requests_total", "GetFlightInfo", "InvalidArgument"): 2,
            ("requests_total", "DoGet", "ok"): 2,
        }
        assert (found["result_rows_total",], found["requests_running",], found["requests_waiting",]) == (8, 0, 0)
        assert found["result_bytes_total",] >= 8 * 8
        assert found["request_seconds_count", "DoGet"] == found["request_seconds_bucket", "+Inf", "DoGet"] == 2
        assert found["request_seconds_sum", "DoGet"] > 0
        assert found["unauthenticated_total",] == 0
        for token in ("wrong", None):
            with RawClient(server.uri, token) as stranger, pytest.raises(flight.FlightUnauthenticatedError):
                stranger.info(query("SELECT 1"))
        assert figures(server.metrics_uri)["unauthenticated_total",] == 2
        text = got(server.metrics_uri, "/metrics")[1]
        assert not any(word in text for word in ("ana", "digest", "user", "range"))
        assert not any(key[0] == "requests_total" for key in figures(other.metrics_uri))
    assert not any(family.name.startswith("pyspark_substrait") for family in REGISTRY.collect())
    with pytest.raises(urllib.error.URLError):
        got(server.metrics_uri, "/metrics")


@pytest.mark.sweep
def test_refused_requests_and_those_that_run_and_wait(classic: SparkSession) -> None:
    with pyspark_substrait.serve(classic, allow_sql=True, requests=1, waiting=1, metrics_port=0) as server:
        assert server.metrics_uri is not None
        client = RawClient(server.uri, server.token)
        infos = [client.info(query(SLOW)) for _ in range(2)]
        readers = [threading.Thread(target=fetched, args=(client, info, [])) for info in infos]
        readers[0].start()
        until(lambda: jobs(classic) > 0)
        readers[1].start()
        until(lambda: figures(server.metrics_uri or "")["requests_waiting",] == 1)
        with pytest.raises(pa.ArrowException, match="the server is busy"):
            client.info(query("SELECT 1"))
        found = figures(server.metrics_uri)
        assert (found["requests_running",], found["requests_waiting",]) == (1, 1)
        assert found["requests_total", "GetFlightInfo", "Unavailable"] == 1
        assert found["request_seconds_count", "GetFlightInfo"] == 2  # the refused one never ran
        assert got(server.metrics_uri, "/healthz") == (200, "ok\n")  # busy is not ill

        stopping = threading.Thread(target=server.stop, kwargs={"seconds": 3})
        stopping.start()
        until(lambda: got(server.metrics_uri or "", "/healthz")[0] == 503)
        assert got(server.metrics_uri, "/healthz") == (503, "the server stops\n")
        for thread in (stopping, *readers):
            thread.join()


# without Spark --------------------------------------------------------------------------------------------------------


class Spark:
    """Answers, does not, or raises."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_gone = False
        self.answers = threading.Event()
        self.answers.set()

    def ask(self) -> None:
        self.asked += 1
        self.answers.wait()
        if self.is_gone:
            raise RuntimeError("gone")


def no_jobs() -> Any:
    raise AssertionError("there are no requests")


@pytest.fixture
def watched() -> Iterator[tuple[Spark, Requests, Monitor]]:
    spark, requests = Spark(), Requests(no_jobs, ServerLimits())
    monitor = Monitor(requests, AccessControl({}, {}, 60), Health(requests, spark.ask, seconds=0.2), "127.0.0.1", 0)
    yield spark, requests, monitor
    spark.answers.set()
    monitor.stop()


def test_health_is_that_of_spark(watched: tuple[Spark, Requests, Monitor]) -> None:
    spark, requests, monitor = watched
    assert got(monitor.uri, "/healthz") == (200, "ok\n")
    spark.is_gone = True
    assert got(monitor.uri, "/healthz") == (503, "Spark does not answer\n")
    spark.is_gone = False
    assert got(monitor.uri, "/healthz")[0] == 200
    spark.answers.clear()
    asked = spark.asked
    for _ in range(3):
        assert got(monitor.uri, "/healthz") == (503, "Spark does not answer within 0.2 seconds\n")
    assert spark.asked == asked + 1  # the question stays the same until it is answered
    spark.answers.set()
    until(lambda: got(monitor.uri, "/healthz")[0] == 200)
    requests.stop_all(Unavailable("the server stops"), 0)
    assert got(monitor.uri, "/healthz") == (503, "the server stops\n")


def test_other_pages_and_methods(watched: tuple[Spark, Requests, Monitor]) -> None:
    _, _, monitor = watched
    assert got(monitor.uri, "/")[0] == got(monitor.uri, "/metrics/x")[0] == 404
    connection = http.client.HTTPConnection(monitor.uri.removeprefix("http://"))
    for method, path, status in (
        ("HEAD", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("POST", "/metrics", 405),
        ("HEAD", "/metrics", 405),
    ):
        connection.request(method, path, body=b"")
        answer = connection.getresponse()
        assert answer.status == status, (method, path)
        answer.read()
        connection.close()


def test_a_client_that_says_nothing_holds_up_nobody(
    watched: tuple[Spark, Requests, Monitor], capfd: pytest.CaptureFixture[str]
) -> None:
    _, _, monitor = watched
    host, _, port = monitor.uri.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as silent, socket.create_connection((host, int(port))) as noise:
        noise.sendall(b"\xff\x00\r\n\r\n")
        assert got(monitor.uri, "/healthz")[0] == 200
        noise.recv(100)
        silent.close()
    assert got(monitor.uri, "/metrics")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


# what is given --------------------------------------------------------------------------------------------------------


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "prometheus_client" else found(name, *more)
    )
    with pytest.raises(pyspark_substrait.SubstraitError, match="metrics need the package prometheus-client") as error:
        pyspark_substrait.serve(None, metrics_port=0)
    assert "pip install 'pyspark-substrait[serve]'" in str(error.value)


def test_an_address_without_a_port() -> None:
    with pytest.raises(pyspark_substrait.SubstraitError, match="there is an address for metrics, and no port"):
        pyspark_substrait.serve(None, metrics_host="127.0.0.1")


def test_a_port_that_is_taken(spark: SparkSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            pyspark_substrait.SubstraitError, match=f"metrics cannot listen at 127.0.0.1:{port}: .*in use"
        ):
            pyspark_substrait.serve(spark, metrics_port=port)
