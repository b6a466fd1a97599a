"""Aggregates whose result depends on the order of the records, against DuckDB and by the specification's words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import EnumArg, ValueArg
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    EnumArgument,
    Expression,
    Function,
    NestedStruct,
    SortDirection,
    SortField,
)
from pyspark_substrait.model.relations import Measure, Read, Relation
from tests.spark.plans import (
    INT_,
    LONG,
    LONG_,
    REAL_,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    call,
    col,
    group,
    long,
    ordered,
    project,
    rows,
    run,
    sort,
    text,
    truth,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST, LAST, DOWN_FIRST, DOWN_LAST = (
    SortDirection.ASC_NULLS_FIRST,
    SortDirection.ASC_NULLS_LAST,
    SortDirection.DESC_NULLS_FIRST,
    SortDirection.DESC_NULLS_LAST,
)
WORDS = {
    FIRST: "ASC NULLS FIRST",
    LAST: "ASC NULLS LAST",
    DOWN_FIRST: "DESC NULLS FIRST",
    DOWN_LAST: "DESC NULLS LAST",
}

#: group, number, floating-point number, word; group and both numbers together occur once
DATA: list[tuple[Any, ...]] = [
    ("x", 3, 0.5, "c"),
    ("x", 1, float("nan"), "a"),
    ("x", None, float("inf"), "n"),
    ("x", 2, None, "b"),
    ("x", 2, -1.0, "b"),
    ("x", 9, 9.0, None),
    ("y", 1, 1.0, ""),
    ("y", 2, 2.0, "don't, stop"),
    ("y", 3, None, "😀"),
    ("z", 1, 1.0, None),
    (None, None, None, "alone"),
]


@pytest.fixture(scope="module")
def table() -> Read:
    return values([TEXT_, LONG_, REAL_, TEXT_], DATA)


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (k VARCHAR, i BIGINT, d DOUBLE, s VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", DATA)
        yield connection


def joined(input: Read, *sorts: SortField, separator: str = ",", **more: Any) -> AggregateFunction:
    return aggregate("string_agg", col(input, 3), text(separator), sorts=sorts, **more)


def test_strings_in_every_order(spark: SparkSession, table: Read, duck: Any) -> None:
    i, d, s = (col(table, position) for position in (1, 2, 3))
    orders: list[tuple[list[tuple[Expression, SortDirection]], list[str]]] = []
    for one in WORDS:
        orders.append(([(s, one)], ["s"]))
        for other in WORDS:
            orders.append(([(i, one), (d, other)], ["i", "d"]))
    orders.append(([(d, DOWN_LAST), (i, LAST)], ["d", "i"]))
    orders.append(([(call("add", i, i), DOWN_FIRST), (d, FIRST)], ["i + i", "d"]))
    measures, texts = [], []
    for keys, written in orders:
        measures.append(joined(table, *(sort(key, direction) for key, direction in keys)))
        by = ", ".join(f"{word} {WORDS[direction]}" for word, (_, direction) in zip(written, keys, strict=True))
        texts.append(f"string_agg(s, ',' ORDER BY {by})")
    large = Measure(measure=joined(table, sort(i, DOWN_LAST), sort(d), separator="; "), filter=call("gt", i, long(1)))
    texts.append("string_agg(s, '; ' ORDER BY i DESC NULLS LAST, d NULLS FIRST) FILTER (i > 1)")
    keyed, alone = answers(
        spark, [group(table, [col(table, 0)], [*measures, large]), group(table, [], [*measures, large])]
    )
    assert ordered(keyed) == ordered(duck.execute(f"SELECT k, {', '.join(texts)} FROM t GROUP BY k").fetchall())
    # several records of different groups are equal in everything but their word
    unique = [position for position, (_, written) in enumerate(orders) if written == ["s"]]
    assert [alone[0][position] for position in unique] == list(
        duck.execute(f"SELECT {', '.join(texts[position] for position in unique)} FROM t").fetchone()
    )


def test_beside_distinct_measures_and_grouping_sets(spark: SparkSession, table: Read, duck: Any) -> None:
    k, i, s = (col(table, position) for position in (0, 1, 3))
    distinct = replace(joined(table, sort(s, DOWN_LAST)), invocation=AggregationInvocation.DISTINCT)
    measures = [
        joined(table, sort(s)),
        distinct,
        aggregate("count", i, distinct=True),
        aggregate("sum", i, distinct=True),
        aggregate("count"),
    ]
    sql = """string_agg(s, ',' ORDER BY s), string_agg(DISTINCT s, ',' ORDER BY s DESC), count(DISTINCT i),
        sum(DISTINCT i), count(*)"""
    keyed, rolled = answers(spark, [group(table, [k], measures), group(table, [k, i], measures, [(0,), (0, 1), ()])])
    assert ordered(keyed) == ordered(duck.execute(f"SELECT k, {sql} FROM t GROUP BY k").fetchall())
    both = duck.execute(f"SELECT k, i, {sql} FROM t GROUP BY GROUPING SETS ((k), (k, i), ())").fetchall()
    assert ordered(row[:-1] for row in rolled) == ordered(both)


def test_unsorted_strings(spark: SparkSession) -> None:
    same = values([TEXT_], [("a",), ("a",), (None,)])
    required = values([TEXT], [("a",)])
    node = aggregate("string_agg", col(same, 0), text("-"))
    found = answers(
        spark,
        [
            group(same, [], [node, aggregate("string_agg", col(same, 0), text(""), distinct=True)]),
            group(where(same, truth(False)), [], [node]),
            # the type has no null, and nothing joined is empty
            group(where(required, truth(False)), [], [aggregate("string_agg", col(required, 0), text(","))]),
        ],
    )
    assert found == [[("a-a", "a")], [(None,)], [("",)]]


def quantiles(input: Relation, column: int, boundaries: str, n: int, *sorts: SortField) -> AggregateFunction:
    urn = "extension:io.substrait:functions_arithmetic"
    given = (EnumArg(boundaries), EnumArg("EXACT"), ValueArg(LONG, n), ValueArg(col(input, column).type))
    found = Registry.default().resolve(urn, "quantile", given, "aggregate")
    assert found.definition is not None and found.output_type is not None
    return AggregateFunction(
        function=Function(urn, *found.definition.key.split(":")),
        arguments=(EnumArgument(boundaries), EnumArgument("EXACT"), long(n), col(input, column)),
        output_type=found.output_type,
        derived_type=found.output_type,
        sorts=sorts,
    )


@pytest.mark.sweep
def test_quantiles_of_the_records_in_their_order(spark: SparkSession) -> None:
    data = values(
        [TEXT, INT_, REAL_],
        [("a", 1, 5.0), ("a", 2, 1.0), ("a", 3, 3.0), ("b", 1, 7.0), ("n", 1, None), ("n", 2, 1.0)],
    )
    i, d = col(data, 1), col(data, 2)
    node = group(
        data,
        [col(data, 0)],
        [
            quantiles(data, 2, "BOTH", 2),
            quantiles(data, 2, "BOTH", 2, sort(i)),
            quantiles(data, 2, "MINIMUM", 4, sort(i, DOWN_LAST)),
            quantiles(data, 2, "BOTH", 1, sort(d, DOWN_FIRST)),
        ],
    )
    empty = group(where(data, truth(False)), [], [quantiles(data, 2, "BOTH", 2)])
    no_part = group(data, [], [quantiles(data, 2, "BOTH", 0)])
    assert ordered(rows(spark, node)) == [
        ("a", [1.0, 3.0, 5.0], [5.0, 1.0, 3.0], [3.0, 2.0, 1.0, 3.0], [5.0, 1.0]),
        ("b", [7.0, 7.0, 7.0], [7.0, 7.0, 7.0], [7.0] * 4, [7.0, 7.0]),
        ("n", None, None, None, None),
    ]
    assert rows(spark, empty) == [(None,)]
    assert rows(spark, no_part) == [(None,)]
    words = values([LONG_, TEXT_], [(1, "m"), (2, "b"), (3, "z")])
    thirds = quantiles(words, 1, "BOTH", 4, sort(col(words, 0)))  # at 0, 0.5, 1, 1.5 and 2; halves go to the even
    pairs = project(words, NestedStruct(fields=(col(words, 1), col(words, 0))))
    assert rows(spark, group(words, [], [thirds])) == [(["m", "m", "b", "z", "z"],)]
    ((found,),) = rows(spark, group(pairs, [], [quantiles(pairs, 0, "BOTH", 1)]))
    assert [tuple(pair.values()) for pair in found] == [("b", 2), ("z", 3)]
    assert str(run(spark, empty).schema.field(0).type).startswith("list<")


def test_a_comparison_function_as_order(spark: SparkSession) -> None:
    table = values([TEXT_, LONG, TEXT], [("x", 3, "c"), ("x", -1, "a"), ("y", 2, "b"), ("x", 2, "b"), ("y", 1, "a")])
    function = call("subtract", col(table, 1), col(table, 1)).function  # negative, where the first is less
    by_number = SortField(expr=col(table, 1), sort_kind=function)
    strings = aggregate("string_agg", col(table, 2), text(""), sorts=(by_number,))
    (found,) = answers(spark, [group(table, [col(table, 0)], [strings])])
    assert ordered(found) == [("x", "abc"), ("y", "ab")]


def test_the_order_means_nothing_to_other_aggregates(spark: SparkSession, table: Read) -> None:
    i = col(table, 1)
    compared = SortField(expr=i, sort_kind=Function("extension:org.example:mine", "compare", "i64_i64"))
    measures = [aggregate("sum", i, sorts=(sort(i, DOWN_LAST),)), aggregate("count", sorts=(compared,))]
    assert answers(spark, [group(table, [], measures)]) == [[(24, 11)]]


def test_what_is_refused(spark: SparkSession, table: Read) -> None:
    i = col(table, 1)
    distinct = replace(joined(table, sort(i)), invocation=AggregationInvocation.DISTINCT)
    with pytest.raises(UnsupportedPlanError, match=r"measures\[0\].measure.sorts: distinct values can be sorted by"):
        rows(spark, group(table, [], [distinct]))
    varying = aggregate("string_agg", col(table, 3), col(table, 0))
    with pytest.raises(InvalidPlanError, match=r"arguments\[1\]: the separator must be a literal"):
        rows(spark, group(table, [], [varying]))
