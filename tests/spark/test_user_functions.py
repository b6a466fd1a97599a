"""Functions of a user's own extensions: templates of Spark SQL, and functions of Arrow arrays."""

from __future__ import annotations

import importlib.util
import statistics
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.definitions import Kind
from pyspark_substrait.extensions.signatures import EnumArg, ValueArg
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    EnumArgument,
    Expression,
    Function,
    FunctionOption,
    ScalarFunction,
    WindowFunction,
)
from pyspark_substrait.model.relations import Measure
from pyspark_substrait.model.types import Decimal
from tests.spark import plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
OURS = "extension:org.example:tests"
YAML = """%YAML 1.2
---
urn: extension:org.example:tests
scalar_functions:
  - name: twice
    impls:
      - args: [{name: x, value: i32}]
        return: i32
      - args: [{name: x, value: string}]
        return: string
  - name: shifted
    impls:
      - args: [{name: direction, options: [UP, DOWN]}, {name: x, value: i32}]
        options: {by: {values: [ONE, TEN]}}
        return: i32
  - name: halves
    impls:
      - args: [{name: x, value: "decimal<P,S>"}]
        return: "decimal<P,S>"
aggregate_functions:
  - name: spread
    impls:
      - args: [{name: x, value: i32}]
        nullability: DECLARED_OUTPUT
        return: i32?
"""
BARE = ps.Registry.default().with_yaml(YAML)


def call(registry: ps.Registry, name: str, *arguments: Expression | str, **options: str) -> ScalarFunction:
    function, type = resolved(registry, name, arguments, "scalar")
    return ScalarFunction(
        function=function,
        arguments=tuple(EnumArgument(item) if isinstance(item, str) else item for item in arguments),
        options=tuple(FunctionOption(option, (value,)) for option, value in options.items()),
        output_type=type,
        derived_type=type,
    )


def spread(registry: ps.Registry, x: Expression, **more: Any) -> AggregateFunction:
    function, type = resolved(registry, "spread", (x,), "aggregate")
    return AggregateFunction(function=function, arguments=(x,), output_type=type, derived_type=type, **more)


def resolved(registry: ps.Registry, name: str, arguments: tuple[Expression | str, ...], kind: Kind) -> tuple[Any, Any]:
    given = [EnumArg(item) if isinstance(item, str) else ValueArg(item.type) for item in arguments]
    found = registry.resolve(OURS, name, given, kind)
    assert found.definition is not None
    return Function(OURS, name, found.definition.key.partition(":")[2]), found.output_type


NUMBERS = plans.values([plans.INT, plans.INT_], [(1, 10), (1, 40), (2, None), (2, 7)])
X, Y = plans.col(NUMBERS, 0), plans.col(NUMBERS, 1)


def test_the_example(spark: SparkSession) -> None:
    path = ROOT / "examples" / "functions" / "words.py"
    spec = importlib.util.spec_from_file_location("words", path)
    assert spec is not None and spec.loader is not None
    words = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(words)
    weights: dict[str, list[float]] = {}
    for word, weight in zip(["Fête", "fete", "Ænima", "fête"], [2.0, 4.0, 1.0, 8.0], strict=True):
        letters = unicodedata.normalize("NFD", word)
        weights.setdefault("".join(c for c in letters if not unicodedata.combining(c)), []).append(weight)
    wanted = [(word, f"{word.upper()}!!!", statistics.geometric_mean(weights[word])) for word in sorted(weights)]
    found = plans.tuples(words.main())
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in wanted])


