"""Reads as Spark SQL: the data comes from the compilation's sources; filters and the projection are added here."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    VirtualTable,
)
from pyspark_substrait.model.types import List, Map, Struct, concrete
from pyspark_substrait.model.unbound import LEAVES
from pyspark_substrait.model.walk import root_fields
from pyspark_substrait.sql.compiler import expressions, masks, relations, virtual_tables
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted, quoted_path
from pyspark_substrait.sql.compiler.query import Item, Query
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope, Source
from pyspark_substrait.sql.compiler.types import TIME_SETTINGS, check_version, has_time, spark_type
from pyspark_substrait.sql.fragment import Name

__all__ = ["catalog_source", "matched", "read"]


_KINDS: dict[type, str] = {
    LocalFiles: "files",
    IcebergTable: "Iceberg tables",
    ExtensionTable: "extension tables",
}


def catalog_source(node: Read) -> Source | None:
    """Return the source of a read by name: the table in the session's catalog, its columns by their names."""
    if isinstance(node.read_type, VirtualTable):
        return None
    if not isinstance(node.read_type, NamedTable):
        kind = _KINDS[node.read_type.__class__]
        raise UnsupportedPlanError(f"{kind} can be read only with a Spark session")
    columns = []
    for name, type in zip(node.base_schema.top_level_names(), node.base_schema.struct.types, strict=True):
        text = quoted(name)
        nested = type.__class__ not in LEAVES and isinstance(concrete(type), Struct | List | Map)
        columns.append(f"CAST({text} AS {spark_type(type)})" if nested else text)
    return Source(quoted_path(node.read_type.names), tuple(columns), (None,) * len(columns))


def read(node: Read, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of a read: the used columns, the filters, then the projection."""
    if has_time(node.base_schema.struct):
        compilation.settings.update(TIME_SETTINGS)
        for position, type in enumerate(node.base_schema.struct.types):
            with at("base_schema", "struct", "types", position):
                check_version(type, compilation.spark)
    match node.read_type:
        case VirtualTable():
            with at("virtual_table"):
                query = virtual_tables.virtual_table(node, node.read_type, outer, compilation)
        case NamedTable(advanced_extension=extension):
            relations.refuse_enhancement(extension, "named_table.advanced_extension")
            query = _stored(node, compilation)
        case LocalFiles(advanced_extension=extension):
            relations.refuse_enhancement(extension, "local_files.advanced_extension")
            query = _stored(node, compilation)
        case IcebergTable() | ExtensionTable():
            query = _stored(node, compilation)
    for name, condition in (("filter", node.filter), ("best_effort_filter", node.best_effort_filter)):
        if condition is not None:
            with at(name):
                query = query.flat()
                below = Below()
                scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
                conditions = expressions.conditions(condition, scope, compilation)
                query = below.filtered(query, conditions, compilation)
    return query if node.projection is None else _projected(node, query, compilation)


def _stored(node: Read, compilation: Compilation) -> Query:
    """Return the columns of a stored table. Columns that nothing in the plan refers to aren't read."""
    source = compilation.sources(node)
    assert source is not None, "only a virtual table is without one"
    used = _used(node, compilation)
    items = tuple(Item(text, compilation.column()) for text in source.columns)
    read = items if used is None else tuple(item for position, item in enumerate(items) if position in used)
    required = [
        entry
        for position, entry in enumerate(source.required)
        if entry is not None and (used is None or position in used)
    ]
    for item, type in zip(items, node.base_schema.struct.types, strict=True):
        if not isinstance(item.text, Name):
            compilation.require(type)
    query = Query(source=source.text, items=read, where=_checks(required))
    if used is None:
        return query
    # dropped columns keep the positions correct
    kept = tuple(Item(item.name if position in used else "", item.name) for position, item in enumerate(items))
    return Query(source=f"({query.text()})", items=kept, depth=1)


def matched(source: Source, columns: Sequence[Name]) -> str:
    """Return the statement that selects all columns of a source under new names."""
    items = tuple(Item(text, column) for text, column in zip(source.columns, columns, strict=True))
    required = [entry for entry in source.required if entry is not None]
    return Query(source=source.text, items=items, where=_checks(required)).text()


def _checks(required: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return a condition that is true for records whose required columns aren't null, and raises for all others.

    It is one condition for all columns: Spark takes most of a millisecond to analyse each condition.
    """
    if not required:
        return ()
    names = ", ".join(name for _, name in required)
    message = f"{names} is null" if len(required) == 1 else f"one of {names} is null"
    fine = " AND ".join(f"{text} IS NOT NULL" for text, _ in required)
    return (f"assert_true({fine}, {string_literal(f'{message}, but the plan says it never is')}) IS NULL",)


def _used(node: Read, compilation: Compilation) -> Collection[int] | None:
    """Return the columns that the projection, a filter or else the plan needs; None if that may be all of them."""
    if node.projection is None:
        needed = compilation.needed.get(id(node))
        return None if needed is None or len(needed) == len(node.base_schema.struct.types) else needed
    used = {item.field for item in node.projection.select.struct_items}
    for condition in (node.filter, node.best_effort_filter):
        if condition is not None:
            fields = root_fields(condition)
            if fields is None:
                return None
            used |= fields
    return used


def _projected(node: Read, query: Query, compilation: Compilation) -> Query:
    assert node.projection is not None
    query = query.flat()
    items: list[Item] = []
    taken: set[str] = set()
    for position, chosen in enumerate(node.projection.select.struct_items):
        with at("projection", "select", "struct_items", position):
            if not 0 <= chosen.field < len(query.columns):
                raise InvalidPlanError(f"there is no field {chosen.field}; the table has {len(query.columns)} columns")
            column = query.columns[chosen.field]
            if chosen.child is not None:
                with at("child"):
                    maintain = node.projection.maintain_singular_struct
                    text = masks.part(column, chosen.child, maintain, compilation.names)
                items.append(Item(text, compilation.column()))
            else:
                items.append(Item(column, compilation.column() if column in taken else column))
                taken.add(column)
    return Query(source=query.source, items=tuple(items), where=query.where, depth=query.depth)
