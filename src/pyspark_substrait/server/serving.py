"""Starting and stopping the server."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.dataset

from pyspark_substrait.api.run import from_substrait
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.server.hashes import hashed_password, hashed_token, read_users
from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.spark.compatibility import is_frame
from pyspark_substrait.spark.lost_connection import ask
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.session_start import embedded_session, has_session
from pyspark_substrait.spark.views import make_view, remove_views, table_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.api.loading import PlanSource
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.server.access_control import AccessControl
    from pyspark_substrait.server.backend import Backend
    from pyspark_substrait.server.monitoring import Monitor
    from pyspark_substrait.server.requests import Requests
    from pyspark_substrait.spark.tables import Given

__all__ = ["Server", "serve"]

_USER: Final = "user"
_SHUTDOWN_SECONDS: Final = 10.0
_LOGIN_SECONDS: Final = 8 * 3600.0
_STATEMENT_SECONDS: Final = 3600.0


class Server:
    """A Flight SQL server that runs; as a context manager, it stops at the end of the block.

    Attributes:
        uri: its address, for clients: ``grpc://127.0.0.1:31337``.
        host: the host of that.
        port: the port of that.
        token: the bearer token that was made for it; None if it was given users, or asks for nothing.
        metrics_uri: the address of ``/healthz`` and ``/metrics``: ``http://127.0.0.1:9464``; None without a port.
    """

    def __init__(
        self,
        flight_server: Any,
        requests: Any,
        host: str,
        scheme: str,
        token: str | None,
        monitor: Any,
        close: Any,
    ) -> None:
        self._server = flight_server
        self._requests = requests
        self._monitor = monitor
        self._close = close
        self._stopped = threading.Event()
        self.host = host
        self.port: int = flight_server.port
        self.uri = f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"
        self.token = token
        self.metrics_uri: str | None = None if monitor is None else monitor.uri

    def __repr__(self) -> str:
        return f"<Server at {self.uri}>"

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait(self) -> None:
        """Wait until the server is stopped, by another thread or by an interrupt of this one."""
        self._stopped.wait()

    def stop(self, *, seconds: float = 0) -> None:
        """Stop: take no more requests, wait so many seconds for those that run, and cancel the others."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        from pyspark_substrait.server.refusals import Unavailable

        self._requests.stop_all(Unavailable("the server stops"), seconds)
        # a client that doesn't read keeps pyarrow from ending
        ending = threading.Thread(target=self._server.shutdown, name="substrait-shutdown", daemon=True)
        ending.start()
        ending.join(_SHUTDOWN_SECONDS)
        if self._monitor is not None:
            self._monitor.stop()
        self._close()


