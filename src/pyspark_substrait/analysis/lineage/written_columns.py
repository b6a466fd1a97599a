"""The columns of tables that a plan writes, and the sources of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from pyspark_substrait.analysis.lineage.expressions import dependencies
from pyspark_substrait.analysis.lineage.graph_builder import Building
from pyspark_substrait.analysis.lineage.relations import measure_uses
from pyspark_substrait.analysis.lineage.traversal import inputs_of
from pyspark_substrait.model.relations import (
    Ddl,
    ExtensionObject,
    Files,
    InMemoryTable,
    NamedObjectWrite,
    Relation,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import NamedStruct

__all__ = ["WrittenNode", "written_nodes"]


class WrittenNode(NamedTuple):
    """A column that a relation writes, and the node for its new values."""

    relation: int
    table: str
    column: str
    node: int


def written_nodes(building: Building) -> Iterator[WrittenNode]:
    """Return the columns that are written, in the order of the relations, without deleted ones; nodes may be added."""
    for number, relation in enumerate(building.order.relations):
        match relation:
            case Write(op=WriteOp.INSERT | WriteOp.CTAS | WriteOp.UPDATE, table_schema=schema, write_type=target):
                given = _given(building, number)
                names = schema.top_level_names()
                if relation.op is WriteOp.UPDATE and len(given) == 2 * len(names):
                    given = given[len(names) :]
                for name, node in zip(names, given, strict=False):
                    yield WrittenNode(number, _target(target), name, node)
            case Ddl(view_definition=definition, table_schema=schema, write_type=target) if definition is not None:
                given = _given(building, number)
                for name, node in zip(_view_names(schema, definition), given, strict=False):
                    yield WrittenNode(number, _target(target), name, node)
            case Update(table_schema=schema, transformations=changes, update_type=table):
                names = schema.top_level_names()
                for change in changes:
                    found = dependencies(building, number, measure_uses((change.transformation,), ()))
                    (node,) = building.graph.add(1, building.columns[number].records)
                    building.graph.values[node] = found.values
                    if found.conditions:
                        building.graph.conditions[node] = found.conditions
                    known = 0 <= change.column_target < len(names)
                    column = names[change.column_target] if known else f"${change.column_target}"
                    yield WrittenNode(number, ".".join(table.names), column, node)
            case _:
                pass


def _given(building: Building, number: int) -> Sequence[int]:
    """Return the columns of the only input."""
    (input,) = inputs_of(building.order.relations[number])
    return building.columns[building.order.numbers[id(input)]].ports


def _view_names(schema: NamedStruct | None, definition: Relation) -> tuple[str, ...]:
    """Return the names that a view gives its columns, or else those of its query."""
    if schema is not None and schema.names:
        return schema.top_level_names()
    with suppress(Exception):  # a query that contradicts itself has none
        return tuple(name or f"${position}" for position, name in enumerate(definition.names))
    return ()


def _target(target: NamedObjectWrite | ExtensionObject) -> str:
    match target:
        case NamedObjectWrite(names=names):
            return ".".join(names)
        case ExtensionObject(target=InMemoryTable(name=name)):
            return name
        case ExtensionObject(target=Files(path=path)):
            return path
        case ExtensionObject(detail=detail):
            return f"extension {detail.type_url.rpartition('/')[2]}"
