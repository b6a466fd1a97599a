"""The schemas of a plan: those that it states for tables, beside those that are derived for its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import (
    Ddl,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    Relation,
    Update,
    VirtualTable,
    Write,
)
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Type, name_count
from pyspark_substrait.text.explain.columns import Column, type_text
from pyspark_substrait.text.explain.table_text import named_columns, object_text

__all__ = ["Table", "TableColumn", "schemas"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table or a result.

    Args:
        name: its name; empty where it has none.
        expected: the type that the plan states.
        derived: the type of the records that go in or come out; empty where none is derived.
    """

    name: str
    expected: str = ""
    derived: str = ""

    @property
    def differs(self) -> bool:
        """Whether both types are given, and differ."""
        return bool(self.expected and self.derived) and self.expected != self.derived


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that the plan reads or writes, or a result of it.

    Args:
        title: a short description, like ``reads orders``.
        path: where in the plan.
        columns: its columns.
        left_open: whether its columns aren't known.
        compared: whether derived types are shown beside the stated ones.
    """

    title: str
    path: str
    columns: tuple[TableColumn, ...]
    left_open: bool = False
    compared: bool = False


def schemas(document: Plan | ExtendedExpression, places: Places) -> tuple[Table, ...]:
    """Return the schemas of a document: results first, then each table once, however often it is read."""
    if isinstance(document, ExtendedExpression):
        return (_expressions(document), _stated("record that the expressions see", "base_schema", document.base_schema))
    tables = {(table.title, table.columns): table for table in _tables(places)}
    merged = {(table.title, table.columns): table for table in reversed(list(_tables(places)))}
    return (*_results(document), *(merged[key] for key in tables))


def _expressions(document: ExtendedExpression) -> Table:
    columns = []
    for reference in document.referred_expr:
        names = reference.output_names
        try:
            derived = type_text(reference.expr.type, names[1:])
        except SubstraitError:  # is reported as a finding of the expression
            derived = "unknown"
        columns.append(TableColumn(name=names[0] if names else "", derived=derived))
    return Table(title="gives", path="referred_expr", columns=tuple(columns))


def _results(plan: Plan) -> Iterator[Table]:
    roots = [(number, tree) for number, tree in enumerate(plan.relations) if isinstance(tree, RelRoot)]
    for number, root in roots:
        title = "result" if len(roots) == 1 else f"result of relations[{number}]"
        path = f"relations[{number}].root"
        try:
            schema = root.input.schema
        except SubstraitError:  # is reported as a finding of the relation
            yield Table(title=title, path=path, columns=(), left_open=True)
            continue
        named = NamedStruct(names=root.names, struct=schema)
        columns = tuple(TableColumn(name=column.name or "", derived=_type(column)) for column in named_columns(named))
        yield Table(title=title, path=path, columns=columns, left_open=isinstance(schema, OpenStruct))


def _tables(places: Places) -> Iterator[Table]:
    for node, _ in places:
        path = places.path(node) or ""
        match node:
            case Read(read_type=NamedTable() as table):
                yield _stated(f"reads {object_text(table)}", path, node.base_schema)
            case Read():
                yield _stated(f"reads {_source(node)}", path, node.base_schema)
            case Write():
                yield _written(node, path)
            case Update():
                yield _stated(f"changes {object_text(node.update_type)}", path, node.table_schema)
            case Ddl(table_schema=NamedStruct() as schema):
                yield _stated(f"{node.op.value}: {object_text(node.write_type)}", path, schema)


def _source(read: Read) -> str:
    match read.read_type:
        case VirtualTable():
            return "records that stand in the plan"
        case LocalFiles():
            return "files"
        case IcebergTable():
            return "an Iceberg table"
        case _:
            return "a table of an extension"


def _stated(title: str, path: str, schema: NamedStruct) -> Table:
    columns = tuple(TableColumn(name=column.name or "", expected=_type(column)) for column in named_columns(schema))
    return Table(title=title, path=path, columns=columns)


def _written(write: Write, path: str) -> Table:
    """Return the columns of a table that is written, beside those of the records that are written to it."""
    title, expected = f"writes {object_text(write.write_type)}", named_columns(write.table_schema)
    given = _types(write.input)
    if given is None or len(given) > len(expected):  # unknown, or the records before and after an update
        return _stated(title, path, write.table_schema)
    columns = tuple(
        TableColumn(
            name=column.name or "",
            expected=_type(column),
            derived=type_text(given[number], column.inner) if number < len(given) else "missing",
        )
        for number, column in enumerate(expected)
    )
    return Table(title=title, path=path, columns=columns, compared=True)


def _types(relation: Relation) -> tuple[Type, ...] | None:
    try:
        schema = relation.schema
    except SubstraitError:
        return None
    return None if isinstance(schema, OpenStruct) else schema.types


def _type(column: Column) -> str:
    return "unknown" if column.type is None else type_text(column.type, column.inner[: name_count(column.type)])
