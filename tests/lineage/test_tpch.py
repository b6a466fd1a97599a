"""Lineage of the TPC-H plans against what DuckDB says.

Each query runs over the data as it is, then again with other values in one column of a table. A column of the result
that changed must depend on that column, by the lineage of the plan; and one that is made of it must have changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.lineage import Source, lineage

if TYPE_CHECKING:
    import duckdb

#: the columns of a result, each as a bag of values
Result: TypeAlias = list[list[str]]

QUERIES = [f"q{number:02}" for number in range(1, 23)]
#: another value of the same type, by the beginning of the type's name
OTHER = {
    "VARCHAR": "reverse({0}) || 'o'",
    "DATE": "CAST({0} + INTERVAL 400 DAY AS DATE)",
    "DECIMAL": "CAST({0} + 3 AS {1})",
    "INTEGER": "{0} + 3",
    "BIGINT": "{0} + 3",
}
#: by column of the result: what it is made of, and where other values give the same result all the same
SAME_ANYWAY: dict[str, set[tuple[int, str, str]]] = {
    "q07": {(2, "lineitem", "l_shipdate")},  # the years that the query asks for
    "q08": {(0, "orders", "o_orderdate")},
    "q10": {(0, "customer", "c_custkey")},  # equal to a key of another table, by a join
    "q13": {(0, "orders", "o_orderkey")},  # counted, whatever it is
    "q15": {(0, "supplier", "s_suppkey")},
    "q18": {(1, "customer", "c_custkey")},
    "q22": {(0, "customer", "c_phone")},  # the country codes that the query asks for
}


@pytest.fixture(scope="module")
def small(larger_tpch: dict[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables in memory, under their names behind ``all_``, with a quarter of the orders."""
    import duckdb

    some = {"orders": "o_orderkey % 4 < 1", "lineitem": "l_orderkey % 4 < 1"}
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, path in larger_tpch.items():
            quoted = str(path).replace("'", "''")
            chosen = some.get(name, "true")
            connection.execute(f"CREATE TABLE all_{name} AS FROM read_parquet('{quoted}') WHERE {chosen}")
            connection.execute(f"CREATE VIEW {name} AS FROM all_{name}")
        yield connection


def run(connection: duckdb.DuckDBPyConnection, text: str) -> Result:
    rows = connection.execute(text).fetchall()
    return [sorted(map(repr, column)) for column in zip(*rows, strict=True)]


def with_other_values(
    connection: duckdb.DuckDBPyConnection, text: str, tables: set[str]
) -> dict[tuple[str, str], Result]:
    """The results with other values in a column, by table and column."""
    results = {}
    for table in sorted(tables):
        for name, type, *_ in connection.execute(f"DESCRIBE all_{table}").fetchall():
            other = OTHER[type.partition("(")[0]].format(name, type)
            connection.execute(
                f"CREATE OR REPLACE VIEW {table} AS SELECT * REPLACE ({other} AS {name}) FROM all_{table}"
            )
            results[table, name] = run(connection, text)
        connection.execute(f"CREATE OR REPLACE VIEW {table} AS FROM all_{table}")
    return results


def columns(sources: tuple[Source, ...]) -> set[tuple[str, str]]:
    return {(source.table.lower(), source.column.lower()) for source in sources}


@pytest.mark.parametrize("query", QUERIES)
def test_only_what_depends_on_a_column_changes(query: str, shared: Path, small: duckdb.DuckDBPyConnection) -> None:
    plans = [ps.load(path) for path in sorted((shared / "plans" / "tpch").glob(f"*/{query}.[pj]*"))]
    assert plans
    text = (shared / "plans" / "tpch" / "sql" / f"{query}.sql").read_text()
    before = run(small, text)
    assert before and not all(value == "None" for column in before for value in column), "there is nothing to change"
    found = [lineage(plan) for plan in plans]
    depending = [[columns(one.sources(port, conditions=True)) for port in one.outputs[0]] for one in found]
    made_of = [[columns(one.sources(port)) for port in one.outputs[0]] for one in found]
    tables = {table for items in depending for item in items for table, _ in item}
    wrong, same = set(), set()
    for changed, after in with_other_values(small, text, tables).items():
        for position, values in enumerate(before):
            if not after or after[position] != values:
                wrong |= {(position, *changed) for items in depending if changed not in items[position]}
            else:
                same |= {(position, *changed) for items in made_of if changed in items[position]}
    assert (wrong, same) == (set(), set(SAME_ANYWAY.get(query, ())))
