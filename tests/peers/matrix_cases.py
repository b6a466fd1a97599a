"""The plans of the matrix, by who writes them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.conftest import _cache, _tpch_tables

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OTHERS", "OTHER_PLANS", "SHARED", "Case", "cases", "cases_of_others", "tpcds_tables"]

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
#: where nulls stand in an order that doesn't say it: in Spark, and in DataFusion, DuckDB and PostgreSQL
_SPARK, _POSTGRES = "nulls_first_on_asc_last_on_desc", "nulls_last_on_asc_first_on_desc"

#: producers in environments of their own, and the programs that write their plans there
OTHERS = {"Ibis 9.5, ibis-substrait 4.0.1": "ibis_plans.py", "substrait 0.37.1, its builder": "substrait_plans.py"}
#: queries of which a producer wrote something else, as the plans show
OTHER_PLANS = {
    **dict.fromkeys(
        (
            "aggregate/aggregate_with_group_by_cube",
            "aggregate/aggregate_with_group_by_rollup",
            "aggregate/aggregate_with_grouping_set",
        ),
        "the plan has one grouping for the several of the query",
    ),
    "set/union_distinct": "the plan has UNION ALL for the UNION of the query",
    "join/cross_join": "22,500,000 records, one by one",
}


class Case(NamedTuple):
    """A plan: what writes it, its tables and the query it is made of."""

    name: str
    write: Callable[[], bytes | str]
    tables: Mapping[str, str]
    sql: str | None
    nulls: str = _SPARK
    #: the rows that the engine of the producer gives for the query, where it has one
    rows: Callable[[], pa.Table] | None = None


def tpcds_tables() -> dict[str, str]:
    """Return the 24 tables of TPC-DS as Parquet files, by name. Generated once per machine, then kept."""
    folder = _cache() / "tpcds"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            made = Path(unfinished, "tables")
            subprocess.run([sys.executable, SHARED / "tpcds/make_data.py", "--out", made], check=True)
            made.rename(folder)
    schema = json.loads((SHARED / "tpcds/schema.json").read_text())
    return {name: str(folder / f"{name}.parquet") for name in schema}


def cases() -> dict[str, list[Case]]:
    """Return the plans of each producer."""
    tpch = {name: str(path) for name, path in _tpch_tables("0.01").items()}
    tpcds = tpcds_tables()
    plans = SHARED / "plans"
    texts = {file.stem: _text(file) for file in sorted((plans / "tpch/sql").glob("*.sql"))}
    queries = {file.stem: _text(file) for file in sorted((SHARED / "tpcds/queries").glob("*.sql"))}
    made = json.loads((plans / "relations/queries.json").read_text())

    def files(folder: str) -> Iterator[Case]:
        for file in sorted((plans / folder).iterdir()):
            yield Case(file.stem, partial(_of_file, file), tpch, texts.get(file.stem), _POSTGRES)

    def relations() -> Iterator[Case]:
        for name, item in made.items():
            file = plans / "relations" / f"{name}.json"
            if file.is_file():
                yield Case(name, partial(_of_file, file), tpch, item["sql"], _POSTGRES)

    return {
        "Isthmus (Calcite), TPC-H": list(files("tpch/isthmus")),
        "DataFusion 55, TPC-H": list(files("tpch/datafusion")),
        "DataFusion 55, TPC-DS": [
            Case(
                name,
                partial(_by_datafusion, text, tpcds),
                tpcds,
                text,
                _POSTGRES,
                partial(_rows_of_datafusion, text, tpcds),
            )
            for name, text in queries.items()
        ],
        "DuckDB's extension, relations": list(relations()),
        "this package, TPC-H": [
            Case(name, partial(_by_this_package, text, tpch), tpch, text) for name, text in texts.items()
        ],
        "this package, TPC-DS": [
            Case(name, partial(_by_this_package, text, tpcds), tpcds, text) for name, text in queries.items()
        ],
    }


def cases_of_others(producer: str, python: Path, folder: Path) -> list[Case]:
    """Return the plans that a program writes to a folder, in the environment of a Python."""
    tpch = {name: str(path) for name, path in _tpch_tables("0.01").items()}
    subprocess.run([python, Path(__file__).with_name(OTHERS[producer]), folder], check=True)
    return [
        Case(file.stem, partial(_of_others, file), tpch, _text(file), _POSTGRES)
        for file in sorted(folder.glob("*.sql"))
    ]


def _of_others(file: Path) -> bytes:
    """Return the plan that belongs to a file of SQL."""
    fault = file.with_suffix(".fault")
    if fault.is_file():
        raise RuntimeError(fault.read_text())
    return file.with_suffix(".pb").read_bytes()


def _text(file: Path) -> str:
    return file.read_text().strip().rstrip(";")


def _of_file(file: Path) -> bytes | str:
    return file.read_text() if file.suffix == ".json" else file.read_bytes()


def _in_datafusion(text: str, tables: Mapping[str, str]) -> tuple[Any, Any]:
    from datafusion import SessionContext

    context = SessionContext()
    for name, path in tables.items():
        context.register_parquet(name, path)
    return context, context.sql(re.sub("`", '"', text))


def _rows_of_datafusion(text: str, tables: Mapping[str, str]) -> pa.Table:
    return _in_datafusion(text, tables)[1].to_arrow_table()


def _by_datafusion(text: str, tables: Mapping[str, str]) -> bytes:
    from datafusion.substrait import Producer

    context, frame = _in_datafusion(text, tables)
    made: bytes
    try:
        made = Producer.to_substrait_plan(frame.logical_plan(), context).encode()
    except Exception:  # it writes no outer references; its optimizer makes joins of them
        made = Producer.to_substrait_plan(frame.optimized_logical_plan(), context).encode()
    return made


def _by_this_package(text: str, tables: Mapping[str, str]) -> bytes:
    import pyspark_substrait as ps

    return ps.from_sql(text, tables=tables).to_bytes()
