"""What commands that need no Spark import: neither Spark nor what only rows need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_substrait import samples

ROOT = Path(__file__).resolve().parent.parent
PLAN = str(samples.plan_2023())

#: what takes long to import, and is for rows
HEAVY = {"pyspark", "py4j", "pandas", "numpy", "pyarrow", "grpc", "graphviz", "IPython"}
#: what only some commands need
PROTOBUF, YAML, DRAWING, TABLES, GRAMMAR = "google.protobuf", "yaml", "pygraphviz", "rich", "antlr4"

_SCRIPT = """
import sys
from pyspark_substrait.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    """The modules, and their packages, of a process that ran a command."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    modules = {line for line in done.stderr.splitlines() if line and " " not in line}
    assert "pyspark_substrait.cli" in modules
    return modules


@pytest.mark.parametrize(
    ("arguments", "light"),
    [
        (["--help"], (PROTOBUF, YAML, DRAWING, TABLES, GRAMMAR)),
        (["run", "--help"], (PROTOBUF, YAML, DRAWING, TABLES, GRAMMAR)),
        (["findings"], (PROTOBUF, YAML, DRAWING, GRAMMAR)),
        (["functions", "round"], (PROTOBUF, DRAWING, GRAMMAR)),
        (["dialect"], (PROTOBUF, DRAWING, GRAMMAR)),
        (["capabilities"], (DRAWING, GRAMMAR)),
        (["explain", PLAN], (DRAWING, TABLES, GRAMMAR)),
        (["validate", PLAN], (DRAWING, GRAMMAR)),
        (["validate", "--target", "spark", PLAN], (DRAWING, GRAMMAR)),
        (["lint", PLAN], (DRAWING, GRAMMAR)),
        (["lineage", PLAN], (DRAWING, TABLES, GRAMMAR)),
        (["convert", PLAN, "-", "--to", "json"], (DRAWING, TABLES, GRAMMAR)),
        (["convert", PLAN, "-", "--to", "text"], (DRAWING, TABLES, GRAMMAR)),
        (["upgrade", "--check", PLAN], (DRAWING, GRAMMAR)),
        (["diff", PLAN, PLAN], (DRAWING, GRAMMAR)),
        (["sql", PLAN], (DRAWING, TABLES, GRAMMAR)),
        (["run", "--dry-run", PLAN], (DRAWING, TABLES, GRAMMAR)),
    ],
    ids=lambda value: " ".join(Path(word).name for word in value) if isinstance(value, list) else "",
)
def test_a_command_that_needs_no_spark_imports_none(arguments: list[str], light: tuple[str, ...]) -> None:
    modules = imported(*arguments)
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert modules & set(light) == set()


def test_only_the_command_that_is_called_is_imported() -> None:
    assert {name for name in imported("findings") if name.startswith("pyspark_substrait.cli.")} == {
        "pyspark_substrait.cli.files",
        "pyspark_substrait.cli.findings",
        "pyspark_substrait.cli.output",
    }


def test_a_page_is_made_without_spark(tmp_path: Path) -> None:
    modules = imported("view", PLAN, "--output", str(tmp_path / "page.html"))
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert (tmp_path / "page.html").is_file()
