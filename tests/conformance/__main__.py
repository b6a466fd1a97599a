"""``make conformance``: runs the specification's function cases and ours, and prints what came of them by file."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

import click
from rich.console import Console
from rich.table import Table

from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.conflicts import CONFLICTS, conflict
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.functions.support import supported
from pyspark_substrait.sql.spark_version import SparkVersion
from tests.conformance.running import Outcome, Way, is_failure, is_refused_here, run

_NUMBERS = ("functions", "cases", "passed", "conflicts", "failed", "combinations", "refused")


@click.command()
@click.option("--columns", is_flag=True, help="Arguments of scalar functions are columns instead of literals.")
@click.option("--ansi-off", is_flag=True, help="The session has spark.sql.ansi.enabled=false.")
@click.option("--remote", help="A Spark Connect server; local[2] starts one.")
@click.option("--brief", is_flag=True, help="Print the faults and the counts only.")
@click.option("--file", "names", multiple=True, help="Only files whose name contains this; repeatable.")
def main(columns: bool, ansi_off: bool, remote: str | None, brief: bool, names: tuple[str, ...]) -> None:
    """Run the function cases and print a report."""
    from pyspark_substrait.spark.session_start import embedded_session

    remote = remote or os.environ.get("TEST_REMOTE")
    spark = embedded_session(None if remote else "local[2]", remote, **{"spark.sql.shuffle.partitions": 2})
    if ansi_off:
        spark.conf.set("spark.sql.ansi.enabled", "false")
    cases = [case for case in _readable() if not names or any(name in case.file for name in names)]
    if columns:
        cases = [case for case in cases if case.rows is None]
    started = time.perf_counter()
    outcomes = run(spark, cases, Way.COLUMNS if columns else Way.LITERALS)
    seconds = time.perf_counter() - started
    console = Console(width=130)
    version = session_version(spark)
    if not brief:
        _print_details(console, outcomes, version, columns=columns, whole=not names)
    failed = [item for item in outcomes if is_failure(item, version)]
    for item in failed:
        console.print(f"FAILED {item.case.file}: {item.case.text}: {item.fault}", markup=False, soft_wrap=True)
    passed = sum(item.fault is None for item in outcomes)
    refused = sum(is_refused_here(item, version) for item in outcomes)
    conflicts = len(outcomes) - passed - refused - len(failed)
    numbers = f"{passed} passed, {conflicts} conflicts, {refused} refused by this version, {len(failed)} failed"
    counts = f"Spark {spark.version}: {len(outcomes)} cases, {numbers}"
    console.print(f"{counts}, {seconds:.0f} s")
    sys.exit(1 if failed else 0)


def _print_details(
    console: Console, outcomes: list[Outcome], version: SparkVersion, *, columns: bool, whole: bool
) -> None:
    console.print(_by_file(outcomes, version))
    if whole:
        console.print(_by_extension(version))
    reasons = Counter(item.fault for item in outcomes if is_refused_here(item, version))
    for reason, count in reasons.most_common():
        console.print(f"refused on Spark {version}, {count} cases: {reason}", markup=False, soft_wrap=True)
    for key in dict.fromkeys(conflict(item.case) for item in outcomes if item.fault is not None):
        if key is not None:
            console.print(f"conflict in {key[0]}: {key[1]}: {CONFLICTS[key]}", markup=False, soft_wrap=True)
    dropped = Counter(text for item in outcomes for text in item.dropped)
    console.print(f"options that no implementation declares, left out: {_counted(dropped)}", soft_wrap=True)
    constants = Counter(f"{item.case.function} {item.constants}" for item in outcomes if item.constants)
    if columns:
        console.print(f"arguments that stayed literals, by position: {_counted(constants)}", soft_wrap=True)


def _readable() -> Iterator[Case]:
    for case in read_cases():
        assert isinstance(case, Case), f"cannot be read: {case}"
        yield case


def _by_file(outcomes: list[Outcome], version: SparkVersion) -> Table:
    files: defaultdict[str, list[Outcome]] = defaultdict(list)
    for item in outcomes:
        files[item.case.file].append(item)
    made = _table("file", "functions", "cases", "passed", "conflicts", "refused", "failed")
    for file, items in files.items():
        faults = [item for item in items if item.fault is not None]
        known = sum(conflict(item.case) is not None for item in faults)
        functions = len({(item.case.urn, item.case.function) for item in items})
        refused = sum(is_refused_here(item, version) for item in items)
        numbers = (functions, len(items), len(items) - len(faults), known, refused, len(faults) - known - refused)
        made.add_row(file, *(str(number) for number in numbers))
    return made


def _by_extension(version: SparkVersion) -> Table:
    made = _table("extension", "functions", "combinations", "refused")
    items = supported(Registry.default(), spark=version)
    for extension in dict.fromkeys(item.extension for item in items):
        own = [item for item in items if item.extension == extension]
        numbers = (len(own), sum(len(item.combinations) for item in own), sum(item.refused for item in own))
        made.add_row(extension, *(str(number) for number in numbers))
    combinations, refused = sum(len(item.combinations) for item in items), sum(item.refused for item in items)
    made.add_row("all", str(len(items)), str(combinations), f"{refused} ({refused / combinations:.1%})")
    return made


def _table(*titles: str) -> Table:
    made = Table(box=None, pad_edge=False)
    for title in titles:
        made.add_column(title, justify="right" if title in _NUMBERS else "left")
    return made


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{text} ({count})" for text, count in sorted(counter.items())) or "none"


if __name__ == "__main__":
    main()
