"""Rules about filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.columns import in_place_of
from pyspark_substrait.analysis.lint.expression_match import (
    COMPARISON,
    arguments,
    called,
    column,
    conjuncts,
    is_constant,
    plain,
    position,
)
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Fetch, Filter, Read

__all__: list[str] = []

_TURNED = {"lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte", "equal": "equal"}
_Bound = tuple[str, object]


@rule(Code.LINT_FILTER_PASSES_ALL, Filter, Read, fixes=True)
def filter_that_passes_all(node: Filter | Read, context: Context) -> Iterator[Remark]:
    """A filter whose condition is true keeps every record."""
    if isinstance(node, Filter):
        if is_constant(node.condition, True):
            yield Remark(what="the filter keeps every record", instead=in_place_of(node, node.input, context))
        return
    if node.filter is not None and is_constant(node.filter, True):
        yield Remark(what="the filter of the read keeps every record", instead=replace(node, filter=None))
    if node.best_effort_filter is not None and is_constant(node.best_effort_filter, True):
        what = "the best-effort filter of the read keeps every record"
        yield Remark(what=what, instead=replace(node, best_effort_filter=None))


@rule(Code.LINT_FILTER_PASSES_NONE, Filter, Read)
def filter_that_passes_none(node: Filter | Read, context: Context) -> Iterator[Remark]:
    """A condition that is false or null, or a conjunction of two that exclude each other, drops every record. Null is
    not true."""
    condition = node.condition if isinstance(node, Filter) else node.filter
    if condition is None:
        return
    parts = [plain(part) for part in conjuncts(condition)]
    for part in parts:
        if is_constant(part, False) or is_constant(part, None):
            text = "null" if is_constant(part, None) else "false"
            yield Remark(what=f"the filter drops every record, as its condition is {text}", at=condition)
            return
    for number in sorted({number for part in parts for number, _, _ in _facts(part)}):
        bounds = [(name, value) for part in parts for field, name, value in _facts(part) if field == number]
        reason = _contradiction(bounds)
        if reason:
            what = f"the filter drops every record: {column(number, context.names)} cannot be {reason}"
            yield Remark(what=what, at=condition)


def _facts(part: Expression) -> Iterator[tuple[int, str, object]]:
    """Return the requirement of a condition on a column: the column's position, the comparison, and the value."""
    if not isinstance(part, ScalarFunction) or not called(part, COMPARISON, *_TURNED, "is_null"):
        return
    items = [plain(item) for item in arguments(part)]
    if part.function.name == "is_null":
        where = position(items[0])
        if where is not None:
            yield where, "is_null", None
        return
    left, right = items
    for one, other, name in ((left, right, part.function.name), (right, left, _TURNED[part.function.name])):
        where = position(one)
        if where is not None and isinstance(other, Literal) and other.value is not None:
            yield where, name, other.value


def _contradiction(bounds: list[_Bound]) -> str:
    """Describe two requirements that exclude each other; empty if there are none."""
    compared = [(name, value) for name, value in bounds if name != "is_null"]
    if len(compared) < len(bounds) and compared:
        return "null and compare with a value"
    equal = [value for name, value in compared if name == "equal"]
    if len(equal) > 1 and any(value != equal[0] for value in equal):
        return f"{_shown(equal[0])} and {_shown(next(value for value in equal if value != equal[0]))} at once"
    numbers = [(name, value) for name, value in compared if not isinstance(value, str | bytes | tuple | bool)]
    for name, low in numbers:
        for other, high in numbers:
            if name in ("gt", "gte", "equal") and other in ("lt", "lte", "equal") and _crossed(name, low, other, high):
                return f"{_asked(name, low)} and {_asked(other, high)} at once"
    return ""


def _crossed(name: str, low: object, other: str, high: object) -> bool:
    try:
        strict = name == "gt" or other == "lt"
        return bool(low > high) or (strict and bool(low == high))  # type: ignore[operator]
    except TypeError:
        return False


def _asked(name: str, value: object) -> str:
    words = {"gt": "more than ", "gte": "at least ", "lt": "less than ", "lte": "at most ", "equal": ""}
    return f"{words[name]}{_shown(value)}"


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str | bytes) else str(value)


@rule(Code.LINT_FILTER_ON_FILTER, Filter)
def filter_on_filter(node: Filter, context: Context) -> Iterator[Remark]:
    """Two filters, one directly above the other, are one filter with both conditions. They are not merged
    automatically: a condition may fail on records that the lower filter drops."""
    if isinstance(node.input, Filter) and node.input.common.emit is None:
        yield Remark(what="the input of a filter is a filter", fix="Join the conditions with `and`")


@rule(Code.LINT_FETCH_NOTHING, Fetch)
def fetch_of_nothing(node: Fetch, context: Context) -> Iterator[Remark]:
    """A fetch of zero records returns none. Before release 0.63 an absent count was written the same way, so all
    records may be meant."""
    count = node.count_expr
    if isinstance(count, Literal) and count.value == 0:
        yield Remark(what="the fetch keeps no record", fix="Leave out the count to keep all records")


@rule(Code.LINT_FETCH_EVERYTHING, Fetch, fixes=True)
def fetch_of_everything(node: Fetch, context: Context) -> Iterator[Remark]:
    """A fetch without a count that skips no records outputs its input."""
    offset, count = node.offset_expr, node.count_expr
    skips = offset is not None and not (isinstance(offset, Literal) and not offset.value)
    if not skips and (count is None or is_constant(count, None)):
        yield Remark(what="the fetch keeps every record", instead=in_place_of(node, node.input, context))
