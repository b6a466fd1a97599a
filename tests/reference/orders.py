"""Orders of records: sort fields, and what may stand in any order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from pyspark_substrait.model.expressions import Function, SortDirection, SortField
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered, Undetermined
from tests.reference.expressions import evaluate
from tests.reference.scope import Scope
from tests.reference.values import Value, compare, comparing

__all__ = ["compare_by", "orders_of", "same_in_all_orders", "sort_runs"]

_T = TypeVar("_T")
_R = TypeVar("_R")

#: up to how many orders are all tried
_FEW: Final = 120


def compare_by(direction: SortDirection, left: Value, right: Value, choices: Choices) -> int:
    """-1, 0 or 1: how two values follow each other in a direction."""
    if left is None or right is None:
        order = int(right is None) - int(left is None)
        first = direction in (SortDirection.ASC_NULLS_FIRST, SortDirection.DESC_NULLS_FIRST)
        return order if first else -order
    order = compare(left, right, choices)
    down = direction in (SortDirection.DESC_NULLS_FIRST, SortDirection.DESC_NULLS_LAST)
    return -order if down else order


def sort_runs(items: Sequence[_T], sorts: Sequence[SortField], scope: Callable[[_T], Scope]) -> list[list[_T]]:
    """The items in the order of the sorts; those that stand in no order among each other are in one run.

    Nothing says that a sort keeps the order of equal records. Behind a clustered field there is no order at all.
    """
    if not items:
        return []
    directions: list[SortDirection] = []
    for field in sorts:
        if isinstance(field.sort_kind, Function):
            raise NotCovered("a sort by a comparison function")
        if field.sort_kind is SortDirection.CLUSTERED:
            break
        directions.append(field.sort_kind)
    scopes = [scope(item) for item in items]
    choices = scopes[0].choices
    keys = [tuple(evaluate(field.expr, here) for field, _ in zip(sorts, directions)) for here in scopes]  # noqa: B905

    def order(one: Any, other: Any) -> int:
        for direction, left, right in zip(directions, keys[one], keys[other], strict=True):
            found = compare_by(direction, left, right, choices)
            if found:
                return found
        return 0

    return [[items[at] for at in run] for run in comparing(order, range(len(items)))]


def orders_of(runs: Sequence[Sequence[_T]]) -> Iterator[list[_T]]:
    """The orders in which the items of the runs may come: all of them if they are few, else some of each run's.

    The some are the order given, its reverse, and every rotation of both: each item comes first and last once.
    """
    if math.prod(math.factorial(len(run)) if len(run) < 6 else _FEW + 1 for run in runs) <= _FEW:
        for orders in itertools.product(*(itertools.permutations(run) for run in runs)):
            yield [item for run in orders for item in run]
        return
    for turn in range(max(len(run) for run in runs)):
        rotated = [[*run[turn % len(run) :], *run[: turn % len(run)]] for run in runs]
        yield [item for run in rotated for item in run]
        yield [item for run in rotated for item in reversed(run)]


def same_in_all_orders(runs: Sequence[Sequence[_T]], result: Callable[[list[_T]], _R], what: str) -> _R:
    """The result for the items in any of their orders.

    Raises:
        Undetermined: there are two orders with different results.
    """
    found: list[_R] = []
    for order in orders_of(runs):
        made = result(order)
        if found and repr(made) != repr(found[0]):
            raise Undetermined(f"{what}, which depends on an order that nothing defines")
        found = found or [made]
    return found[0]
