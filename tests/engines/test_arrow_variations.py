"""Plans for DataFusion over tables whose types it writes as variations of others."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

TABLE = pa.table(
    {
        "u8": pa.array([200, None], pa.uint8()),
        "u64": pa.array([2**63 + 1, 3], pa.uint64()),
        "large": pa.array(["é", None], pa.large_string()),
        "view": pa.array(["a", "b"], pa.string_view()),
        "bytes": pa.array([b"\x00", b"ab"], pa.large_binary()),
        "day": pa.array([0, 86_400_000], pa.date64()),
        "time": pa.array([1, 2], pa.time64("ns")),
        "list": pa.array([[1], [2, None]], pa.large_list(pa.uint16())),
        "struct": pa.array([{"a": "x"}, {"a": None}], pa.struct([("a", pa.large_string())])),
        "wide": pa.array([Decimal("1.50"), Decimal("2.00")], pa.decimal256(10, 2)),
        "i": pa.array([1, 2], pa.int64()),
        "lasts": pa.array([1, None], pa.duration("ms")),
        "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
    }
)


def context() -> Any:
    made = datafusion.SessionContext()
    made.register_record_batches("t", [TABLE.to_batches()])
    return made


def in_datafusion(engine: Any, plan: bytes) -> pa.Table:
    logical = substrait.Consumer.from_substrait_plan(engine, substrait.Serde.deserialize_bytes(plan))
    return engine.create_dataframe_from_logical_plan(logical).to_arrow_table()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t",
        "SELECT i FROM t WHERE lasts < arrow_cast(i, 'Duration(Second)')",
        "SELECT u8 + 1 AS c, large || view AS d, list[1] AS e FROM t WHERE i > 0",
        "SELECT max(u64) AS c, min(day) AS d, count(wide) AS e, max(large) AS f FROM t GROUP BY time ORDER BY time",
    ],
)
@pytest.mark.parametrize("given", ["session", "tables", "schemas"])
def test_columns_have_the_types_of_the_tables(query: str, given: str) -> None:
    engine = context()
    frame = engine.sql(query)
    written = substrait.Producer.to_substrait_plan(frame.optimized_logical_plan(), engine).encode()
    tables: Any = {"session": engine, "tables": {"t": TABLE}, "schemas": {"t": TABLE.schema}}[given]
    made = ps.for_target(written, "datafusion", tables=tables)
    assert in_datafusion(engine, made.to_bytes()).to_pylist() == frame.to_arrow_table().to_pylist()


def test_times_have_the_bits_that_their_digits_need() -> None:
    engine = context()
    frame = engine.sql("SELECT CAST('10:20:30' AS TIME) AS c")
    written = substrait.Producer.to_substrait_plan(frame.logical_plan(), engine).encode()
    made = ps.for_target(written, "datafusion")
    assert in_datafusion(engine, made.to_bytes()).to_pylist() == frame.to_arrow_table().to_pylist()


def test_deep_plans_are_written() -> None:
    engine = context()
    frame = engine.sql(f"SELECT i{' + i' * 60} AS c FROM t")
    written = substrait.Producer.to_substrait_plan(frame.logical_plan(), engine).encode()
    assert ps.load(ps.for_target(written, "datafusion").to_bytes()).deep


@pytest.mark.parametrize(
    "query",
    [
        "SELECT named_struct('c0', 1, 'b', 2) AS c",
        "SELECT named_struct('a', i, 'b', NULL) AS c FROM t",
        'SELECT "struct" FROM t',
        'SELECT CASE WHEN i > 1 THEN "struct" END AS other FROM t',
    ],
)
def test_the_fields_of_structs_have_the_names_at_the_root(query: str) -> None:
    """DataFusion finds the fields of a struct by their names, where some of them have the names that it asks for."""
    engine = context()
    frame = engine.sql(query)
    written = substrait.Producer.to_substrait_plan(frame.logical_plan(), engine).encode()
    made = ps.for_target(written, "datafusion", tables=engine)
    assert in_datafusion(engine, made.to_bytes()).to_pylist() == frame.to_arrow_table().to_pylist()


def test_a_null_beside_numbers_is_no_text() -> None:
    engine = context()
    frame = engine.sql("SELECT nvl2(NULL, 2, 3) AS c")
    written = substrait.Producer.to_substrait_plan(frame.logical_plan(), engine).encode()
    made = ps.for_target(written, "datafusion")
    assert in_datafusion(engine, made.to_bytes()).to_pylist() == frame.to_arrow_table().to_pylist() == [{"c": 3}]
