"""The matrix of producers and engines: ``python -m tests.peers.matrix`` runs it and writes docs/engine-matrix.md.

Each plan is fitted to the tables, brought into the form of the engine and run there. Its rows are compared with those
of Spark for the same plan, and Spark's with those of DuckDB for the SQL text that the plan was made of.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from datafusion import SessionContext
from datafusion.substrait import Producer

import pyspark_substrait as ps
from pyspark_substrait.analysis.comparison import difference
from pyspark_substrait.api.compare import _root, _Running, _with_names
from pyspark_substrait.documents import Plan
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.spark.session import embedded_session
from tests.conftest import _tpch_tables

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
PAGE = ROOT / "docs" / "engine-matrix.md"
ENGINES = ("spark", "datafusion", "duckdb", "acero")
TOLERANCE = 1e-9


class Case(NamedTuple):
    """A plan, or what makes one, its tables and the query it was made of."""

    name: str
    plan: Callable[[], Any]
    tables: Mapping[str, str]
    sql: str | None


@dataclass
class Cell:
    """The outcomes of a producer's plans on an engine."""

    count: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)


def _text(file: Path) -> str:
    return file.read_text().strip().rstrip(";")


def _by_datafusion(text: str, tables: Mapping[str, str]) -> bytes:
    context = SessionContext()
    for name, path in tables.items():
        context.register_parquet(name, path)
    plan = context.sql(re.sub("`", '"', text)).logical_plan()
    made: bytes = Producer.to_substrait_plan(plan, context).encode()
    return made


def _by_this_package(text: str, tables: Mapping[str, str]) -> Any:
    return ps.from_sql(text, tables=tables)


def cases(tpch: Mapping[str, str], tpcds: Mapping[str, str]) -> dict[str, list[Case]]:
    """The plans of each producer."""
    plans = SHARED / "plans"
    texts = {file.stem: _text(file) for file in sorted((plans / "tpch/sql").glob("*.sql"))}
    queries = {file.stem: _text(file) for file in sorted((SHARED / "tpcds/queries").glob("*.sql"))}
    made = json.loads((plans / "relations/queries.json").read_text())

    def files(folder: str) -> Iterator[Case]:
        for file in sorted((plans / folder).iterdir()):
            yield Case(file.stem, lambda file=file: file, tpch, texts.get(file.stem))  # type: ignore[misc]

    def by(maker: Callable[..., Any], given: Mapping[str, str], tables: Mapping[str, str]) -> Iterator[Case]:
        for name, text in given.items():
            yield Case(name, lambda text=text: maker(text, tables), tables, text)  # type: ignore[misc]

    relations = [
        Case(name, lambda name=name: plans / "relations" / f"{name}.json", tpch, item["sql"])  # type: ignore[misc]
        for name, item in made.items()
        if (plans / "relations" / f"{name}.json").is_file()
    ]
    return {
        "Isthmus (Calcite), TPC-H": list(files("tpch/isthmus")),
        "DataFusion 55, TPC-H": list(files("tpch/datafusion")),
        "DataFusion 55, TPC-DS": list(by(_by_datafusion, queries, tpcds)),
        "DuckDB's extension, relations": relations,
        "this package, TPC-H": list(by(_by_this_package, texts, tpch)),
        "this package, TPC-DS": list(by(_by_this_package, queries, tpcds)),
    }


