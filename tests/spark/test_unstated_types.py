"""Calls that don't state their type, as other producers write them: what is derived admits every null that comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message import Message
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.expressions import CurrentRow, Preceding, Unbounded
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.proto.messages import AggregateFunction, Expression, Plan
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    col,
    group,
    lit,
    number,
    plan,
    sort,
    truth,
    values,
    where,
)
from tests.spark.windowing import ROWS, Bounds, over

TABLE = values([INT, INT, INT_, TEXT, TEXT_], [(1, 5, None, "a", None), (2, 6, 7, "b", "y"), (3, 8, None, "c", None)])
BEFORE: Bounds = (ROWS, Preceding(lit(LONG, 2)), Preceding(lit(LONG, 2)))
SO_FAR: Bounds = (ROWS, Unbounded(), CurrentRow())


def messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in value if field.is_repeated else (value,):
                yield from messages(item)


def without_types(relation: Relation) -> bytes:
    """The plan of a relation, whose calls don't say what they give."""
    message = Plan.FromString(plan(relation).to_bytes())
    for part in messages(message):
        if isinstance(part, AggregateFunction | Expression.ScalarFunction | Expression.WindowFunction):
            part.ClearField("output_type")
    content: bytes = message.SerializeToString()
    return content


def table(spark: SparkSession, relation: Relation) -> pa.Table:
    return ps.run_query(without_types(relation), spark=spark)


def test_windows(spark: SparkSession) -> None:
    """Nulls of the argument, of a frame that has no record, and of a record that there isn't."""
    names = ("first_value", "last_value", "nth_value", "lag", "lead")
    calls: list[Any] = []
    wanted: list[list[Any]] = []
    expected: dict[str, tuple[list[Any], list[Any]]] = {
        # of the required column over the record two before; of the nullable one up to the record itself
        "first_value": ([None, None, 5], [None, None, None]),
        "last_value": ([None, None, 5], [None, 7, None]),
        "nth_value": ([None, None, 5], [None, None, None]),
        "lag": ([None, 5, 6], [None, None, 7]),
        "lead": ([6, 8, None], [7, None, None]),
    }
    for name in names:
        for position, bounds, rows in zip((1, 2), (BEFORE, SO_FAR), expected[name], strict=True):
            more = (number(1),) if name == "nth_value" else ()
            frame: Bounds = bounds if name not in ("lag", "lead") else (None, Unbounded(), Unbounded())
            calls.append(over(name, col(TABLE, position), *more, sorts=(sort(col(TABLE, 0)),), bounds=frame))
            wanted.append(rows)
    found = table(spark, Project(input=TABLE, expressions=tuple(calls)))
    found = found.sort_by(found.column_names[0])
    assert [found.column(5 + number).to_pylist() for number in range(len(calls))] == wanted
    assert all(found.schema.field(5 + number).nullable for number in range(len(calls)))


def test_aggregates_of_no_records(spark: SparkSession) -> None:
    """All give null but those that count, and a sum that starts from 0."""
    none = where(TABLE, truth(False))
    calls = [aggregate(name, col(none, 1)) for name in ("sum", "min", "max", "avg", "any_value")]
    calls += [aggregate("count", col(none, 2)), aggregate("sum0", col(none, 1))]
    found = table(spark, group(none, [], calls))
    assert [column.to_pylist() for column in found.columns] == [[None]] * 5 + [[0], [0]]
    assert [field.nullable for field in found.schema] == [True] * 5 + [False, False]


def test_a_type_that_is_stated_counts() -> None:
    """Both are taken without a word: the one that the extension declares, and the wider one."""
    call = over("first_value", col(TABLE, 1), bounds=SO_FAR, sorts=(sort(col(TABLE, 0)),))
    message = Plan.FromString(plan(Project(input=TABLE, expressions=(call,))).to_bytes())
    [window] = [part for part in messages(message) if isinstance(part, Expression.WindowFunction)]
    for nullability in (1, 2):
        window.output_type.i32.nullability = nullability
        read = ps.load(message.SerializeToString(), strict=True)
        assert read.relations[0].input.schema.types[-1].nullable == (nullability == 1)


def test_what_contradicts_a_stated_type_is_an_error(spark: SparkSession) -> None:
    call = over("first_value", col(TABLE, 2), bounds=SO_FAR, sorts=(sort(col(TABLE, 0)),))
    message = Plan.FromString(plan(Project(input=TABLE, expressions=(call,))).to_bytes())
    [window] = [part for part in messages(message) if isinstance(part, Expression.WindowFunction)]
    window.output_type.i32.nullability = 2
    with pytest.raises(ExecutionError, match="the plan says it has none"):
        ps.run_query(message.SerializeToString(), spark=spark)
