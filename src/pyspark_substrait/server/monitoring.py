"""The state of a server over plain HTTP, on a port of its own: whether it is healthy, and figures for Prometheus."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app

from pyspark_substrait.server.access_control import AccessControl
from pyspark_substrait.server.requests import LOGGER, Request, Requests

__all__ = ["Health", "Monitor"]

#: how long Spark may take to answer
_ANSWER_SECONDS: Final = 5.0
#: how long a client may take to send its request, or to take the answer
_CLIENT_SECONDS: Final = 10.0
_PREFIX: Final = "pyspark_substrait"
#: upper bounds of seconds: from metadata to long queries
_BUCKETS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)


class Health:
    """Whether a server can answer.

    Args:
        requests: its requests.
        ask: asks Spark something; raises if Spark is gone. It runs in a thread of its own, never twice at once.
        seconds: how long to wait for the answer.
    """

    def __init__(self, requests: Requests, ask: Callable[[], object], seconds: float = _ANSWER_SECONDS) -> None:
        self._requests = requests
        self._ask = ask
        self._seconds = seconds
        self._lock = threading.Lock()
        self._asking: _Question | None = None

    def fault(self) -> str | None:
        """Return why the server can't answer; None if it can."""
        if self._requests.closed is not None:
            return str(self._requests.closed)
        with self._lock:
            if self._asking is None or self._asking.done.is_set():
                self._asking = _Question(self._ask)
            question = self._asking
        if not question.done.wait(self._seconds):
            return f"Spark does not answer within {self._seconds:g} seconds"
        return None if question.answered else "Spark does not answer"


class _Question:
    """One question to Spark."""

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self.done = threading.Event()
        self.answered = False
        threading.Thread(target=self._run, name="substrait-health", daemon=True).start()

    def _run(self) -> None:
        try:
            self._ask()
            self.answered = True
        except Exception as error:
            LOGGER.warning("Spark does not answer: %s", type(error).__name__)
        finally:
            self.done.set()


def _registry(requests: Requests, access: AccessControl) -> CollectorRegistry:
    """Return a registry of the figures of some requests and logins, which it observes from now on."""
    registry = CollectorRegistry()
    ended = Counter(
        f"{_PREFIX}_requests",
        "Requests that let Spark work, when they are over.",
        ["method", "verdict"],
        registry=registry,
    )
    seconds = Histogram(
        f"{_PREFIX}_request_seconds",
        "The time of requests, from their turn to their end.",
        ["method"],
        buckets=_BUCKETS,
        registry=registry,
    )
    rows = Counter(f"{_PREFIX}_result_rows", "Rows of results that were sent.", registry=registry)
    sizes = Counter(f"{_PREFIX}_result_bytes", "Bytes of these rows, as Arrow has them in memory.", registry=registry)
    running = Gauge(f"{_PREFIX}_requests_running", "Requests that run now.", registry=registry)
    running.set_function(lambda: requests.turns.running)
    waiting = Gauge(f"{_PREFIX}_requests_waiting", "Requests that wait for their turn now.", registry=registry)
    waiting.set_function(lambda: requests.turns.waiting)

    unknown = Counter(f"{_PREFIX}_unauthenticated", "Calls without a valid login or token.", registry=registry)

    def observe(request: Request, verdict: str) -> None:
        ended.labels(request.method, verdict).inc()
        if request.has_run:
            seconds.labels(request.method).observe(request.seconds)
        rows.inc(request.rows)
        sizes.inc(request.bytes)

    requests.observers.append(observe)
    access.observers.append(unknown.inc)
    return registry


class _Handler(WSGIRequestHandler):
    """Answers one request, and logs nothing."""

    timeout = _CLIENT_SECONDS

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing: a line for each would only say that somebody looks."""


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing: the client went away, or was too slow."""


class Monitor:
    """An HTTP server with ``/healthz`` and ``/metrics``. It listens as soon as it is made.

    Args:
        requests: what it tells of.
        access: whose refusals it counts.
        health: what ``/healthz`` answers by.
        host: where it listens.
        port: the port; 0 for one that is free.

    Raises:
        OSError: it can't listen there.
    """

    def __init__(self, requests: Requests, access: AccessControl, health: Health, host: str, port: int) -> None:
        self._health = health
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        kind = type("_Server", (_Server,), {"address_family": family})
        self._server: WSGIServer = kind((host, port), _Handler)
        self._metrics = make_wsgi_app(_registry(requests, access))
        self._server.set_app(self._answer)
        self.uri = f"http://{f'[{host}]' if ':' in host else host}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, name="substrait-monitor", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, environ: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/metrics" and method != "HEAD":
            answer: Iterable[bytes] = self._metrics(environ, start)
            return answer
        match path:
            case "/healthz" if method in ("GET", "HEAD"):
                fault = self._health.fault()
                status, text = ("200 OK", "ok") if fault is None else ("503 Service Unavailable", fault)
            case "/healthz" | "/metrics":
                status, text = "405 Method Not Allowed", "use GET"
            case _:
                status, text = "404 Not Found", "there are /healthz and /metrics"
        content = f"{text}\n".encode()
        start(status, [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(content)))])
        return [] if method == "HEAD" else [content]
