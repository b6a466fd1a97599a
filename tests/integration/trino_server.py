"""A Trino server of its own, in a temporary folder, with a catalog in memory and one of Parquet files.

``python -m tests.integration.trino_server`` fetches the server, 0.8 GB, from Maven Central, once per machine; ``make
test-integration`` does that first. Trino needs a newer Java than Spark: that of the variable ``TRINO_JAVA_HOME``, or
the newest in ``/usr/lib/jvm``.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.integration.environment import cache

__all__ = ["Server", "lacking", "make", "server"]

RELEASE = "476"
#: the oldest Java that this release starts with
_JAVA = 24
#: how long the server may take to start, in seconds
_PATIENCE = 180

_SETTINGS = """\
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
discovery.uri=http://127.0.0.1:{port}
plugin.dir={folder}/plugin
catalog.config-dir={folder}/catalog
query.max-memory-per-node=1GB
"""
_CATALOGS = {
    "memory": "connector.name=memory\n",
    "files": """\
connector.name=hive
hive.metastore=file
hive.metastore.catalog.dir=local:///metastore
fs.native-local.enabled=true
local.location={folder}
hive.non-managed-table-writes-enabled=true
hive.timestamp-precision=MICROSECONDS
""",
}


class Server:
    """The server; a folder ``data`` beside it has the files of tables.

    Args:
        folder: where it is; nothing else is there.
        release: the folder of the unpacked release.
        java: the program that runs it.
        catalogs: the settings of further catalogs, by name.
    """

    def __init__(self, folder: Path, release: Path, java: Path, catalogs: Mapping[str, str]) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        for name in ("catalog", "plugin", "data", "metastore", "node"):
            (folder / name).mkdir()
        texts = {name: text.format(folder=folder) for name, text in _CATALOGS.items()} | dict(catalogs)
        for name, text in texts.items():
            (folder / "catalog" / f"{name}.properties").write_text(text)
        plugins = {text.partition("connector.name=")[2].split()[0] for text in texts.values()}
        for name in plugins:  # all would take minutes to load
            (folder / "plugin" / name).symlink_to(release / "plugin" / name)
        settings = folder / "config.properties"
        settings.write_text(_SETTINGS.format(port=self.port, folder=folder))
        levels = folder / "log.properties"
        levels.write_text("io.trino=WARN\n")
        command: list[str | Path] = [java, "-cp", release / "lib" / "*"]
        command += ["-Xmx3G", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += [f"-Dconfig={settings}", f"-Dlog.levels-file={levels}", f"-Dnode.data-dir={folder / 'node'}"]
        command += ["-Dnode.environment=test", "-Dnode.id=one", "io.trino.server.TrinoServer"]
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/info", timeout=5) as answer:
                    if b'"starting":false' in answer.read():
                        return
            except OSError:
                pass
            time.sleep(0.5)
        self.stop()
        raise AssertionError((self.folder / "log").read_text()[-4000:])

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def _release() -> Path:
    return cache() / "trino" / f"trino-server-{RELEASE}"


def _java() -> Path | None:
    """The program of the newest Java that is new enough."""
    homes: list[str | Path] = [os.environ["TRINO_JAVA_HOME"]] if "TRINO_JAVA_HOME" in os.environ else []
    found = []
    for home in (*homes, *Path("/usr/lib/jvm").glob("*")):
        release = Path(home, "release")
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
        if version is not None and int(version[1]) >= _JAVA:
            found.append((int(version[1]), Path(home, "bin", "java")))
    return max(found)[1] if found else None


def make() -> None:
    """Fetch and unpack the server, if it is missing."""
    target = _release()
    if target.is_dir():
        return
    if shutil.which("mvn") is None:
        raise SystemExit("Maven is needed to fetch Trino: install `mvn`")
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        artifact = f"-Dartifact=io.trino:trino-server:{RELEASE}:tar.gz"
        copied = [artifact, f"-DoutputDirectory={unfinished}", "-Dmdep.useBaseVersion=true"]
        subprocess.run(["mvn", "--quiet", "--batch-mode", "dependency:copy", *copied], check=True)
        with tarfile.open(Path(unfinished, f"trino-server-{RELEASE}.tar.gz")) as archive:
            archive.extractall(unfinished, filter="data")
        Path(unfinished, target.name).rename(target)


def lacking() -> str | None:
    """Why there can be no server; None where there can."""
    if _java() is None:
        return f"Trino needs Java {_JAVA} or newer: set TRINO_JAVA_HOME"
    return None if _release().is_dir() else "Trino was never fetched: make test-integration"


@contextmanager
def server(catalogs: Mapping[str, str] = MappingProxyType({})) -> Iterator[Server]:
    """A server; tests that need it skip where it was never fetched, or no Java is new enough.

    Args:
        catalogs: the settings of further catalogs, by name.
    """
    java, reason = _java(), lacking()
    if java is None or reason is not None:
        pytest.skip(reason or "")
    folder = Path(tempfile.mkdtemp(prefix="pyspark-substrait-trino-"))
    try:
        found = Server(folder, _release(), java, catalogs)
        try:
            yield found
        finally:
            found.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    make()
