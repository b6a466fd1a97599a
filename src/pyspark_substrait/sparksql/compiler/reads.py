"""Reads as Spark SQL: what is read comes from the compilation's sources; filters and the projection are laid on it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import StructSelect
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    VirtualTable,
)
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, same_type
from pyspark_substrait.model.walk import root_fields
from pyspark_substrait.sparksql.compiler import calls, expressions, relations
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.compiler.names import quoted, quoted_path
from pyspark_substrait.sparksql.compiler.query import Item, Query, plain
from pyspark_substrait.sparksql.compiler.scope import Compilation, Record, Scope, Source
from pyspark_substrait.sparksql.compiler.types import spark_type

__all__ = ["catalog_source", "read"]


def catalog_source(node: Read) -> Source:
    """The source of a read by names alone: the table in the session's catalog, its columns by their names."""
    if not isinstance(node.read_type, NamedTable):
        raise UnsupportedPlanError("files can be read only with a Spark session")
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
                query = _virtual(node, node.read_type, compilation)
        case NamedTable(advanced_extension=extension):
            relations.refuse_enhancement(extension, "named_table.advanced_extension")
            query = _stored(node, compilation)
        case LocalFiles(advanced_extension=extension):
            relations.refuse_enhancement(extension, "local_files.advanced_extension")
            query = _stored(node, compilation)
        case IcebergTable():
            raise UnsupportedPlanError("Iceberg tables can't be read yet", path="iceberg_table")
        case ExtensionTable(detail=detail):
            raise UnsupportedPlanError(
                f"the extension table {detail.type_url} isn't known here", path="extension_table"
            )
    for name, condition in (("filter", node.filter), ("best_effort_filter", node.best_effort_filter)):
        if condition is not None:
            with at(name):
                query = query.flat()
                scope = Scope(Record(query.columns, node.common.rel_anchor), outer)
                query = query.filtered(expressions.conditions(condition, scope, compilation))
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
                if not isinstance(chosen.child, StructSelect):
                    raise UnsupportedPlanError("a mask inside a list or map can't run on Spark yet")
                type = node.base_schema.struct.types[chosen.field]
                text = _masked(column, type, chosen.child, node.projection.maintain_singular_struct)
                items.append(Item(text, compilation.column()))
            else:
                items.append(Item(column, compilation.column() if column in taken else column))
                taken.add(column)
    return Query(source=query.source, items=tuple(items), where=query.where, depth=query.depth)


def _masked(text: str, type: Type, select: StructSelect, maintain: bool) -> str:
    """A struct of which only some fields are kept."""
    struct = concrete(type)
    if not isinstance(struct, Struct):
        raise InvalidPlanError(f"the mask keeps fields of {type}, which isn't a struct")
    fields = []
    for item in select.struct_items:
        if not 0 <= item.field < len(struct.types):
            raise InvalidPlanError(f"there is no field {item.field}; the struct has {len(struct.types)}")
        field = f"{text}.f{item.field}"
        if item.child is not None:
            if not isinstance(item.child, StructSelect):
                raise UnsupportedPlanError("a mask inside a list or map can't run on Spark yet")
            field = _masked(field, struct.types[item.field], item.child, maintain)
        fields.append(field)
    if len(fields) == 1 and not maintain:
        return fields[0]
    listed = ", ".join(f"'f{position}', {field}" for position, field in enumerate(fields))
    made = f"named_struct({listed})"
    return f"(CASE WHEN {text} IS NOT NULL THEN {made} END)" if struct.nullable else made


def _virtual(node: Read, table: VirtualTable, compilation: Compilation) -> Query:
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
    rows = []
    for number, record in enumerate(table.expressions):
        with at("expressions", number):
            if len(record.fields) != len(types):
                raise InvalidPlanError(f"the record has {len(record.fields)} fields, the schema {len(types)}")
            cells = []
            for position, (field, type) in enumerate(zip(record.fields, types, strict=True)):
                with at("fields", position):
                    cells.append(_cell(field, type, compilation))
            rows.append(f"({', '.join(cells)})")
    source = f"(VALUES {', '.join(rows)} AS v({', '.join(columns)}))"
    return Query(source=source, items=plain(columns), depth=1)


def _cell(field: Expression, type: Type, compilation: Compilation) -> str:
    if not same_type(field.type, type):
        raise InvalidPlanError(f"the field is {field.type}, the schema says {type}")
    if not type.nullable and isinstance(field, Literal) and field.value is None:
        raise InvalidPlanError(f"the field is null, the schema says {type}")
    text = expressions.expression(field, Scope(Record(())), compilation)
    return calls.atom(text)
