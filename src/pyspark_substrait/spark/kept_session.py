"""Sessions kept for the next commands: start Java once, and use it until nobody has for a while.

Most of the time of a short command is the start of Java. So a command that has started a local session leaves its Java
process to a small process of its own (:mod:`~pyspark_substrait.spark.session_keeper`), and the next command with the
same Spark, settings, environment and folder gets a new session in it: with the same settings, and no views of others.
One command at a time uses a kept process; a second one starts its own. A command that was killed, or leaves jobs
behind, takes the process with it.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import select
import shutil
import signal
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

from pyspark_substrait.spark.compatibility import can_start_spark
from pyspark_substrait.spark.embedded_settings import embedded_settings
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.session_keeper import GIVEN_BACK, LIST, STOP, USE, Record, ask, start
from pyspark_substrait.spark.session_start import (
    adopted_session,
    embedded_folder,
    give_up,
    has_session,
    is_embedded,
    java_has_ended,
)

if TYPE_CHECKING:
    import socket

    from pyspark.sql import SparkSession

__all__ = ["SWITCH", "KeptSession", "kept_sessions", "may_keep", "session_places", "stop_kept_sessions"]

SWITCH = "PYSPARK_SUBSTRAIT_KEEP"
"""The environment variable with the seconds that a session is kept without use; ``0`` keeps none."""

_SECONDS = 600.0
_MOST_KEPT = 2  # each takes some hundred megabytes
#: variables of a terminal, which change from one to the next, and which neither Java nor Spark reads
_OF_TERMINALS = re.compile(
    r"_|COLORTERM|COLUMNS|DISPLAY|FORCE_COLOR|LINES|LS_COLORS|NO_COLOR|OLDPWD|PAGER|PS1|PWD|SHLVL|STY|TERM|TERMINFO"
    r"|TTY_.*|WAYLAND_DISPLAY|WINDOWID|PYSPARK_SUBSTRAIT_PROGRESS"
    r"|(TERM|KONSOLE|SSH|TMUX|VSCODE|VTE|WEZTERM|ITERM|ZELLIJ|XDG_SESSION)_.*"
)
#: the objects of the bridge that aren't a command's: the bridge itself, its entry point, and its view of classes
_OF_BRIDGE = ("GATEWAY_SERVER", "t", "j")
_LONGEST_PATH = 100  # of a socket, in bytes


def may_keep() -> float:
    """The seconds that a session is kept without use, from :data:`SWITCH`; 0 keeps none, like the variable CI."""
    if os.name == "nt" or not can_start_spark():
        return 0.0
    stated = os.environ.get(SWITCH, "").strip()
    if not stated:
        return 0.0 if os.environ.get("CI") else _SECONDS
    try:
        return max(float(stated), 0.0)
    except ValueError:
        return 0.0


@dataclass(frozen=True)
class KeptSession:
    """The place of a kept session, whether or not there is one.

    Args:
        place: its socket.
        seconds: as of :func:`may_keep`.
        about: what it is, for people.
    """

    place: Path
    seconds: float
    about: Mapping[str, str]

    def attached(self) -> SparkSession | None:
        """Return a new session in the kept process, and give the process back when this one ends.

        Returns:
            None if none is kept, or another command uses it.
        """
        if not self.place.exists():
            return None
        try:
            connection, answer = ask(self.place, USE)
        except OSError:
            return None
        port, secret, java = (answer.get(key) for key in ("port", "secret", "java"))
        if not (isinstance(port, int) and isinstance(secret, str) and isinstance(java, int)):
            connection.close()
            return None
        failures: tuple[type[Exception], ...] = (*spark_errors(), OSError)
        try:
            spark = adopted_session(port, secret, _LentJava(java, connection))
        except failures:
            connection.close()  # which ends the process
            return None
        atexit.register(_give_back, spark, connection)
        return spark

    def keep_at_exit(self, spark: SparkSession) -> None:
        """Leave the Java process of a session that this process started to the next commands, when this one ends."""
        atexit.register(self._leave, spark)

    def _leave(self, spark: SparkSession) -> None:
        with suppress(OSError, *spark_errors()):
            if not is_embedded(spark) or java_has_ended(spark) or not _released(spark):
                return
            gateway: Any = spark.sparkContext._gateway
            parameters = gateway.java_parameters if hasattr(gateway, "java_parameters") else gateway.gateway_parameters
            record = Record(
                port=parameters.port,
                secret=parameters.auth_token,
                java=gateway.proc.pid,
                folder=str(embedded_folder()),
                seconds=self.seconds,
                place=str(self.place),
                about=dict(self.about),
            )
            _make_room()
            if start(record, gateway.proc.stdin.fileno()):
                give_up(embedded_folder())


def session_places(master: str | None, *, brief: bool) -> list[KeptSession]:
    """Return the places of the sessions that suit a run, best first; none if such sessions are not kept.

    Args:
        master: as of :func:`~pyspark_substrait.spark.session_start.embedded_session`.
        brief: whether the run takes only seconds. Then a session will do whose Java compiles quickly and optimizes
            little, but also any other.
    """
    seconds = may_keep()
    if not seconds or not (master or "local").startswith("local") or has_session():
        return []
    if "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return []
    folder = _folder()
    if folder is None:
        return []
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.version import __version__ as version

    home = Path(_find_spark_home())
    about = {"spark": version, "master": master or "local[*]", "folder": os.getcwd()}
    known = {
        **about,
        "home": _times(home, home / "jars", *_files_of_settings(home)),
        "java": _times(*_places_of_java()),
        "environment": _environment(),
    }
    places = []
    for each in (True, False) if brief else (False,):
        depends = {**known, "settings": embedded_settings(about["master"], brief=each)}
        key = hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]
        places.append(KeptSession(folder / f"{key}.socket", seconds, about))
    return [place for place in places if len(os.fsencode(place.place)) <= _LONGEST_PATH]


def _make_room() -> None:
    """Stop the kept sessions that were not used for longest, so that one more may be kept."""
    found = kept_sessions()
    idle = sorted((about["seconds left"], place) for place, about in found.items() if not about["busy"])
    for _, place in idle[: max(len(found) + 1 - _MOST_KEPT, 0)]:
        with suppress(OSError):
            ask(place, STOP)[0].close()


class _LentJava:
    """The Java process of another process, with the methods of ``subprocess.Popen`` that this package uses."""

    def __init__(self, pid: int, keeper: socket.socket) -> None:
        self.pid = pid
        self._keeper = keeper

    def kill(self) -> None:
        """Kill it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, which its keeper shows by closing the connection.

        Raises:
            TimeoutExpired: it has not.
        """
        if not select.select([self._keeper], [], [], timeout)[0]:
            raise TimeoutExpired("java", timeout or 0)
        return 0


def _give_back(spark: SparkSession, connection: socket.socket) -> None:
    """Give a lent process back, or let it end if jobs still run in it."""
    with suppress(*spark_errors(), OSError), connection:
        if is_embedded(spark) and not java_has_ended(spark) and _released(spark):
            connection.sendall(GIVEN_BACK.encode() + b"\n")
            connection.recv(1)


def _released(spark: SparkSession) -> bool:
    """Forget all Java objects that this process holds, so that Java can free them; whether no job is running."""
    from py4j.java_gateway import JavaObject

    context: Any = spark.sparkContext
    if context.statusTracker().getActiveJobsIds():
        return False
    jvm = context._jvm
    bindings = JavaObject("GATEWAY_SERVER", context._gateway._gateway_client).getGateway().getBindings()
    bindings.keySet().retainAll(jvm.java.util.List.of(*_OF_BRIDGE))
    return True


def kept_sessions() -> dict[Path, dict[str, Any]]:
    """Return what is known of each kept session, by its socket: ``java``, ``spark``, ``master``, ``folder``, ``busy``,
    ``uses``, ``since`` (seconds of the epoch) and ``seconds left``."""
    return _asked(LIST)


def stop_kept_sessions() -> int:
    """Stop all kept sessions of this user, also busy ones; return how many there were."""
    return len(_asked(STOP))


def _asked(line: str) -> dict[Path, dict[str, Any]]:
    answers: dict[Path, dict[str, Any]] = {}
    folder = None if os.name == "nt" else _folder()
    for place in () if folder is None else sorted(folder.glob("*.socket")):
        with suppress(OSError):
            connection, answers[place] = ask(place, line)
            connection.close()
    return answers


def _folder() -> Path | None:
    """Return the folder of sockets, which only this user can enter; None if it can't be made, or is somebody else's."""
    folder = Path(tempfile.gettempdir(), f"pyspark-substrait-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700
    return folder if own else None


def _environment() -> dict[str, str]:
    """Return the variables that Java or Spark may depend on: all but those of terminals."""
    return {name: value for name, value in os.environ.items() if not _OF_TERMINALS.fullmatch(name)}


def _files_of_settings(home: Path) -> list[Path]:
    """Return the files that Java and Spark read at their start."""
    folders = [os.environ.get("SPARK_CONF_DIR") or home / "conf"]
    folders += [os.environ[name] for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR") if name in os.environ]
    return sorted(path for folder in folders if Path(folder).is_dir() for path in Path(folder).iterdir())


def _places_of_java() -> Sequence[Path]:
    """Return the programs that may be the Java of a session, without running them."""
    at_home = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else None
    on_path = shutil.which("java")
    return [path.resolve() for path in (at_home, on_path and Path(on_path)) if path]


def _times(*paths: Path) -> list[object]:
    """Return each path with the time of its last change."""
    found: list[object] = []
    for path in paths:
        with suppress(OSError):
            found += [str(path), path.stat().st_mtime_ns]
    return found
