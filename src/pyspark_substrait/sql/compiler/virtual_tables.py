"""Virtual tables as Spark SQL: small ones as VALUES; large ones of literals come from the compilation's sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import (
    DetachedExpression,
    DynamicParameter,
    Expression,
    FieldReference,
    NestedList,
    NestedMap,
    NestedStruct,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Read, VirtualTable
from pyspark_substrait.model.relations.literal_columns import LiteralColumns
from pyspark_substrait.model.types import Type, same_type
from pyspark_substrait.model.walk import expression_children
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Name

__all__ = ["virtual_table"]

#: Tables with up to this many values are written out; larger ones go to Spark as data.
_MOST_WRITTEN = 2_000
#: Up to this many computed records are a SELECT each.
_MOST_SELECTS = 20

#: A record, and its position in the table.
_Numbered: TypeAlias = "tuple[int, NestedStruct]"


def virtual_table(node: Read, table: VirtualTable, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a virtual table.

    Raises:
        InvalidPlanError: a record isn't one of the schema.
    """
    types = node.base_schema.struct.types
    if not types:
        return _without_columns(table)
    _check(table, types)
    columns = tuple(compilation.column() for _ in types)
    if not table.row_count:
        nulls = tuple(
            Item(f"CAST(NULL AS {spark_type(type)})", column) for type, column in zip(types, columns, strict=True)
        )
        return Query(source=f"({Query(source='', items=nulls).text()} WHERE false)", items=plain(columns), depth=1)
    rest: list[_Numbered] = []
    source = None
    if _is_large(table):
        literals, rest = _parted(table, compilation)
        source = compilation.sources(replace(node, read_type=literals))
    if source is None:
        rest = list(enumerate(table.expressions))
        return _written(rest, columns, outer, compilation)
    items = tuple(Item(text, column) for text, column in zip(source.columns, columns, strict=True))
    query = Query(source=source.text, items=items)
    if not rest:
        return query
    others = _written(rest, columns, outer, compilation)
    return Query(source=f"({query.text()} UNION ALL {others.text()})", items=plain(columns), depth=others.depth + 1)


def _without_columns(table: VirtualTable) -> Query:
    """Return a query with the number of records of the table, without columns."""
    for number, record in enumerate(table.expressions):
        if record.fields:
            with at("expressions", number):
                raise InvalidPlanError(f"the record has {len(record.fields)} fields, the schema 0")
    return Query(source=f"range({len(table.expressions)})", items=())


def _check(table: VirtualTable, types: Sequence[Type]) -> None:
    """Check that each record has a field of the right type for each column."""
    if table.columns is not None and _fit(table.columns, types):
        return
    for number, record in enumerate(table.expressions):
        if len(record.fields) != len(types):
            with at("expressions", number):
                raise InvalidPlanError(f"the record has {len(record.fields)} fields, the schema {len(types)}")
    for position, type in enumerate(types):
        # most literals of a column share one type, which is checked once
        right: set[int] = set()
        for number, record in enumerate(table.expressions):
            field = record.fields[position]
            here = field.type
            if id(here) not in right or (not type.nullable and isinstance(field, Literal) and field.value is None):
                with at("expressions", number, "fields", position):
                    _check_cell(field, type)
                if isinstance(field, Literal):
                    right.add(id(here))


def _fit(columns: LiteralColumns, types: Sequence[Type]) -> bool:
    """Whether all values are of their columns' types."""
    return len(columns.columns) == len(types) and all(
        same_type(column.type, type) and (type.nullable or not column.values.null_count)
        for column, type in zip(columns.columns, types, strict=True)
    )


def _check_cell(field: Expression, type: Type) -> None:
    if not same_type(field.type, type):
        raise InvalidPlanError(f"the field is {field.type}, the schema says {type}")
    if not type.nullable and isinstance(field, Literal) and field.value is None:
        raise InvalidPlanError(f"the field is null, the schema says {type}")


