"""Report the loss of a Connect server or a Java process during a run within seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import LostSparkError
from pyspark_substrait.spark.compatibility import has_retry_policies
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.session_start import java_has_ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ask", "asked_once", "has_lost_java", "release_copy", "reporting_loss"]

#: error conditions of a server without the session, because the session was ended or the server restarted
_LOST_SESSIONS = ("INVALID_HANDLE.SESSION_", "RESPONSE_ALREADY_RECEIVED")
#: how long a Java process may take to end after its connections have
_ENDING_SECONDS = 5.0


@contextmanager
def reporting_loss(spark: SparkSession) -> Iterator[None]:
    """Limit how long the body tries to reach Spark, and raise an error of this package when it is gone.

    The limit applies to Connect sessions that have pyspark's default retry policies, in this thread.

    Raises:
        LostSparkError: the server or the Java process is gone.
    """
    try:
        if not is_connect(spark) or not has_retry_policies():
            yield
            return
        from pyspark_substrait.spark.connect_retries import retrying_briefly

        with retrying_briefly(_client(spark)):
            yield
    except Exception as error:
        if (lost := _lost(spark, error)) is not None:
            raise lost from error
        raise


@contextmanager
def asked_once(spark: SparkSession) -> Iterator[None]:
    """Send the body's requests to a Connect server once, without retries."""
    if not is_connect(spark) or not has_retry_policies():
        yield
        return
    from pyspark_substrait.spark.connect_retries import without_retries

    with without_retries():
        yield


def release_copy(copy: SparkSession) -> None:
    """End a copy of a Connect session, as far as its server still answers; leave every other session as it is."""
    if is_connect(copy):
        client = _client(copy)  # the session's stop() would end a local server, too
        with asked_once(copy), suppress(Exception):
            client.release_session()
            client.close()


def ask(spark: SparkSession) -> None:
    """Ask Spark something that takes no job, so that it answers however busy it is.

    Raises:
        Exception: Spark is gone, or was stopped.
    """
    if is_connect(spark):
        with asked_once(spark):
            spark.sql("SELECT 1").schema  # noqa: B018 - the server analyses it
        return
    context: Any = spark.sparkContext
    if _is_stopped(spark) or context._jsc.sc().isStopped():
        raise LostSparkError("the Spark session was stopped")


def has_lost_java(spark: SparkSession) -> bool:
    """Whether a session is a classic one that was stopped, or whose Java process has ended."""
    return not is_connect(spark) and (_is_stopped(spark) or java_has_ended(spark))


def _is_stopped(spark: SparkSession) -> bool:
    return getattr(spark.sparkContext, "_jsc", None) is None


def _lost(spark: SparkSession, error: BaseException) -> LostSparkError | None:
    """Return the error that Spark is gone, if that is the cause of an error."""
    if isinstance(error, LostSparkError):
        return error
    if not is_connect(spark):
        if _is_stopped(spark):
            return LostSparkError("the Spark session was stopped", hint="Start another one, and run the plan again")
        if java_has_ended(spark, _ENDING_SECONDS if _is_cut_off(error) else 0):
            return LostSparkError(
                "Spark's Java process has ended, which ended the run",
                hint="It may have been killed, for example because memory ran out. Start another session, and run the "
                "plan again",
            )
        if isinstance(error, ConnectionError):
            return LostSparkError(
                "Spark's Java process no longer answers, which ended the run",
                hint="It may be ending. Start another session, and run the plan again",
            )
        return None
    for found in _causes(error):
        if _is_unavailable(found):
            return LostSparkError(
                f"the Spark server at {_address(spark)} is gone: it no longer answers",
                hint="Check that it runs and can be reached. Then connect again (spark.stop() ends this session), and "
                "run the plan again",
            )
        if any(name in str(found) for name in _LOST_SESSIONS):
            return LostSparkError(
                f"the Spark server at {_address(spark)} no longer knows this session: the server was restarted, or it "
                "ended the session",
                hint="Connect again (spark.stop() ends this session), and run the plan again",
            )
    return None


def _is_cut_off(error: BaseException) -> bool:
    """Whether an error, or what caused it, may be that of a connection whose other side has gone.

    pyspark hides some of them: behind an UnboundLocalError, or an error of a schema that it could not read.
    """
    return any(
        isinstance(found, ConnectionError | EOFError)
        or type(found).__name__ in ("Py4JNetworkError", "Py4JError")
        or "CANNOT_OPEN_SOCKET" in str(found)
        for found in _causes(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Return an error, and those that caused it."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = getattr(found, "__cause__", None) or found.__context__  # refusals of the server hide their cause


def _is_unavailable(error: BaseException) -> bool:
    import grpc

    status = getattr(error, "getGrpcStatusCode", None)
    if status is not None:
        return bool(status() is grpc.StatusCode.UNAVAILABLE)
    return isinstance(error, grpc.RpcError) and getattr(error, "code", lambda: None)() is grpc.StatusCode.UNAVAILABLE


def _address(spark: SparkSession) -> str:
    client = _client(spark)
    return str(getattr(getattr(client, "_builder", None), "endpoint", client.host))  # the host and its port


def _client(spark: Any) -> Any:
    return spark.client
