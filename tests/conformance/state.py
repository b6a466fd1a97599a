"""The page "State of Substrait" (docs/state-of-substrait.md), made of the reports of several engines.

``python -m tests.conformance.state`` tries the engines, keeps the reports in build/conformance, and writes the page of
all that are kept. With names of engines it tries only these; ``--page`` tries none. substrait-spark needs its jars
(``--jars``, see ``examples/conformance/substrait_spark.py``) and the environment of Spark 4.0 (``make demo
SPARK=4.0`` makes it).
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

#: the number of cases by suite, area and status
_Counts: TypeAlias = Counter[tuple[str, str, str]]

ROOT: Final = Path(__file__).resolve().parents[2]
_PAGE: Final = ROOT / "docs" / "state-of-substrait.md"
_REPORTS: Final = ROOT / "build" / "conformance"
#: ours first
ENGINES: Final = ("spark", "datafusion", "duckdb", "acero", "substrait-spark")
_NAMES: Final = {
    "spark": "Spark",
    "datafusion": "DataFusion",
    "duckdb": "DuckDB (SQL)",
    "acero": "Acero",
    "substrait-spark": "substrait-spark",
}
_SUITES: Final = {
    "specification": "function cases of the specification",
    "ours": "function cases of this package",
    "relations": "relation cases",
}
_STATUSES: Final = ("passed", "failed", "refused")
_KINDS: Final = {
    "rows": "wrong rows",
    "schema": "wrong types or names",
    "no error": "rows instead of the error that an option asks for",
    "error": "an error instead of rows",
    "garbage": "values that their Arrow type can't hold",
    "crash": "the process ended",
    "timeout": "no result in time",
}
_HEAD: Final = """\
# State of Substrait

What engines make of Substrait plans, measured by [`pyspark-substrait conformance`](conformance.md) with the cases of
Substrait {release}. A cell is passed / failed / refused: *passed* gave the rows and types that the specification asks
for, *refused* was not taken by the engine, and *failed* was taken and is wrong, or ended in an error or a crash.
`python -m tests.conformance.state` makes this page.

- The function cases are those of the specification and this package's own; the relation cases are this package's. An
  independent evaluator confirms the rows of every relation case.
- Cases of the specification that contradict their own extension, and results that are undefined, are counted apart.
- This project wrote the cases, what runs plans on Spark, the converter and the SQL. Spark comes first.
- DuckDB has no Substrait any more. It gets the SQL that this package writes of a plan: a cell says as much
  of that as of DuckDB.
