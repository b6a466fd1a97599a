"""The columns at which lineage ends: those of tables, and of whatever else brings records into a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import assert_never

from pyspark_substrait.analysis.lineage.graph_builder import Building
from pyspark_substrait.analysis.lineage.traversal import BASE_SCHEMA
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import (
    BrokenRelation,
    ExtensionLeaf,
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    ReadType,
    Update,
    VirtualTable,
)
from pyspark_substrait.model.types import NamedStruct

__all__ = ["End", "Source", "ends"]


@dataclass(frozen=True, slots=True)
class Source:
    """A column at which lineage ends.

    Args:
        relation: the number of the relation that reads it.
        table: the table, like ``db.orders``, or a description of the other origin.
        column: its name; empty where it has none.
    """

    relation: int
    table: str
    column: str


@dataclass(frozen=True, slots=True, order=True)
class End:
    """A source that can be sorted among others: by relation, then by position in the table."""

    relation: int
    position: int
    table: str
    column: str

    @property
    def source(self) -> Source:
        """The source as users see it."""
        return Source(self.relation, self.table, self.column)


def ends(document: Plan | ExtendedExpression, building: Building) -> Iterator[tuple[int, End]]:
    """Return the nodes at which lineage ends."""
    if isinstance(document, ExtendedExpression):
        yield from _of_table(building, BASE_SCHEMA, "base schema", document.base_schema)
    for number, relation in enumerate(building.order.relations):
        match relation:
            case Read(base_schema=schema, read_type=read_type):
                yield from _of_table(building, number, _table(read_type), schema)
                yield from _of_duplicates(relation, building, number)
            case Update(update_type=table, table_schema=schema):
                yield from _of_table(building, number, _table(table), schema)
            case ExtensionLeaf(detail=detail):
                what = "extension" if detail is None else f"extension {detail.type_url.rpartition('/')[2]}"
                yield from _of_ports(building, number, what, relation)
            case BrokenRelation(kind=kind):
                yield from _of_ports(building, number, f"broken {kind or 'relation'}", relation)
            case _:
                pass


def _of_table(building: Building, number: int, table: str, schema: NamedStruct) -> Iterator[tuple[int, End]]:
    names = schema.top_level_names()
    for position, node in enumerate(building.tables.get(number, ())):
        yield node, End(number, position, table, names[position] if position < len(names) else "")
    pool = building.columns[number].pool if number == BASE_SCHEMA else building.pools.get(number)
    if pool is not None:
        yield pool, End(number, len(names), table, "")


def _of_duplicates(read: Read, building: Building, number: int) -> Iterator[tuple[int, End]]:
    """Return the columns of a table that a read puts out more than once."""
    first = {node: position for position, node in enumerate(building.tables.get(number, ()))}
    names = read.base_schema.top_level_names()
    for node, field in building.fields(number):
        if node not in first and 0 <= field < len(names):
            yield node, End(number, field, _table(read.read_type), names[field])


def _of_ports(
    building: Building, number: int, what: str, relation: ExtensionLeaf | BrokenRelation
) -> Iterator[tuple[int, End]]:
    columns = building.columns[number]
    names = relation.names if len(columns.ports) == len(relation.names) else ()
    for position, node in enumerate(columns.ports):
        yield node, End(number, position, what, (names[position] if names else "") or "")
    if columns.pool is not None:
        yield columns.pool, End(number, len(columns.ports), what, "")


def _table(read_type: ReadType) -> str:
    """Describe the source of a read in a few words."""
    match read_type:
        case NamedTable(names=names):
            return ".".join(names)
        case VirtualTable():
            return "virtual table"
        case LocalFiles(items=items):
            more = f" and {len(items) - 1} more" if len(items) > 1 else ""
            return f"{items[0].path}{more}" if items else "no files"
        case IcebergTable(metadata_uri=uri):
            return uri
        case ExtensionTable(detail=detail):
            return f"extension table {detail.type_url.rpartition('/')[2]}"
        case _:
            assert_never(read_type)
