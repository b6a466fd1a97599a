"""Producers' habits: plans in the form that a producer writes, with the rows that it means."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from google.protobuf import json_format
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.proto import messages
from tests.agreement import assert_same_rows
from tests.proto.messages import COMPARISON, NULLABLE, REQUIRED, Json, call, column, functions, root

RECORDS = pa.table(
    {
        "a": pa.array([1, 2, 2, None, 5, 7], pa.int32()),
        "b": pa.array([2**62, 2**62, 2**62, 4, 5, None], pa.int64()),
        "d": pa.array(
            [Decimal("0.01"), Decimal("-0.04"), Decimal("2.50"), None, Decimal("2.50"), Decimal("7.77")],
            pa.decimal128(15, 2),
        ),
        "s": pa.array(["x", "y", None, "x", "100%", "z"]),
    }
)
TYPES: dict[str, Json] = {
    "a": {"i32": NULLABLE},
    "b": {"i64": NULLABLE},
    "d": {"decimal": {"precision": 15, "scale": 2, **NULLABLE}},
    "s": {"string": NULLABLE},
}
A, B, D, S = (column(position) for position in range(4))
FP64: Json = {"fp64": NULLABLE}
HUGEINT: Json = {"decimal": {"precision": 38, "scale": 0, **NULLABLE}}
DUCKDB: Json = {"minorNumber": 53, "producer": "DuckDB"}


def records(**more: Any) -> Json:
    schema = {"names": list(TYPES), "struct": {"types": list(TYPES.values()), **REQUIRED}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}, **more}}


def measure(anchor: int, *arguments: Json, type: Json, **more: Any) -> Json:
    phase = "AGGREGATION_PHASE_INITIAL_TO_RESULT"
    return {"measure": call(anchor, *arguments, outputType=type, phase=phase, **more)}


def aggregate(*measures: Json, input: Json | None = None) -> Json:
    return {"aggregate": {"input": input or records(), "groupings": [{}], "measures": list(measures)}}


def project(*expressions: Json, input: Json | None = None) -> Json:
    return {"project": {"input": input or records(), "expressions": list(expressions)}}


def scalar(anchor: int, *arguments: Json, type: Json) -> Json:
    return {"scalarFunction": call(anchor, *arguments, outputType=type)}


def bare(*names: str) -> Json:
    return {
        "extensions": [
            {"extensionFunction": {"functionAnchor": anchor, "name": name}} for anchor, name in enumerate(names, 1)
        ]
    }


def written(relation: Json, names: int, version: Json, declared: Json | None = None) -> bytes:
    """The plan of a relation whose columns have names that don't matter."""
    plan = {"relations": [root(relation, *(f"n{i}" for i in range(names)))], "version": version, **(declared or {})}
    content: bytes = json_format.ParseDict(plan, messages.Plan()).SerializeToString()
    return content


def loaded(content: bytes, *rules: str) -> Plan:
    """The plan, with notes of these rules; strict reading refuses it."""
    plan = ps.load(content)
    assert isinstance(plan, Plan)
    assert {*rules} <= {note.rule for note in plan.notes}
    with pytest.raises(InvalidPlanError):
        ps.load(content, strict=True)
    return plan


def run(plan: Plan, spark: SparkSession) -> pa.Table:
    return ps.run_query(plan, tables={"t": RECORDS}, spark=spark)


def of_duckdb(query: str) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("t", RECORDS)
        return connection.sql(query).to_arrow_table()


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(item.to_pylist() for item in table.columns), strict=True))


# DuckDB ---------------------------------------------------------------------------------------------------------------


def test_aggregates_of_duckdb(spark: SparkSession) -> None:
    """Sums beyond 64 bits, medians that are cut off, the mode of decimals, texts with commas between them."""
    names = ("sum", "median", "mode", "string_agg", "avg")
    relation = aggregate(
        measure(1, A, type=HUGEINT),
        measure(1, B, type=HUGEINT),
        measure(2, D, type=TYPES["d"]),
        measure(2, A, type=FP64),
        measure(3, D, type=TYPES["d"]),
        measure(4, S, type=TYPES["s"]),
        measure(4, S, {"literal": {"string": "-"}}, type=TYPES["s"]),
        measure(5, A, type=FP64),
        measure(5, D, type=FP64),
    )
    rules = ("duckdb-hugeint", "duckdb-median", "duckdb-mode", "duckdb-string-agg", "duckdb-average")
    found = run(loaded(written(relation, 9, DUCKDB, bare(*names)), *rules), spark)
    wanted = of_duckdb(
        "SELECT sum(a), sum(b), median(d), median(a), mode(d), string_agg(s), string_agg(s, '-'), avg(a), avg(d) FROM t"
    )
    assert_same_rows(found, wanted)
    assert found.schema.types[:2] == [pa.decimal128(38, 0)] * 2