def serve(
    spark: SparkSession | Callable[[], SparkSession] | None = None,
    *,
    tables: Given | None = None,
    views: Mapping[str, PlanSource] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    allow_sql: bool = False,
    allow_writes: bool = False,
    registry: Registry | None = None,
    passwords: Mapping[str, str] | None = None,
    tokens: Mapping[str, str] | None = None,
    password_file: str | os.PathLike[str] | None = None,
    token_file: str | os.PathLike[str] | None = None,
    jwt_keys: str | os.PathLike[str] | None = None,
    jwt_audience: str | None = None,
    jwt_issuer: str | None = None,
    jwt_user_claim: str | None = None,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    client_authority: str | os.PathLike[str] | None = None,
    insecure: int = 0,
    requests: int = ServerLimits.requests,
    user_requests: int | None = ServerLimits.user_requests,
    waiting: int = ServerLimits.waiting,
    seconds: float | None = ServerLimits.seconds,
    result_rows: int | None = ServerLimits.result_rows,
    result_bytes: int | None = ServerLimits.result_bytes,
    scan_bytes: int | None = ServerLimits.scan_bytes,
    message_bytes: int = ServerLimits.message_bytes,
    ingestion_bytes: int | None = ServerLimits.ingestion_bytes,
    metrics_port: int | None = None,
    metrics_host: str | None = None,
) -> Server:
    """Start a Flight SQL server in this process, which runs plans and SQL of its clients on a Spark session.

    Plans run under the rules for plans that aren't trusted: they read the tables given and those that the session
    sees, name no other files than the allowed ones, and slow patterns are refused. Results are sent in batches, as
    Spark makes them. A request whose client goes away is cancelled.

    Args:
        spark: a classic or Spark Connect session, or a function that starts one; by default the running one, or one
            that is started. Statements run in a copy of a classic session, so nothing in yours changes. Where Spark
            goes away, the server starts it again, unless the session was given or running.
        tables: tables by name, as for :func:`run_query`; SQL sees them as views.
        views: plans by the names under which plans and SQL can read their results.
        host: the address to listen at.
        port: the port; 0 for one that is free.
        allowed_paths: files and folders that plans themselves may name.
        allow_sql: take SQL as well. A SQL text may do whatever the session may: read files, call Java.
        allow_writes: take statements that change something.
        registry: the extensions of plans; by default those of the specification.
        passwords: the passwords of users by name.
        tokens: the bearer tokens of users by name.
        password_file: a file with lines ``user:scrypt:…``, as ``pyspark-substrait serve-user`` prints them.
        token_file: a file with lines ``user:sha256:…``.
        jwt_keys: a file with a JSON Web Key Set: the public keys of an identity provider, whose JSON Web Tokens are
            taken as bearer tokens then. It needs the extra ``serve``. The file is read again when it has changed.
        jwt_audience: whom these tokens must be for (``aud``); needed with ``jwt_keys``.
        jwt_issuer: whose they must be (``iss``); by default, of anybody who has one of the keys.
        jwt_user_claim: the claim that names their user; ``sub`` by default.
        certificate: the server's certificate in PEM, with those between; it makes connections encrypted (TLS).
        key: the key of the certificate, in PEM.
        client_authority: the certificate of the authority whose clients' certificates are asked for, in PEM.
        insecure: 1 asks nobody who they are, or sends what they send unencrypted; from other machines, too, with 2.
            Without it and without users, a token is made: ``token`` of the result.
        requests: how many requests run at once.
        user_requests: how many requests of one user run at once; None for as many as of all. His others wait, and those
            of other users pass them.
        waiting: how many more may wait for their turn; others are refused, first those of the user with most.
        seconds: after how many seconds a request is cancelled; None for never.
        result_rows: the most rows of the result of a statement; a larger one ends with an error. None for no limit.
        result_bytes: the most bytes of it, as Arrow has them in memory, likewise.
        scan_bytes: the size of the files that a statement may scan; a larger one is refused. None for no limit.
        message_bytes: the largest plan or SQL text.
        ingestion_bytes: the most bytes of the records of one ingestion, as Arrow has them in memory; None for no limit.
        metrics_port: the port of ``/healthz`` and ``/metrics``, which need the extra ``serve``; 0 for one that is free,
            None for neither. They are plain HTTP, and ask nobody who they are.
        metrics_host: the address of that port; by default, only this machine reaches it.

    Raises:
        SubstraitError: pyarrow has no Flight, the address is taken, or what is asked for is insecure or makes no sense.

    Example:
        >>> import pyspark_substrait as substrait
        >>> with substrait.serve(tables=substrait.samples.tables()) as server:                    # doctest: +SKIP
        ...     print(server.uri, server.token)
    """
    if importlib.util.find_spec("pyarrow._flight") is None:
        raise SubstraitError("this build of pyarrow has no Flight", hint="pip install pyarrow has it")
    from pyspark_substrait.server.access_control import AccessControl
    from pyspark_substrait.server.backend import Backend
    from pyspark_substrait.server.flight_server import FlightServer, Transport
    from pyspark_substrait.server.requests import Requests
    from pyspark_substrait.server.sql_info import facts
    from pyspark_substrait.server.statements import Engine
    from pyspark_substrait.spark.progress.jobs import jobs_of

    limits = ServerLimits(
        requests=requests,
        user_requests=user_requests,
        waiting=waiting,
        seconds=seconds,
        result_rows=result_rows,
        result_bytes=result_bytes,
        scan_bytes=scan_bytes,
        message_bytes=message_bytes,
        ingestion_bytes=ingestion_bytes,
    )
    if metrics_port is not None:
        _require("prometheus_client", "prometheus-client", "metrics")
    elif metrics_host is not None:
        raise SubstraitError("there is an address for metrics, and no port", hint="Give metrics_port, --metrics-port")
    hashes = {user: hashed_password(password) for user, password in (passwords or {}).items()}
    hashes |= {} if password_file is None else read_users(Path(password_file), "scrypt")
    digests = {user: hashed_token(token) for user, token in (tokens or {}).items()}
    digests |= {} if token_file is None else read_users(Path(token_file), "sha256")
    certificates = _certificates(certificate, key, client_authority)
    verify = _token_verifier(jwt_keys, jwt_audience, jwt_issuer, jwt_user_claim)
    known = bool(hashes or digests or client_authority or verify)
    _refuse_insecure(host, known=known, encrypted=certificates[0] is not None, insecure=insecure)
    token = None
    if not known and not insecure:
        token = secrets.token_urlsafe(32)
        digests = {_USER: hashed_token(token)}

    known_tables = tables or {}
    start = _start(spark)
    given = embedded_session() if spark is None else spark() if callable(spark) else spark
    backend = Backend(
        given,
        lambda session, private: _with_views(session, private, known_tables, views or {}, allowed_paths, registry),
        start,
        lasting=_are_lasting(known_tables),
        # rows that a client of Connect has uploaded for a DataFrame can't be read in a copy of its session
        copying=not (is_connect(given) and any(map(is_frame, known_tables.values()))),
    )
    engine = Engine(
        backend=backend,
        allowed_paths=allowed_paths,
        registry=registry,
        allow_sql=allow_sql,
        allow_writes=allow_writes,
        limits=limits,
    )
    watched = Requests(lambda: jobs_of(backend.ready()), limits)
    said = facts(sql=allow_sql, writes=allow_writes, spark=backend.spark.version, statement_seconds=_STATEMENT_SECONDS)
    scheme = "grpc" if certificates[0] is None else "grpc+tls"
    transport = Transport(
        location=f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}",
        certificate=certificates[0],
        client_authority=certificates[1],
    )
    access = AccessControl(hashes, digests, _LOGIN_SECONDS, verify)
    with ExitStack() as undo:
        undo.callback(backend.close)
        monitor = None
        if metrics_port is not None:
            monitor = _monitor(watched, access, backend, metrics_host or "127.0.0.1", metrics_port)
            undo.callback(monitor.stop)
        try:
            server = FlightServer(engine, transport, access, watched, said, _STATEMENT_SECONDS)
        except (pa.ArrowException, OSError) as error:
            raise SubstraitError(f"the server cannot listen at {host}:{port}: {error}") from error
        undo.pop_all()
    return Server(server, watched, host, scheme, token, monitor, backend.close)


