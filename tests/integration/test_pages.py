"""The programs of the pages about tables, run as they are written but for what this machine has: jars and a port."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.integration import environment, postgresql
from tests.integration.session import ROOT, spark_for

pytestmark = pytest.mark.sweep(sample=0)

_PROGRAM = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_PACKAGES = re.compile(r'"spark\.jars\.packages", "([^"]*)"')
_SEPARATE = "from pyspark.sql import SparkSession\n"


def programs(page: str) -> list[tuple[str, str]]:
    """The programs of a page, and what they print; a block that imports nothing goes on with the one before."""
    found: list[tuple[str, str]] = []
    for code, printed in _PROGRAM.findall((ROOT / "docs" / page).read_text(encoding="utf-8")):
        if found and _SEPARATE not in code:
            code, printed = found[-1][0] + code, found.pop()[1] + printed
        found.append((code, printed))
    return found


PROGRAMS = [
    ("lakes.md", 0, "delta"),
    ("lakes.md", 1, "iceberg"),
    ("hive.md", 0, "hive"),
    ("jdbc.md", 0, "jdbc"),
]


def test_every_program_is_run() -> None:
    assert [(page, place) for page, place, _ in PROGRAMS] == [
        (page, place) for page in ("lakes.md", "hive.md", "jdbc.md") for place in range(len(programs(page)))
    ]


@pytest.mark.parametrize(("page", "place", "format"), PROGRAMS)
def test_a_program(page: str, place: int, format: str, tmp_path: Path) -> None:
    spark = spark_for(format)
    code, printed = programs(page)[place]
    named = _PACKAGES.search(code)
    if named is not None and environment.ARTIFACTS[format][spark] != (named[1],):
        pytest.skip(f"the page has {named[1]}, which isn't for Spark {spark}")
    if spark == "3.5":
        pytest.skip("the programs leave out the setting that Spark 3.5 needs")
    jars = ",".join(map(str, environment.jars(format, spark) or ()))
    with postgresql.server() if format == "jdbc" else nullcontext() as server:
        code = _PACKAGES.sub(f'"spark.jars", "{jars}"', code)
        if server is not None:
            code = code.replace("localhost:5432", f"127.0.0.1:{server.port}")
        (tmp_path / "program.py").write_text(code, encoding="utf-8")
        done = subprocess.run(
            [environment.python(spark), "program.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == printed


def test_the_page_names_the_releases() -> None:
    page = (ROOT / "docs" / "lakes.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\d\.\d) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    named = {spark: (delta, iceberg) for spark, delta, iceberg in table}
    assert named == {
        spark: tuple(
            f"`{environment.ARTIFACTS[format][spark][0]}`" if spark in environment.ARTIFACTS[format] else "none yet"
            for format in ("delta", "iceberg")
        )
        for spark in environment.RELEASES
    }
