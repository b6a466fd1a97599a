"""Expressions made of a frame: scalar subqueries, EXISTS, IN, ANY and ALL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark_substrait.builder.columns import Column, Comparand, cast_to, column, made
from pyspark_substrait.builder.constants import fitted
from pyspark_substrait.builder.scoping import closed
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.expressions import (
    ComparisonOp,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.model.types import Type, same_type, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.builder.records import Base as Frame

__all__ = ["Quantified", "all_of", "any_of", "exists", "isin", "scalar", "unique"]


def scalar(frame: Frame) -> Column:
    """Return the only value of a frame with one column and at most one record; null if it has no record.

    Columns of enclosing records may be used anywhere in it.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.select("id", top=lambda o: scalar(lines.agg(top=max_(lambda l: l.price))))
        <Frame: id: i64, top: fp64?>
    """
    node = ScalarSubquery(input=frame.model)
    _ = node.type
    (field,) = frame.fields
    return Column(node, name=field.name, inner=field.inner, registry=frame.registry)


def exists(frame: Frame) -> Column:
    """Whether a frame has any record.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: exists(lines.filter(lambda l: l.order_id == o.id)))
        <Frame: id: i64>
    """
    node = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=frame.model)
    return Column(node, registry=frame.registry)


def unique(frame: Frame) -> Column:
    """Whether a frame has no duplicate records.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: unique(lines.filter(lambda l: l.order_id == o.id).select("price")))
        <Frame: id: i64>
    """
    node = SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=frame.model)
    return Column(node, registry=frame.registry)


def isin(values: tuple[Any, ...], frame: Frame) -> Column:
    """Whether values, as a record, are among the records of a frame, by SQL's three-valued logic.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: is_in((o.id,), lines.select("order_id")))
        <Frame: id: i64>
    """
    needles, query = _comparable(values, frame)
    node = InPredicate(needles=tuple(needle.expression for needle in needles), haystack=query)
    return made(node, *needles)


@dataclass(frozen=True)
class Quantified(Comparand):
    """Any or all values of a frame's only column, as an operand of a comparison: ``o.price > all_of(frame)``."""

    reduction: ReductionOp
    frame: Frame

    def compared(self, left: Column, name: str) -> Column:
        """Return the comparison of a value with them by a function."""
        (needle,), query = _comparable((left,), self.frame)
        node = SetComparison(
            reduction_op=self.reduction, comparison_op=_OPERATORS[name], left=needle.expression, right=query
        )
        return made(node, needle)


_OPERATORS = {
    "equal": ComparisonOp.EQ,
    "not_equal": ComparisonOp.NE,
    "lt": ComparisonOp.LT,
    "gt": ComparisonOp.GT,
    "lte": ComparisonOp.LE,
    "gte": ComparisonOp.GE,
}


def any_of(frame: Frame) -> Any:
    """Return the values of a frame's only column, for a comparison that must hold for one of them.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: o.id > any_of(lines.select("order_id")))
        <Frame: id: i64>
    """
    return Quantified(ReductionOp.ANY, frame)


def all_of(frame: Frame) -> Any:
    """Return the values of a frame's only column, for a comparison that must hold for all of them.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: o.id > all_of(lines.select("order_id")))
        <Frame: id: i64>
    """
    return Quantified(ReductionOp.ALL, frame)


def _comparable(values: tuple[Any, ...], frame: Frame) -> tuple[list[Column], Relation]:
    """Cast values, and the frame that they are compared with, to the same types."""
    record = frame.record()
    if len(values) != len(frame.fields):
        raise InvalidPlanError(f"{len(values)} values are compared with the {len(frame.fields)} columns of a frame")
    needles, columns = [], []
    there_columns = list(record)
    for value, there in zip(values, there_columns, strict=True):
        literal = None if isinstance(value, Column) else fitted(value, there.type)
        needle = column(value) if literal is None else Column(literal)
        common = _common(needle.type, there.type)
        needles.append(cast_to(needle, common))
        columns.append(there if same_type(there.type, common) else cast_to(there, common))
    if all(one is there for one, there in zip(columns, there_columns, strict=True)):
        return needles, frame.model
    return needles, Project.only(frame.model, [closed(one.expression, {record._token: 0}) for one in columns])


def _common(left: Type, right: Type) -> Type:
    if same_type(left, right):
        return right
    found = common_type((with_nullability(left, False), with_nullability(right, False)))
    if found is None:
        raise InvalidPlanError(f"{left} is compared with {right}", hint="Cast one of them")
    return found
