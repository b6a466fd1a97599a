"""Reads as Spark SQL: what is read comes from the compilation's sources; filters and the projection are laid on it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    Cast,
    DetachedExpression,
    DynamicParameter,
    Expression,
    NestedList,
    NestedMap,
    NestedStruct,
    ScalarFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    VirtualTable,
)
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, same_type
from pyspark_substrait.model.walk import expression_children, root_fields
from pyspark_substrait.sparksql.compiler import calls, expressions, masks, relations
from pyspark_substrait.sparksql.compiler.below import Below
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.compiler.names import quoted, quoted_path
from pyspark_substrait.sparksql.compiler.query import Item, Query, plain
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record, Scope, Source
from pyspark_substrait.sparksql.compiler.types import spark_type

__all__ = ["catalog_source", "read"]


_KINDS: dict[type, str] = {
    LocalFiles: "files",
    IcebergTable: "Iceberg tables",
    ExtensionTable: "extension tables",
    VirtualTable: "virtual tables of this size",
}


def catalog_source(node: Read) -> Source:
    """The source of a read by names alone: the table in the session's catalog, its columns by their names."""
    if not isinstance(node.read_type, NamedTable):
        kind = _KINDS[node.read_type.__class__]
        raise UnsupportedPlanError(f"{kind} can be read only with a Spark session")
    columns = []
    for name, type in zip(node.base_schema.top_level_names(), node.base_schema.struct.types, strict=True):
        text = quoted(name)
        nested = isinstance(concrete(type), Struct | List | Map)
        columns.append(f"CAST({text} AS {spark_type(type)})" if nested else text)
    return Source(quoted_path(node.read_type.names), tuple(columns), (None,) * len(columns))


def read(node: Read, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a read: the columns that are used, the filters, then the projection."""
    match node.read_type:
        case VirtualTable():
            with at("virtual_table"):
                query = _virtual(node, node.read_type, outer, compilation)
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
    """The columns of a stored table. Those that neither a filter nor the projection refers to aren't read."""
    source = compilation.sources(node)
    used = _used(node)
    items = tuple(Item(text, compilation.column()) for text in source.columns)
    read = items if used is None else tuple(item for position, item in enumerate(items) if position in used)
    required = [
        entry
        for position, entry in enumerate(source.required)
        if entry is not None and (used is None or position in used)
    ]
    query = Query(source=source.text, items=read, where=_checks(required))
    if used is None:
        return query
    # the names of the columns left out keep the positions right; nothing refers to them
    return Query(source=f"({query.text()})", items=plain(item.name for item in items), depth=1)


def _checks(required: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """A condition that is true for every record whose required columns aren't null, and raises for the others.

    It is one condition for all columns: Spark takes most of a millisecond to analyse each.
    """
    if not required:
        return ()
    names = ", ".join(name for _, name in required)
    message = f"{names} is null" if len(required) == 1 else f"one of {names} is null"
    fine = " AND ".join(f"{text} IS NOT NULL" for text, _ in required)
    return (f"assert_true({fine}, {string_literal(f'{message}, but the plan says it never is')}) IS NULL",)


def _used(node: Read) -> set[int] | None:
    """The columns that the projection keeps or a filter needs; None when that is, or may be, all of them."""
    if node.projection is None:
        return None
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


def _virtual(node: Read, table: VirtualTable, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a virtual table as VALUES."""
    types = node.base_schema.struct.types
    columns = tuple(compilation.column() for _ in types)
    if not types:
        raise UnsupportedPlanError("a virtual table without columns can't run on Spark")
    if not table.expressions:
        nulls = tuple(
            Item(f"CAST(NULL AS {spark_type(type)})", column) for type, column in zip(types, columns, strict=True)
        )
        return Query(source=f"({Query(source='', items=nulls).text()} WHERE false)", items=plain(columns), depth=1)
    rows: list[str] = []
    selects: list[str] = []
    for number, record in enumerate(table.expressions):
        with at("expressions", number):
            if len(record.fields) != len(types):
                raise InvalidPlanError(f"the record has {len(record.fields)} fields, the schema {len(types)}")
            cells = []
            for position, (field, type) in enumerate(zip(record.fields, types, strict=True)):
                with at("fields", position):
                    cells.append(_cell(field, type, outer, compilation))
            if all(map(_is_inline, record.fields)):
                rows.append(f"({', '.join(cells)})")
            else:
                items = (Item(cell, column) for cell, column in zip(cells, columns, strict=True))
                selects.append(Query(source="", items=tuple(items)).text())
    parts = [f"VALUES {', '.join(rows)} AS v({', '.join(columns)})"] if rows else []
    if rows and selects:
        parts = [f"SELECT * FROM ({parts[0]})"]
    return Query(source=f"({' UNION ALL '.join([*parts, *selects])})", items=plain(columns), depth=1)


def _is_inline(expression: Expression) -> bool:
    """Whether Spark takes an expression in VALUES: it evaluates it there and then, which it can't with every one."""
    match expression:
        case Literal() | DynamicParameter():
            return True
        case ScalarFunction() | Cast() | NestedStruct() | NestedList() | NestedMap() | DetachedExpression():
            return all(map(_is_inline, expression_children(expression)))
        case _:
            return False


def _cell(field: Expression, type: Type, outer: tuple[Record, ...], compilation: Compilation) -> str:
    if not same_type(field.type, type):
        raise InvalidPlanError(f"the field is {field.type}, the schema says {type}")
    if not type.nullable and isinstance(field, Literal) and field.value is None:
        raise InvalidPlanError(f"the field is null, the schema says {type}")
    text = expressions.expression(field, Scope(Record(()), outer), compilation)
    return calls.atom(text)
