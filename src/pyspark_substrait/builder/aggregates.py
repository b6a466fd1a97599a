"""Aggregates and window functions."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, TypeAlias

from pyspark_substrait.builder.columns import Column, SortKey, Unfinished, cast_to, column, condition, made
from pyspark_substrait.builder.constants import fitted
from pyspark_substrait.builder.scoping import new_token, open_reference
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.calls import ResolvedCall
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    Bound,
    BoundsType,
    CurrentRow,
    Following,
    Preceding,
    SortField,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Measure, WindowRelFunction
from pyspark_substrait.model.types import (
    I64,
    Date,
    IntervalDay,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    concrete,
)

__all__ = ["Aggregated", "Bounds", "Windowed", "aggregated", "following", "preceding", "sort_fields"]

#: A lower and an upper bound: None for the end of the partition, 0 for the current record, or a distance from it,
#: negative before the current record; or a result of :func:`preceding` or :func:`following`.
Bounds: TypeAlias = tuple[Any, Any]

#: Types for which a distance between values is an interval.
_TEMPORAL = (Date, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, IntervalDay)
#: Window functions whose value depends on the order alone, not on the bounds.
_UNBOUNDED = frozenset({"rank", "dense_rank", "row_number", "percent_rank", "cume_dist", "ntile", "lag", "lead"})


class Aggregated(Column):
    """An aggregate of the records of a group; with :meth:`over`, of a window. Immutable, like every column.

    Examples:
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> lines.group_by("order_id").agg(total=lambda l: sum_(l.price).filter(l.price > 0))
        <Frame: order_id: i64, total: fp64?>
    """

    __slots__ = ("_filter", "_invocation", "_parts", "_resolved", "_sorts")

    def __init__(
        self,
        call: ResolvedCall,
        parts: tuple[Column, ...],
        registry: Registry,
        invocation: AggregationInvocation = AggregationInvocation.ALL,
        sorts: tuple[SortField, ...] = (),
        filter: Column | None = None,
        name: str | None = None,
    ) -> None:
        if any(part._measures for part in parts):
            raise InvalidPlanError("an aggregate cannot be computed from another one", hint="Aggregate twice")
        function = AggregateFunction(
            function=call.function,
            arguments=call.arguments,
            options=call.options,
            output_type=call.type,
            derived_type=call.type,
            invocation=invocation,
            sorts=sorts,
        )
        measure = Measure(measure=function, filter=None if filter is None else filter.expression)
        token = new_token()
        node = open_reference(token, None, call.type)
        inner = made(node, *parts)._inner
        super().__init__(node, name=name, inner=inner, registry=registry, measures=((token, measure),))
        self._resolved, self._parts = call, parts
        self._invocation, self._sorts, self._filter = invocation, sorts, filter

    def _again(self, **changed: Any) -> Aggregated:
        known: dict[str, Any] = {
            "invocation": self._invocation,
            "sorts": self._sorts,
            "filter": self._filter,
            "name": self._name,
        }
        assert self._registry is not None
        return Aggregated(self._resolved, self._parts, self._registry, **{**known, **changed})

    def filter(self, met: Any) -> Aggregated:
        """Return the aggregate of only those records for which a condition is true."""
        return self._again(filter=condition(met))

    def distinct(self) -> Aggregated:
        """Return the aggregate with duplicate values counted once."""
        return self._again(invocation=AggregationInvocation.DISTINCT)

    def order_by(self, *keys: Any) -> Aggregated:
        """Return the aggregate of the records in an order."""
        return self._again(sorts=sort_fields(keys))

    def alias(self, name: str) -> Aggregated:
        """Return the same aggregate under another name."""
        return self._again(name=name)

    def over(
        self, partition_by: Any = (), order_by: Any = (), *, rows: Bounds | None = None, range: Bounds | None = None
    ) -> Column:
        """Return the aggregate over a window for each record; see :meth:`Windowed.over`."""
        if self._filter is not None or self._sorts:
            raise InvalidPlanError(
                "a window function has no filter, and no order beside that of the window",
                hint="Use when(condition, value) as its argument",
            )
        return _over(self._resolved, self._parts, partition_by, order_by, rows, range, self._invocation)


def aggregated(call: ResolvedCall, parts: Iterable[Column], registry: Registry) -> Aggregated:
    """Return a call of an aggregate function as a column."""
    return Aggregated(call, tuple(parts), registry)


class Windowed(Unfinished):
    """A call of a window function; :meth:`over` makes a column of it.

    Examples:
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> lines.with_columns(rank=lambda l: fn.rank().over(l.order_id, l.price.desc()))
        <Frame: order_id: i64, price: fp64?, rank: i64?>
    """

    def __init__(self, call: ResolvedCall, parts: tuple[Column, ...], registry: Registry) -> None:
        self._resolved = call
        self._parts = parts
        self._registry = registry

    def as_column(self) -> Column:
        raise InvalidPlanError("a window function needs a window", hint="Add .over(partition_by, order_by)")

    def over(
        self, partition_by: Any = (), order_by: Any = (), *, rows: Bounds | None = None, range: Bounds | None = None
    ) -> Column:
        """Return the function over the window of each record.

        Args:
            partition_by: a column or several: the window has only records with the same values.
            order_by: a column, a sort key or several.
            rows: the bounds in records: ``(-1, 1)``, ``(None, 0)``.
            range: the bounds as distances from the value of the sort key. Without any bounds, the window is the whole
                partition; with an order, it ends with the current record and those equal to it.
        """
        return _over(self._resolved, self._parts, partition_by, order_by, rows, range, AggregationInvocation.ALL)


def _over(
    call: ResolvedCall,
    parts: tuple[Column, ...],
    partition_by: Any,
    order_by: Any,
    rows: Bounds | None,
    range: Bounds | None,
    invocation: AggregationInvocation,
) -> Column:
    for item in _several(partition_by):
        _named(item)
    partitions = [column(item) for item in _several(partition_by)]
    sorts = sort_fields(_several(order_by))
    bounds_type, lower, upper = _bounds(call.function.name, sorts, rows, range)
    node = WindowFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.type,
        derived_type=call.type,
        invocation=invocation,
        partitions=tuple(item.expression for item in partitions),
        sorts=sorts,
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )
    return made(node, *parts, *partitions, *(_key(item).column for item in _several(order_by)))


def in_relation(
    item: Any, sorts: tuple[SortField, ...], rows: Bounds | None, range: Bounds | None
) -> WindowRelFunction:
    """Return a window function that uses the partitions and the order of a window relation."""
    if not isinstance(item, Windowed | Aggregated):
        raise InvalidPlanError("a window relation computes window functions alone")
    call = item._resolved
    bounds_type, lower, upper = _bounds(call.function.name, sorts, rows, range)
    return WindowRelFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.type,
        derived_type=call.type,
        invocation=item._invocation if isinstance(item, Aggregated) else AggregationInvocation.ALL,
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )


def _several(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _named(item: Any) -> None:
    if isinstance(item, str):
        raise InvalidPlanError(f"{item!r} is a text here, no column", hint=f"Write it with its record: o[{item!r}]")


def _key(item: Any) -> SortKey:
    _named(item)
    return item if isinstance(item, SortKey) else column(item).asc()


def sort_fields(keys: Iterable[Any]) -> tuple[SortField, ...]:
    """Return sort fields from sort keys, or from columns, which are sorted ascending, nulls first."""
    found = map(_key, keys)
    return tuple(SortField(expr=key.column.expression, sort_kind=key.kind) for key in found)


def preceding(offset: Any) -> Preceding:
    """Return a bound at a distance before the current record.

    Examples:
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> lines.with_columns(mean=lambda l: avg(l.price).over(l.order_id, l.price.asc(), rows=(preceding(2), 0)))
        <Frame: order_id: i64, price: fp64?, mean: fp64?>
    """
    return Preceding(column(offset).expression)


def following(offset: Any) -> Following:
    """Return a bound at a distance after the current record.

    Examples:
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> lines.with_columns(mean=lambda l: avg(l.price).over(l.order_id, l.price.asc(), rows=(0, following(2))))
        <Frame: order_id: i64, price: fp64?, mean: fp64?>
    """
    return Following(column(offset).expression)


def _bounds(
    name: str, sorts: tuple[SortField, ...], rows: Bounds | None, range: Bounds | None
) -> tuple[BoundsType | None, Bound, Bound]:
    if rows is not None and range is not None:
        raise InvalidPlanError("a window is bounded by rows or by range, not by both")
    given = rows if rows is not None else range
    if given is None:
        if not sorts or name in _UNBOUNDED:
            return None, Unbounded(), Unbounded()
        return BoundsType.RANGE, Unbounded(), CurrentRow()
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise InvalidPlanError(f"the bounds are {given!r}", hint="They are a lower and an upper one: (-1, 0)")
    if rows is None and len(sorts) != 1 and any(item not in (None, 0) for item in given):
        raise InvalidPlanError(f"bounds by range need one sort key, and there are {len(sorts)}")
    type = BoundsType.ROWS if rows is not None else BoundsType.RANGE
    lower, upper = (_bound(item, type, sorts) for item in given)
    return type, lower, upper


def _counted(given: Preceding | Following) -> Bound:
    """Return a bound in records, whose distance is an i64."""
    offset = cast_to(Column(given.offset), I64()).expression
    return Preceding(offset) if isinstance(given, Preceding) else Following(offset)


def _bound(given: Any, type: BoundsType, sorts: tuple[SortField, ...]) -> Bound:
    if isinstance(given, Preceding | Following):
        return _counted(given) if type is BoundsType.ROWS else given
    if isinstance(given, CurrentRow | Unbounded):
        return given
    if isinstance(given, Column):
        raise InvalidPlanError("a bound that is a column has no direction", hint="Use preceding() or following()")
    if given is None:
        return Unbounded()
    if given in (0, datetime.timedelta(0)):
        return CurrentRow()
    before = given < (datetime.timedelta(0) if isinstance(given, datetime.timedelta) else 0)
    distance = -given if before else given
    offset: Any
    if type is BoundsType.ROWS:
        if not isinstance(given, int):
            raise InvalidPlanError(f"{given!r} is not a number of records")
        offset = Literal(type=I64(), value=distance)
    else:
        offset = fitted(distance, sorts[0].expr.type) or column(distance).expression
        temporal = isinstance(concrete(sorts[0].expr.type), _TEMPORAL)
        if temporal != isinstance(given, datetime.timedelta):
            raise InvalidPlanError(f"{given!r} is not a distance between values of {sorts[0].expr.type}")
    return Preceding(offset) if before else Following(offset)
