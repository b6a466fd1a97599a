"""Sort fields, and the counts and offsets of fetches. Spec: relations/basics, relations/logical_relations."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import Expression, SortDirection, SortField
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Fetch, Sort, TopN
from pyspark_substrait.model.repeats import repeats
from pyspark_substrait.model.types import I8, I16, I32, I64, Func, Map, Unbound, concrete

__all__ = ["fetch", "field", "repeated", "sort", "top_n"]


def sort(relation: Sort, path: Path) -> Iterator[Finding]:
    """Check for a sort without fields, and for repeated fields."""
    if not relation.sorts:
        what = "the sort has no sort field"
        fix = "Add one, or leave out the sort"
        yield Finding.of(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    yield from repeated(relation.sorts, (path, "sorts"))


def top_n(relation: TopN, path: Path) -> Iterator[Finding]:
    """Check for a top-N without sort fields or without a count, for repeated fields, and the offset and the count."""
    if not relation.sorts:
        what = "the top-N operation has no sort field"
        fix = "Add one, or use a fetch"
        yield Finding.of(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    if relation.count is None:
        what = "the top-N operation has no count, so it is a sort"
        yield Finding.of(Code.PROTO_MISSING_FIELD, (path, "count"), what, level=Level.WARNING, fix="State the count")
    yield from repeated(relation.sorts, (path, "sorts"))
    yield from _number(relation.offset, (path, "offset"))
    yield from _number(relation.count, (path, "count"))


def fetch(relation: Fetch, path: Path) -> Iterator[Finding]:
    """Check the offset and the count."""
    yield from _number(relation.offset_expr, (path, "offset_expr"))
    yield from _number(relation.count_expr, (path, "count_expr"))


def _number(expression: Expression | None, path: Path) -> Iterator[Finding]:
    """Check that an expression is a non-negative integer, or null."""
    if expression is None:
        return
    type = concrete(expression.type)
    if not isinstance(type, I8 | I16 | I32 | I64 | Unbound):
        what = f"the number of records is {type}"
        yield Finding.of(Code.TYPE_MISMATCH, path, what, why="It is a non-negative integer.", fix="Cast it to i64")
    elif isinstance(expression, Literal) and isinstance(expression.value, int) and expression.value < 0:
        what = f"the number of records is {expression.value}"
        fix = "Leave it out for no limit"
        yield Finding.of(Code.ILLEGAL_VALUE, path, what, why="It is a non-negative integer.", fix=fix)


def field(sort: SortField, path: Path) -> Iterator[Finding]:
    """Check for a sort field whose type has no order, and for a constant one."""
    if isinstance(sort.expr, Literal):
        what = "a literal is the same for all records, so it does not sort them"
        yield Finding.of(Code.REDUNDANT_FIELD, path, what, fix="Sort by a column, or leave it out")
    type = concrete(sort.expr.type)
    directed = isinstance(sort.sort_kind, SortDirection) and sort.sort_kind is not SortDirection.CLUSTERED
    if directed and isinstance(type, Map | Func):
        what = f"a {type} has no ascending or descending order"
        fix = "Sort by a part of it, by a comparison function, or cluster"
        yield Finding.of(Code.EXPRESSION_SORT, path, what, level=Level.WARNING, fix=fix)


def repeated(sorts: tuple[SortField, ...], path: Path) -> Iterator[Finding]:
    """Check for sort fields without effect, because an earlier one has the same expression."""
    if len(sorts) < 2:
        return
    for index, first in repeats([sort.expr for sort in sorts]):
        if not isinstance(sorts[index].expr, Literal):
            what = f"sort field {first} is of the same expression, so this one has no effect"
            yield Finding.of(Code.REDUNDANT_FIELD, (path, index), what, fix="Leave it out")
