"""Set operations. As in the specification, null matches null."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp
from typing_extensions import assert_never

from pyspark_substrait.engines.dialects import aggregates, relations, subqueries
from pyspark_substrait.engines.dialects.query import Query, of_table
from pyspark_substrait.engines.dialects.scope import Compilation, Record
from pyspark_substrait.engines.multiplicities import OF_DISTINCT, with_numbered_copies
from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.relations import Set, SetOp

__all__ = ["set_operation"]

_Operator = type[exp.SetOperation]


def set_operation(node: Set, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of a set operation."""
    if node.op in OF_DISTINCT and not compilation.dialect.multiplicities:
        bare = replace(node, common=replace(node.common, emit=None))
        return relations.relation(with_numbered_copies(bare), outer, compilation)
    for type in node.direct_schema.types if node.op is not SetOp.UNION_ALL else ():
        if relations.equality_template(type, compilation) != "{0}" and aggregates.is_float(type):
            raise UnsupportedPlanError(f"{compilation.dialect.engine} tells 0.0 from -0.0, as values of {type}")
    queries = []
    for position, member in enumerate(node.members):
        with at("inputs", position):
            queries.append(relations.relation(member, outer, compilation))
    primary, *secondary = queries
    match node.op:
        case SetOp.UNION_ALL:
            return _combined(exp.Union, False, queries, compilation)
        case SetOp.UNION_DISTINCT:
            return _combined(exp.Union, True, queries, compilation)
        case SetOp.MINUS_PRIMARY:
            return _combined(exp.Except, True, queries, compilation)
        case SetOp.MINUS_PRIMARY_ALL:
            return _combined(exp.Except, False, queries, compilation)
        case SetOp.INTERSECTION_MULTISET:
            return _combined(exp.Intersect, True, queries, compilation)
        case SetOp.INTERSECTION_MULTISET_ALL:
            return _combined(exp.Intersect, False, queries, compilation)
        case SetOp.INTERSECTION_PRIMARY:
            others = _combined(exp.Union, False, secondary, compilation)
            return _combined(exp.Intersect, True, [primary, others], compilation)
        case SetOp.MINUS_MULTISET:
            return _without_common(primary, secondary, compilation)
        case _:
            assert_never(node.op)


def _combined(operator: _Operator, distinct: bool, queries: Sequence[Query], compilation: Compilation) -> Query:
    """Combine queries with one operator, from left to right."""
    if len(queries) == 1:
        return queries[0]
    names = [item.name or f"c{place + 1}" for place, item in enumerate(queries[0].items)]
    if len({name.lower() for name in names}) < len(names):
        names = [f"c{place + 1}" for place in range(len(names))]
    statements = [_operand(query, compilation).select(names) for query in queries]
    tree: exp.Expression = statements[0]
    for statement in statements[1:]:
        tree = operator(this=tree, expression=statement, distinct=distinct)
    return of_table(exp.Subquery(this=tree), compilation.names.fresh("t"), names)


def _operand(query: Query, compilation: Compilation) -> Query:
    """Return a query that may be an operand as it is."""
    keeps_all = any(join.args.get("side") in ("RIGHT", "FULL") for join in query.joins)
    if query.is_limited or (keeps_all and not compilation.dialect.joined_operands):
        query = query.nested(compilation.names)
    return replace(query, order=())


def _without_common(primary: Query, secondary: Sequence[Query], compilation: Compilation) -> Query:
    """Return the primary records, duplicates kept, that aren't in all of the secondary inputs."""
    common = _combined(exp.Intersect, True, secondary, compilation).flat(compilation.names)
    primary = primary.flat(compilation.names)
    same = [
        compilation.dialect.filled(compilation.dialect.equality, one.copy(), other.copy())
        for one, other in zip(primary.columns, common.columns, strict=True)
    ]
    return primary.filtered([exp.Not(this=subqueries.exists(common, same, compilation))])