def test_aggregates_of_duckdb_over_no_records(spark: SparkSession) -> None:
    nothing = {"filter": {"input": records(), "condition": {"literal": {"boolean": False}}}}
    relation = aggregate(
        measure(1, A, type=HUGEINT),
        measure(2, D, type=TYPES["d"]),
        measure(3, D, type=TYPES["d"]),
        measure(4, S, type=TYPES["s"]),
        input=nothing,
    )
    content = written(relation, 4, DUCKDB, bare("sum", "median", "mode", "string_agg"))
    assert_same_rows(
        run(loaded(content), spark), of_duckdb("SELECT sum(a), median(d), mode(d), string_agg(s) FROM t WHERE false")
    )


def test_factorials_of_duckdb(spark: SparkSession) -> None:
    relation = project(A, scalar(1, {"literal": {"i32": 33}}, type=HUGEINT), scalar(1, A, type=HUGEINT))
    plan = loaded(written(relation, 3, DUCKDB, bare("factorial")), "duckdb-hugeint", "duckdb-project")
    assert_same_rows(run(plan, spark), of_duckdb("SELECT a, factorial(33), factorial(a) FROM t"))


def test_nulls_without_a_type(spark: SparkSession) -> None:
    null: Json = {"literal": {"null": {}}}
    boolean: Json = {"bool": NULLABLE}
    options = [{"literal": {"string": "x"}}, null]
    relation = project(
        A,
        scalar(1, A, null, type=boolean),
        {"singularOrList": {"value": S, "options": options}},
        {"cast": {"input": null, "type": TYPES["d"], "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}},
    )
    plan = loaded(written(relation, 4, DUCKDB, bare("is_not_distinct_from")), "untyped-null")
    query = "SELECT a, a IS NOT DISTINCT FROM NULL, s IN ('x', NULL), CAST(NULL AS DECIMAL(15, 2)) FROM t"
    assert_same_rows(run(plan, spark), of_duckdb(query))
    with pytest.raises(InvalidPlanError, match="a type is missing"):
        ps.load(written(project(A, scalar(1, null, null, type=boolean)), 2, DUCKDB, bare("is_not_distinct_from")))
    with pytest.raises(InvalidPlanError, match="a type is missing"):
        ps.load(written(project(A, null), 2, DUCKDB))


def test_virtual_tables_without_a_schema(spark: SparkSession) -> None:
    rows = [
        [{"literal": {"i32": 1}}, {"literal": {"string": "x"}}],
        [{"literal": {"null": {}}}, {"literal": {"string": "y"}}],
        [{"literal": {"i64": 2**40}}, {"literal": {"string": "z"}}],
    ]
    table = {"read": {"virtualTable": {"expressions": [{"fields": row} for row in rows]}}}
    plan = loaded(written(table, 2, DUCKDB), "virtual-table-schema")
    [tree] = plan.relations
    assert isinstance(tree, RelRoot)
    assert str(tree.input.schema) == "struct<i64?, string>"
    assert {*tuples(run(plan, spark))} == {(1, "x"), (None, "y"), (2**40, "z")}
    for bad in ([], [rows[0], rows[0][:1]], [rows[0], rows[0][::-1]], [rows[1]]):
        table["read"]["virtualTable"] = {"expressions": [{"fields": row} for row in bad]}
        with pytest.raises(InvalidPlanError, match="base_schema is missing"):
            ps.load(written(table, 2, DUCKDB))


SUM_OF_TWO = scalar(1, A, A, type={"i32": NULLABLE})
ADD = bare("add")


def test_projections_of_older_duckdb(spark: SparkSession) -> None:
    """Its projections have no emit; references to columns stand among the expressions."""
    plan = loaded(written(project(D, SUM_OF_TWO), 2, DUCKDB, ADD), "duckdb-project")
    assert_same_rows(run(plan, spark), of_duckdb("SELECT d, a + a FROM t"))
    plan = loaded(written(project(SUM_OF_TWO), 1, DUCKDB, ADD), "duckdb-project")
    assert_same_rows(run(plan, spark), of_duckdb("SELECT a + a FROM t"))


@pytest.mark.parametrize("minor", [53, 78])
def test_projections_of_newer_duckdb(spark: SparkSession, minor: int) -> None:
    """Its projections have an emit, except where all columns of the input are kept (duckdb-substrait-extension#135)."""
    version = {"minorNumber": minor, "producer": "DuckDB"}
    plan = ps.load(written(project(SUM_OF_TWO), 5, version, ADD))
    assert_same_rows(run(plan, spark), of_duckdb("SELECT a, b, d, s, a + a FROM t"))
    outer = project(scalar(1, column(4), A, type={"i32": NULLABLE}), input=project(SUM_OF_TWO))
    outer["project"]["common"] = {"emit": {"outputMapping": [2, 5]}}
    plan = ps.load(written(outer, 2, version, ADD))
    assert "duckdb-project" not in {note.rule for note in plan.notes}
    assert_same_rows(run(plan, spark), of_duckdb("SELECT d, a + a + a FROM t"))


def test_a_projection_of_duckdb_that_nothing_tells_apart() -> None:
    relation = aggregate(measure(2, A, type=TYPES["a"]), input=project(SUM_OF_TWO))
    content = written(relation, 1, DUCKDB, bare("add", "max"))
    with pytest.raises(InvalidPlanError, match="nothing in this plan says which it is"):
        ps.load(content)
    older = written(relation, 1, {"minorNumber": 48, "producer": "DuckDB"}, bare("add", "max"))
    assert "duckdb-project" in {note.rule for note in ps.load(older).notes}


def test_not_like_of_duckdb_is_noted(spark: SparkSession) -> None:
    """It is written as <>, and read so: a note warns of it."""
    unequal = scalar(1, S, {"literal": {"string": "100%"}}, type={"bool": NULLABLE})
    plan = ps.load(written(project(S, unequal), 2, DUCKDB, bare("not_equal")))
    assert [note.path for note in plan.notes if note.rule == "duckdb-not-like"] == [
        "relations[0].root.input.project.expressions[1].scalar_function"
    ]
    assert_same_rows(run(plan, spark), of_duckdb("SELECT s, s <> '100%' FROM t"))


@pytest.mark.parametrize("hours", [0.5, 6, 1.25, 24, 100])
def test_intervals_of_duckdb_are_whole_or_refused(spark: SparkSession, hours: float) -> None:
    """It wrote the microseconds as a signed number of 32 bits."""
    exact = int(hours * 3_600_000_000)
    literal = {"literal": {"intervalDayToSecond": {"days": 1, "microseconds": (exact + 2**31) % 2**32 - 2**31}}}
    plan = {"relations": [root(only(4, literal), "n")], "version": DUCKDB}
    if abs(exact) < 2**31:
        assert_same_rows(run(ps.load(plan), spark), pa.table({"n": [datetime.timedelta(1, hours * 3600)] * 6}))
        return
    with pytest.raises(InvalidPlanError, match="the lowest 32 bits"):
        ps.load(plan)


# DataFusion -----------------------------------------------------------------------------------------------------------

OLD: Json = {"minorNumber": 51, "producer": "datafusion"}


def test_projections_of_older_datafusion(spark: SparkSession) -> None:
    plan = loaded(written(project(D, SUM_OF_TWO), 2, OLD, ADD), "datafusion-project")
    assert_same_rows(run(plan, spark), of_duckdb("SELECT d, a + a FROM t"))
    with pytest.raises(InvalidPlanError, match="2 names for 6 fields"):
        ps.load(written(project(D, SUM_OF_TWO), 2, {"minorNumber": 51, "producer": "another"}, ADD))


def test_isnan_of_datafusion(spark: SparkSession) -> None:
    numbers: list[Json] = [{"literal": {"fp64": "NaN"}}, {"literal": {"fp64": 1.5}}, {"literal": {"null": FP64}}]
    relation = only(4, *(scalar(1, number, type={"bool": NULLABLE}) for number in numbers))
    plan = loaded(
        written(relation, 3, {"minorNumber": 85, "producer": "datafusion"}, bare("isnan")), "datafusion-isnan"
    )
    assert {*tuples(run(plan, spark))} == {(True, False, None)}


def numbered(*before: Json) -> Json:
    sorts = [{"expr": B, "direction": "SORT_DIRECTION_ASC_NULLS_LAST"}]
    bounds = {"boundsType": "BOUNDS_TYPE_ROWS", "lowerBound": {"unbounded": {}}, "upperBound": {"currentRow": {}}}
    rank = {"functionReference": 1, "outputType": {"i64": REQUIRED}, "sorts": sorts, **bounds}
    return project(*before, {"windowFunction": rank})


def test_window_functions_of_older_datafusion(spark: SparkSession) -> None:
    """They are appended to the projection below, over whose output they are; then it isn't known which is meant."""
    plan = loaded(written(numbered(A, B, D, S), 5, OLD, bare("rank")), "datafusion-project")
    wanted = of_duckdb("SELECT *, rank() OVER (ORDER BY b NULLS LAST) FROM t")
    assert_same_rows(run(plan, spark), wanted)
    with pytest.raises(InvalidPlanError, match="to the output of the projection that they are in"):
        ps.load(written(numbered(D, B), 3, OLD, bare("rank")))


def clauses(*values: Json, first: Json) -> Json:
    ifs: list[Json] = [{"if": first}]
    ifs += [{"if": value, "then": {"literal": {"i32": place}}} for place, value in enumerate(values)]
    return {"ifThen": {"ifs": ifs, "else": {"literal": {"i32": -1}}}}


def test_simple_case(spark: SparkSession) -> None:
    """The form has no other meaning, unless the first clause is a condition that lacks its result."""
    case = clauses({"literal": {"string": "x"}}, {"literal": {"string": "z"}}, first=S)
    version: Json = {"minorNumber": 80, "producer": "another", "patchNumber": 1}
    relation = project(S, case)
    relation["project"]["common"] = {"emit": {"outputMapping": [4, 5]}}
    plan = loaded(written(relation, 2, version), "simple-case")
    query = "SELECT s, CASE s WHEN 'x' THEN 0 WHEN 'z' THEN 1 ELSE -1 END FROM t"
    assert_same_rows(run(plan, spark), of_duckdb(query))
    with pytest.raises(InvalidPlanError, match="an expression is missing"):
        flag = {"literal": {"boolean": True}}
        ps.load(written(project(clauses(flag, first=flag)), 5, version))


def test_cross_joins_are_datafusions(spark: SparkSession) -> None:
    sides = {"left": records(), "right": records(), "type": "JOIN_TYPE_INNER"}
    plan = loaded(written({"join": sides}, 8, {"minorNumber": 85, "producer": "datafusion"}), "datafusion-join")
    assert run(plan, spark).num_rows == 36
    with pytest.raises(InvalidPlanError):
        ps.load(written({"join": sides}, 8, {"minorNumber": 85, "producer": "another"}))


# Isthmus, substrait-spark, Ibis ---------------------------------------------------------------------------------------

ISTHMUS: Json = {"minorNumber": 96, "producer": "isthmus"}
STRINGS = "extension:io.substrait:functions_string"
DATETIMES = "extension:io.substrait:functions_datetime"


def only(count: int, *expressions: Json, input: Json | None = None) -> Json:
    """The expressions, over ``count`` columns."""
    made = project(*expressions, input=input)
    made["project"]["common"] = {"emit": {"outputMapping": [count + place for place in range(len(expressions))]}}
    return made


def test_dates_of_isthmus(spark: SparkSession) -> None:
    day: Json = {"literal": {"date": 19_000}}
    interval: Json = {"literal": {"intervalDayToSecond": {"days": 5, "precision": 6}}}
    relation = only(4, scalar(1, day, interval, type={"date": REQUIRED}))
    declared = functions("add:date_iday", urn=DATETIMES)
    plan = loaded(written(relation, 1, ISTHMUS, declared), "isthmus-date")
    assert set(run(plan, spark).column(0).to_pylist()) == {datetime.date(1970, 1, 1) + datetime.timedelta(19_005)}
    with pytest.raises(InvalidPlanError, match="its output_type is date"):
        ps.load(written(relation, 1, {**ISTHMUS, "producer": "another"}, declared))


@pytest.mark.parametrize(
    ("function", "arguments", "type", "expected"),
    [
        ("concat:str", [{"fixedChar": "ab"}, {"fixedChar": "c  "}], {"fixedChar": {"length": 5, **REQUIRED}}, "abc  "),
        (
            "substring:fchar_i32_i32",
            [{"fixedChar": "abcd"}, {"i32": 2}, {"i32": 2}],
            {"varchar": {"length": 4, **REQUIRED}},
            "bc",
        ),
        ("rtrim:str_str", [{"string": "ab "}, {"string": " "}], {"varchar": {"length": 65536, **REQUIRED}}, "ab"),
    ],
)
def test_texts_of_isthmus(function: str, arguments: list[Json], type: Json, expected: str, spark: SparkSession) -> None:
    relation = only(4, scalar(1, *({"literal": argument} for argument in arguments), type=type))
    declared = functions(function, urn=STRINGS)
    plan = loaded(written(relation, 1, ISTHMUS, declared), "isthmus-text")
    assert set(run(plan, spark).column(0).to_pylist()) == {expected}
    with pytest.raises(InvalidPlanError, match="its output_type is "):
        ps.load(written(relation, 1, {**ISTHMUS, "producer": "another"}, declared))


ARITHMETIC = "extension:io.substrait:functions_arithmetic"
DECIMALS = "extension:io.substrait:functions_arithmetic_decimal"
SMALL: Json = {"decimal": {"precision": 3, "scale": 2, **NULLABLE}}


def test_sums_of_isthmus(spark: SparkSession) -> None:
    """Calcite's type of a sum is that of what is summed, which has no room for it."""
    declared = functions("sum:dec", urn=DECIMALS)
    relation = aggregate(measure(1, D, type=SMALL))
    found = run(loaded(written(relation, 1, ISTHMUS, declared), "isthmus-digits"), spark)
    assert found.column(0).to_pylist() == [Decimal("12.74")]
    assert found.schema.types == [pa.decimal128(13, 2)]
    taken = ps.load(written(relation, 1, {**ISTHMUS, "producer": "another"}, declared))
    assert isinstance(taken, Plan)
    assert not any(note.rule == "isthmus-digits" for note in taken.notes)
    six: Json = {"decimal": {"precision": 8, "scale": 6, **NULLABLE}}
    product = only(1, {"cast": {"input": A, "type": six}}, input=relation)
    found = run(loaded(written(product, 1, ISTHMUS, declared), "isthmus-digits"), spark)
    assert found.column(0).to_pylist() == [Decimal("12.740000")]
    assert found.schema.types == [pa.decimal128(17, 6)]
    whole = aggregate(measure(1, A, type={"i32": NULLABLE}))
    found = run(loaded(written(whole, 1, ISTHMUS, functions("sum:i32", urn=ARITHMETIC)), "isthmus-digits"), spark)
    assert found.column(0).to_pylist() == [17]
    assert found.schema.types == [pa.int64()]


@pytest.mark.parametrize("op", ["SET_OP_UNION_ALL", "SET_OP_MINUS_PRIMARY"])
def test_set_operations_of_isthmus(op: str, spark: SparkSession) -> None:
    """Their inputs have the same types by Calcite's rules, by which a sum is as wide as what is summed."""
    declared = functions("sum:dec", urn=DECIMALS)
    value: Json = {"literal": {"decimal": {"value": "fwAAAAAAAAAAAAAAAAAAAA==", "precision": 3, "scale": 2}}}
    ones = only(4, value)
    sets: Json = {"set": {"inputs": [aggregate(measure(1, D, type=SMALL)), ones], "op": op}}
    found = run(loaded(written(sets, 1, ISTHMUS, declared), "isthmus-digits"), spark)
    expected = [Decimal("1.27")] * 6 if op == "SET_OP_UNION_ALL" else []
    assert sorted(found.column(0).to_pylist()) == [*expected, Decimal("12.74")]


def test_anchors_of_inputs(spark: SparkSession) -> None:
    """The record that a subquery sees is named by the rel_anchor of the read under the filter around it."""
    theirs = records(common={"relAnchor": 7})
    same = scalar(1, B, column(1, outerReference={"relReference": 7}), type={"bool": NULLABLE})
    later = scalar(2, column(0, outerReference={"relReference": 7}), A, type={"bool": NULLABLE})
    both = scalar(3, same, later, type={"bool": NULLABLE})
    inner = {"filter": {"input": records(), "condition": both}}
    exists = {"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": inner}}}
    declared = functions("equal:any_any", "lt:any_any", urn=COMPARISON)
    declared["extensionUrns"].append({"extensionUrnAnchor": 2, "urn": "extension:io.substrait:functions_boolean"})
    declared["extensions"].append(
        {"extensionFunction": {"extensionUrnReference": 2, "functionAnchor": 3, "name": "and:bool"}}
    )
    plan = loaded(written({"filter": {"input": theirs, "condition": exists}}, 4, ISTHMUS, declared), "input-anchor")
    query = "SELECT * FROM t WHERE EXISTS (SELECT * FROM t AS u WHERE u.b = t.b AND t.a < u.a)"
    assert_same_rows(run(plan, spark), of_duckdb(query))
    above = {"filter": {"input": {"filter": {"input": theirs, "condition": exists}}, "condition": exists}}
    with pytest.raises(InvalidPlanError, match="no relation around this has the rel_anchor 7"):
        ps.load(written(above, 4, ISTHMUS, declared))