def test_overloads_enumerations_and_options_choose(spark: SparkSession) -> None:
    registry = (
        BARE.with_function(OURS, "twice:i32", sql="{x} + {x}")
        .with_function(OURS, "twice:str", sql="concat({0}, {0})")
        .with_function(OURS, "shifted", sql="{x} + 10", enums={"direction": "UP"}, options={"by": "TEN"})
        .with_function(OURS, "shifted", sql="{x} - 10", enums={"direction": "DOWN"}, options={"by": "TEN"})
        .with_function(OURS, "shifted", sql="{x} + 1", enums={"direction": "UP"})
    )
    found = plans.rows(
        spark,
        plans.project(
            NUMBERS,
            call(registry, "twice", Y),
            call(registry, "twice", plans.text("ab")),
            call(registry, "shifted", "UP", X, by="TEN"),
            call(registry, "shifted", "DOWN", X, by="TEN"),
            call(registry, "shifted", "UP", X, by="ONE"),
        ),
        registry=registry,
    )
    assert found == [
        (20, "abab", 11, -9, 2),
        (80, "abab", 11, -9, 2),
        (None, "abab", 12, -8, 3),
        (14, "abab", 12, -8, 3),
    ]
    with pytest.raises(UnsupportedPlanError, match="shifted:req_i32 with by=ONE has no Spark form"):
        plans.run(spark, plans.project(NUMBERS, call(registry, "shifted", "DOWN", X, by="ONE")), registry=registry)


def test_a_template_of_an_aggregate_takes_filter_distinct_and_over(spark: SparkSession) -> None:
    registry = BARE.with_function(OURS, "spread", sql="[max({x})] - [min({x})]")
    large = plans.call("gt", Y, plans.number(8))
    aggregate = plans.group(
        NUMBERS,
        [],
        [spread(registry, Y), Measure(measure=spread(registry, Y), filter=large)],
    )
    assert plans.rows(spark, aggregate, registry=registry) == [(33, 30)]
    distinct = spread(registry, Y, invocation=AggregationInvocation.DISTINCT)
    assert plans.rows(spark, plans.group(NUMBERS, [], [distinct]), registry=registry) == [(33,)]
    function, type = resolved(registry, "spread", (Y,), "aggregate")
    window = WindowFunction(function=function, arguments=(Y,), output_type=type, derived_type=type, partitions=(X,))
    found = plans.rows(spark, plans.project(NUMBERS, X, window), registry=registry)
    assert plans.ordered(found) == [(1, 30), (1, 30), (2, 0), (2, 0)]


def doubled(x: pa.Array) -> pa.Array:
    return pc.multiply(x, pa.scalar(2, x.type))


def test_functions_of_arrow_arrays(spark: SparkSession) -> None:
    registry = BARE.with_function(OURS, "twice:i32", arrow=doubled)
    calls = plans.project(NUMBERS, call(registry, "twice", Y), call(registry, "twice", call(registry, "twice", X)))
    assert plans.rows(spark, calls, registry=registry) == [(20, 4), (80, 4), (None, 8), (14, 8)]
    condition = plans.call("gt", call(registry, "twice", Y), plans.number(15))
    assert plans.rows(spark, plans.where(NUMBERS, condition), registry=registry) == [(1, 10), (1, 40)]


def test_an_arrow_function_gives_the_derived_type(spark: SparkSession) -> None:
    def halves(x: pa.Array) -> pa.Array:
        return pc.divide(x, pa.scalar(2)).cast(x.type, safe=False)

    registry = BARE.with_function(OURS, "halves", arrow=halves)
    table = plans.values([Decimal(precision=5, scale=2), Decimal(precision=9, scale=4)], [("1.5", "7")])
    calls = [call(registry, "halves", plans.col(table, position)) for position in (0, 1)]
    found = plans.run(spark, plans.project(table, *calls), registry=registry)
    assert [str(value) for value in found.to_pylist()[0].values()] == ["0.75", "3.5000"]
    assert found.schema.types == [pa.decimal128(5, 2), pa.decimal128(9, 4)]


def test_an_arrow_function_with_two_types_of_result_in_one_session(spark: SparkSession) -> None:
    registry = BARE.with_function(OURS, "halves", arrow=lambda x: x)
    types = [Decimal(precision=5, scale=2), Decimal(precision=9, scale=4)]
    tables = [plans.values([type], [("1.5",)]) for type in types]
    frames = [
        ps.from_substrait(
            plans.plan(plans.project(table, call(registry, "halves", plans.col(table, 0)))), spark, registry=registry
        )
        for table in tables
    ]
    # both are there before the first one runs, which Connect analyses only now
    assert [str(frame.collect()[0][0]) for frame in frames] == ["1.50", "1.5000"]


