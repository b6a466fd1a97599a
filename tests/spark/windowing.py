"""Windows for tests: short ways to write them down, and the specification's words on frames in plain Python.

The evaluator takes nothing from the code under test: it sorts a partition, and for each record looks at every other
one and asks whether it is in the frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import Argument as Given
from pyspark_substrait.extensions.signatures import EnumArg, ValueArg
from pyspark_substrait.model.expressions import (
    AggregationInvocation,
    Argument,
    Bound,
    BoundsType,
    CurrentRow,
    EnumArgument,
    Expression,
    Following,
    Function,
    FunctionOption,
    Preceding,
    SortField,
    TypeArgument,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.types import with_nullability

ROWS, RANGE = BoundsType.ROWS, BoundsType.RANGE
UNBOUNDED, CURRENT = Unbounded(), CurrentRow()

Row = tuple[Any, ...]
Value = Callable[[Row], Any]
Bounds = tuple[BoundsType | None, Bound, Bound]


def over(
    name: str,
    *arguments: Argument,
    partitions: Sequence[Expression] = (),
    sorts: Sequence[SortField] = (),
    bounds: Bounds = (None, UNBOUNDED, UNBOUNDED),
    distinct: bool = False,
    urn: str | None = None,
    **options: str,
) -> WindowFunction:
    """A call of a standard function over a window. It may be null, whatever the extension says."""
    given: list[Given] = []
    for argument in arguments:
        assert not isinstance(argument, TypeArgument)
        given.append(EnumArg(argument.value) if isinstance(argument, EnumArgument) else ValueArg(argument.type))
    found = Registry.default().resolve(urn, name, given, "window")
    assert found.definition is not None and found.output_type is not None
    return WindowFunction(
        function=Function(found.definition.urn, *found.definition.key.split(":")),
        arguments=arguments,
        options=tuple(FunctionOption(option, (value,)) for option, value in options.items()),
        output_type=with_nullability(found.output_type, True),
        derived_type=found.output_type,
        sorts=tuple(sorts),
        invocation=AggregationInvocation.DISTINCT if distinct else AggregationInvocation.ALL,
        partitions=tuple(partitions),
        bounds_type=bounds[0],
        lower_bound=bounds[1],
        upper_bound=bounds[2],
    )


def rows_between(lower: Bound, upper: Bound) -> tuple[BoundsType, Bound, Bound]:
    return ROWS, lower, upper


def range_between(lower: Bound, upper: Bound) -> tuple[BoundsType, Bound, Bound]:
    return RANGE, lower, upper


def before(offset: Expression) -> Preceding:
    return Preceding(offset)


def after(offset: Expression) -> Following:
    return Following(offset)


# the evaluator -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A sort key of the evaluator."""

    value: Value
    descending: bool = False
    nulls_last: bool = False

    def compare(self, left: Any, right: Any) -> int:
        """The order of two values of the key: negative, zero or positive. NaN is the greatest number."""
        if left is None or right is None:
            if left is None and right is None:
                return 0
            return (1 if self.nulls_last else -1) * (1 if left is None else -1)
        sign = -1 if self.descending else 1
        nans = [isinstance(value, float) and math.isnan(value) for value in (left, right)]
        if any(nans):
            return sign * (nans[0] - nans[1])
        order: int = (left > right) - (left < right)
        return sign * order


#: None is unbounded; else the direction (-1, 0, 1) and the offset of a record
Edge = tuple[int, Value] | None
HERE: Edge = (0, lambda row: None)


@dataclass(frozen=True)
class Window:
    """A window of the evaluator; the keys must leave no ties where the frame counts records."""

    kind: BoundsType
    lower: Edge
    upper: Edge
    keys: tuple[Key, ...]
    partition: Value = lambda row: None
    plus: Callable[[Any, Any], Any] = lambda value, offset: value + offset
    minus: Callable[[Any, Any], Any] = lambda value, offset: value - offset

    def frames(self, rows: Sequence[Row]) -> dict[Row, list[Row]]:
        """The records in the frame of each record, in order."""
        found: dict[Row, list[Row]] = {}
        for row in rows:
            among = sorted(
                (other for other in rows if self.partition(other) == self.partition(row)), key=cmp_to_key(self._order)
            )
            found[row] = [other for other in among if self._is_in(other, row, among)]
        return found

    def _order(self, left: Row, right: Row) -> int:
        for key in self.keys:
            order = key.compare(key.value(left), key.value(right))
            if order:
                return order
        return 0

    def _is_in(self, other: Row, row: Row, among: list[Row]) -> bool:
        if self.kind is ROWS:
            distance = among.index(other) - among.index(row)
            low = self.lower is None or distance >= self._places(self.lower, row)
            return low and (self.upper is None or distance <= self._places(self.upper, row))
        low = self.lower is None or self._beside(other, row, self.lower) >= 0
        return low and (self.upper is None or self._beside(other, row, self.upper) <= 0)

    def _places(self, edge: tuple[int, Value], row: Row) -> int:
        sign, offset = edge
        return sign * offset(row) if sign else 0

    def _beside(self, other: Row, row: Row, edge: tuple[int, Value]) -> int:
        """Where a record is, seen from an edge of another record's frame."""
        sign, offset = edge
        if sign == 0 or self.keys[0].value(row) is None:
            return self._order(other, row)
        (key,) = self.keys
        add = (sign > 0) is not key.descending
        boundary = (self.plus if add else self.minus)(key.value(row), offset(row))
        return key.compare(key.value(other), boundary)


def known(frame: Sequence[Row], value: Value) -> list[Any]:
    """The values in a frame that aren't null."""
    return [value(row) for row in frame if value(row) is not None]


def total(values: Sequence[Any]) -> Any:
    return sum(values) if values else None
