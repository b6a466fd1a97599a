"""Reads of tables by name, and of records that are in the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import expressions, relations, structs
from pyspark_substrait.engines.dialects.query import Item, Query, of_table
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import NamedTable, Read, VirtualTable

__all__ = ["read"]

#: the bytes that the number of an alias has at most
_NUMBER: Final = 6


def read(node: Read, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of a read: the table, its filter, then the columns that the mask keeps.

    A filter that need not be applied is left out.
    """
    match node.read_type:
        case NamedTable(names=names):
            query = _named(node, names, compilation)
        case VirtualTable():
            with at("virtual_table"):
                query = _virtual(node, node.read_type, outer, compilation)
        case _:
            raise UnsupportedPlanError(
                "only tables are read by their names, and records in the plan",
                path="read_type",
                hint="Make a table of the files, and let the plan read it by its name",
                code=Code.TARGET_FEATURE,
            )
    if node.filter is not None:
        with at("filter"):
            query = relations.filtered(query, node.filter, node.common.rel_anchor, outer, compilation)
    if node.projection is None:
        return query
    items = []
    for position, chosen in enumerate(node.projection.select.struct_items):
        with at("projection", "select", "struct_items", position):
            if chosen.child is not None:
                raise UnsupportedPlanError("reads that keep parts of columns have no form yet")
            if not 0 <= chosen.field < len(query.items):
                raise InvalidPlanError(f"there is no field {chosen.field}; the table has {len(query.items)} columns")
            items.append(Item(query.items[chosen.field].tree.copy(), query.items[chosen.field].name))
    return replace(query, items=tuple(items))


def _named(node: Read, names: tuple[str, ...], compilation: Compilation) -> Query:
    if not names:
        raise InvalidPlanError("a table has a name", path="named_table.names")
    parts = [exp.to_identifier(name, quoted=True) for name in names]
    tree: exp.Expression
    if len(parts) <= 3:
        labels = ("this", "db", "catalog")
        tree = exp.Table(**dict(zip(labels, reversed(parts), strict=False)))
    else:
        raise UnsupportedPlanError(f"a name of {len(parts)} parts", path="named_table.names", code=Code.TARGET_FEATURE)
    most = compilation.dialect.longest_name
    is_long = most is not None and len(names[-1].encode("utf-8", "replace")) > most - _NUMBER
    alias = compilation.names.fresh("t" if is_long else names[-1])
    found = of_table(tree, alias, node.base_schema.top_level_names())
    return structs.without_names(found, node.base_schema, compilation)


def _virtual(node: Read, table: VirtualTable, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    types = node.base_schema.struct.types
    names = list(node.base_schema.top_level_names())
    if len({name.lower() for name in names}) < len(names) or "" in names:
        names = [f"c{place + 1}" for place in range(len(types))]
    scope = Scope(Record(()), outer)
    rows = []
    for number, record in enumerate(table.expressions):
        row = []
        for place, (field, type) in enumerate(zip(record.fields, types, strict=True)):
            with at("expressions", number, "fields", place):
                value = expressions.expression(field, scope, compilation)
                row.append(expressions.cast(value, field.type, type, compilation))
        rows.append(row)
    if not types:
        rows = [[exp.Literal.number(1)] for _ in rows]
        names = ["record"]
    if not rows:
        nothing = [compilation.dialect.typed(exp.null(), type) for type in types]
        empty = Query(source=None, items=tuple(map(Item, nothing, names)), where=(exp.false(),))
        return empty.nested(compilation.names)
    if compilation.dialect.values:
        tree: exp.Expression = exp.Values(expressions=[exp.Tuple(expressions=row) for row in rows])
        found = of_table(tree, compilation.names.fresh("t"), names, listed=True)
    else:
        statements = [Query(source=None, items=tuple(map(Item, row))).select(names) for row in rows]
        tree = statements[0]
        for statement in statements[1:]:
            tree = exp.Union(this=tree, expression=statement, distinct=False)
        found = of_table(exp.Subquery(this=tree), compilation.names.fresh("t"), names)
    return found if types else replace(found, items=())