def measured(producer: str, given: list[Case], spark: Any, skip: frozenset[str] = frozenset()) -> dict[str, Cell]:
    """Run a producer's plans on all engines."""
    cells: dict[str, Cell] = defaultdict(Cell)
    engines = [engine for engine in ENGINES if engine not in skip]
    for case in given:
        try:
            source = case.plan()
        except Exception as error:
            cells["spark"].count["not written"] += 1
            cells["spark"].faults[case.name] = f"not written: {_line(error)}"
            continue
        try:
            plan = ps.bind(source, case.tables)
            assert isinstance(plan, Plan)
        except Exception as error:
            for engine in engines:
                cells[engine].count["written"] += 1
                cells[engine].faults[case.name] = f"not loaded: {_line(error)}"
            continue
        running = _Running(plan, case.tables, spark, Registry.default())
        root = _with_names(_root(plan, None).input)
        expected = None
        for engine in engines:
            cell = cells[engine]
            cell.count["written"] += 1
            cell.count["loaded"] += 1
            result, rows = running.result(engine, root)
            if rows is None:
                cell.faults[case.name] = result.refusal
                continue
            cell.count["ran"] += 1
            if engine == "spark":
                expected = rows
                right = _in_duckdb(case)
            else:
                right = expected
            if right is None:
                continue
            differing = difference(right, rows, tolerance=TOLERANCE, shown=1)
            if differing is None:
                cell.count["agreed"] += 1
            else:
                cell.faults[case.name] = (
                    f"other rows: {differing.first[:1]} and {differing.second[:1]}{differing.fault}"
                )
        print(
            producer,
            case.name,
            {engine: cells[engine].faults.get(case.name, "ok")[:60] for engine in engines},
            flush=True,
        )
    return cells


def _in_duckdb(case: Case) -> Any:
    if case.sql is None:
        return None
    with duckdb.connect() as connection:
        for name, path in case.tables.items():
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        try:
            return connection.sql(re.sub("`", '"', case.sql)).to_arrow_table()
        except duckdb.Error:
            return None


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def page(found: Mapping[str, Mapping[str, Cell]]) -> str:
    """The page of the documentation."""
    releases = {"spark": "pyspark", "datafusion": "datafusion", "duckdb": "duckdb", "acero": "pyarrow"}
    names = {"spark": "Spark", "datafusion": "DataFusion", "duckdb": "DuckDB (SQL)", "acero": "Acero"}
    lines = [
        "# Producers and engines",
        "",
        "Made by `python -m tests.peers.matrix`. Each plan is [fitted to the tables](binding.md), brought into the",
        "[form of the engine](targets.md) and run. A cell has the plans that were written, loaded here, ran, and gave",
        "the same rows: those of Spark for the same plan; for Spark, those of DuckDB for the SQL text that the plan",
        "was made of, where it takes that text.",
        "",
        f"| producer | {' | '.join(f'{names[engine]} {version(releases[engine])}' for engine in ENGINES)} |",
        f"|---|{'---|' * len(ENGINES)}",
    ]
    for producer, cells in found.items():
        row = [
            " / ".join(str(cells[engine].count[step]) for step in ("written", "loaded", "ran", "agreed"))
            if engine in cells
            else "not tried"
            for engine in ENGINES
        ]
        lines.append(f"| {producer} | {' | '.join(row)} |")
    lines += ["", "written / loaded / ran / same rows", "", "## What is missing", ""]
    lines.append("One of them again: `pyspark-substrait compare FILE --engine spark --engine ENGINE --table …`.")
    for producer, cells in found.items():
        for engine, cell in cells.items():
            reasons: dict[str, list[str]] = defaultdict(list)
            for name, fault in cell.faults.items():
                reasons[" ".join(fault.replace("|", "\\|").split())[:220]].append(name)
            if not reasons:
                continue
            lines += ["", f"### {producer}, on {names[engine]}", "", "| plans | why |", "|---|---|"]
            lines += [f"| {', '.join(plans)} | {reason} |" for reason, plans in reasons.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    wanted = sys.argv[1:]
    tpch = {name: str(path) for name, path in _tpch_tables("0.01").items()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, SHARED / "tpcds/make_data.py", "--out", folder], check=True)
        schema = json.loads((SHARED / "tpcds/schema.json").read_text())
        tpcds = {name: f"{folder}/{name}.parquet" for name in schema}
        spark = embedded_session("local[2]", **{"spark.sql.shuffle.partitions": 2})
        found = {}
        for producer, given in cases(tpch, tpcds).items():
            if wanted and not any(word in producer for word in wanted):
                continue
            found[producer] = measured(producer, given, spark)
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