def test_averages_of_spark(spark: SparkSession) -> None:
    """Spark's average of integers is a double; that of decimals has four digits more."""
    version: Json = {"minorNumber": 96, "producer": "substrait-spark"}
    decimal: Json = {"decimal": {"precision": 19, "scale": 6, **NULLABLE}}
    declared = functions("avg:i32")
    declared["extensionUrns"].append(
        {"extensionUrnAnchor": 2, "urn": "extension:io.substrait:functions_arithmetic_decimal"}
    )
    declared["extensions"].append(
        {"extensionFunction": {"extensionUrnReference": 2, "functionAnchor": 2, "name": "avg:dec"}}
    )
    relation = aggregate(measure(1, A, type=FP64), measure(2, D, type=decimal))
    plan = loaded(written(relation, 2, version, declared), "spark-average", "decimal-scale")
    frame = spark.createDataFrame(RECORDS.to_pylist(), "a int, b bigint, d decimal(15, 2), s string")
    own = [tuple(row) for row in frame.selectExpr("avg(a)", "avg(d)").collect()]
    assert tuples(run(plan, spark)) == own == [(3.4, Decimal("2.548000"))]
    other = ps.load(written(aggregate(relation["aggregate"]["measures"][1]), 1, ISTHMUS | {"producer": "x"}, declared))
    assert tuples(run(other, spark)) == [(Decimal("2.550000"),)]


