"""Fetch as Spark SQL.

Spark's LIMIT and OFFSET take a constant, non-null i32. Other bounds are compared with the numbers of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Fetch
from pyspark_substrait.model.types import I8, I16, I32, I64, Struct, concrete
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.internal import checked_bound, fetched
from pyspark_substrait.sql.compiler.query import Item, Query
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.types import spark_type

__all__ = ["Bound", "bound", "checked", "fetch", "first", "numbered"]

#: A bound as a number, or as the text of an expression; None where it is unset or null.
Bound: TypeAlias = int | str | None

_LARGEST = 2**31 - 1


def fetch(node: Fetch, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a query from an offset on, up to a count."""
    offset = bound(node.offset_expr, "offset_expr", outer, compilation)
    count = bound(node.count_expr, "count_expr", outer, compilation)
    return first(query, node.input.schema, offset, count, compilation)


def first(query: Query, schema: Struct, offset: Bound, count: Bound, compilation: Compilation) -> Query:
    """The records of a query with this schema from an offset on, up to a count."""
    if query.tail:
        query = query.nested()
    if _fits(offset) and _fits(count):
        parts = []
        if count is not None:
            parts.append(f"LIMIT {count}")
        if offset:
            parts.append(f"OFFSET {offset}")
        return replace(query, tail=" ".join(parts))
    number = compilation.column()
    items = [Item(f"CAST(row_number() OVER (ORDER BY {query.order or _ANY}) AS BIGINT)", number)]
    kept = fetched(number, checked(offset), checked(count))
    return numbered(query, schema, items, [kept], (offset, count))


#: the order of records that have none
_ANY = "monotonically_increasing_id()"


def _fits(bound: Bound) -> bool:
    return bound is None or (isinstance(bound, int) and bound <= _LARGEST)


def bound(node: Expression | None, name: str, outer: tuple[Record, ...], compilation: Compilation) -> Bound:
    """Return the bound in the field ``name`` of a relation."""
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
                raise InvalidPlanError(f"it cannot be negative, but is {value.value}")
            return value.value
        return expressions.expression(node, Scope(Record(()), outer), compilation)


def numbered(
    query: Query, schema: Struct, numbers: Sequence[Item], conditions: Sequence[str], bounds: Sequence[Bound]
) -> Query:
    """Return the records of a query whose numbers fulfil conditions, in the order of the first number.

    Args:
        query: the query.
        schema: its columns.
        numbers: the numbers of the records in the order of the query, as columns of i64.
        conditions: conditions over these columns.
        bounds: the bounds that the conditions compare with.
    """
    inner = replace(query, items=(*query.items, *numbers), order="").nested()
    kept = inner.filtered(conditions)
    order, items = numbers[0].name, inner.items[: -len(numbers)]
    computed = [checked_bound(bound) for bound in bounds if isinstance(bound, str)]
    if not computed:
        return replace(kept, items=items, order=order)
    # a negative bound is an error even without records: a second branch, always empty, checks the bounds
    types = (*(spark_type(type) for type in schema.types), *("BIGINT" for _ in numbers))
    nulls = ", ".join(f"CAST(NULL AS {type})" for type in types)
    wrong = " OR ".join(f"{bound} < 0L" for bound in computed)
    text = f"({kept.text()}) UNION ALL (SELECT {nulls} WHERE {wrong})"
    return Query(source=f"({text})", items=items, order=order, depth=inner.depth + 1)


def checked(bound: Bound) -> str | None:
    """Return a bound as an i64 that raises if it is negative; None without a bound."""
    return f"{bound}L" if isinstance(bound, int) else None if bound is None else checked_bound(bound)