- substrait-spark (substrait-java) was built from its tag, with Spark's settings as they are.
- Types count: a sum of i64 that comes back as a decimal is failed, though its value is right.
"""
_CONVERTED: Final = (
    "With [`for_target`](targets.md), as `--convert` does it. A failed cell may be the fault of this package."
)
_AGAIN: Final = "To reproduce one: `pyspark-substrait conformance --engine ENGINE --case ID`, or with `--convert`."


def _read() -> dict[str, Any]:
    """Return the kept reports by engine."""
    files = {engine: _REPORTS / f"{engine}.json" for engine in ENGINES}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()}


def page(reports: dict[str, Any]) -> str:
    """Return the page of some reports."""
    release = next(iter(reports.values()))["substrait"]
    lines = [_HEAD.format(release=release), "## Plans as they are", "", *_areas(reports, 0)]
    missing = [_NAMES[engine] for engine in ENGINES if engine not in reports]
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    converted = {engine: found for engine, found in reports.items() if len(found["runs"]) > 1}
    if converted:
        lines += [
            "",
            "## Plans converted for the engine",
            "",
            "With [`for_target`](targets.md), as `--convert` does it.",
            "",
        ]
        lines += _areas(converted, 1)
    lines += ["", "## How they fail", "", *_kinds(reports)]
    lines += ["", "## The specification's contradictions", "", *_contradictions(reports)]
    lines += ["", "## Failed cases", "", _AGAIN]
    for engine, found in reports.items():
        for run in found["runs"]:
            lines += ["", f"### {_NAMES[engine]}{', converted plans' if run['converted'] else ''}", "", *_failed(run)]
    return "\n".join(lines) + "\n"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _areas(reports: dict[str, Any], place: int) -> Iterator[str]:
    counts: dict[str, _Counts] = {
        engine: Counter((case["suite"], case["area"], case["status"]) for case in found["runs"][place]["cases"])
        for engine, found in reports.items()
    }
    areas = sorted({key[:2] for counted in counts.values() for key in counted})
    rows = []
    for suite, title in _SUITES.items():
        rows.append([f"**{title}**", *(f"**{_cell(counted, suite)}**" for counted in counts.values())])
        for area in (area for of, area in areas if of == suite):
            rows.append([area, *(_cell(counted, suite, area) for counted in counts.values())])
    dates = ", ".join(dict.fromkeys(found["date"] for found in reports.values()))
    titles = [f"{_NAMES[engine]} {found['version']}" for engine, found in reports.items()]
    yield from _table([f"part ({dates})", *titles], rows)


def _cell(counted: _Counts, suite: str, area: str | None = None) -> str:
    here = [(key[2], count) for key, count in counted.items() if key[0] == suite and area in (None, key[1])]
    return " / ".join(str(sum(count for state, count in here if state == status)) for status in _STATUSES)


def _kinds(reports: dict[str, Any]) -> Iterator[str]:
    runs = {
        f"{_NAMES[engine]}{', converted' if run['converted'] else ''}": Counter(case["kind"] for case in run["cases"])
        for engine, found in reports.items()
        for run in found["runs"]
    }
    rows = [[title, *(str(counted[kind]) for counted in runs.values())] for kind, title in _KINDS.items()]
    yield from _table(["failed cases", *runs], rows)


def _contradictions(reports: dict[str, Any]) -> Iterator[str]:
    cases = next(iter(reports.values()))["runs"][0]["cases"]
    reasons: dict[str, list[str]] = {}
    for case in cases:
        if case["status"] == "set aside":
            reasons.setdefault(case["reason"], []).append(case["id"])
    most = sorted(reasons.items(), key=lambda item: -len(item[1]))
    rows = [[reason, str(len(ids)), f"`{ids[0]}`"] for reason, ids in most]
    yield from _table(["why a case is counted apart", "cases", "the first"], rows)


def _failed(run: Any) -> Iterator[str]:
    """Yield the failed relation cases, and the failed function cases by file."""
    failed = [case for case in run["cases"] if case["status"] == "failed"]
    if not failed:
        yield "None."
        return
    groups: dict[tuple[str, str], list[Any]] = {}
    for case in failed:
        place = case["id"].partition(":")[0]
        groups.setdefault((place, case["kind"]), []).append(case)
    rows = [
        [f"`{items[0]['id']}`", str(len(items)), _KINDS[kind], _short(items[0])]
        for (_, kind), items in sorted(groups.items())
    ]
    yield from _table(["the first case of a file", "cases", "how", "its case and reason"], rows)


def _short(case: Any) -> str:
    text = case["reason"] if case["suite"] == "relations" else f"{case['case']}: {case['reason']}"
    text = text if len(text) <= 160 else f"{text[:157]}…"
    return f"`{text.replace('|', '¦').replace('`', chr(39))}`"


def _engine(name: str, jars: str) -> list[str]:
    """Return the options that name an engine."""
    if name != "substrait-spark":
        return ["--engine", name]
    command = [
        ROOT / ".venv-spark-4.0" / "bin" / "python",
        ROOT / "examples" / "conformance" / "substrait_spark.py",
        jars,
    ]
    return ["--persistent", "--label", name, "--engine", shlex.join(map(str, command))]


@click.command()
@click.argument("engines", nargs=-1, type=click.Choice(ENGINES))
@click.option("--jars", default="", help="The jars of substrait-spark, joined by colons; without them it isn't tried.")
@click.option("--page", "only_page", is_flag=True, help="Try no engine; make the page of the kept reports.")
def main(engines: tuple[str, ...], jars: str, only_page: bool) -> None:
    """Try engines, and write the page."""
    if "substrait-spark" in engines and not jars:
        raise click.UsageError("substrait-spark needs its jars: --jars")
    _REPORTS.mkdir(parents=True, exist_ok=True)
    for engine in () if only_page else engines or ENGINES:
        if engine == "substrait-spark" and not jars:
            continue
        options = [*_engine(engine, jars), "--convert", "--timeout", "60", "-o", str(_REPORTS / f"{engine}.json")]
        options += ["--dialect", str(_REPORTS / f"{engine}.yaml")]
        done = subprocess.run([sys.executable, "-m", "pyspark_substrait", "conformance", *options], check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.returncode)
    _PAGE.write_text(page(_read()), encoding="utf-8")
    print(f"written to {_PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
