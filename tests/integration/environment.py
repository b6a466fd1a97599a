"""A Python with a Spark for which Delta and Iceberg are made, and their jars. Made once per machine, then kept.

No release of either runs on Spark 4.3, where constructors and interfaces that they use have changed; both have one for
4.1. ``python -m tests.integration.environment`` makes the environment; ``make test-integration`` does that first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import requires
from pathlib import Path

POM = Path(__file__).parent / "pom.xml"
#: the Spark that the jars are made for, and what the tests need beside this package's own requirements
EXTRA = ("pyspark==4.1.4", "pyiceberg[pyarrow]>=0.10")
#: what isn't in Spark's own jars
GROUPS = "io.delta,io.unitycatalog,org.apache.iceberg"


def folder() -> Path:
    """Where the environment is, or would be; another one for other releases."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    what = hashlib.sha256(POM.read_bytes() + " ".join(EXTRA).encode()).hexdigest()[:12]
    return Path(cache, "pyspark-substrait", f"lakes-{version}-{what}")


def python(environment: Path) -> Path:
    """The environment's Python."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / "python"


def jars(environment: Path) -> list[Path]:
    """The jars for Spark."""
    return sorted((environment / "jars").glob("*.jar"))


def make() -> Path:
    """Make the environment, unless it is there."""
    target = folder()
    if target.is_dir():
        return target
    if shutil.which("mvn") is None:
        raise SystemExit("Maven is needed to fetch the jars of Delta and Iceberg: install `mvn`")
    own = [
        item for item in requires("pyspark-substrait") or () if "extra" not in item and not item.startswith("pyspark")
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        made = Path(unfinished, "environment")
        copied = [f"-DoutputDirectory={made / 'jars'}", f"-DincludeGroupIds={GROUPS}"]
        for command in (
            [sys.executable, "-m", "venv", made],
            [python(made), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *EXTRA, *own],
            ["mvn", "--quiet", "--batch-mode", "--file", POM, "dependency:copy-dependencies", *copied],
        ):
            subprocess.run(command, check=True)
        made.rename(target)  # in one step, so that a folder with this name is always whole
    return target


if __name__ == "__main__":
    print(make())
