"""Columns of Spark as extended expressions: the values that Spark gives, here and in ``pyarrow.dataset``."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Callable
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.spark.arrow_transfer import collected, frame_of_arrow
from pyspark_substrait.spark.session import is_connect

SCHEMA = (
    "i INT, l BIGINT, f DOUBLE, s STRING, b BOOLEAN, d DATE, p STRUCT<q: BIGINT>, x BINARY, e DECIMAL(10, 2), n INT"
)
RECORDS = pa.table(
    {
        "i": pa.array([1, -5, None, 7], pa.int32()),
        "l": pa.array([10, 2**40, -3, None], pa.int64()),
        "f": pa.array([0.5, 2.0, None, 9.0], pa.float64()),
        "s": pa.array(["a", "b'\\", None, "c"], pa.string()),
        "b": pa.array([True, False, None, True], pa.bool_()),
        "d": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None, datetime.date(2000, 1, 1)]),
        "p": pa.array([{"q": 1}, {"q": None}, None, {"q": 4}], pa.struct([("q", pa.int64())])),
        "x": pa.array([b"a", b"", None, b"\0"], pa.binary()),
        "e": pa.array([D("1.25"), D("2.50"), None, D("7.10")], pa.decimal128(10, 2)),
        "n": pa.array([0, 0, 0, None], pa.int32()),
    }
)

#: what pyarrow takes too
TAKEN: dict[str, Callable[[], Column]] = {
    "add": lambda: F.col("l") + 1,
    "subtract": lambda: F.col("i") - 2,
    "multiply": lambda: F.col("f") * F.col("f"),
    "divide": lambda: F.col("f") / F.col("i"),
    "negate": lambda: -F.col("i"),
    "absolute": lambda: F.abs("i"),
    "equal": lambda: F.col("s") == "b'\\",
    "less": lambda: F.col("i") < 3,
    "mixed types": lambda: F.col("i") < F.col("l"),
    "and": lambda: (F.col("i") > 0) & F.col("b"),
    "or": lambda: F.col("b") | F.col("s").isNull(),
    "not": lambda: ~F.col("b"),
    "not null": lambda: F.col("p").isNotNull(),
    "one of": lambda: F.col("i").isin(1, 7),
    "between": lambda: F.col("i").between(1, 5),
    "case": lambda: F.when(F.col("i").isNull(), F.col("l")).otherwise(0),
    "cast": lambda: F.col("i").cast("bigint"),
    "field": lambda: F.col("p.q"),
    "coalesce": lambda: F.coalesce(F.col("s"), F.lit("none")),
    "date": lambda: F.col("d") > F.lit(datetime.date(2000, 1, 1)),
    "decimals": lambda: F.col("e") + F.col("e"),
    "year": lambda: F.year("d"),
    "concat": lambda: F.concat("s", F.lit("x")),
    "root": lambda: F.sqrt("f"),
    "exponential": lambda: F.exp("f"),
    "power": lambda: F.pow("f", F.lit(2)),
    "round": lambda: F.round("f"),
    "bits": lambda: F.col("i").bitwiseAND(6),
    "literal": lambda: F.lit("a'b\\\"😀"),
}
#: what pyarrow has no function for, or not this one
REFUSED: dict[str, Callable[[], Column]] = {
    "upper": lambda: F.upper("s"),
    "length": lambda: F.length("s"),
    "like": lambda: F.col("s").like("a%"),
    "null-safe": lambda: F.col("s").eqNullSafe("a"),
    "remainder": lambda: F.col("i") % 2,
    "substring": lambda: F.substring("s", 1, 1),
    "starts with": lambda: F.col("s").startswith("a"),
}


@pytest.fixture(autouse=True)
def _classic(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("Spark Connect keeps the query on the server")


def made_of(columns: dict[str, Callable[[], Column]]) -> dict[str, Column]:
    return {name: column() for name, column in columns.items()}


def expected(spark: SparkSession, columns: dict[str, Column]) -> pa.Table:
    schema = T._parse_datatype_string(SCHEMA)
    assert isinstance(schema, T.StructType)
    frame = frame_of_arrow(spark, RECORDS, schema)
    return collected(frame.select([column.alias(name) for name, column in columns.items()]))


@pytest.mark.parametrize("name", [*TAKEN, *REFUSED])
def test_a_column_is_an_expression_without_a_note(name: str, spark: SparkSession) -> None:
    column = {**TAKEN, **REFUSED}[name]()
    made = ps.to_substrait_expressions(SCHEMA, {name: column}, spark=spark)
    again: Any = ps.load(made.to_bytes())
    assert again.notes == ()
    assert again.referred_expr == made.referred_expr
    assert made.referred_expr[0].output_names == (name,)


def test_all_columns_have_the_values_of_spark(spark: SparkSession) -> None:
    columns = made_of({**TAKEN, **REFUSED})
    made = ps.to_substrait_expressions(SCHEMA, columns, spark=spark)
    found = ps.evaluate_arrow(made, RECORDS, spark=spark)
    wanted = expected(spark, columns)
    assert found.column_names == wanted.column_names
    for name in columns:
        assert found.column(name).to_pylist() == wanted.column(name).to_pylist(), name


@pytest.mark.sweep
def test_columns_filter_and_project_a_dataset(spark: SparkSession, peers: Path, tmp_path: Path) -> None:
    with pa.ipc.new_file(tmp_path / "data.arrow", RECORDS.schema) as file:
        file.write_table(RECORDS)
    columns = made_of({**TAKEN, **REFUSED})
    for number, (name, column) in enumerate(columns.items()):
        made = ps.to_substrait_expressions(SCHEMA, {name: column}, spark=spark)
        (tmp_path / f"{number:03}.ours").write_bytes(made.to_bytes())
    program = Path(__file__).resolve().parents[2] / "peers" / "arrow_expressions.py"
    subprocess.run([peers, program, "read", tmp_path], check=True, capture_output=True, text=True)
    wanted = expected(spark, columns)
    filters = 0
    for number, name in enumerate(columns):
        if name in REFUSED:
            assert (tmp_path / f"{number:03}.refused").exists(), f"pyarrow takes {name} now"
            continue
        values = wanted.column(name)
        assert stored(tmp_path / f"{number:03}.projected").column(0).to_pylist() == values.to_pylist(), name
        if pa.types.is_boolean(values.type):
            kept = RECORDS.filter(pa.array(values.to_pylist(), pa.bool_()))
            assert stored(tmp_path / f"{number:03}.filtered").equals(kept), name
            filters += 1
    assert filters >= 10


def stored(path: Path) -> pa.Table:
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def test_names_are_given_or_those_of_spark(spark: SparkSession) -> None:
    def names(*arguments: Any, **options: Any) -> list[tuple[str, ...]]:
        made = ps.to_substrait_expressions(*arguments, spark=spark, **options)
        return [one.output_names for one in made.referred_expr]

    assert names("a INT", F.col("a") + 1) == [("(a + 1)",)]
    assert names("a INT", [F.col("a").alias("b"), "a"]) == [("b",), ("a",)]
    assert names("a INT", ["a", F.lit(1)], names=["x", "y"]) == [("x",), ("y",)]
    assert names("a INT", F.struct("a", F.lit(1).alias("b")), names=["s"]) == [("s", "a", "b")]


def test_a_frame_gives_the_schema(spark: SparkSession) -> None:
    frame = spark.range(3)
    made = ps.to_substrait_expressions(frame, {"x": frame.id * 2})
    assert made.base_schema.names == ("id",)
    assert [str(type) for type in made.base_schema.struct.types] == ["i64"]
    shaped = frame.select((frame.id + 1).alias("a"), F.lit("x").alias("b")).filter("a > 1")
    made = ps.to_substrait_expressions(shaped, [shaped.a * 2, "b"], names=["x", "y"])
    assert made.base_schema.names == ("a", "b")
    found = ps.evaluate_arrow(made, shaped, spark=spark)
    assert found.to_pylist() == [{"x": 4, "y": "x"}, {"x": 6, "y": "x"}]


def test_one_record_gives_one_value(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="makes several records of one"):
        ps.to_substrait_expressions(SCHEMA, F.sum("i"), spark=spark)
    with pytest.raises(InvalidPlanError, match="2 names were given for 1 expressions"):
        ps.to_substrait_expressions(SCHEMA, F.col("i"), names=["a", "b"], spark=spark)
    with pytest.raises(InvalidPlanError, match=r"Spark rejects the columns: .*`j`"):
        ps.to_substrait_expressions(SCHEMA, F.col("j"), spark=spark)
