"""Counts of tests that run on a Spark: ``python -m tests.spark_versions`` measures it with the Spark that is installed.

``make spark-versions SPARK=3.5`` does so in the environment of a version. The counts are kept in spark_versions.json,
and the table of docs/spark-versions.md is made of them. Names of groups measure only these again. What pytest reported
of each group, with the errors of what failed, is in build/spark-versions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import click

__all__ = ["GROUPS", "PAGE", "measured", "table"]

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "spark-versions.md"
_FILE: Final = Path(__file__).with_suffix(".json")
_REPORTS: Final = ROOT / "build" / "spark-versions"
_BEGIN: Final = "<!-- made by python -m tests.spark_versions -->\n"
_END: Final = "<!-- end -->\n"
_CASES: Final = "function cases"
_CONNECT: Final = "Spark Connect"
_RELATIONS: Final = (
    *("joins", "correlated_joins", "lateral_joins", "physical_joins", "subqueries", "correlation", "windows"),
    *("window_frames", "window_relation", "sets", "reads", "aggregates", "distinct_aggregates", "tables", "parameters"),
    *("fetch_sort", "top_n", "expand", "exchange", "shared_subtrees", "roots", "habits", "casts"),
)

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "TPC-H by DataFusion": ("tests/spark/test_foreign_plans.py", "-k", "tpch/datafusion"),
    "TPC-H by Isthmus": ("tests/spark/test_foreign_plans.py", "-k", "tpch/isthmus"),
    "own TPC-H": ("tests/spark/producer/test_tpch.py", "-k", "test_the_plan_of_a_query"),
    "own TPC-DS": ("tests/spark/producer/test_tpcds.py",),
    "producer": ("tests/spark/producer", "-k", "not tpcds and not tpch"),
    "relations": tuple(f"tests/spark/test_{name}.py" for name in _RELATIONS),
    # without what takes long, and what only Spark's generated code does
    "writes": ("tests/spark/writing", "-k", "not crashes and not two_writers and not is_checked_in_the_text"),
    _CONNECT: tuple(
        f"tests/spark/test_{name}.py"
        for name in ("tables", "coverage", "type_round_trips", "correlation", "evaluate", "phases", "user_functions")
    ),
}
"""The groups of tests, by the name that the table has for them: what pytest is called with."""


@click.command()
@click.argument("groups", nargs=-1, type=click.Choice([_CASES, *GROUPS]))
def main(groups: tuple[str, ...]) -> None:
    """Run the groups of tests, and write their counts into the table."""
    import pyspark

    for group in groups or (_CASES, *GROUPS):
        counts = _cases() if group == _CASES else _tests(group)
        found = measured()
        found.setdefault(pyspark.__version__, {})[group] = counts
        lines = [f" {json.dumps(version)}: {json.dumps(found[version])}" for version in sorted(found)]
        _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
        PAGE.write_text(before + _BEGIN + table() + _END + rest.partition(_END)[2], encoding="utf-8")
        click.echo(f"Spark {pyspark.__version__}, {group}: {_written(counts)}")


def measured() -> dict[str, dict[str, list[int]]]:
    """Return the counts so far, by version and group: what passed, was refused and failed."""
    found: dict[str, dict[str, list[int]]] = json.loads(_FILE.read_text(encoding="utf-8")) if _FILE.is_file() else {}
    return found


def table() -> str:
    """Return the table of what was measured, in Markdown."""
    counts = measured()
    names = (_CASES, *GROUPS)
    lines = [f"| | {' | '.join(counts)} |", f"|---|{'---|' * len(counts)}"]
    for name in names:
        cells = (_written(of[name]) if name in of else "not run" for of in counts.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _written(counts: list[int]) -> str:
    passed, refused, failed = counts
    return f"{passed:,} / {refused} / {failed}"


def _cases() -> list[int]:
    """Return how many of the function cases pass, are refused by this Spark, and fail; conflicts don't count."""
    command = [sys.executable, "-m", "tests.conformance", "--brief"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    last = re.search(r"(\d+) passed, \d+ conflicts, (\d+) refused by this version, (\d+) failed", done.stdout)
    if last is None:
        raise click.ClickException(f"the function cases did not run:\n{done.stdout[-2000:]}")
    if int(last[3]):
        click.echo(done.stdout)
    return [int(number) for number in last.groups()]


def _tests(group: str) -> list[int]:
    """Return how many tests of a group pass, are refused by this Spark, and fail."""
    import pyspark

    report = _REPORTS / f"{pyspark.__version__} {group}.xml"
    report.unlink(missing_ok=True)
    # the session of a test run is one of Spark Connect if this names a server
    remote = {"TEST_REMOTE": "local[2]"} if group == _CONNECT else {}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", f"--junitxml={report}"]
    done = subprocess.run(
        [*command, *GROUPS[group]], cwd=ROOT, env={**os.environ, **remote}, capture_output=True, text=True
    )
    if not report.is_file():
        raise click.ClickException(f"{group} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    cases = ElementTree.parse(report).getroot().findall(".//testcase")
    skipped = [case.find("skipped") for case in cases]
    reasons = [item.get("message", "") for item in skipped if item is not None]
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    for case in failed:
        click.echo(f"FAILED {case.get('classname')}.{case.get('name')}")
    refused = sum(reason.startswith("needs ") for reason in reasons)
    return [len(cases) - len(reasons) - len(failed), refused, len(failed)]


if __name__ == "__main__":
    main()
