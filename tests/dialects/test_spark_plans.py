"""TPC-H and TPC-DS as Spark plans them, through each dialect: Spark's own rows of the queries.

``python -m tests.dialects.test_spark_plans`` prints how many queries each engine answers, and why not the others.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from tests.dialects.engines import DataFusion, DuckDB, Engine, EngineFault, Postgres, Trino, counted
from tests.spark.producer.test_tpcds import ANY_OF_TIED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.documents import Plan

pytestmark = pytest.mark.sweep(sample=0.02)

TPCH = [f"q{number:02}" for number in range(1, 23)]
TPCDS = [f"q{number:02}" for number in range(1, 100)]
#: the queries that an engine does not answer, and the words that say why
MISSES: Mapping[tuple[str, str], Mapping[str, str]] = {
    **dict.fromkeys(
        (("tpcds", "duckdb"), ("tpcds", "trino")), dict.fromkeys(("q24", "q99"), "it maps each letter by itself")
    ),
    ("tpcds", "datafusion"): {
        **dict.fromkeys(("q06", "q14", "q44", "q54", "q58"), "takes the first of several records"),
    },
}


@dataclass(frozen=True)
class _Kit:
    """The queries and tables of a benchmark.

    Args:
        queries: the texts by their names.
        tables: the Parquet files by the names of the tables.
    """

    queries: Mapping[str, str]
    tables: Mapping[str, str]

    def load(self, engine: Engine) -> None:
        """Give an engine the tables."""
        for name, path in self.tables.items():
            engine.load_parquet(name, path)


def _kits(shared: Path, tpch: Mapping[str, Path], folder: Path) -> dict[str, _Kit]:
    """Return the kits, with the data of TPC-DS made in a folder."""
    tpcds = shared / "tpcds"
    subprocess.run([sys.executable, tpcds / "make_data.py", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    texts = {"tpch": shared / "plans" / "tpch" / "sql", "tpcds": tpcds / "queries"}
    tables = {
        "tpch": {name: str(path) for name, path in tpch.items()},
        "tpcds": {name: str(folder / f"{name}.parquet") for name in json.loads((tpcds / "schema.json").read_text())},
    }
    return {
        kind: _Kit({path.stem: path.read_text().strip().rstrip(";") for path in texts[kind].glob("*.sql")}, found)
        for kind, found in tables.items()
    }


def _answer(spark: SparkSession, kit: _Kit, query: str) -> tuple[Plan, list[tuple[Any, ...]]]:
    """Return the plan of a query, and Spark's rows of its text."""
    text = kit.queries[query]
    plan = ps.from_sql(text, spark, tables=kit.tables)
    types = plan.trees[-1].schema.types
    for name, path in kit.tables.items():
        spark.read.parquet(path).createOrReplaceTempView(name)
    try:
        rows = [tuple(counted(v, t) for v, t in zip(row, types, strict=True)) for row in spark.sql(text).collect()]
    finally:
        for name in kit.tables:
            spark.catalog.dropTempView(name)
    return plan, rows


def _outcome(engine: Engine, plan: Plan, wanted: list[tuple[Any, ...]], tied: bool) -> str:
    """Return ``same``, or why the rows aren't those wanted."""
    try:
        text = ps.to_sql(plan, dialect=engine.name)
    except ps.UnsupportedPlanError as error:
        return f"refused: {error}"
    try:
        found = engine.rows(text, plan.trees[-1].schema.types)
    except EngineFault as error:
        return f"fails: {error}"
    if len(found) != len(wanted):
        return f"differs: {len(found)} rows, not {len(wanted)}"
    if tied:
        return "same"
    for one, another in zip(sorted(found, key=_sorting), sorted(wanted, key=_sorting), strict=True):
        if not all(map(_close, one, another)):
            return f"differs: {one}, not {another}"
    return "same"


def _sorting(row: tuple[Any, ...]) -> list[Any]:
    """Return a key that numbers almost equal share."""
    return [(value is None, f"{float(value):.6g}" if _is_number(value) else str(value)) for value in row]


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__")


def _close(found: Any, wanted: Any) -> bool:
    if _is_number(found) and _is_number(wanted):
        return math.isclose(float(found), float(wanted), rel_tol=1e-9, abs_tol=1.01e-6)
    return bool(found == wanted)


@pytest.fixture(scope="module")
def kits(shared: Path, larger_tpch: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, _Kit]:
    """The two benchmarks."""
    return _kits(shared, larger_tpch, tmp_path_factory.mktemp("tpcds"))


@pytest.fixture(scope="module")
def engines_with(
    kits: dict[str, _Kit], postgres: Postgres, trino_if_fetched: list[Trino]
) -> Callable[[str], list[Engine]]:
    """Return the engines with the tables of one of the benchmarks, whose tests stand together."""
    pytest.importorskip("duckdb")
    pytest.importorskip("datafusion")
    return lru_cache(1)(lambda kind: _engines(kits[kind], postgres, *trino_if_fetched))


def _engines(kit: _Kit, *servers: Engine) -> list[Engine]:
    """Return the engines with the tables of a benchmark."""
    found = [DuckDB(), DataFusion(), *servers]
    for engine in found:
        kit.load(engine)
    return found


@pytest.mark.parametrize(("kind", "query"), [("tpch", query) for query in TPCH] + [("tpcds", query) for query in TPCDS])
def test_rows(
    spark: SparkSession,
    kits: dict[str, _Kit],
    engines_with: Callable[[str], list[Engine]],
    kind: str,
    query: str,
) -> None:
    plan, wanted = _answer(spark, kits[kind], query)
    for engine in engines_with(kind):
        outcome = _outcome(engine, plan, wanted, query in ANY_OF_TIED)
        reason = MISSES.get((kind, engine.name), {}).get(query)
        assert outcome == "same" if reason is None else reason in outcome, (engine.name, outcome)


def _printed() -> Iterator[str]:
    from tests.conftest import ROOT, TPCH_SCALES, _tpch_tables
    from tests.integration import postgresql, trino_server

    spark = ps.session("local[2]")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        servers: list[Engine] = [Postgres(stack.enter_context(postgresql.server()))]
        if trino_server.lacking() is None:
            servers.append(Trino(stack.enter_context(trino_server.server())))
        os.chmod(folder, 0o755)
        kits = _kits(ROOT.parent / "shared", _tpch_tables(TPCH_SCALES[0]), Path(folder))
        counts: Counter[tuple[str, str, str]] = Counter()
        for kind, kit in ((kind, kits[kind]) for kind in sys.argv[1:] or kits):
            engines = _engines(kit, *servers)
            for query in sorted(kit.queries):
                plan, wanted = _answer(spark, kit, query)
                for engine in engines:
                    outcome = _outcome(engine, plan, wanted, query in ANY_OF_TIED)
                    counts[kind, engine.name, outcome.split(":")[0]] += 1
                    if outcome != "same":
                        yield f"{kind} {query} {engine.name}: {' '.join(outcome.split())[:300]}"
        yield from (f"{' '.join(key)}: {count}" for key, count in sorted(counts.items()))


if __name__ == "__main__":
    for line in _printed():
        print(line, flush=True)
