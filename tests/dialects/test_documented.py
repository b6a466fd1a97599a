"""Dialects that follow documentation: their texts, read by sqlglot and rewritten for DuckDB, have the rows.

sqlglot's reading of the dialect takes the place of the engine, which can't be run here. It says that the texts are
well-formed, and that clauses, functions and casts are what they should be as far as sqlglot knows the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import pyspark_substrait as ps
from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.engines import dialects
from pyspark_substrait.model.types import Type
from tests.dialects.engines import DuckDB
from tests.dialects.function_cases import outcomes
from tests.dialects.test_tpch import QUERIES, rows_differ

DOCUMENTED = [name for name, one in dialects.DIALECTS.items() if not one.was_run]
#: the queries that are refused, and a part of the reason
REFUSED = {
    "snowflake": {"q11": "a cast of fp64", "q17": "a cast of fp64"},
    "bigquery": {"q11": "a cast of fp64", "q17": "a cast of fp64"},
}


def with_functions(found: DuckDB) -> DuckDB:
    """Return DuckDB with functions that sqlglot leaves as they are."""
    found.run("CREATE MACRO ieee_divide(x, y) AS x / y")
    found.run("CREATE MACRO octet_length(x) AS strlen(CAST(x AS VARCHAR))")
    return found


@pytest.fixture(scope="module")
def duckdb(larger_tpch: dict[str, Path]) -> Iterator[DuckDB]:
    """DuckDB with the tables."""
    found = with_functions(DuckDB())
    for name, path in larger_tpch.items():
        found.load_parquet(name, str(path))
    yield found


#: the decimals of BigQuery that have no digits in their name; DuckDB's have 38, but not 76
DECIMALS = {exp.DType.DECIMAL: "DECIMAL(38, 9)", exp.DType.BIGDECIMAL: "DOUBLE"}


def rewritten(text: str, dialect: str) -> str:
    """Return the text of a dialect as one of DuckDB."""
    tree = sqlglot.parse_one(text, read=dialect)
    for type in tree.find_all(exp.DataType):
        if type.this in DECIMALS and not type.expressions:
            type.replace(exp.DataType.build(DECIMALS[type.this]))
    return tree.sql("duckdb")


@pytest.mark.parametrize("dialect", DOCUMENTED)
@pytest.mark.parametrize("query", QUERIES)
def test_tpch(dialect: str, query: str, duckdb: DuckDB, shared: Path) -> None:
    plan = ps.load(shared / "plans" / "tpch" / "datafusion" / f"{query}.pb")
    if query in REFUSED[dialect]:
        with pytest.raises(ps.UnsupportedPlanError, match=REFUSED[dialect][query]):
            ps.to_sql(plan, dialect=dialect)
        return
    text = ps.to_sql(plan, dialect=dialect)
    assert text.startswith("/* not run in ")
    if (dialect, query) == ("bigquery", "q15"):
        return  # it compares sums, which are floating-point numbers in DuckDB, for equality
    found = duckdb.rows(rewritten(text, dialect), plan.trees[0].schema.types)
    assert rows_differ(found, duckdb.connection.sql((shared / "plans/tpch/sql" / f"{query}.sql").read_text())) == []


class Rewritten(DuckDB):
    """DuckDB, to which texts of a dialect are rewritten."""

    def __init__(self, name: str) -> None:
        super().__init__()
        with_functions(self)
        self.name = name

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        return super().rows(rewritten(text, self.name), types)


#: parts of texts that DuckDB computes in another way than the engine: quotients of decimals are floating-point numbers
#: there, decimals have fewer digits, sums and constants of integers more, and weeks begin with 0
ELSEWISE = {"snowflake": ("MOD(",), "bigquery": ("BIGNUMERIC", "DAYOFWEEK", "SUM(", "-9223372036854775807 - 1")}


@pytest.mark.sweep(sample=0.15)
@pytest.mark.parametrize("columns", [False, True], ids=["literals", "columns"])
@pytest.mark.parametrize("dialect", DOCUMENTED)
def test_function_cases(dialect: str, columns: bool) -> None:
    cases = [case for case in read_cases() if isinstance(case, Case)]
    found = list(outcomes(Rewritten(dialect), cases, columns=columns))
    faults = [item for item in found if item.fault and not any(part in item.fault for part in ELSEWISE[dialect])]
    assert [f"{item.case.text}: {item.fault}" for item in faults] == []
    assert sum(not (item.refused or item.fails or item.fault) for item in found) > 800
