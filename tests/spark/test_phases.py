"""Aggregates in several phases: parts aggregated apart and merged give what one aggregate gives, and what DuckDB gives.

The intermediate values go through Arrow from plan to plan, with the types that the extensions state for them.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    Expression,
    Function,
    FunctionOption,
)
from pyspark_substrait.model.relations import NamedTable, Read, Relation
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    concrete,
)
from tests.spark.plans import TEXT_, aggregate, answers, col, group, invented, ordered, plan, rows, tuples, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTIAL, MERGE, FINAL, COMPLETE = (
    AggregationPhase.INITIAL_TO_INTERMEDIATE,
    AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE,
    AggregationPhase.INTERMEDIATE_TO_RESULT,
    AggregationPhase.INITIAL_TO_RESULT,
)
ARITHMETIC, DECIMALS, DATETIME, GENERIC, COUNTS, APPROXIMATE = (
    f"extension:io.substrait:functions_{stem}"
    for stem in (
        "arithmetic",
        "arithmetic_decimal",
        "datetime",
        "aggregate_generic",
        "aggregate_decimal_output",
        "aggregate_approx",
    )
)

UNSIGNED = "extension:io.substrait:unsigned_integers"

TYPES: dict[str, Type] = {
    "k": String(nullable=True),
    "i8": I8(nullable=True),
    "i16": I16(nullable=True),
    "i32": I32(nullable=True),
    "i64": I64(nullable=True),
    "fp32": FP32(nullable=True),
    "fp64": FP64(nullable=True),
    "dec": Decimal(precision=10, scale=2, nullable=True),
    "wide": Decimal(precision=30, scale=4, nullable=True),
    "day": Date(nullable=True),
    "pts": PrecisionTimestamp(precision=6, nullable=True),
    "ptstz": PrecisionTimestampTZ(precision=6, nullable=True),
    "iday": IntervalDay(precision=6, nullable=True),
    "flag": Boolean(nullable=True),
    "word": String(nullable=True),
    "pt": PrecisionTime(precision=6, nullable=True),
    "u16": UserDefined(urn=UNSIGNED, name="u16", structure=Struct(types=(String(),)), nullable=True),
}
ARROW = pa.schema(
    [
        ("k", pa.string()),
        ("i8", pa.int8()),
        ("i16", pa.int16()),
        ("i32", pa.int32()),
        ("i64", pa.int64()),
        ("fp32", pa.float32()),
        ("fp64", pa.float64()),
        ("dec", pa.decimal128(10, 2)),
        ("wide", pa.decimal128(30, 4)),
        ("day", pa.date32()),
        ("pts", pa.timestamp("us")),
        ("ptstz", pa.timestamp("us", "UTC")),
        ("iday", pa.duration("us")),
        ("flag", pa.bool_()),
        ("word", pa.string()),
        ("pt", pa.time64("us")),
        ("u16", pa.uint16()),
    ]
)
NOON = dt.datetime(2024, 2, 29, 12)


def record(key: str | None, n: int) -> tuple[Any, ...]:
    return (
        key,
        n % 7 - 3,
        n * 31,
        n * -70_001,
        n * 2**40 + 1,
        n / 4,
        n / 8 - 1,
        Number(n * 1004).scaleb(-2),
        Number(n * 10**20 + 7).scaleb(-4),
        dt.date(2020, 1, 1) + dt.timedelta(days=n * 13),
        NOON + dt.timedelta(microseconds=n * 7_000_001),
        (NOON - dt.timedelta(microseconds=n * 9)).replace(tzinfo=dt.timezone.utc),
        dt.timedelta(days=-n, microseconds=n),
        n % 2 == 0,
        "w" * (n % 3),
        dt.time(12, 30, n + 20),
        65_000 + n,
    )


NULLS = (None,) * (len(TYPES) - 1)
#: by part; the second part doesn't have every group, the last one is empty
PARTS: list[list[tuple[Any, ...]]] = [
    [record("a", 3), record("a", -5), record("b", 2), ("b", *NULLS), ("c", *NULLS), record(None, 11)],
    [record("a", 4), record("a", 4), record(None, 1), ("c", *NULLS), record("d", 9)],
    [record("b", 5), record("d", -9), record("d", 2), ("d", *NULLS)],
    [],
]


def arrow(records: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*records, strict=True)) if records else [()] * len(TYPES)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, ARROW, strict=True)], schema=ARROW)


#: (extension, function with its signature, column or None, options)
Case = tuple[str, str, str | None, dict[str, str]]
NUMBERS = ("i8", "i16", "i32", "i64", "fp32", "fp64")
CASES: list[Case] = [
    *((ARITHMETIC, f"{name}:{type}", type, {}) for name in ("sum", "sum0", "avg", "min", "max") for type in NUMBERS),
    *(
        (ARITHMETIC, f"{name}:i64", "i64", {"overflow": option})
        for name in ("sum", "sum0", "avg")
        for option in ("SATURATE", "SILENT")
    ),
    *((ARITHMETIC, "sum:fp64", "fp64", {"overflow": option}) for option in ("SATURATE", "ERROR")),
    *((ARITHMETIC, f"product:{type}", type, {}) for type in ("i8", "fp32", "fp64")),
    (ARITHMETIC, "product:i8", "i8", {"overflow": "SATURATE"}),
    *((DECIMALS, f"{name}:dec", type, {}) for name in ("sum", "sum0", "avg", "min", "max") for type in ("dec", "wide")),
    *(
        (DATETIME, f"{name}:{signature}", column, {})
        for name in ("min", "max")
        for signature, column in (("date", "day"), ("pts", "pts"), ("ptstz", "ptstz"), ("iday", "iday"), ("pt", "pt"))
    ),
    *((UNSIGNED, f"{name}:u!u16", "u16", {}) for name in ("sum", "min", "max")),
    (UNSIGNED, "sum:u!u16", "u16", {"overflow": "SATURATE"}),
    *((urn, "count:any", type, {}) for urn in (GENERIC, COUNTS) for type in ("i8", "word", "flag")),
    *((urn, "count:", None, {}) for urn in (GENERIC, COUNTS)),
    *((APPROXIMATE, "approx_count_distinct:any", type, {}) for type in TYPES if type != "k"),
    (COUNTS, "approx_count_distinct:any", "word", {}),
]


def called(case: Case, phase: AggregationPhase, *arguments: Expression) -> AggregateFunction:
    urn, key, _, options = case
    given = [ValueArg(argument.type) for argument in arguments]
    found = Registry.default().resolve(urn, key, given, "aggregate", phase=phase.name, strict=True)  # type: ignore[arg-type]
    assert found.definition is not None and found.output_type is not None
    return AggregateFunction(
        function=Function(urn, *key.split(":")),
        arguments=arguments,
        options=tuple(FunctionOption(name, (value,)) for name, value in options.items()),
        output_type=found.output_type,
        derived_type=found.output_type,
        phase=phase,
    )


def table(name: str, types: tuple[Type, ...]) -> Read:
    struct = Struct(types=types)
    return Read(base_schema=NamedStruct(names=names(struct), struct=struct), read_type=NamedTable(names=(name,)))


def names(struct: Struct) -> tuple[str, ...]:
    """The names under which results of these types come: those of columns and of the fields inside them."""
    return invented(struct)


DATA = Read(
    base_schema=NamedStruct(names=tuple(TYPES), struct=Struct(types=tuple(TYPES.values()))),
    read_type=NamedTable(names=("data",)),
)


def first(phase: AggregationPhase, cases: list[Case], keyed: bool) -> Relation:
    """The aggregate of the original records."""
    columns = list(TYPES)
    measures = [
        called(case, phase, *([] if case[2] is None else [col(DATA, columns.index(case[2]))])) for case in cases
    ]
    return group(DATA, [col(DATA, 0)] if keyed else [], measures)


def later(phase: AggregationPhase, cases: list[Case], before: Relation, keyed: bool) -> Relation:
    """The aggregate of the records of an earlier phase."""
    input = table("parts", before.schema.types)
    measures = [called(case, phase, col(input, position + keyed)) for position, case in enumerate(cases)]
    return group(input, [col(input, 0)] if keyed else [], measures)


def computed(spark: SparkSession, node: Relation, **tables: pa.Table) -> pa.Table:
    return ps.run_query(plan(node), spark=spark, tables=tables)


def in_phases(spark: SparkSession, cases: list[Case], keyed: bool) -> tuple[list[Any], list[Any]]:
    """The records of the aggregate in phases, and in one."""
    partial = first(PARTIAL, cases, keyed)
    parts = [computed(spark, partial, data=arrow(part)) for part in PARTS]
    merge = later(MERGE, cases, partial, keyed)
    merged = [
        computed(spark, merge, parts=pa.concat_tables(parts[:2])),
        computed(spark, merge, parts=pa.concat_tables(parts[2:])),
    ]
    assert merged[0].schema == parts[0].schema
    final = later(FINAL, cases, merge, keyed)
    complete = first(COMPLETE, cases, keyed)
    assert final.schema == complete.schema
    last = computed(spark, final, parts=pa.concat_tables(merged))
    whole = computed(spark, complete, data=arrow([record for part in PARTS for record in part]))
    assert last.schema == whole.schema
    return tuples(last), tuples(whole)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-12) or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and left == right


def by_key(records: list[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    return {record[0]: record[1:] for record in records}


@pytest.mark.sweep
@pytest.mark.parametrize("keyed", [True, False], ids=["by key", "of all"])
def test_parts_give_what_the_whole_gives(spark: SparkSession, keyed: bool) -> None:
    last, whole = in_phases(spark, CASES, keyed)
    one, other = (by_key(last), by_key(whole)) if keyed else ({0: last[0]}, {0: whole[0]})
    assert one.keys() == other.keys()
    wrong = [
        (key, case, one[key][position], other[key][position])
        for key in other
        for position, case in enumerate(CASES)
        if not same(one[key][position], other[key][position])
    ]
    assert not wrong
    expected = by_key(in_duckdb(keyed))
    wrong = [
        (key, case, one[key][position], expected[key][position])
        for key in other
        for position, case in enumerate(CASES)
        if in_sql(case) is not None and not alike(one[key][position], expected[key][position])
    ]
    assert not wrong


def alike(found: Any, expected: Any) -> bool:
    """Whether a value is DuckDB's, whose types are others."""
    if isinstance(found, float) and expected is not None:
        return math.isclose(found, float(expected), rel_tol=1e-6)
    if isinstance(expected, pa.MonthDayNano):
        return bool(found == dt.timedelta(days=expected.days, microseconds=expected.nanoseconds // 1000))
    return bool(found == expected)


def in_sql(case: Case) -> str | None:
    """The same in DuckDB; None where it computes something else (a quotient of integers that isn't cut off)."""
    _, key, column, _ = case
    name = key.partition(":")[0]
    type = None if column is None else concrete(TYPES[column])
    match name:
        case "count":
            return f"count({column or '*'})"
        case "sum0":
            return f"coalesce(sum({column}), 0)"
        case "approx_count_distinct":
            return f"count(DISTINCT {column})"
        case "product":
            return f"coalesce(product({column}), 1)"
        case "avg" if isinstance(type, I8 | I16 | I32 | I64):
            return f"CAST(trunc(CAST(sum({column}) AS DOUBLE) / count({column})) AS BIGINT)"
        case "avg" if isinstance(type, Decimal):
            if type.precision > 20:
                return None
            return f"CAST(CAST(sum({column}) AS DOUBLE) / count({column}) AS DECIMAL(38, 2))"
        case _:
            return f"{name}({column})"


def in_duckdb(keyed: bool) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("data", arrow([record for part in PARTS for record in part]))
        texts = [in_sql(case) or "NULL" for case in CASES]
        group_by = "GROUP BY k" if keyed else ""
        key = "k" if keyed else "0"
        found: Any = connection.execute(f"SELECT {key}, {', '.join(texts)} FROM data {group_by}").to_arrow_table()
        columns = [column.to_pylist() for column in found.columns]  # DuckDB repeats names
        return list(zip(*columns, strict=True))


def test_intermediate_values_have_the_stated_types(spark: SparkSession) -> None:
    cases: list[Case] = [
        (ARITHMETIC, "avg:i32", "i32", {}),
        (ARITHMETIC, "avg:fp32", "fp32", {}),
        (DECIMALS, "avg:dec", "dec", {}),
        (ARITHMETIC, "sum:i8", "i8", {}),
        (ARITHMETIC, "sum0:i8", "i8", {}),
        (GENERIC, "count:any", "word", {}),
        (COUNTS, "count:", None, {}),
    ]
    found = computed(spark, first(PARTIAL, cases, False), data=arrow(PARTS[0]))
    assert [str(field.type) for field in found.schema] == [
        "struct<n1: int64 not null, n2: int64 not null>",
        "struct<n4: double not null, n5: int64 not null>",
        "struct<n7: decimal128(38, 2) not null, n8: int64 not null>",
        "int64",
        "int64",
        "int64",
        "decimal128(38, 0)",
    ]
    assert [field.nullable for field in found.schema] == [False, False, False, True, False, False, False]
    (row,) = tuples(found)
    assert [tuple(value.values()) if isinstance(value, dict) else value for value in row] == [
        (-70_001 * 11, 4),
        (11 / 4, 4),
        (Number("110.44"), 4),
        -1,
        -1,
        4,
        6,
    ]
    empty = tuples(computed(spark, first(PARTIAL, cases, False), data=arrow([])))
    assert [tuple(value.values()) if isinstance(value, dict) else value for value in empty[0]] == [
        (0, 0),
        (0.0, 0),
        (Number("0.00"), 0),
        None,
        0,
        0,
        0,
    ]


def test_parts_as_dataframes(spark: SparkSession) -> None:
    cases: list[Case] = [(ARITHMETIC, "avg:fp64", "fp64", {}), (GENERIC, "count:any", "word", {})]
    partial = first(PARTIAL, cases, True)
    frames = [ps.from_substrait(plan(partial), spark, tables={"data": arrow(part)}) for part in PARTS]
    final = later(FINAL, cases, partial, True)
    union = frames[0].unionAll(frames[1]).unionAll(frames[2]).unionAll(frames[3])
    found = tuples(ps.run_query(plan(final), spark=spark, tables={"parts": union}))
    whole = arrow([record for part in PARTS for record in part])
    with duckdb.connect() as connection:
        connection.register("whole", whole)
        expected = connection.execute("SELECT k, avg(fp64), count(word) FROM whole GROUP BY k").fetchall()
    assert ordered(found) == ordered(expected)


def test_phases_survive_the_way_through_bytes() -> None:
    for phase in (PARTIAL, COMPLETE):
        before = plan(first(phase, CASES, True))
        assert ps.load(before.to_bytes()).relations == before.relations
    partial = first(PARTIAL, CASES, True)
    for phase in (MERGE, FINAL):
        before = plan(later(phase, CASES, partial, True))
        assert ps.load(before.to_bytes()).relations == before.relations


def numbers(*found: int | None) -> Read:
    return values([I64(nullable=True)], [(value,) for value in found])


TOP = 2**63 - 1


@pytest.mark.sweep
def test_sums_beyond_their_intermediate_type(spark: SparkSession) -> None:
    """A bound in the place of a partial sum would make the whole sum wrong, so it is an error."""
    large = numbers(TOP, 1)
    for key in ("sum:i64", "sum0:i64", "avg:i64", "product:i64"):
        for option in ("ERROR", "SATURATE", "SILENT"):
            case = (ARITHMETIC, key, None, {"overflow": option})
            data = numbers(TOP, 2) if key.startswith("product") else large
            with pytest.raises(ExecutionError):
                rows(spark, group(data, [], [called(case, PARTIAL, col(data, 0))]))
    data = numbers(TOP, TOP, None)
    saturate = {"overflow": "SATURATE"}
    found = answers(
        spark,
        [
            group(
                data,
                [],
                [
                    called((ARITHMETIC, "sum:i64", None, saturate), FINAL, col(data, 0)),
                    called((ARITHMETIC, "product:i64", None, saturate), FINAL, col(data, 0)),
                    called((ARITHMETIC, "product:i8", None, saturate), FINAL, col(data, 0)),
                    called((ARITHMETIC, "avg:i64", None, saturate), COMPLETE, col(data, 0)),
                ],
            )
        ],
    )
    assert found == [[(TOP, TOP, 127, TOP)]]


def test_any_value_of_parts(spark: SparkSession) -> None:
    """A part without values has null as its intermediate value, which isn't one of them."""
    parts = values([TEXT_], [(None,), ("x",), (None,)])
    for option in ("TRUE", "FALSE"):
        case = (GENERIC, "any_value:any", None, {"ignore_nulls": option})
        assert rows(spark, group(parts, [], [called(case, FINAL, col(parts, 0))])) == [("x",)]


def test_what_has_no_phases_is_refused(spark: SparkSession) -> None:
    data = values([Boolean(nullable=True), FP64(nullable=True)], [(True, 1.0)])
    whole = aggregate("bool_and", col(data, 0))
    for phase in (PARTIAL, MERGE, FINAL):
        with pytest.raises(InvalidPlanError, match=r"measures\[0\].measure.phase: .*bool_and.*INITIAL_TO_RESULT"):
            rows(spark, group(data, [], [replaced(whole, phase=phase)]))
    total = called((ARITHMETIC, "sum:fp64", None, {}), PARTIAL, col(data, 1))
    with pytest.raises(UnsupportedPlanError, match=r"invocation: sum:fp64 of distinct values cannot be computed in"):
        rows(spark, group(data, [], [replaced(total, invocation=AggregationInvocation.DISTINCT)]))
    least = called((ARITHMETIC, "min:fp64", None, {}), PARTIAL, col(data, 1))
    distinct = replaced(least, invocation=AggregationInvocation.DISTINCT)
    assert rows(spark, group(data, [], [distinct])) == [(1.0,)]


def replaced(call: AggregateFunction, **changes: Any) -> AggregateFunction:
    from dataclasses import replace

    return replace(call, **changes)
