"""Extended expressions of real peers run here with their own results, and ours run in pyarrow with the same ones."""

from __future__ import annotations

import datetime
import math
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.documents import ExtendedExpression, as_document
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FunctionOption,
    IfClause,
    IfThen,
    ScalarFunction,
    SingularOrList,
)
from pyspark_substrait.model.expressions import StructField as Field
from pyspark_substrait.model.types import (
    FP64,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    NamedStruct,
    PrecisionTimestamp,
    String,
    Struct,
)
from tests.spark.plans import call, col, lit

pytestmark = pytest.mark.sweep

SCRIPTS = Path(__file__).resolve().parent.parent / "peers"


def script(python: Path, name: str, *arguments: str | Path) -> None:
    done = subprocess.run([python, SCRIPTS / name, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def stored(path: Path) -> pa.Table:
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def loaded(content: bytes) -> ExtendedExpression:
    document = ps.load(content)
    assert isinstance(document, ExtendedExpression)
    return document


def together(documents: Sequence[ExtendedExpression]) -> ExtendedExpression:
    """The expressions of several documents over the same schema as one."""
    return replace(documents[0], referred_expr=tuple(item for each in documents for item in each.referred_expr))


def comparable(value: Any) -> Any:
    """A value as one that can be compared: signs of zeros, NaN, the last digits of floats, no names of fields."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float():
            return (f"{value:.14g}", math.copysign(1, value))
        case dict():
            return [comparable(item) for item in value.values()]
        case list() | tuple():
            return [comparable(item) for item in value]
        case _:
            return value


def plain(type: pa.DataType) -> pa.DataType:
    """A type without what pyarrow alone tells apart: large forms, names inside, and whether there may be nulls."""
    if pa.types.is_struct(type):
        return pa.struct([(str(number), plain(field.type)) for number, field in enumerate(type)])
    if pa.types.is_map(type):
        return pa.map_(plain(type.key_type), plain(type.item_type))
    if pa.types.is_list(type):
        return pa.list_(plain(type.value_type))
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(type, type)


def assert_same(found: pa.ChunkedArray, wanted: pa.ChunkedArray, name: str) -> None:
    assert comparable(found.to_pylist()) == comparable(wanted.to_pylist()), name
    assert plain(found.type) == plain(wanted.type), name


# from pyarrow --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def from_arrow(peers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrow")
    script(peers, "arrow_expressions.py", "write", folder)
    return folder


def test_expressions_of_pyarrow_have_its_results(spark: SparkSession, from_arrow: Path) -> None:
    own, read = stored(from_arrow / "own.arrow"), stored(from_arrow / "read.arrow")
    documents = [loaded((from_arrow / f"{number}.pb").read_bytes()) for number in range(own.num_columns)]
    found = ps.evaluate_arrow(together(documents), stored(from_arrow / "data.arrow"), spark=spark)
    assert found.num_columns == own.num_columns > 140
    for position, name in enumerate(own.column_names):
        # pyarrow's is_in takes a null for a value like others. What it writes is an or-list, where null is unknown, and
        # so it reads it itself.
        wanted = read.column(name) if name.startswith("is in") else own.column(name)
        assert_same(found.column(position), wanted, name)


def test_pyarrow_writes_names_from_the_inside_out(spark: SparkSession, from_arrow: Path) -> None:
    document = loaded((from_arrow / "several.pb").read_bytes())
    assert [item.output_names for item in document.referred_expr] == [
        ("first", "x", "y", "in", "z"),
        ("second",),
        ("third",),
    ]
    assert "arrow-names" in {note.rule for note in document.notes}
    found = ps.evaluate(document, stored(from_arrow / "data.arrow"), spark)
    assert found.columns == ["first", "second", "third"]
    assert found.schema["first"].dataType.simpleString() == "struct<x:int,y:string,in:struct<z:bigint>>"


# from the package substrait ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def from_package(peers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    script(peers, "substrait_expressions.py", folder)
    return folder


NUMBERS = pa.table({"a": [1, 5, None], "b": [2, 3, 1], "name": ["x", "ä", None], "ok": [True, True, None]})
MADE: dict[str, tuple[str, list[Any]]] = {
    "sum": ("total", [3, 8, None]),
    "compare": ("lt(a,b)", [True, False, None]),
    "both": ("and(lt(a,b),ok)", [True, False, None]),
    "upper": ("upper(name)", ["X", "Ä", None]),
    "choice": ("choice", ["big", "small", "small"]),
    "switch": ("switch", ["big", "none", "small"]),
    "one_of": ("singular_or_list", [True, False, True]),
    "cast": ("as_decimal", [Decimal("2.00"), Decimal("3.00"), Decimal("1.00")]),
    "decimal": ("price", [Decimal("-12.50")] * 3),
    "null": ("day", [None] * 3),
}


def test_expressions_of_the_package_substrait(spark: SparkSession, from_package: Path) -> None:
    documents = [loaded((from_package / f"{name}.sub").read_bytes()) for name in MADE]
    found = ps.evaluate_arrow(together(documents), NUMBERS, spark=spark)
    assert [(name, column.to_pylist()) for name, column in zip(found.column_names, found.columns, strict=True)] == list(
        MADE.values()
    )
    measure = ps.evaluate_arrow((from_package / "measure.sub").read_bytes(), NUMBERS, spark=spark)
    assert measure.to_pydict() == {"all": [6]}
    more = ps.evaluate_arrow((from_package / "parameter.sub").read_bytes(), NUMBERS, spark=spark, parameters={1: 10})
    assert more.to_pydict() == {"more": [12, 13, 11]}


def test_window_functions_of_the_package_substrait(spark: SparkSession, from_package: Path) -> None:
    found = ps.evaluate_arrow((from_package / "running.sub").read_bytes(), NUMBERS, spark=spark)
    assert sorted(found.column("position").to_pylist()) == [1, 1, 2]


def test_plans_of_the_package_substrait(spark: SparkSession, from_package: Path) -> None:
    rows = ps.run_query((from_package / "query.sub").read_bytes(), tables={"numbers": NUMBERS}, spark=spark)
    assert [list(row.values()) for row in rows.to_pylist()] == [["ä", 8]]
    groups = ps.run_query((from_package / "query_of_groups.sub").read_bytes(), tables={"numbers": NUMBERS}, spark=spark)
    assert {tuple(row.values()) for row in groups.to_pylist()} == {(True, 5), (None, 1)}


# to pyarrow ----------------------------------------------------------------------------------------------------------

RECORD = Struct(
    types=(
        I32(nullable=True),
        I64(nullable=True),
        FP64(nullable=True),
        String(nullable=True),
        Boolean(nullable=True),
        Date(nullable=True),
        PrecisionTimestamp(nullable=True, precision=6),
        Struct(nullable=True, types=(I64(nullable=True),)),
        Binary(nullable=True),
    )
)
NAMES = ("i", "l", "f", "s", "b", "d", "t", "p", "q", "x")
RECORDS = pa.table(
    {
        "i": pa.array([1, -5, None, 7], pa.int32()),
        "l": pa.array([10, 2**40, -3, None], pa.int64()),
        "f": pa.array([0.5, -2.0, None, 9.0], pa.float64()),
        "s": pa.array(["a", "b'\\", None, "c"], pa.string()),
        "b": pa.array([True, False, None, True], pa.bool_()),
        "d": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None, datetime.date(2000, 1, 1)]),
        "t": pa.array(
            [datetime.datetime(2024, 2, 29, 1), datetime.datetime(1969, 1, 1), None, None], pa.timestamp("us")
        ),
        "p": pa.array([{"q": 1}, {"q": None}, None, {"q": 4}], pa.struct([("q", pa.int64())])),
        "x": pa.array([b"a", b"", None, b"\0"], pa.binary()),
    }
)
SHORT, LONG, REAL, TEXT, TRUTH, DAY, MOMENT, INNER, BYTES = (col(RECORD, position) for position in range(9))


def checked(made: ScalarFunction) -> ScalarFunction:
    return replace(made, options=(FunctionOption("overflow", ("ERROR",)),))


def to(type: Any, input: Expression) -> Cast:
    return Cast(type=type, input=input, failure_behavior=FailureBehavior.THROW_EXCEPTION)


OURS: dict[str, Expression] = {
    "add": checked(call("add", LONG, lit(I64(), 5))),
    "subtract": checked(call("subtract", SHORT, lit(I32(), 2))),
    "multiply": checked(call("multiply", REAL, REAL)),
    "divide": checked(call("divide", LONG, lit(I64(), 3))),
    "equal": call("equal", TEXT, lit(String(), "b'\\")),
    "less": call("lt", SHORT, lit(I32(), 3)),
    "at least": call("gte", REAL, lit(FP64(), 0.5)),
    "date": call("gt", DAY, lit(Date(), 10957)),
    "timestamps": call("lt", MOMENT, MOMENT),
    "and": call("and", TRUTH, call("lt", SHORT, lit(I32(), 3))),
    "or": call("or", TRUTH, call("is_null", SHORT)),
    "not": call("not", TRUTH),
    "null": call("is_null", BYTES),
    "not null": call("is_not_null", INNER),
    "one of": SingularOrList(value=SHORT, options=(lit(I32(), 1), lit(I32(), 7))),
    "if": IfThen(ifs=(IfClause(call("is_null", SHORT), LONG),), else_=lit(I64(), 0)),
    "cast": to(I64(nullable=True), SHORT),
    "inside": col(RECORD, 7, Field(0)),
    "coalesce": call("coalesce", TEXT, lit(String(), "none")),
    "literal": lit(String(), "a'b\\\"😀"),
}
REFUSED: dict[str, tuple[Expression, str]] = {
    "a timestamp literal": (
        call("lt", MOMENT, lit(PrecisionTimestamp(precision=6), 0)),
        "did not have any literal type set",
    ),
    "an if without else": (IfThen(ifs=(IfClause(TRUTH, LONG),)), "conversion to arrow::compute::Expression"),
    "a function that Arrow has no name for": (call("upper", TEXT), "No conversion function exists"),
}


def extended(name: str, expression: Expression) -> ExtendedExpression:
    reference = model.ExpressionReference(expr=expression, output_names=(name,))
    made = as_document(
        model.ExtendedExpression(referred_expr=(reference,), base_schema=NamedStruct(names=NAMES, struct=RECORD)),
        deep=False,
    )
    assert isinstance(made, ExtendedExpression)
    return made


def test_our_expressions_filter_and_project_in_pyarrow(spark: SparkSession, peers: Path, tmp_path: Path) -> None:
    with pa.ipc.new_file(tmp_path / "data.arrow", RECORDS.schema) as file:
        file.write_table(RECORDS)
    named = {**OURS, **{name: expression for name, (expression, _) in REFUSED.items()}}
    documents = {name: extended(name, expression) for name, expression in named.items()}
    for number, document in enumerate(documents.values()):
        (tmp_path / f"{number:03}.ours").write_bytes(document.to_bytes())
    script(peers, "arrow_expressions.py", "read", tmp_path)
    found = ps.evaluate_arrow(together([documents[name] for name in OURS]), RECORDS, spark=spark)
    filters = 0
    for number, name in enumerate(OURS):
        column = found.column(number)
        assert_same(stored(tmp_path / f"{number:03}.projected").column(0), column, name)
        if pa.types.is_boolean(column.type):
            kept = RECORDS.filter(pa.array(column.to_pylist(), pa.bool_()))
            assert stored(tmp_path / f"{number:03}.filtered").equals(kept), name
            filters += 1
    assert filters > 8
    for number, (name, (_, reason)) in enumerate(REFUSED.items(), start=len(OURS)):
        assert reason in (tmp_path / f"{number:03}.refused").read_text(), name
