"""Random plans through dialects: the rows are those of the reference evaluator, or the plan is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from fuzz.plans import plan
from fuzz.tables import TABLES
from pyspark_substrait.engines import dialects
from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from tests.dialects.engines import DataFusion, DuckDB, Engine, EngineFault
from tests.reference import STRICT, Failure, NotCovered, Undetermined, evaluate

SEEDS = range(200)
#: the meanings that the engines have where the specification has none
CHOICES = replace(STRICT, nearest=True, nan_is_largest=True)


def engine(name: str) -> Engine:
    """Return an engine with the tables of random plans."""
    if name == "duckdb":
        duckdb = DuckDB()
        for table, rows in TABLES.items():
            duckdb.connection.register(table, rows)
        return duckdb
    found = DataFusion()
    for table, rows in TABLES.items():
        batches = rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
        found.context.register_record_batches(table, [batches])
    return found


def outcome(made: Engine, seed: int) -> str:
    """Return what comes of a random plan: ``same``, or why nothing is known; a difference is an error."""
    found = plan(seed)
    try:
        text = dialects.statement(found, dialects.dialect(made.name))
    except UnsupportedPlanError:
        return "refused"
    except SubstraitError as error:
        raise AssertionError(f"{seed}: {error}") from error
    try:
        expected = evaluate(found, TABLES, choices=CHOICES)
    except (NotCovered, Undetermined):
        return "unknown"
    except Failure:
        expected = None
    try:
        rows = made.table(text)
    except EngineFault as error:
        faults = ("Binder Error", "Parser Error", "Catalog Error", "syntax")
        assert not any(fault in str(error) for fault in faults), f"{seed}: {error}\n{text}"
        return "fails" if expected is not None else "same"
    if expected is None:
        return "does not fail"
    try:
        difference = expected.difference(rows, tolerance=1e-9)
    except NotCovered:  # DuckDB's intervals
        return "unknown"
    assert difference is None, f"{seed}: {difference}\n{text}"
    return "same"


@pytest.mark.parametrize("name", ["duckdb", "datafusion"])
def test_rows_are_those_of_the_evaluator(name: str) -> None:
    pytest.importorskip(name)
    made = engine(name)
    found = Counter(outcome(made, seed) for seed in SEEDS)
    print(f"\n{name}: {dict(found)}")
    assert found["same"] > 10
