"""Fetch as Spark SQL.

Spark's LIMIT and OFFSET take a constant, non-null i32. What isn't one goes through the numbers of the records.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import DetachedExpression, DynamicParameter, Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Fetch
from pyspark_substrait.model.types import I8, I16, I32, I64, concrete
from pyspark_substrait.model.walk import holds_query
from pyspark_substrait.sparksql.compiler import expressions
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.compiler.query import Item, Query
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record, Scope

__all__ = ["fetch"]

_LARGEST = 2**31 - 1


def fetch(node: Fetch, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a query from an offset on, up to a count."""
    if query.tail:
        query = query.nested()
    offset = _bound(node.offset_expr, "offset_expr", compilation)
    count = _bound(node.count_expr, "count_expr", compilation)
    if _fits(offset) and _fits(count):
        parts = []
        if count is not None:
            parts.append(f"LIMIT {count}")
        if offset:
            parts.append(f"OFFSET {offset}")
        return replace(query, tail=" ".join(parts))
    return _numbered(query, offset, count, compilation)


def _fits(bound: int | str | None) -> bool:
    return bound is None or (isinstance(bound, int) and bound <= _LARGEST)


def _bound(node: Expression | None, name: str, compilation: Compilation) -> int | str | None:
    """A bound as a number, or as the text of an expression; None where it is unset or null."""
    if node is None:
        return None
    with at(name):
        value = _literal(node, compilation)
        if not isinstance(concrete(node.type), I8 | I16 | I32 | I64):
            raise InvalidPlanError(f"it must be an integer, but is {node.type}")
        if value is not None:
            if value.value is None:
                return None
            assert isinstance(value.value, int)
            if value.value < 0:
                raise InvalidPlanError(f"it can't be negative, but is {value.value}")
            return value.value
        if holds_query(node):
            raise UnsupportedPlanError("a subquery as a bound can't run on Spark yet")
        return expressions.expression(node, Scope(Record(())), compilation)


def _literal(node: Expression, compilation: Compilation) -> Literal | None:
    match node:
        case Literal():
            return node
        case DetachedExpression(expression=inner):
            return _literal(inner, compilation)
        case DynamicParameter(parameter_reference=reference):
            return compilation.parameters.get(reference)
        case _:
            return None


def _numbered(query: Query, offset: int | str | None, count: int | str | None, compilation: Compilation) -> Query:
    """The same by numbering the records in their order and comparing."""
    number, first, last = compilation.column(), _checked(offset), _checked(count)
    window = query.order or "monotonically_increasing_id()"
    items = (*query.items, Item(f"CAST(row_number() OVER (ORDER BY {window}) AS BIGINT)", number))
    inner = replace(query, items=items, order="").nested()
    wanted = []
    if first is not None:
        wanted.append(f"{number} > coalesce({first}, 0L)")
    if last is not None:
        wanted.append(f"({last} IS NULL OR {number} - coalesce({first or '0L'}, 0L) <= {last})")
    return replace(inner, items=inner.items[:-1], where=tuple(wanted), order=number)


def _checked(bound: int | str | None) -> str | None:
    """A bound as an i64 that raises when it is negative."""
    if bound is None or isinstance(bound, int):
        return None if bound is None else f"{bound}L"
    negative = f"raise_error({string_literal('a bound of a fetch is negative')})"
    return f"(CASE WHEN {bound} < 0 THEN CAST({negative} AS BIGINT) ELSE CAST({bound} AS BIGINT) END)"
