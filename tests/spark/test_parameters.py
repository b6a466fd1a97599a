"""Dynamic parameters: bound in the plan, given by the caller as values of Python, or as text on the command line."""

from __future__ import annotations

import datetime
import math
import uuid
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.errors import InvalidPlanError, ParameterError
from pyspark_substrait.model.expressions import (
    DynamicParameter,
    Expression,
    IfValue,
    Lambda,
    ScalarSubquery,
    SingularOrList,
    SwitchExpression,
)
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.parameters import declared_parameters, parameter_texts
from pyspark_substrait.model.plan import DynamicParameterBinding
from pyspark_substrait.model.relations import Fetch
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    with_nullability,
)
from pyspark_substrait.model.value_texts import literal_of_text
from pyspark_substrait.model.values import literal_of
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    call,
    col,
    group,
    lit,
    number,
    plan,
    project,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

UTC = datetime.timezone.utc
U8 = UserDefined(urn="extension:io.substrait:unsigned_integers", name="u8", structure=Struct(types=(String(),)))


def parameter(number_: int, type: Type) -> DynamicParameter:
    return DynamicParameter(type=type, parameter_reference=number_)


#: a type, a value of Python, the value of its literal, a text of it, another value that the type doesn't have
CONVERSIONS: list[tuple[Type, Any, Any, str, Any]] = [
    (Boolean(), True, True, "true", 1),
    (I8(), -128, -128, "-128", 128),
    (I16(), 32767, 32767, "32767", 32768),
    (INT, 5, 5, "5", True),
    (I64(), 2**63 - 1, 2**63 - 1, "9223372036854775807", 2**63),
    (FP32(), 0.1, 0.10000000149011612, "0.1", "0.1"),
    (FP32(), 16777216, 16777216.0, "16777216", 16777217),
    (FP64(), math.inf, math.inf, "inf", Number("0.1")),
    (FP64(), 3, 3.0, "3", 2**60 + 1),
    (Decimal(precision=5, scale=2), Number("123.4"), Number("123.40"), "123.4", Number("1234.5")),
    (Decimal(precision=5, scale=2), 12, Number("12.00"), "12", Number("0.001")),
    (Decimal(precision=38, scale=0), 10**37, Number(10**37), str(10**37), 0.5),
    (TEXT, "it's ${x} {y}\x00", "it's ${x} {y}\x00", "it's ${x} {y}\x00", b"x"),
    (VarChar(length=2), "ab", "ab", "ab", "abc"),
    (FixedChar(length=4), "ab", "ab  ", "ab", "abcde"),
    (Binary(), b"\xca\xfe", b"\xca\xfe", "CAFE", "CAFE"),
    (FixedBinary(length=2), bytearray(b"\xca\xfe"), b"\xca\xfe", "ca fe", b"\xca"),
    (Date(), datetime.date(1970, 1, 31), 30, "1970-01-31", datetime.datetime(2020, 1, 1)),
    (PrecisionTime(precision=3), datetime.time(0, 0, 1, 5000), 1005, "00:00:01.005", datetime.time(0, 0, 0, 1)),
    (PrecisionTime(precision=9), 7, 7, "00:00:00.000000007", datetime.time(1, tzinfo=UTC)),
    (
        PrecisionTimestamp(precision=0),
        datetime.datetime(1969, 12, 31, 23, 59, 59),
        -1,
        "1969-12-31 23:59:59",
        datetime.datetime(1970, 1, 1, 0, 0, 0, 1),
    ),
    (
        PrecisionTimestamp(precision=9),
        datetime.datetime(1970, 1, 1, 0, 0, 0, 1),
        1000,
        "1970-01-01T00:00:00.000001",
        datetime.datetime(1970, 1, 1, tzinfo=UTC),
    ),
    (
        PrecisionTimestampTZ(precision=6),
        datetime.datetime(1970, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        -3_600_000_000,
        "1970-01-01T01:00:00+02:00",
        datetime.datetime(1970, 1, 1),
    ),
    (IntervalYear(), -14, -14, "-P1Y2M", datetime.timedelta(1)),
    (IntervalDay(precision=6), datetime.timedelta(1, 2, 3), DayTime(1, 2, 3), "P1DT2.000003S", 5),
    (IntervalDay(precision=0), DayTime(1, 3600, 0), DayTime(1, 3600, 0), "P1DT1H", datetime.timedelta(0, 0, 1)),
    (IntervalCompound(precision=3), Compound(14, 3, 4, 5), Compound(14, 3, 4, 5), "P1Y2M3DT4.005S", 14),
    (UUID(), uuid.UUID(int=7), uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007", "7"),
    (List(type=INT_), [1, None], (lit(INT_, 1), lit(INT_, None)), "[1, null]", [1, "2"]),
    (Struct(types=(INT, TEXT)), (1, "a"), (lit(INT, 1), lit(TEXT, "a")), '[1, "a"]', (1,)),
    (Map(key=TEXT, value=INT), {"a": 1}, ((lit(TEXT, "a"), lit(INT, 1)),), '{"a": "1"}', {1: 1}),
    (Map(key=List(type=INT), value=INT), [([1], 1)], ((lit(List(type=INT), [1]), number(1)),), "[[[1], 1]]", [1]),
    (U8, 255, (lit(TEXT, "255"),), "255", 256),
]


@pytest.mark.parametrize(("type", "value", "expected", "written", "bad"), CONVERSIONS, ids=lambda item: str(item)[:20])
def test_values_and_texts(type: Type, value: Any, expected: Any, written: str, bad: Any) -> None:
    assert literal_of(value, type).value == expected
    assert literal_of_text(written, type).value == expected
    assert literal_of(Literal(type=type, value=expected), type).value == expected
    with pytest.raises(ParameterError):
        literal_of(bad, type)
    with pytest.raises(ParameterError, match="is never null"):
        literal_of(None, type)


def test_what_is_wrong_with_values_and_texts() -> None:
    def said(value: Any, type: Type) -> str:
        with pytest.raises(ParameterError) as caught:
            literal_of(value, type)
        return str(caught.value)

    assert said(300, I8()) == "300 is out of range for a i8"
    assert said("5", INT) == "'5' (str) was given where i32 is needed"
    assert said(0.5, Decimal(precision=3, scale=1)).endswith("Give a Decimal, which is exact")
    assert said([1, [2]], List(type=INT)).startswith("[1]: ")
    assert "a time zone" in said(datetime.datetime(2020, 1, 1), PrecisionTimestampTZ(precision=6))
    wrong: list[tuple[str, Type]] = [
        ("1.5", INT),
        ("1_000", INT),
        ("yes", Boolean()),
        ("2024-13-01", Date()),
        ("24:00:00", PrecisionTime(precision=0)),
        ("00:00:00.01", PrecisionTime(precision=1)),
        ("2024-01-01 00:00:00Z", PrecisionTimestamp(precision=0)),
        ("2024-01-01 00:00:00", PrecisionTimestampTZ(precision=0)),
        ("P", IntervalYear()),
        ("P1D", IntervalYear()),
        ("P1M", IntervalDay(precision=6)),
        ("PT", IntervalDay(precision=6)),
        ("xyz", Binary()),
        ("[1", List(type=INT)),
        ("{}", List(type=INT)),
        ("[true]", List(type=INT)),
        ("0.123", Decimal(precision=5, scale=2)),
        ("abc", Decimal(precision=5, scale=2)),
    ]
    for written, type in wrong:
        with pytest.raises(ParameterError):
            literal_of_text(written, type)


TABLE = values([INT, TEXT_], [(1, "a"), (2, "it's"), (3, None)])
SAMPLE = where(TABLE, call("gte", col(TABLE, 0), parameter(1, INT)))
NODE = project(SAMPLE, col(SAMPLE, 0), parameter(2, TEXT_), parameter(1, INT))


def test_the_callers_values_come_before_those_of_the_plan(spark: SparkSession) -> None:
    bound = (
        DynamicParameterBinding(parameter_anchor=1, value=number(3)),
        DynamicParameterBinding(parameter_anchor=2, value=text("plan")),
    )
    document = ps.load(plan(NODE, parameter_bindings=bound).to_bytes())
    assert tuples(ps.run_query(document, spark=spark)) == [(3, "plan", 3)]
    found = ps.run_query(document, spark=spark, parameters={1: 2})
    assert tuples(found) == [(2, "plan", 2), (3, "plan", 2)]
    tricky = "') OR true -- {x} ${y}"
    frame = ps.from_substrait(plan(NODE), spark, parameters={1: 3, 2: tricky})
    assert [tuple(row) for row in frame.collect()] == [(3, tricky, 3)]
    assert tuples(ps.run_query(document, spark=spark, parameters={2: None})) == [(3, None, 3)]
    assert ps.to_sql(document, parameters={1: 77}).count("77") == 2


def test_parameters_wherever_expressions_are(spark: SparkSession) -> None:
    record = values([INT, TEXT], [(parameter(1, INT), parameter(3, TEXT)), (5, "x")])
    x = col(record, 0)
    query = ScalarSubquery(input=group(where(record, call("lt", x, parameter(1, INT))), [], [aggregate("max", x)]))
    switch = SwitchExpression(match=parameter(1, INT), ifs=(IfValue(number(7), col(record, 1)),), else_=text("?"))
    inside = Lambda(parameters=Struct(types=(INT,)), body=call("add", parameter(1, INT), number(1)))
    cells: list[Expression] = [
        x,
        switch,
        SingularOrList(value=x, options=(parameter(1, INT), number(6))),
        query,
        call("transform", parameter(4, List(type=INT)), inside),
        # a pattern has to be known before the plan runs
        call("like", col(record, 1), parameter(5, TEXT)),
    ]
    node = project(record, *cells)
    fetched = Fetch(input=node, offset_expr=parameter(6, LONG), count_expr=parameter(7, LONG))
    given = {1: 7, 3: "p%", 4: [1, 2], 5: "p_", 6: 0, 7: 5}
    assert sorted(tuples(ps.run_query(plan(fetched), spark=spark, parameters=given)), key=repr) == [
        (5, "x", False, 5, [8, 8], False),
        (7, "p%", True, 5, [8, 8], True),
    ]
    found = ps.run_query(plan(fetched), spark=spark, parameters={**given, 6: 1, 7: 0})
    assert found.num_rows == 0


def test_declared_parameters() -> None:
    assert {n: str(t) for n, t in declared_parameters(plan(NODE)).items()} == {1: "i32", 2: "string?"}
    twice = project(TABLE, parameter(1, INT_), parameter(1, INT))
    assert {n: str(t) for n, t in declared_parameters(plan(twice)).items()} == {1: "i32"}
    two = project(TABLE, parameter(1, INT), parameter(1, TEXT))
    with pytest.raises(ParameterError, match=r"parameter 1 as (i32 and as string|string and as i32)"):
        declared_parameters(plan(two))


def test_values_that_are_missing_or_dont_fit() -> None:
    def said(given: dict[int, Any] | None) -> str:
        with pytest.raises(ParameterError) as caught:
            ps.to_sql(plan(NODE), parameters=given)
        return str(caught.value)

    assert said({1: 5}) == (
        "relations[0].root.input.project.expressions[1].dynamic_parameter: the dynamic parameter 2 has no value; it "
        "needs one of type string?. Give it one: parameters={2: …}, or --param 2=…"
    )
    assert said({1: "5"}) == "parameters[1]: '5' (str) was given where i32 is needed"
    assert said({1: None}) == "parameters[1]: None was given, but a i32 is never null"
    assert said({9: 1}) == "the plan has no dynamic parameter 9. It has 1 (i32), 2 (string?)"


def test_values_of_every_type_come_back(spark: SparkSession) -> None:
    """What Arrow hands back of a parameter is the value that was given, where Python has a type for it."""
    natural = [
        (type, value)
        for type, value, *_ in CONVERSIONS
        if not isinstance(value, DayTime | Compound | uuid.UUID | dict)
        and not isinstance(type, IntervalYear | PrecisionTime | PrecisionTimestamp | FP32 | FixedChar | Struct | Map)
    ]
    cells = [parameter(position, type) for position, (type, _) in enumerate(natural)]
    given = {position: value for position, (_, value) in enumerate(natural)}
    table = ps.run_query(plan(project(values([INT], [(1,)]), *cells)), spark=spark, parameters=given)
    assert tuples(table) == [tuple(value for _, value in natural)]
    null = [parameter(position, with_nullability(type, True)) for position, (type, *_) in enumerate(CONVERSIONS)]
    nothing = dict.fromkeys(range(len(null)))
    table = ps.run_query(plan(project(values([INT], [(1,)]), *null)), spark=spark, parameters=nothing)
    assert tuples(table) == [(None,) * len(null)]


def test_values_of_the_plan_that_dont_fit() -> None:
    for value, match in ((text("a"), "parameter 1 is i32, its value string"), (number(None), "its value null")):
        bound = (DynamicParameterBinding(parameter_anchor=1, value=value),)
        with pytest.raises(InvalidPlanError, match=match) as caught:
            ps.to_sql(plan(SAMPLE, parameter_bindings=bound))
        assert caught.value.path.endswith("condition.scalar_function.arguments[1].dynamic_parameter")


def test_parameters_of_the_command_line(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan(NODE).save(path)
    runner = CliRunner()

    def command(*arguments: str) -> tuple[int, str]:
        found = runner.invoke(main, ["sql", str(path), *arguments])
        return found.exit_code, found.output

    code, output = command("--param", "1=2", "--param", "2=it's = {x}")
    assert code == 0
    assert r"it\'s = \u007Bx\u007D" in output
    code, output = command("--param", "1=2", "--param", "2")
    assert code == 0
    assert "CAST(NULL AS STRING)" in output
    assert command("--param", "1=x", "--param", "2=a") == (
        1,
        "error: parameters[1]: 'x' is not the text of a i32: it is no such number\n",
    )
    assert command("--param", "x=1")[0] == 2
    assert command("--param", "1=1", "--param", "1=2")[0] == 2
    texts = parameter_texts(plan(NODE), {1: "2", 2: None})
    assert tuples(ps.run_query(plan(NODE), spark=spark, parameters=texts)) == [(2, None, 2), (3, None, 2)]
