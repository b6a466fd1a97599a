"""A query out of Spark as a plan, and the plan back: the same rows, the same schema."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["assert_round_trip", "assert_same", "rows", "schema"]


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
    frame = spark.sql(query) if isinstance(query, str) else query
    made = ps.to_substrait(frame, tables=tuple(tables or ()), **options)
    plan = ps.load(made.to_bytes())
    assert isinstance(plan, Plan)
    assert plan.notes == (), "our own plans are as the specification has them"
    back = ps.from_substrait(plan, spark, tables=tables, allowed_paths=["/"])
    assert schema(back) == schema(frame)
    assert_same(rows(back), rows(frame), ordered=ordered, tolerance=tolerance)
    return plan


def schema(frame: DataFrame) -> Any:
    """The names, types and nullability of a frame's columns; metadata doesn't count."""
    return _without_metadata(frame.schema.jsonValue())


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
