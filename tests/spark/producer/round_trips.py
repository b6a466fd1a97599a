"""A query out of Spark as a plan, and the plan back: the same rows, the same schema."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, same_type
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.relations.schemas import schema_of_fields
from pyspark_substrait.sql.spark_version import NEWEST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["analysed", "assert_alike", "assert_round_trip", "assert_same", "rows", "schema"]


def assert_round_trip(
    spark: SparkSession,
    query: str | DataFrame,
    *,
    ordered: bool = False,
    tolerance: float = 0.0,
    tables: Mapping[str, Any] | None = None,
    **options: Any,
) -> Plan:
    """Query to plan to bytes to plan to DataFrame: it has the rows and the schema of the query itself.

    Args:
        spark: the session.
        query: the text, or a DataFrame.
        ordered: whether the order of the rows counts.
        tolerance: how far floating-point numbers may be apart, as a part of the larger one.
        tables: views that the plan reads by name, and what they are when it is run.
        options: further arguments of ``to_substrait``.

    Returns:
        The plan, as it was read back.
    """
    frame = analysed(spark, query) if isinstance(query, str) else query
    made = ps.to_substrait(frame, tables=tuple(tables or ()), **options)
    plan = ps.load(made.to_bytes())
    assert isinstance(plan, Plan)
    assert plan.notes == (), "our own plans are as the specification has them"
    assert ps.validate(plan, "spark").errors == ()
    back = ps.from_substrait(plan, spark, tables=tables, allowed_paths=["/"])
    declared, own = _declared(made), schema_of_fields(frame.schema.jsonValue()["fields"])
    assert declared.names == own.names
    assert _holds(declared.struct, own.struct), f"{declared.struct} for {own.struct}"
    assert fitted(schema(back), schema(frame)) == schema(frame)
    assert_same(rows(back), rows(frame), ordered=ordered, tolerance=tolerance)
    return plan


def analysed(spark: SparkSession, query: str) -> DataFrame:
    """Return the DataFrame of a query; the test is skipped if it is one that this Spark, an older one, hasn't."""
    try:
        return spark.sql(query)
    except (AnalysisException, ParseException) as error:
        if session_version(spark) == NEWEST:
            raise
        pytest.skip(f"not a query of Spark {spark.version}: {str(error).strip().splitlines()[0]}")


def _declared(plan: Plan) -> NamedStruct:
    """The names and types that a plan says its result has."""
    root = plan.relations[-1]
    assert isinstance(root, RelRoot)
    return NamedStruct(names=root.names, struct=root.input.schema)


def _holds(declared: Type, own: Type) -> bool:
    """Whether a type is another one, nullable where that may be: standard functions may give null, Spark's don't."""
    if own.nullable and not declared.nullable:
        return False
    match declared, own:
        case Struct(types=ones), Struct(types=others):
            return len(ones) == len(others) and all(map(_holds, ones, others))
        case List(type=one), List(type=other):
            return _holds(one, other)
        case Map(key=key, value=one), Map(key=other_key, value=other):
            return _holds(key, other_key) and _holds(one, other)
        case _:
            return same_type(declared, own)


def schema(frame: DataFrame) -> Any:
    """The names, types and nullability of a frame's columns; metadata doesn't count."""
    return _without_metadata(frame.schema.jsonValue())


def fitted(found: Any, expected: Any) -> Any:
    """A schema with the nullability of another one, where it may be so.

    In a plan Spark may see that a nullable column has no nulls; and of what is inside columns SQL text can't say all.
    What the plan itself says is compared elsewhere.
    """
    columns = [
        {**_with_nullability(one, other), "nullable": one["nullable"] or other["nullable"]}
        for one, other in zip(found["fields"], expected["fields"], strict=True)
    ]
    return {**found, "fields": columns}


def _with_nullability(found: Any, expected: Any) -> Any:
    match found, expected:
        case dict(), dict():
            return {
                key: expected.get(key) if key in _NULLABLE else _with_nullability(value, expected.get(key))
                for key, value in found.items()
            }
        case list(), list() if len(found) == len(expected):
            return [_with_nullability(one, other) for one, other in zip(found, expected, strict=True)]
        case _:
            return found


_NULLABLE = ("nullable", "containsNull", "valueContainsNull")


def _without_metadata(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_metadata(item) for key, item in value.items() if key != "metadata"}
    return [_without_metadata(item) for item in value] if isinstance(value, list) else value


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame."""
    return [tuple(row) for row in frame.collect()]


def assert_same(
    found: Sequence[tuple[Any, ...]],
    expected: Sequence[tuple[Any, ...]],
    *,
    ordered: bool = False,
    tolerance: float = 0.0,
) -> None:
    """Both have the same rows; as multisets, unless the order counts."""
    ours, theirs = list(found), list(expected)
    if not ordered:
        ours, theirs = sorted(ours, key=repr), sorted(theirs, key=repr)
    if tolerance == 0.0:
        assert list(map(repr, ours)) == list(map(repr, theirs))
        return
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert all(_close(left, right, tolerance) for left, right in zip(one, other, strict=True)), (one, other)


def _close(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=tolerance) or (math.isnan(left) and math.isnan(right))
    return repr(left) == repr(right)


def assert_alike(found: Sequence[tuple[Any, ...]], expected: Sequence[tuple[Any, ...]]) -> None:
    """Both have the same rows, numbers to 1e-6: engines give quotients of decimals, and averages, other scales."""
    assert len(found) == len(expected)
    for ours, theirs in zip(sorted(found, key=_order), sorted(expected, key=_order), strict=True):
        assert all(_alike(one, other) for one, other in zip(ours, theirs, strict=True)), (ours, theirs)


def _order(row: tuple[Any, ...]) -> str:
    return repr([round(float(item), 3) if isinstance(item, Decimal | float | int) else str(item) for item in row])


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Decimal | float) or isinstance(other, Decimal | float):
        if one is None or other is None:
            return one is other
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
