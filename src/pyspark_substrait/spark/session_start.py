"""Start the Spark session that this package uses if there is none, and end it."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.archive import archive, java_option, refusal, warn
from pyspark_substrait.spark.compatibility import (
    can_start_spark,
    silence_query_context,
)
from pyspark_substrait.spark.connect_start import connected, forget_server_of_parent
from pyspark_substrait.spark.embedded_settings import JAVA_OPTIONS, embedded_settings
from pyspark_substrait.spark.java import java_environment
from pyspark_substrait.spark.pandas_imports import leave_out_pandas_notice
from pyspark_substrait.spark.session import has_setting, is_connect, listed, spark_errors

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from pyspark_substrait.spark.archive import Archive

__all__ = [
    "Setting",
    "adopted_session",
    "brief_session",
    "embedded_folder",
    "embedded_session",
    "end_lost_session",
    "end_session",
    "give_up",
    "has_session",
    "is_embedded",
    "java_has_ended",
    "would_start_empty",
]

_KILL_SECONDS = 10
#: the value of a Spark setting
Setting: TypeAlias = str | int | float | bool


def embedded_session(master: str | None = None, remote: str | None = None, **settings: Setting) -> SparkSession:
    """Return the Spark session to use if the caller gave none.

    A session that is running in this process is used unchanged. Otherwise one is started: quiet (no UI, output of the
    Java process to a file), without Hive, on 127.0.0.1 if it is local, with :data:`PLAN_SETTINGS`.

    Args:
        master: where a classic session runs, like ``local[2]`` or ``spark://host:7077``; when None, here on all cores.
        remote: a Spark Connect server, like ``sc://host:15002``; ``SPARK_REMOTE`` is honoured when neither is given.
        settings: further Spark settings, which override ours: ``embedded_session(**{"spark.driver.memory": "4g"})``.

    Raises:
        JavaNotFoundError: a classic session has to be started, and there is no Java for it.
        SubstraitError: Spark did not start, or the running session is not the one that the arguments ask for.
    """
    return _session(master, remote, {key: _text(value) for key, value in settings.items()})


def brief_session(master: str | None = None, remote: str | None = None) -> SparkSession:
    """Return the session like :func:`embedded_session`, for a process that ends within seconds.

    If a session is started on this machine, its Java compiles quickly and optimizes little: it starts sooner, and is
    slower in long computations.

    Args:
        master: as of :func:`embedded_session`.
        remote: as of :func:`embedded_session`.

    Raises:
        JavaNotFoundError: a classic session has to be started, and there is no Java for it.
        SubstraitError: Spark did not start, or the running session is not the one that the arguments ask for.
    """
    return _session(master, remote, {}, brief=True)


_STARTING = Lock()

#: the context of the classic session that this package started, if there is one
_embedded: object | None = None

#: the temporary files of the session that this package started
_folder: Path | None = None

#: folders of temporary files that another process removes
_given_up: set[Path] = set()


def _session(master: str | None, remote: str | None, wanted: Mapping[str, str], *, brief: bool = False) -> SparkSession:
    if master is not None and remote is not None:
        raise SubstraitError("a session has either a master or a remote server, not both", hint="Pass one of the two")
    leave_out_pandas_notice()
    forget_server_of_parent()
    with _STARTING:  # threads that begin together get one session
        return _running_or_started(master, remote, wanted, brief)


def _running_or_started(master: str | None, remote: str | None, wanted: Mapping[str, str], brief: bool) -> SparkSession:
    running = _running_session()
    if running is not None and (remote is None or not is_connect(running)):
        _check_running(running, master, remote, wanted)
        return running
    if remote is None and master is None:
        remote = os.environ.get("SPARK_REMOTE")
    silence_query_context()
    if remote is None:
        return _start_classic(master or "local[*]", wanted, brief)
    return connected(remote, wanted, lambda master, settings: _start_classic(master, settings, brief))


def has_session() -> bool:
    """Whether a session is running in this process."""
    with _STARTING:
        return _running_session() is not None


def would_start_empty() -> bool:
    """Whether a session would be started on this machine now, with nothing that could give it tables.

    A server has tables, a Java process that runs already may, and so may catalogs of settings in files or variables.
    """
    if "SPARK_REMOTE" in os.environ or not can_start_spark():
        return False
    with _STARTING:
        if _running_session() is not None:
            return False
    if any(name in os.environ for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_SUBMIT_OPTS")):
        return False
    if any("-Dspark" in os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDKJAVA_OPTIONS", "JAVA_OPTIONS")):
        return False
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    return not Path(folder, "spark-defaults.conf").exists()


def is_embedded(spark: SparkSession) -> bool:
    """Whether a session is the classic one that this package has started, in a Java process of its own.

    A program that ``spark-submit`` runs is a child of its Java process, which this package must not end.
    """
    if is_connect(spark) or _embedded is None or spark.sparkContext is not _embedded:
        return False
    return getattr(spark.sparkContext._gateway, "proc", None) is not None


def java_has_ended(spark: SparkSession, seconds: float = 0) -> bool:
    """Whether the Java process of a classic session was started by this process and ends within some seconds."""
    process = getattr(spark.sparkContext._gateway, "proc", None)
    if process is None:
        return False
    try:
        process.wait(seconds)
    except TimeoutExpired:
        return False
    return True


def end_session(spark: SparkSession) -> None:
    """End a classic session and kill its Java process, even while tasks run; the next session starts another.

    Args:
        spark: a session that :func:`is_embedded`, or whose Java :func:`java_has_ended`.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    global _embedded
    context: Any = spark.sparkContext
    gateway: Any = context._gateway
    gateway.proc.kill()
    gateway.proc.wait(_KILL_SECONDS)
    with suppress(Exception):  # the other side has ended
        gateway.shutdown()
    context._jsc = None  # so that stop() doesn't call Java
    context.stop()
    if SparkContext._gateway is gateway:
        SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    _embedded = None


