"""Views with nested columns for the producer's tests, and the comparison of nested results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, same_type
from pyspark_substrait.spark.producer.types import type_of
from tests.spark.producer.round_trips import analysed, assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["assert_nested_round_trip", "nested_views"]

_NESTED = """
SELECT id, a, b, d, s, t, n, m, w, r, q, mm,
       CASE WHEN id <> 3 THEN a END AS an, CASE WHEN id <> 2 THEN m END AS mn, CASE WHEN id <> 1 THEN r END AS rn
FROM VALUES
  (1, array(3, 1, NULL, 2, 1), array(1, 5), array(1.5D, double('NaN'), -0.0D, 0.0D), array('b', '', NULL, 'B'), 'b',
   array(array(1, 2), NULL, array()), map('a', 1, 'b', NULL), map(1, 'x', 2, ''),
   named_struct('x', 1, 'y', 'p', 'z', named_struct('v', array(1, 2))),
   array(named_struct('k', 1, 'l', 'u'), NULL, named_struct('k', NULL, 'l', NULL)),
   map('o', map('i', array(1, NULL)), 'p', NULL)),
  (2, array(), array(5, 5, 6), array(), array(), NULL, array(), map(), map(),
   named_struct('x', NULL, 'y', NULL, 'z', NULL), array(), map()),
  (3, array(2147483647, -2147483648), array(0), array(double('infinity'), NULL), array('z'), '',
   array(array(NULL)), map('', 0), map(-1, NULL), named_struct('x', 2, 'y', '', 'z', named_struct('v', array())),
   array(named_struct('k', 2, 'l', '')), map('o', map()))
AS v (id, a, b, d, s, t, n, m, w, r, q, mm)
"""


def nested_views(spark: SparkSession) -> dict[str, DataFrame]:
    """``t``: lists, structs and maps, with nulls, NaN, empty ones and extremes inside; of nullable ones, some null."""
    frame = spark.sql(_NESTED)
    frame.createOrReplaceTempView("t")
    return {"t": frame}


def assert_nested_round_trip(
    spark: SparkSession,
    query: str | DataFrame,
    *,
    tables: Mapping[str, Any] | None = None,
    ordered: bool = False,
    **options: Any,
) -> Plan:
    """Query to plan to bytes to plan to DataFrame: it has the rows, names and types of the query itself.

    A DataFrame of structs that were made anew is nullable all through, so that what the plan says of nullability is
    compared with the values: there is no null where the plan has none.
    """
    tables = nested_views(spark) if tables is None else tables
    frame = analysed(spark, query) if isinstance(query, str) else query
    plan = ps.load(ps.to_substrait(frame, tables=tuple(tables), **options).to_bytes())
    assert isinstance(plan, Plan)
    assert plan.notes == (), "our own plans are as the specification has them"
    back = ps.from_substrait(plan, spark, tables=tables)
    assert [field.name for field in back.schema.fields] == [field.name for field in frame.schema.fields]
    root = next(tree for tree in plan.relations if isinstance(tree, RelRoot))
    declared = root.input.schema.types
    for field, other, type in zip(frame.schema.fields, back.schema.fields, declared, strict=True):
        assert other.dataType.simpleString() == field.dataType.simpleString()
        assert same_type(type, type_of(field.dataType.jsonValue(), field.nullable))
    found = rows(back)
    assert all(_fits(value, type) for row in found for value, type in zip(row, declared, strict=True)), declared
    assert_same(found, rows(frame), ordered=ordered)
    return plan


def _fits(value: Any, type: Type) -> bool:
    """Whether a value is null nowhere where its type says that there is none."""
    if value is None:
        return type.nullable
    match concrete(type):
        case List(type=element):
            return all(_fits(item, element) for item in value)
        case Map(key=key, value=one):
            return all(_fits(item, key) and _fits(other, one) for item, other in value.items())
        case Struct(types=types):
            return all(map(_fits, value, types))
        case _:
            return True