def _require(module: str, package: str, what: str) -> None:
    """Refuse what needs a package that is not installed.

    Raises:
        SubstraitError: it isn't.
    """
    if importlib.util.find_spec(module) is None:
        raise SubstraitError(
            f"{what} need the package {package}, which is not installed", hint="pip install 'pyspark-substrait[serve]'"
        )


def _token_verifier(
    keys: str | os.PathLike[str] | None, audience: str | None, issuer: str | None, claim: str | None
) -> Callable[[str], str] | None:
    """Return what tells whose a JSON Web Token is; None if none are taken."""
    if keys is None:
        if any(given is not None for given in (audience, issuer, claim)):
            raise SubstraitError(
                "there are conditions for JSON Web Tokens, and no keys", hint="Give jwt_keys, --jwt-keys"
            )
        return None
    if not audience:
        raise SubstraitError(
            "tokens that their issuer made for other services would be taken",
            hint="Give jwt_audience, --jwt-audience: whom tokens must be for",
        )
    if issuer == "" or claim == "":
        raise SubstraitError("the issuer of JSON Web Tokens, or the claim that names their user, is empty")
    _require("jwt", "PyJWT", "JSON Web Tokens")
    _require("cryptography", "cryptography", "JSON Web Tokens")
    from pyspark_substrait.server.json_web_tokens import TokenVerifier

    return TokenVerifier(Path(keys), audience, issuer, claim or "sub").user


