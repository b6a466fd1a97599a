"""Functions over windows: what Spark takes for their arguments, and the window around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Bound, BoundsType, Cast, Expression, SortField, WindowFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, concrete, with_nullability
from pyspark_substrait.planner import carriers
from pyspark_substrait.planner.catalyst import node

__all__ = ["WINDOWS", "ignoring_nulls", "over_window", "own_function", "windowed"]

#: functions that are only defined over windows, and their classes in Catalyst
WINDOWS: Final = {
    "row_number": "RowNumber",
    "rank": "Rank",
    "dense_rank": "DenseRank",
    "percent_rank": "PercentRank",
    "cume_dist": "CumeDist",
    "ntile": "NTile",
    "lag": "Lag",
    "lead": "Lead",
    "nth_value": "NthValue",
}
#: the fewest and the most arguments that each of these takes
_COUNTS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(WINDOWS, (0, 0)),
    "ntile": (1, 1),
    "lag": (1, 3),
    "lead": (1, 3),
    "nth_value": (2, 2),
}


def ignoring_nulls(name: str, arguments: Sequence[Expression]) -> str | None:
    """Return the class of Catalyst of ``first(x, true)`` or its like, which a carrier stands for; None for another."""
    match _position(arguments) if name == "nth_value" else None:
        case carriers.FIRST:
            return "First"
        case carriers.LAST:
            return "Last"
        case _:
            return None


def windowed(function: Any) -> Any:
    """Return the node of a function over a window, whose parts are set later."""
    over = node("WindowSpecDefinition", _FRAME, frameSpecification=0, orderSpec=[], partitionSpec=[])
    return node("WindowExpression", function, over, windowFunction=0, windowSpec=1)


def own_function(name: str, arguments: Sequence[Expression]) -> Any:
    """Return the node of a function that is only defined over windows."""
    taken = [*arguments]
    if not _COUNTS[name][0] <= len(taken) <= _COUNTS[name][1]:
        raise UnsupportedPlanError(f"`{name}` doesn't take {len(taken)} arguments in Spark")
    if name in ("ntile", "nth_value"):
        number = taken[-1]
        if not isinstance(number, Literal) or number.value is None:
            raise UnsupportedPlanError(f"the number of `{name}` is a constant in Spark")
        if not (isinstance(concrete(number.type), I32) and isinstance(number.value, int) and number.value > 0):
            raise UnsupportedPlanError(f"the number of `{name}` is an INT above zero in Spark")
    if name in ("lag", "lead"):
        taken = [taken[0], *(taken[1:2] or [Literal(type=I32(), value=1)]), *taken[2:]]
        if not isinstance(taken[1], Literal) or taken[1].value is None:
            raise UnsupportedPlanError(f"the offset of `{name}` is a constant in Spark")
        if not isinstance(concrete(taken[1].type), I32):
            raise UnsupportedPlanError(f"the offset of `{name}` is an INT in Spark", hint="Leave the suffix out")
        if len(taken) < 3:
            taken.append(Literal(type=with_nullability(taken[0].type, True), value=None))
    return node(WINDOWS[name], *taken, sql=f"{name}(…)")


def _position(arguments: Sequence[Expression]) -> Any:
    """Return the constant that is the last of some arguments; None for any other."""
    last = arguments[-1] if arguments else None
    return last.value if isinstance(last, Literal) else None


_FRAME: Final = node(
    "SpecifiedWindowFrame",
    node("UnboundedPreceding$"),
    node("UnboundedFollowing$"),
    frameType={"object": "RowFrame$"},
    lower=0,
    upper=1,
)


def over_window(
    made: Expression,
    sorts: tuple[SortField, ...],
    partitions: tuple[Expression, ...],
    frame: tuple[BoundsType | None, Bound, Bound] | None,
) -> Expression:
    """Return a window function, which may be in a cast, over a window."""
    match made:
        case WindowFunction():
            made = replace(made, sorts=sorts, partitions=partitions)
            if frame is None:
                return made
            return replace(made, bounds_type=frame[0] or BoundsType.ROWS, lower_bound=frame[1], upper_bound=frame[2])
        case Cast():
            return replace(made, input=over_window(made.input, sorts, partitions, frame))
        case _:
            raise AssertionError("a window function, or a cast of one")
