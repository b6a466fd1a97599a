"""A REST catalog of Iceberg, with views: the server of Iceberg's own tests, over SQLite and a folder.

``python -m tests.integration.iceberg_rest`` fetches it from Maven Central, once per machine; ``make test-integration``
does that first. Its Hadoop classes are those of PySpark.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.environment import cache

__all__ = ["Server", "lacking", "make", "server"]

RELEASE = "1.10.0"
#: how long the server may take to start, in seconds
_PATIENCE = 120
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>catalog</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.iceberg</groupId>
      <artifactId>iceberg-open-api</artifactId>
      <version>{RELEASE}</version>
      <classifier>test-fixtures</classifier>
    </dependency>
    <dependency>
      <groupId>org.apache.iceberg</groupId>
      <artifactId>iceberg-core</artifactId>
      <version>{RELEASE}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.iceberg</groupId>
      <artifactId>iceberg-core</artifactId>
      <version>{RELEASE}</version>
      <classifier>tests</classifier>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jetty</groupId>
      <artifactId>jetty-servlet</artifactId>
      <version>11.0.26</version>
    </dependency>
    <dependency>
      <groupId>org.xerial</groupId>
      <artifactId>sqlite-jdbc</artifactId>
      <version>3.46.1.3</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
"""


class Server:
    """The server.

    Args:
        folder: where it is; the tables are in ``warehouse`` there.
    """

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self.uri = f"http://127.0.0.1:{port}"
        settings = {
            "CATALOG_WAREHOUSE": f"file://{folder}/warehouse",
            "CATALOG_IO__IMPL": "org.apache.iceberg.hadoop.HadoopFileIO",
            "CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db",
            "CATALOG_JDBC_SCHEMA__VERSION": "V1",  # with views
            "CATALOG_REST_PORT": str(port),
        }
        classes = os.pathsep.join([str(_jars() / "*"), *map(str, _hadoop())])
        command = ["java", "-cp", classes, "org.apache.iceberg.rest.RESTCatalogServer"]
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT
            )
        self._wait(folder / "log")

    def _wait(self, log: Path) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.uri}/v1/config", timeout=5).close()
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise AssertionError(log.read_text()[-4000:])

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def _jars() -> Path:
    return cache() / "jars" / f"iceberg-rest_{RELEASE}"


def _hadoop() -> list[Path]:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    jars = Path(spec.origin).parent / "jars"
    return [*jars.glob("hadoop-client-*.jar"), *jars.glob("commons-logging-*.jar")]  # which that of 3.5 needs


def make() -> None:
    """Fetch the server, if it is missing."""
    target = _jars()
    if target.is_dir():
        return
    if shutil.which("mvn") is None:
        raise SystemExit("Maven is needed to fetch Iceberg's catalog: install `mvn`")
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        pom, made = Path(unfinished, "pom.xml"), Path(unfinished, "jars")
        pom.write_text(_POM)
        copied = ["dependency:copy-dependencies", f"-DoutputDirectory={made}"]
        subprocess.run(["mvn", "--quiet", "--batch-mode", "--file", pom, *copied], check=True)
        made.rename(target)


def lacking() -> str | None:
    """Why there can be no server; None where there can."""
    return None if _jars().is_dir() else "Iceberg's catalog was never fetched: make test-integration"


@contextmanager
def server() -> Iterator[Server]:
    """A server; tests that need it skip where it was never fetched."""
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="pyspark-substrait-iceberg-") as folder:
        found = Server(Path(folder))
        try:
            yield found
        finally:
            found.stop()


if __name__ == "__main__":
    make()
