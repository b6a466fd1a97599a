"""Extended expressions over data: every expression a column, every measure a value."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.documents import ExtendedExpression, as_document
from pyspark_substrait.errors import InvalidPlanError, ParameterError, TableError, UnsupportedPlanError
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    DynamicParameter,
    Expression,
    InPredicate,
    NestedStruct,
)
from pyspark_substrait.model.types import (
    I32,
    I64,
    FixedChar,
    NamedStruct,
    PrecisionTimestamp,
    String,
    Struct,
)
from pyspark_substrait.model.types import (
    Decimal as DecimalType,
)
from tests.spark.plans import INT, INT_, LONG, TEXT_, aggregate, call, col, lit, plan, stored, values

RECORD = Struct(types=(INT_, TEXT_, Struct(nullable=True, types=(I64(nullable=True),)), INT))
NAMES = ("a", "name", "pair", "inner", "b")
DATA = pa.table(
    {
        "B": pa.array([1, 2, 3], pa.int32()),
        "extra": [0, 0, 0],
        "pair": pa.array([{"inner": 5}, None, {"inner": None}], pa.struct([("inner", pa.int64())])),
        "name": ["x", None, "y"],
        "a": pa.array([10, None, -3], pa.int32()),
    }
)
A, NAME, PAIR, B = (col(RECORD, position) for position in range(4))


def extended(
    *expressions: tuple[Sequence[str] | str, Expression | AggregateFunction], names: Sequence[str] = NAMES
) -> ExtendedExpression:
    referred = tuple(
        model.ExpressionReference(expr=expression, output_names=(name,) if isinstance(name, str) else tuple(name))
        for name, expression in expressions
    )
    made = as_document(
        model.ExtendedExpression(referred_expr=referred, base_schema=NamedStruct(names=tuple(names), struct=RECORD)),
        deep=False,
    )
    assert isinstance(made, ExtendedExpression)
    return made


TWO = extended(
    ("total", call("add", A, B)),
    (("made", "first", "deep", "inner"), NestedStruct(fields=(NAME, NestedStruct(fields=(B,))))),
    ("total", call("is_null", PAIR)),
)
TOTALS = [11, None, 0]
MADE = [
    {"first": "x", "deep": {"inner": 1}},
    {"first": None, "deep": {"inner": 2}},
    {"first": "y", "deep": {"inner": 3}},
]
NO_PAIR = [False, True, False]


def test_columns_have_the_names_and_types_of_the_expressions(spark: SparkSession) -> None:
    frame = ps.evaluate(TWO, DATA, spark)
    assert frame.columns == ["total", "made", "total"]
    assert [field.dataType.simpleString() for field in frame.schema] == [
        "int",
        "struct<first:string,deep:struct<inner:int>>",
        "boolean",
    ]
    found = ps.evaluate_arrow(TWO, DATA, spark=spark)
    assert [column.to_pylist() for column in found.columns] == [TOTALS, MADE, NO_PAIR]
    assert [field.nullable for field in found.schema] == [True, False, False]
    assert ps.evaluate_arrow(TWO, DATA, spark=spark, limit=1).num_rows == 1


def test_data_may_be_a_frame_or_a_path_and_the_source_bytes_or_json(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(DATA, file)
    frame = spark.read.parquet(str(file))
    # a DataFrame brings its session
    assert ps.evaluate_arrow(TWO.to_bytes(), frame).column(0).to_pylist() == TOTALS
    assert ps.evaluate_arrow(TWO.to_json(), file, spark=spark).column(2).to_pylist() == NO_PAIR
    (batch,) = DATA.to_batches()
    for given in (batch, pa.RecordBatchReader.from_batches(DATA.schema, [batch]), pyarrow.dataset.dataset(file)):
        assert ps.evaluate_arrow(TWO, given, spark=spark).column(0).to_pylist() == TOTALS
    with pytest.raises(TableError, match="is given as a list"):
        ps.evaluate(TWO, [1], spark)


def test_foreign_types_come_back_as_arrow_has_them(spark: SparkSession) -> None:
    moment = 1_700_000_000_123_456_789
    document = extended(
        ("ns", lit(PrecisionTimestamp(precision=9), moment)),
        ("code", lit(FixedChar(length=3), "ab ")),
        ("price", lit(DecimalType(precision=38, scale=2), Decimal("1.50"))),
    )
    row = ps.evaluate_arrow(document, DATA, spark=spark, limit=1)
    assert [field.type for field in row.schema] == [pa.timestamp("ns"), pa.string(), pa.decimal128(38, 2)]
    assert row.column("ns").cast(pa.int64()).to_pylist() == [moment]
    assert row.column("price").to_pylist() == [Decimal("1.50")]


def test_measures_give_one_row(spark: SparkSession) -> None:
    document = extended(("sum", aggregate("sum", A)), ("all", aggregate("count", B)), ("least", aggregate("min", B)))
    assert ps.evaluate_arrow(document, DATA, spark=spark).to_pylist() == [{"sum": 7, "all": 3, "least": 1}]
    none = ps.evaluate_arrow(document, DATA.slice(0, 0), spark=spark)
    assert none.to_pylist() == [{"sum": None, "all": 0, "least": None}]


def test_measures_and_expressions_are_evaluated_apart() -> None:
    with pytest.raises(UnsupportedPlanError, match="measures and expressions are mixed") as error:
        ps.evaluate(extended(("b", B), ("sum", aggregate("sum", A))), DATA)
    assert error.value.path == "referred_expr[1]"
    with pytest.raises(InvalidPlanError, match="there is no expression") as nothing:
        ps.evaluate(extended(), DATA)
    assert nothing.value.path == "referred_expr"


def test_subqueries_and_parameters(spark: SparkSession) -> None:
    haystack = values([INT], [[1], [3]])
    parameter = DynamicParameter(type=I32(), parameter_reference=4)
    document = extended(
        ("known", InPredicate(needles=(B,), haystack=haystack)),
        ("more", call("add", B, parameter)),
    )
    found = ps.evaluate_arrow(document, DATA, spark=spark, parameters={4: 100})
    assert found.to_pydict() == {"known": [True, False, True], "more": [101, 102, 103]}
    with pytest.raises(ParameterError):
        ps.evaluate(document, DATA, spark, parameters={5: 1})


def test_faults_are_told_by_their_place_in_the_extended_expression(spark: SparkSession) -> None:
    with pytest.raises(TableError) as error:
        ps.evaluate(TWO, DATA.drop_columns(["B"]), spark)
    assert str(error.value).startswith("base_schema: data has no column b. Its columns: extra, pair, name, a")
    with pytest.raises(TableError) as error:
        ps.evaluate(TWO, DATA.set_column(0, "B", pa.array(["1", "2", "3"])), spark)
    assert error.value.path == "base_schema"
    unbound = DynamicParameter(type=I32(), parameter_reference=4)
    with pytest.raises((UnsupportedPlanError, ParameterError)) as missing:
        ps.evaluate(extended(("b", B), ("sum", call("add", B, unbound))), DATA, spark)
    assert missing.value.path.startswith("referred_expr[1].expression.scalar_function.arguments[1]")


def test_each_verb_has_its_kind() -> None:
    with pytest.raises(InvalidPlanError, match=r"Run it over data: evaluate\(\.\.\.\)"):
        ps.to_sql(TWO)
    with pytest.raises(InvalidPlanError, match=r"Run it with from_substrait\(\.\.\.\)"):
        ps.evaluate(plan(stored("t", {"a": LONG})), DATA)


def test_names_of_outputs() -> None:
    """One for each output and each field of structs in it; where there is one, those inside are numbered."""
    pair = extended(("pair", PAIR)).to_bytes()
    document = ps.load(pair)
    assert isinstance(document, ExtendedExpression)
    assert document.referred_expr[0].output_names == ("pair", "field_0")
    assert [note.rule for note in document.notes] == ["output-names"]
    with pytest.raises(InvalidPlanError, match="1 name for 2 fields"):
        ps.load(pair, strict=True)
    for names in ((), ("a", "b")):
        with pytest.raises(InvalidPlanError, match=f"there are {len(names)} output names for 1 fields") as error:
            ps.load(extended((names, B)).to_bytes())
        assert error.value.path == "referred_expr[0].output_names"


def test_command(spark: SparkSession, tmp_path: Path) -> None:
    file, expression, rows = tmp_path / "data.parquet", tmp_path / "expression.json", tmp_path / "rows.parquet"
    pq.write_table(DATA, file)
    parameter = DynamicParameter(type=I32(), parameter_reference=4)
    extended(("more", call("add", B, parameter)), ("label", lit(String(), "é"))).save(expression)
    arguments = ["evaluate", str(expression), "--data", str(file), "--param", "4=7"]
    shown = CliRunner().invoke(main, [*arguments, "--types"])
    assert shown.exit_code == 0, shown.output
    assert [line.split() for line in shown.stdout.splitlines()][3:] == [["8", "é"], ["9", "é"], ["10", "é"]]
    written = CliRunner().invoke(main, [*arguments, "--output", str(rows)])
    assert written.exit_code == 0, written.output
    assert pq.read_table(rows).column("more").to_pylist() == [8, 9, 10]
    assert CliRunner().invoke(main, ["evaluate", str(expression)]).exit_code == 2
    wrong = CliRunner().invoke(main, ["evaluate", str(expression), "--data", str(tmp_path / "none")])
    assert wrong.exit_code == 2
