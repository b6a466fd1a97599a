"""Fetch as Spark SQL.

Spark's LIMIT and OFFSET take a constant, non-null i32. What isn't one goes through the numbers of the records.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Fetch
from pyspark_substrait.model.types import I8, I16, I32, I64, concrete
from pyspark_substrait.sparksql.compiler import expressions
from pyspark_substrait.sparksql.compiler.internal import checked_bound, fetched
from pyspark_substrait.sparksql.compiler.query import Item, Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sparksql.compiler.types import spark_type

__all__ = ["fetch"]

_LARGEST = 2**31 - 1


def fetch(node: Fetch, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a query from an offset on, up to a count."""
    if query.tail:
        query = query.nested()
    offset = _bound(node.offset_expr, "offset_expr", outer, compilation)
    count = _bound(node.count_expr, "count_expr", outer, compilation)
    if _fits(offset) and _fits(count):
        parts = []
        if count is not None:
            parts.append(f"LIMIT {count}")
        if offset:
            parts.append(f"OFFSET {offset}")
        return replace(query, tail=" ".join(parts))
    return _numbered(node, query, offset, count, compilation)


def _fits(bound: int | str | None) -> bool:
    return bound is None or (isinstance(bound, int) and bound <= _LARGEST)


def _bound(node: Expression | None, name: str, outer: tuple[Record, ...], compilation: Compilation) -> int | str | None:
    """A bound as a number, or as the text of an expression; None where it is unset or null."""
    if node is None:
        return None
    with at(name):
        value = compilation.known(node)
        if not isinstance(concrete(node.type), I8 | I16 | I32 | I64):
            raise InvalidPlanError(f"it must be an integer, but is {node.type}")
        if value is not None:
            if value.value is None:
                return None
            assert isinstance(value.value, int)
            if value.value < 0:
                raise InvalidPlanError(f"it can't be negative, but is {value.value}")
            return value.value
        return expressions.expression(node, Scope(Record(()), outer), compilation)


def _numbered(
    node: Fetch, query: Query, offset: int | str | None, count: int | str | None, compilation: Compilation
) -> Query:
    """The same by numbering the records in their order and comparing."""
    number = compilation.column()
    window = query.order or "monotonically_increasing_id()"
    items = (*query.items, Item(f"CAST(row_number() OVER (ORDER BY {window}) AS BIGINT)", number))
    inner = replace(query, items=items, order="").nested()
    kept = inner.filtered([fetched(number, _checked(offset), _checked(count))])
    computed = [checked_bound(bound) for bound in (offset, count) if isinstance(bound, str)]
    if not computed:
        return replace(kept, items=inner.items[:-1], order=number)
    # a negative bound is an error even where there are no records: a second branch, always empty, looks at the bounds
    types = (*(spark_type(type) for type in node.input.schema.types), "BIGINT")
    nulls = ", ".join(f"CAST(NULL AS {type})" for type in types)
    wrong = " OR ".join(f"{bound} < 0L" for bound in computed)
    text = f"({kept.text()}) UNION ALL (SELECT {nulls} WHERE {wrong})"
    return Query(source=f"({text})", items=inner.items[:-1], order=number, depth=inner.depth + 1)


def _checked(bound: int | str | None) -> str | None:
    return f"{bound}L" if isinstance(bound, int) else None if bound is None else checked_bound(bound)