def end_lost_session(spark: SparkSession) -> None:
    """End a classic session whose Java process has ended, so that pyspark can start another; leave every other one."""
    if is_connect(spark) or not java_has_ended(spark):
        return
    from pyspark import SparkContext

    with _STARTING:
        if SparkContext._active_spark_context is spark.sparkContext:
            end_session(spark)


def _running_session() -> SparkSession | None:
    from pyspark.sql import SparkSession

    if not can_start_spark():
        return SparkSession.getActiveSession()

    from pyspark import SparkContext

    here = SparkSession._instantiatedSession
    if here is not None and not is_connect(here) and is_embedded(here) and java_has_ended(here):
        end_session(here)
    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()  # running, but "active" only in the thread that started it
    return active


def _check_running(running: SparkSession, master: str | None, remote: str | None, wanted: Mapping[str, str]) -> None:
    if remote is not None:
        fault = "it is not remote"
    elif master is not None and is_connect(running):
        fault = "it is remote"
    elif master is not None and running.sparkContext.master != master:
        fault = f"its master is {running.sparkContext.master}"
    elif wrong := {key: value for key, value in wanted.items() if not has_setting(running, key, value)}:
        fault = f"it has different values of {listed(wrong)}"
    else:
        return
    raise SubstraitError(
        f"a Spark session is running in this process, and {fault}",
        hint="Stop it first, or call without these arguments to use it as it is",
    )


def _start_classic(master: str, wanted: Mapping[str, str], brief: bool) -> SparkSession:
    if not can_start_spark():
        raise SubstraitError(
            "the pyspark installed here can only connect to a server",
            hint="Name a server (sc://host:15002), or install pyspark",
        )

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    global _embedded, _folder
    folder = _folder = Path(tempfile.mkdtemp(prefix="pyspark-substrait-"))
    atexit.register(_remove, folder)
    settings = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **embedded_settings(master, brief=brief),
        **wanted,
        "spark.master": master,
    }
    log = folder / "java.log"
    failures: tuple[type[Exception], ...] = (*spark_errors(), OSError)
    try:
        gateway = None
        with _workers_like_this(master):  # Spark Connect's server looks at the environment that Java began with
            if SparkContext._gateway is None:
                gateway = _launched(settings, _archive(master, wanted), log)
            _embedded = SparkContext(conf=_conf(settings), gateway=gateway)
        return SparkSession.builder.getOrCreate()
    except failures as error:
        raise SubstraitError(f"Spark did not start with the master {master}{_last_words(log)}") from error


def embedded_folder() -> Path:
    """Return the folder of the temporary files of the session that this package started."""
    assert _folder is not None
    return _folder


def give_up(folder: Path) -> None:
    """Leave a folder of temporary files to another process, which removes it."""
    _given_up.add(folder)


def _remove(folder: Path) -> None:
    """Remove the temporary files of a session, unless they were given up."""
    if folder not in _given_up:
        shutil.rmtree(folder, ignore_errors=True)


