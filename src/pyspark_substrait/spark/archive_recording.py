"""Run a session whose Java process writes a class-data archive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.embedded_settings import DEEP_STACK
from pyspark_substrait.spark.session_start import embedded_session

__all__ = ["recording"]

_LONGEST_SECONDS = 600


@contextmanager
def recording(target: Path, base: Path | None = None) -> Iterator[None]:
    """Run the body with a session of its own, then end Java, and wait for the archive of the classes that it loaded.

    Args:
        target: the file to make.
        base: the archive of Java's own classes to build on; by default the one that Java has.

    Raises:
        SubstraitError: Spark did not start, or Java made no archive.
    """
    from pyspark import SparkContext

    if '"' in str(target) or "\\" in str(target):
        raise SubstraitError(f"Java does not accept the path {target}")
    options = f'{DEEP_STACK} "-XX:ArchiveClassesAtExit={target}"'
    if base is not None:
        options += f' "-XX:SharedArchiveFile={base}"'
    spark = embedded_session("local[2]", **{"spark.driver.extraJavaOptions": options})
    gateway = SparkContext._gateway
    yield
    spark.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()  # Java ends when its standard input is closed
        gateway.proc.wait(_LONGEST_SECONDS)
    if not target.is_file():
        raise SubstraitError("this Java made none; it may lack the archive of its own classes that others build on")