def _is_large(table: VirtualTable) -> bool:
    """Whether there are more values than are written out, nested ones included."""
    if table.columns is not None:
        return len(table.columns) * len(table.columns.columns) > _MOST_WRITTEN
    left, most = _MOST_WRITTEN, _MOST_WRITTEN + 1
    pending: list[object] = [cell for record in table.expressions[:most] for cell in record.fields[:most]]
    while pending and left >= 0:
        left -= 1
        value = pending.pop()
        if isinstance(value, Literal):
            value = value.value
        if isinstance(value, tuple):
            pending.extend(value)
    return left < 0


def _parted(table: VirtualTable, compilation: Compilation) -> tuple[VirtualTable, list[_Numbered]]:
    """Split the records into those of literals only, or of parameters with known literals, and the others."""
    if table.columns is not None or all(
        cell.__class__ is Literal for record in table.expressions for cell in record.fields
    ):
        return table, []
    literals, others = [], []
    for number, record in enumerate(table.expressions):
        known = [compilation.known(cell) for cell in record.fields]
        cells = tuple(cell for cell in known if cell is not None)
        if len(cells) == len(known):
            literals.append(NestedStruct(fields=cells))
        else:
            others.append((number, record))
    return VirtualTable(expressions=tuple(literals)), others


def _written(
    records: Sequence[_Numbered], columns: tuple[Name, ...], outer: tuple[Record, ...], compilation: Compilation
) -> Query:
    """The records: those that Spark takes there as VALUES, the others as a SELECT each, or many in one."""
    rows: list[str] = []
    computed: list[list[Atom]] = []
    free = True
    scope = Scope(Record(()), outer)
    for number, record in records:
        cells = []
        for position, field in enumerate(record.fields):
            with at("expressions", number, "fields", position):
                cells.append(expressions.expression(field, scope, compilation))
        if all(map(_is_inline, record.fields)):
            rows.append(f"({', '.join(cells)})")
        else:
            computed.append(cells)
            free = free and not any(map(_looks_out, record.fields))
    selects = (
        [_generated(computed, columns)] if free and len(computed) > _MOST_SELECTS else _selected(computed, columns)
    )
    parts = [f"VALUES {', '.join(rows)} AS v({', '.join(columns)})"] if rows else []
    if rows and selects:
        parts = [f"SELECT * FROM ({parts[0]})"]
    return Query(source=f"({' UNION ALL '.join([*parts, *selects])})", items=plain(columns), depth=1)


def _selected(records: Sequence[Sequence[str]], columns: tuple[Name, ...]) -> list[str]:
    """A SELECT for each record."""
    return [
        Query(source="", items=tuple(Item(cell, column) for cell, column in zip(record, columns, strict=True))).text()
        for record in records
    ]


def _generated(records: Sequence[Sequence[str]], columns: tuple[Name, ...]) -> str:
    """Return one SELECT of many records: that many, combined, would be too deep for Spark's parser."""
    structs = (
        ", ".join(f"'{column}', {cell}" for cell, column in zip(record, columns, strict=True)) for record in records
    )
    made = ", ".join(f"named_struct({fields})" for fields in structs)
    return f"SELECT inline(array({made})) AS ({', '.join(columns)})"


def _is_inline(expression: Expression) -> bool:
    """Whether an expression may be in VALUES.

    Spark evaluates VALUES while it plans. It refuses expressions that it can't evaluate then (any that may raise an
    error of their own, random numbers, lambdas, functions in Python), and an error would be one of the statement, not
    of the data. So only expressions of plain values are allowed there.
    """
    match expression:
        case Literal() | DynamicParameter():
            return True
        case NestedStruct() | NestedList() | NestedMap() | DetachedExpression():
            return all(map(_is_inline, expression_children(expression)))
        case _:
            return False


def _looks_out(expression: Expression) -> bool:
    """Whether an expression refers to a record of an enclosing query."""
    return isinstance(expression, FieldReference) or any(map(_looks_out, expression_children(expression)))