def test_an_arrow_function_of_a_group(spark: SparkSession) -> None:
    def range_of(x: pa.Array) -> Any:
        bounds = pc.min_max(x)
        return pc.subtract(bounds["max"], bounds["min"])

    registry = BARE.with_function(OURS, "spread", arrow=range_of)
    found = plans.rows(spark, plans.group(NUMBERS, [X], [spread(registry, Y)]), registry=registry)
    assert plans.ordered(found) == [(1, 30), (2, 0)]
    filtered = Measure(measure=spread(registry, Y), filter=plans.truth(True))
    with pytest.raises(UnsupportedPlanError, match="runs in Python"):
        plans.run(spark, plans.group(NUMBERS, [X], [filtered]), registry=registry)


def test_registries_do_not_mix_in_one_session(spark: SparkSession) -> None:
    def times(factor: int) -> Callable[[pa.Array], pa.Array]:
        return lambda x: pc.multiply(x, pa.scalar(factor, x.type))

    registries = [BARE.with_function(OURS, "twice:i32", arrow=times(factor)) for factor in (2, 3)]
    frames = [
        ps.from_substrait(plans.plan(plans.project(NUMBERS, call(one, "twice", X))), spark, registry=one)
        for one in registries
    ]
    assert [[row[0] for row in frame.collect()] for frame in frames] == [[2, 2, 4, 4], [3, 3, 6, 6]]
    with pytest.raises(UnsupportedPlanError, match="has no Spark form"):
        plans.run(spark, plans.project(NUMBERS, call(BARE, "twice", X)), registry=BARE)


def test_faults_of_arrow_functions_are_told_in_a_line(spark: SparkSession) -> None:
    def failing(x: pa.Array) -> pa.Array:
        raise ValueError("no such thing")

    faults: list[tuple[Callable[..., Any], str]] = [
        (failing, "ValueError: no such thing$"),
        (lambda x: x[:0], r"returned 0 values for \d+ records$"),
        (lambda x: 7, "returned a int instead of an Arrow array$"),
    ]
    for function, message in faults:
        registry = BARE.with_function(OURS, "twice:i32", arrow=function)
        with pytest.raises(ExecutionError, match=message):
            plans.run(spark, plans.project(NUMBERS, call(registry, "twice", X)), registry=registry)


@pytest.mark.parametrize(
    ("urn", "name", "more", "message"),
    [
        (OURS, "thrice", {"sql": "1"}, "the extension has no function `thrice`"),
        (OURS, "twice:fp64", {"sql": "1"}, "no overload `twice:fp64`"),
        (OURS, "twice", {"sql": "{y} + 1"}, r"has \{y\}, which is not an argument"),
        (OURS, "twice", {"sql": "{1}"}, r"has \{1\}, which is not an argument"),
        (OURS, "twice", {"sql": "1", "options": {"by": "ONE"}}, "has no option `by`"),
        (OURS, "shifted", {"sql": "1", "options": {"by": "TWO"}}, "no value `TWO` for `by`"),
        (OURS, "shifted", {"sql": "1", "enums": {"direction": "LEFT"}}, "no value `LEFT` for `direction`"),
        (OURS, "twice", {}, "needs one implementation"),
        (OURS, "twice", {"sql": "1", "arrow": doubled}, "needs one implementation"),
        ("extension:org.example:other", "twice", {"sql": "1"}, "is not known.*Add its file first"),
        ("extension:io.substrait:functions_arithmetic", "add", {"sql": "1"}, "is one of the specification's own"),
    ],
)
def test_what_is_not_declared_is_refused(urn: str, name: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message):
        BARE.with_function(urn, name, **more)


def test_registries_do_not_change() -> None:
    larger = BARE.with_function(OURS, "twice", sql="{x}")
    assert BARE.implementations(OURS) == () and len(larger.implementations(OURS)) == 1
    assert larger.with_yaml(YAML.replace("example:tests", "example:others")).implementations(OURS)
