"""The Spark that integration tests run on, and the jars of table formats for it. Made once per machine, then kept.

``python -m tests.integration.environment`` fetches what is missing; ``make test-integration`` does that first. The
variable ``SPARK`` says which Spark, as in ``make test-integration SPARK=4.0``; without it, each format is tried on the
newest Spark that it has a release for.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import requires, version
from pathlib import Path

__all__ = ["ARTIFACTS", "RELEASES", "cache", "jars", "make", "python", "tried_on"]

#: each Spark, and the release of pyspark that stands for it
RELEASES: Mapping[str, str] = {"3.5": "3.5.9", "4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4.3": "4.3.0"}

_POSTGRESQL = "org.postgresql:postgresql:42.7.14"

#: what each format needs beside Spark's own jars, by the Spark that it is made for; for others, there is no release
ARTIFACTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "delta": {
        "3.5": ("io.delta:delta-spark_2.12:3.3.2",),
        "4.0": ("io.delta:delta-spark_4.0_2.13:4.4.0",),
        "4.1": ("io.delta:delta-spark_4.1_2.13:4.4.0",),
        "4.2": ("io.delta:delta-spark_4.2_2.13:4.4.0",),
    },
    "iceberg": {
        "3.5": ("org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",),
        "4.0": ("org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",),
        "4.1": ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",),
    },
    "hive": dict.fromkeys(RELEASES, ()),  # pyspark has its jars
    "jdbc": dict.fromkeys(RELEASES, (_POSTGRESQL,)),
}

#: what isn't in Spark's own jars
_GROUPS = "io.delta,io.unitycatalog,org.apache.iceberg,org.postgresql"


def tried_on(format: str) -> str | None:
    """The Spark that a format is tried on; None if the one that was asked for has no release of the format."""
    asked = os.environ.get("SPARK") or list(ARTIFACTS[format])[-1]
    return asked if asked in ARTIFACTS[format] else None


def python(spark: str) -> Path:
    """A Python with a Spark: the running one, or else one of its own, which may not have been made."""
    if version("pyspark").startswith(f"{spark}."):
        return Path(sys.executable)
    return _environment(spark) / ("Scripts" if os.name == "nt" else "bin") / "python"


def jars(format: str, spark: str) -> list[Path] | None:
    """The jars of a format for a Spark; None if they were never fetched."""
    folders = [_jars(artifact) for artifact in ARTIFACTS[format][spark]]
    if not all(folder.is_dir() for folder in folders):
        return None
    return sorted(jar for folder in folders for jar in folder.glob("*.jar"))


def make(spark: str, formats: Sequence[str]) -> None:
    """Make what is missing for formats on a Spark."""
    if not python(spark).exists():
        _make_environment(_environment(spark), spark)
    for format in formats:
        for artifact in ARTIFACTS[format][spark]:
            if not _jars(artifact).is_dir():
                _fetch(artifact)


def cache() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pyspark-substrait")
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _requirements(spark: str) -> list[str]:
    """The packages in the environment of a Spark: this package's own requirements, and what the tests need."""
    own = [
        item for item in requires("pyspark-substrait") or () if "extra" not in item and not item.startswith("pyspark")
    ]
    return [f"pyspark=={RELEASES[spark]}", "pyiceberg[pyarrow]>=0.12,<0.13", "pandas<3", *own]


def _environment(spark: str) -> Path:
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    what = hashlib.sha256("\n".join(_requirements(spark)).encode()).hexdigest()[:12]
    return cache() / f"spark-{RELEASES[spark]}-{found}-{what}"


def _make_environment(target: Path, spark: str) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        made = Path(unfinished, "environment")
        own = made / ("Scripts" if os.name == "nt" else "bin") / "python"
        make: list[str | Path] = [sys.executable, "-m", "venv", made]
        install: list[str | Path] = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install += _requirements(spark)
        for command in (make, install):
            subprocess.run(command, check=True)
        made.rename(target)  # in one step, so that a folder with this name is always whole


def _jars(artifact: str) -> Path:
    return cache() / "jars" / artifact.replace(":", "_")


def _fetch(artifact: str) -> None:
    """Fetch an artifact, and what it depends on that Spark doesn't have."""
    if shutil.which("mvn") is None:
        raise SystemExit(f"Maven is needed to fetch {artifact}: install `mvn`")
    group, name, release = artifact.split(":")
    target = _jars(artifact)
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        pom, made = Path(unfinished, "pom.xml"), Path(unfinished, "jars")
        pom.write_text(_POM.format(group=group, name=name, release=release))
        copied = [f"-DoutputDirectory={made}", f"-DincludeGroupIds={_GROUPS}"]
        subprocess.run(
            ["mvn", "--quiet", "--batch-mode", "--file", pom, "dependency:copy-dependencies", *copied], check=True
        )
        made.rename(target)


_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>tables</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{name}</artifactId>
      <version>{release}</version>
    </dependency>
  </dependencies>
</project>
"""


def main() -> None:
    for format in ARTIFACTS:
        spark = tried_on(format)
        if spark is None:
            print(f"{format}: no release for Spark {os.environ['SPARK']}")
            continue
        make(spark, [format])
        print(f"{format}: Spark {spark} in {python(spark)}", *ARTIFACTS[format][spark])


if __name__ == "__main__":
    main()