def adopted_session(port: int, secret: str, process: Any) -> SparkSession:
    """Return a new session in a Java process that another process has started, and that is this one's from now on.

    Args:
        port, secret: of Java's end of the bridge to Python.
        process: the process, with methods as of ``subprocess.Popen``.

    Raises:
        OSError: Java doesn't answer.
        Exception: one of :func:`~pyspark_substrait.spark.session.spark_errors`.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    global _embedded
    leave_out_pandas_notice()
    silence_query_context()
    named = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    with _STARTING:
        os.environ.update(named)
        try:
            gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            for name in named:
                del os.environ[name]
        gateway.proc = process
        jvm = gateway.jvm
        java_context = jvm.JavaSparkContext.fromSparkContext(jvm.org.apache.spark.SparkContext.getOrCreate())
        with _workers_like_this("local"):
            context = SparkContext(gateway=gateway, jsc=java_context, conf=SparkConf(_jconf=java_context.getConf()))
        _embedded = context
        java_session = SparkSession(context)._jsparkSession.newSession()
        SparkSession._instantiatedSession = None  # so that the new one becomes the default
        return SparkSession(context, java_session)


def _launched(settings: Mapping[str, str], kept: Archive | None, log: Path) -> JavaGateway:
    """Start a Java process with Spark, which uses the class-data archive if possible."""
    from pyspark.java_gateway import launch_gateway

    def launched(settings: Mapping[str, str]) -> JavaGateway:
        with java_environment(), log.open("wb") as file, _importing_meanwhile():
            return launch_gateway(_conf(settings), {"stdout": file, "stderr": file})  # type: ignore[no-untyped-call]

    faster = _with_archive(settings, kept)
    if kept is None or faster == settings:
        return launched(settings)
    try:
        gateway = launched(faster)
    except spark_errors():  # caused by the archive, or by something else, which then fails again
        reason = refusal(log) or "Java did not start with it"
        gateway = launched(settings)
        warn(kept, reason)
        return gateway
    if (message := refusal(log)) is not None:
        warn(kept, f"Java's message: {message}")
    return gateway


def _conf(settings: Mapping[str, str]) -> SparkConf:
    from pyspark import SparkConf

    return SparkConf().setAll(list(settings.items()))


def _archive(master: str, wanted: Mapping[str, str]) -> Archive | None:
    """Return the archive for a local session, unless it has other Java options or classes."""
    if not master.startswith("local") or JAVA_OPTIONS in wanted or "spark.driver.extraClassPath" in wanted:
        return None
    return archive()


def _with_archive(settings: Mapping[str, str], kept: Archive | None) -> Mapping[str, str]:
    option = None if kept is None else java_option(kept)
    return settings if option is None else {**settings, JAVA_OPTIONS: f"{settings[JAVA_OPTIONS]} {option}"}


#: threads that begin when the process of Java is there
_AFTER_FORK: Final[list[Thread]] = []


def _begin() -> None:
    while _AFTER_FORK:
        _AFTER_FORK.pop().start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_begin)


@contextmanager
def _importing_meanwhile() -> Iterator[None]:
    """Import what the first plan needs while Java starts, which takes longer.

    The imports begin after the fork: it takes the locks of modules and then that of imports, which a thread may hold
    that waits for one of the others. setuptools has a finder of ``distutils`` that imports under that lock.
    """

    def bring() -> None:
        for name in ("pyspark.testing.utils", "pyarrow.parquet", "pyspark_substrait.spark.run"):
            with suppress(ImportError):
                import_module(name)

    thread = Thread(target=bring, daemon=True)
    _AFTER_FORK.append(thread)
    if not hasattr(os, "register_at_fork"):
        _begin()
    try:
        yield
    finally:
        if thread in _AFTER_FORK:
            _AFTER_FORK.remove(thread)
        else:
            thread.join()


@contextmanager
def _workers_like_this(master: str) -> Iterator[None]:
    """Run the Python functions of a local session in this Python, not in the first one on the PATH."""
    if not master.startswith("local") or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def _last_words(log: Path) -> str:
    """Return the last error line, or else the last line, of a Java process's log, to append to a message."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()] if log.is_file() else []
    lines = [line for line in lines if line and not line.startswith("at ")]
    telling = [line for line in lines if re.search(r"error|exception", line, re.IGNORECASE)]
    return f": {(telling or lines)[-1]}" if lines else ""


def _text(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
