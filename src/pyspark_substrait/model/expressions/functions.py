"""Function calls: scalar, aggregate and window functions, and their parts. Spec: expressions/*_functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from pyspark_substrait.model.types import Type

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Argument, Expression

__all__ = [
    "AggregateFunction",
    "AggregationInvocation",
    "AggregationPhase",
    "Bound",
    "BoundsType",
    "CurrentRow",
    "EnumArgument",
    "Following",
    "Function",
    "FunctionOption",
    "Preceding",
    "ScalarFunction",
    "SortDirection",
    "SortField",
    "TypeArgument",
    "Unbounded",
    "WindowFunction",
]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of an extension, bound to one overload.

    Args:
        urn: the extension, like ``extension:io.substrait:functions_arithmetic``.
        name: the function's name, like ``add``.
        signature: the short types of the overload's arguments, like ``i32_i32``; empty without arguments.
    """

    urn: str
    name: str
    signature: str

    @property
    def key(self) -> str:
        """The function signature that a plan declares, like ``add:i32_i32``."""
        return f"{self.name}:{self.signature}"


@dataclass(frozen=True, slots=True)
class EnumArgument:
    """An enumeration argument, spelled as the extension spells it."""

    value: str


@dataclass(frozen=True, slots=True)
class TypeArgument:
    """A type as an argument."""

    type: Type


@dataclass(frozen=True, slots=True)
class FunctionOption:
    """The required handling of a corner case: the first value of ``preference`` that is supported."""

    name: str
    preference: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarFunction:
    """A call of a scalar function.

    ``output_type`` is the type the call has in the plan, ``derived_type`` the one the extension derives from the
    arguments. They differ only where a plan declares another precision, length, width or nullability than the extension
    does; the call then computes the derived type and casts to the declared one.
    """

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type

    @property
    def type(self) -> Type:
        return self.output_type


class AggregationPhase(Enum):
    """The part of an aggregation that is performed."""

    INITIAL_TO_INTERMEDIATE = "initial to intermediate"
    INTERMEDIATE_TO_INTERMEDIATE = "intermediate to intermediate"
    INITIAL_TO_RESULT = "initial to result"
    INTERMEDIATE_TO_RESULT = "intermediate to result"


class AggregationInvocation(Enum):
    """Whether equal records are merged before they are aggregated."""

    ALL = "all"
    DISTINCT = "distinct"


class SortDirection(Enum):
    """The order of values and the place of nulls. CLUSTERED: equal values are adjacent, in no particular order."""

    ASC_NULLS_FIRST = "ascending, nulls first"
    ASC_NULLS_LAST = "ascending, nulls last"
    DESC_NULLS_FIRST = "descending, nulls first"
    DESC_NULLS_LAST = "descending, nulls last"
    CLUSTERED = "clustered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortField:
    """A sort key; ``sort_kind`` is a direction or a comparison function."""

    expr: Expression
    sort_kind: SortDirection | Function


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """A call of an aggregate function, as in a measure. The two types are as in :class:`ScalarFunction`."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    sorts: tuple[SortField, ...] = ()
    invocation: AggregationInvocation = AggregationInvocation.ALL

    @property
    def type(self) -> Type:
        return self.output_type


class BoundsType(Enum):
    """Whether window bounds count records or compare values."""

    ROWS = "rows"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Preceding:
    """A bound ``offset`` before the current record, in the order of the sorts."""

    offset: Expression


@dataclass(frozen=True, slots=True)
class Following:
    """A bound ``offset`` after the current record, in the order of the sorts."""

    offset: Expression


@dataclass(frozen=True, slots=True)
class CurrentRow:
    """The current record as a bound."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """The start (as lower bound) or the end (as upper bound) of the partition."""


Bound: TypeAlias = Preceding | Following | CurrentRow | Unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFunction:
    """A call of a window function, or of an aggregate function over a window. Spec: expressions/window_functions."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    sorts: tuple[SortField, ...] = ()
    invocation: AggregationInvocation = AggregationInvocation.ALL
    partitions: tuple[Expression, ...] = ()
    bounds_type: BoundsType | None = None
    lower_bound: Bound = Unbounded()
    upper_bound: Bound = Unbounded()

    @property
    def type(self) -> Type:
        return self.output_type