def test_products_and_quotients_have_the_digits_of_the_producer(spark: SparkSession) -> None:
    """decimal<38, 2> by decimal<12, 10> leaves 6 digits by the extension; Calcite states 12 of them."""
    wide: Json = {"decimal": {"precision": 38, "scale": 2, **NULLABLE}}
    small = {"literal": {"decimal": {"value": "AQAAAAAAAAAAAAAAAAAAAA==", "precision": 12, "scale": 10}}}
    whole = {"cast": {"input": D, "type": wide, "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}}
    twelve: Json = {"decimal": {"precision": 38, "scale": 12, **NULLABLE}}
    relation = only(4, D, scalar(1, whole, small, type=twelve), scalar(2, whole, whole, type=twelve))
    declared = functions(
        "multiply:dec_dec", "divide:dec_dec", urn="extension:io.substrait:functions_arithmetic_decimal"
    )
    plan = loaded(written(relation, 3, ISTHMUS, declared), "decimal-scale")
    found = {row[0]: row[1:] for row in tuples(run(plan, spark))}
    one = Decimal("1.000000000000")
    assert found == {
        None: (None, None),
        **{d: (d * Decimal("0.0000000001"), one) for d in RECORDS.column("d").to_pylist() if d is not None},
    }


def test_medians_of_ibis(spark: SparkSession) -> None:
    version: Json = {"minorNumber": 56, "producer": "ibis-substrait"}
    as_fp64 = {"cast": {"input": A, "type": FP64, "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}}
    content = written(aggregate(measure(1, as_fp64, type=FP64)), 1, version, functions("median:fp64"))
    found = run(loaded(content, "ibis-median"), spark)
    assert_same_rows(found, of_duckdb("SELECT median(a) FROM t"))
    with pytest.raises(InvalidPlanError, match="takes these arguments: median"):
        ps.load(written(aggregate(measure(1, as_fp64, type=FP64)), 1, {"minorNumber": 56}, functions("median:fp64")))


def test_integer_quotients_that_are_stated_as_floats_are_refused() -> None:
    relation = only(4, scalar(1, A, A, type=FP64))
    for producer in ("ibis-substrait", "DuckDB", "isthmus"):
        with pytest.raises(InvalidPlanError, match="its output_type is fp64"):
            ps.load(written(relation, 1, {"minorNumber": 56, "producer": producer}, functions("divide:i32_i32")))