def _monitor(requests: Requests, access: AccessControl, backend: Backend, host: str, port: int) -> Monitor:
    """Start the HTTP server of some requests.

    Raises:
        SubstraitError: it can't listen there.
    """
    from pyspark_substrait.server.monitoring import Health, Monitor

    try:
        return Monitor(requests, access, Health(requests, lambda: ask(backend.ready())), host, port)
    except OSError as error:
        raise SubstraitError(f"metrics cannot listen at {host}:{port}: {error}") from error


def _start(spark: SparkSession | Callable[[], SparkSession] | None) -> Callable[[], SparkSession] | None:
    """Return what starts another session when the first has gone; None if the server can't make its like."""
    if callable(spark):
        return spark
    if spark is not None or has_session():
        return None
    remote = os.environ.get("SPARK_REMOTE")
    return None if remote is not None and remote.startswith("local") else lambda: embedded_session(remote=remote)


def _are_lasting(tables: Given) -> bool:
    """Whether all tables can be read in another session: none is a DataFrame, or a stream that can be read once."""
    kinds = (str, os.PathLike, pa.Table, pa.RecordBatch, pyarrow.dataset.Dataset)
    return all(isinstance(source, kinds) for source in tables.values())


def _with_views(
    session: SparkSession,
    private: bool,
    tables: Given,
    views: Mapping[str, PlanSource],
    allowed_paths: Sequence[str | os.PathLike[str]],
    registry: Registry | None,
) -> tuple[Given, tuple[str, ...]]:
    """Make views of tables and of plans, and return the tables by name for plans, and the names of the views.

    They take the place of views of a private session, but not of those of others.
    """
    known: dict[Any, Any] = {}
    shown: list[str] = []
    try:
        for name, source in tables.items():
            known[name] = source
            parts = name if isinstance(name, str) else ".".join(name)
            make_view(session, parts, table_frame(session, parts, source), replace=private)
            shown.append(parts)
        for name, plan in views.items():
            frame = from_substrait(plan, session, tables=known, allowed_paths=allowed_paths, registry=registry)
            make_view(session, name, frame, replace=private)
            shown.append(name)
            known[name] = frame
    except BaseException:
        remove_views(session, shown)
        raise
    return known, tuple(shown)


def _certificates(
    certificate: str | os.PathLike[str] | None,
    key: str | os.PathLike[str] | None,
    authority: str | os.PathLike[str] | None,
) -> tuple[tuple[bytes, bytes] | None, bytes | None]:
    """Return the certificate and its key, and the certificate of the clients' authority."""
    if (certificate is None) is not (key is None):
        raise SubstraitError("a certificate and its key belong together", hint="Give both, or neither")
    if authority is not None and certificate is None:
        raise SubstraitError("clients show certificates to a server that has one", hint="Give certificate and key")
    try:
        own = None if certificate is None or key is None else (Path(certificate).read_bytes(), Path(key).read_bytes())
        return own, None if authority is None else Path(authority).read_bytes()
    except OSError as error:
        raise SubstraitError(f"{error.filename} cannot be read: {error.strerror}") from error


def _refuse_insecure(host: str, *, known: bool, encrypted: bool, insecure: int) -> None:
    """Refuse to be reached from other machines without encryption, or by just anybody, unless that is said twice.

    Raises:
        SubstraitError: it was not said, or not twice.
    """
    if (known or not insecure) and encrypted:
        return
    if not _is_loopback(host) and insecure < 2:
        what = "ask nobody who they are" if encrypted else "send everything unencrypted"
        raise SubstraitError(
            f"at {host} the server can be reached from other machines, and would {what}",
            hint="Give a certificate and users, or say it twice: --insecure --insecure, insecure=2",
        )


def _is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    try:
        found = {item[4][0] for item in socket.getaddrinfo(host or "0.0.0.0", None)}
    except OSError as error:
        raise SubstraitError(f"there is no address {host}: {error.strerror or error}") from error
    return all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in found)
