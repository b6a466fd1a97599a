"""Set operations as Spark SQL. As in the specification, null matches null."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.relations import Set, SetOp
from pyspark_substrait.sql.compiler import relations
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record
from pyspark_substrait.sql.compiler.types import has_map

__all__ = ["set_operation"]


def set_operation(node: Set, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a set operation."""
    schema = node.direct_schema
    if node.op is not SetOp.UNION_ALL and any(has_map(type) for type in schema.types):
        raise UnsupportedPlanError("Spark cannot compare maps, so only UNION_ALL takes them", path="op")
    queries = []
    for position, member in enumerate(node.inputs):
        with at("inputs", position):
            queries.append(relations.relation(member, outer, compilation))
    primary, secondary = queries[0], queries[1:]
    match node.op:
        case SetOp.UNION_ALL:
            return _combined("UNION ALL", queries, compilation)
        case SetOp.UNION_DISTINCT:
            return _combined("UNION DISTINCT", queries, compilation)
        case SetOp.MINUS_PRIMARY:
            return _combined("EXCEPT DISTINCT", queries, compilation)
        case SetOp.MINUS_PRIMARY_ALL:
            return _combined("EXCEPT ALL", queries, compilation)
        case SetOp.MINUS_MULTISET:
            return _without_common(primary, secondary, compilation)
        case SetOp.INTERSECTION_PRIMARY:
            return _combined(
                "INTERSECT DISTINCT", [primary, _combined("UNION ALL", secondary, compilation)], compilation
            )
        case SetOp.INTERSECTION_MULTISET:
            return _combined("INTERSECT DISTINCT", queries, compilation)
        case SetOp.INTERSECTION_MULTISET_ALL:
            return _combined("INTERSECT ALL", queries, compilation)
        case _:
            assert_never(node.op)


def _combined(operator: str, queries: Sequence[Query], compilation: Compilation) -> Query:
    """Combine the queries with one operator, from left to right. The result has new column names."""
    if len(queries) == 1:
        return queries[0]
    columns = tuple(compilation.column() for _ in queries[0].items)
    first = queries[0].nested()
    renamed = first.text(tuple(Item(old, new) for old, new in zip(first.columns, columns, strict=True)))
    texts = [f"({renamed})", *(f"({query.text()})" for query in queries[1:])]
    depth = 1 + max(query.depth for query in queries)
    return Query(source=f"({f' {operator} '.join(texts)})", items=plain(columns), depth=depth)


def _without_common(primary: Query, secondary: Sequence[Query], compilation: Compilation) -> Query:
    """The primary records, duplicates kept, that aren't in all of the secondary inputs."""
    common = _combined("INTERSECT DISTINCT", secondary, compilation)
    same = " AND ".join(f"{left} <=> {right}" for left, right in zip(primary.columns, common.columns, strict=True))
    return Query(
        source=f"{primary.as_source()} LEFT ANTI JOIN ({common.text()}) ON {same}",
        items=plain(primary.columns),
        depth=1 + max(primary.depth, common.depth),
        joins=True,
    )
