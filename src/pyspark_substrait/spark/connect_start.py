"""Sessions of Spark Connect: with a server elsewhere, or with one that is started on this machine."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.compatibility import connect_server_port, has_retry_policies, require_distutils
from pyspark_substrait.spark.session import PLAN_SETTINGS, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["connected", "forget_server_of_parent", "serve"]

_CONNECT_PORT = 15002
_CONNECT_SERVER = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",  # any that is free
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
}
# variables by which pyspark knows that a server ends with its session, and that functions make columns of Connect
_LOCAL_SERVER = "SPARK_LOCAL_REMOTE"
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_SERVER_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
#: the variable of ours that names the process whose server it is
_SERVER_OWNER = "PYSPARK_SUBSTRAIT_SERVER_OF"
_KNOCK_SECONDS = 15
_PROXIES = (
    "grpc_proxy",
    "https_proxy",
    "http_proxy",
)  # the variables that grpc reads; behind a proxy, the address may not be reachable directly

#: starts a classic session with a master and settings
_Start: TypeAlias = Callable[[str, Mapping[str, str]], "SparkSession"]


def connected(remote: str, wanted: Mapping[str, str], start: _Start) -> SparkSession:
    """Return a session of Spark Connect.

    Args:
        remote: the address of a server, or a master like ``local[2]`` for one that is started here.
        wanted: settings of the session.
        start: starts a classic session with a master and settings, for such a server.

    Raises:
        SubstraitError: there is no such server, or packages are missing.
    """
    from pyspark.sql import SparkSession

    require_distutils()
    if any(importlib.util.find_spec(package) is None for package in ("grpc", "pandas")):
        raise SubstraitError(
            "Spark Connect needs packages that are not installed", hint="pip install 'pyspark-substrait[connect]'"
        )
    try:
        if remote.startswith("local"):
            return _with_bound_retries(serve(remote, wanted, start))
        _knock(remote)
        builder = SparkSession.builder.remote(remote)
        for key, value in {**PLAN_SETTINGS, **wanted}.items():
            builder = builder.config(key, value)
        return _with_bound_retries(builder.create())
    except spark_errors() as error:
        reason = str(error).strip().splitlines()[0]
        raise SubstraitError(f"no session with the Spark Connect server {remote}: {reason}") from error


def serve(master: str, wanted: Mapping[str, str], start: _Start) -> SparkSession:
    """Start a server on this machine, and connect to it; if this process has one already, return its session.

    pyspark's own way, ``SparkSession.builder.remote("local[2]")``, has one port for all processes of a machine.
    """
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    builder: Any = ConnectSession.builder
    if _LOCAL_SERVER in os.environ:
        found: SparkSession = builder.getOrCreate()
        return found
    server = None
    elsewhere = os.environ.pop("SPARK_REMOTE", None)  # with it, pyspark doesn't start a classic session
    os.environ.setdefault(_SERVER_TOKEN, str(uuid4()))
    os.environ.update({_LOCAL_SERVER: "1", _SERVER_OWNER: str(os.getpid())})
    try:
        server = start(master, {**_CONNECT_SERVER, **wanted})
        os.environ[_CONNECT_MODE] = "1"
        made: SparkSession = builder.remote(f"sc://localhost:{connect_server_port(server)}").getOrCreate()
    except BaseException as error:
        for name in (_LOCAL_SERVER, _SERVER_OWNER, _CONNECT_MODE):
            os.environ.pop(name, None)
        if server is not None:
            server.stop()
        if "SparkConnectPlugin" not in str(error.__cause__):
            raise
        raise SubstraitError(
            "this Spark comes without its Connect server",
            hint="Give its jar: the setting spark.jars.packages=org.apache.spark:spark-connect_2.12:VERSION",
        ) from error
    finally:
        if elsewhere is not None:
            os.environ["SPARK_REMOTE"] = elsewhere
    return made


def forget_server_of_parent() -> None:
    """Remove the variables of a server that the parent of this process has started for itself.

    With them, pyspark would connect this process to a server that it hasn't.
    """
    if os.environ.get(_SERVER_OWNER, str(os.getpid())) != str(os.getpid()):
        for name in (_SERVER_OWNER, _LOCAL_SERVER, _CONNECT_MODE):
            os.environ.pop(name, None)


def _with_bound_retries(spark: Any) -> SparkSession:
    """Make a Connect session stop retrying a lost server within seconds."""
    if has_retry_policies():
        from pyspark_substrait.spark.connect_retries import bound_retries

        bound_retries(spark.client)
    found: SparkSession = spark
    return found


def _knock(remote: str) -> None:
    """Fail at once if no server listens at a ``sc://`` address; pyspark itself would try for many minutes."""
    if not remote.startswith("sc://") or any(os.environ.get(name) for name in _PROXIES):
        return
    try:
        url = urlsplit(remote)
        with socket.create_connection((url.hostname or "localhost", url.port or _CONNECT_PORT), _KNOCK_SECONDS):
            pass
    except (OSError, ValueError) as error:
        raise SubstraitError(
            f"no Spark Connect server answers at {remote}: {error}", hint="An address looks like sc://host:15002"
        ) from error
