"""Structs, whose fields have positions in a plan, and names in tables and in the result.

An engine puts structs of tables together by these names. So where they differ for one type, structs lose them where
they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlglot import exp

from pyspark_substrait.engines.dialects.query import Item, Query
from pyspark_substrait.engines.dialects.scope import Compilation
from pyspark_substrait.engines.dialects.tree import is_column, type_tree
from pyspark_substrait.model.struct_names import TypeNumbers, named_structs, schema_structs
from pyspark_substrait.model.types import NamedStruct, Type

__all__ = ["differing", "with_names", "without_names"]


def differing(schemas: Iterable[NamedStruct]) -> Callable[[Type], bool]:
    """Return whether a type holds structs whose fields have several names in some schemas."""
    numbers = TypeNumbers()
    names: dict[int, set[tuple[str, ...]]] = {}
    for schema in schemas:
        for struct, own in schema_structs(schema):
            names.setdefault(numbers.number(struct), set()).add(own)
    several = {number for number, found in names.items() if len(found) > 1}

    def differs(type: Type) -> bool:
        return bool(several) and any(numbers.number(one) in several for one, _ in named_structs(type, iter(())))

    return differs


def without_names(query: Query, schema: NamedStruct, compilation: Compilation) -> Query:
    """Return the columns of a table, whose structs have no names where other ones have others."""
    if not any(map(compilation.differs, schema.struct.types)):
        return query
    pairs = zip(query.items, schema.struct.types, strict=True)
    items = [
        Item(compilation.dialect.typed(item.tree, type), item.name) if compilation.differs(type) else item
        for item, type in pairs
    ]
    return replace(query, items=tuple(items))


def with_names(query: Query, schema: NamedStruct, compilation: Compilation) -> Query:
    """Return the columns of a result, whose structs have the names that it states for their fields."""
    named_type = compilation.dialect.named_type
    if named_type is None:
        return query
    items = []
    names = iter(schema.names)
    for item, type in zip(query.items, schema.struct.types, strict=True):
        next(names)
        text = named_type(type, names)
        if text == compilation.dialect.type_text(type) or (
            _is_of_table(item.tree, query, compilation) and not compilation.differs(type)
        ):
            items.append(item)
        else:
            items.append(
                Item(exp.Cast(this=item.tree, to=type_tree(text, compilation.dialect.sqlglot).copy()), item.name)
            )
    return replace(query, items=tuple(items))


def _is_of_table(tree: exp.Expression, query: Query, compilation: Compilation) -> bool:
    """Whether a value is the column of a table."""
    sources = (query.source, *(join.this for join in query.joins))
    tables = {
        one.alias_or_name for one in sources if isinstance(one, exp.Table) and one.name.lower() in compilation.tables
    }
    return is_column(tree) and isinstance(tree, exp.Column) and tree.table in tables
