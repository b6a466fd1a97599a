"""Where records come from: files, tables of the catalog, data in memory, ranges."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.relations import NamedTable, Read, VirtualTable
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.scope import Column, Output, Production, Scope, column, columns_of
from pyspark_substrait.spark.producer.types import names_of, type_of

__all__ = ["FORMS", "schema_of"]


def schema_of(attributes: tuple[Node, ...]) -> NamedStruct:
    """The schema that some attributes have as the columns of a table."""
    types = tuple(type_of(item.value("dataType"), item.value("nullable")) for item in attributes)
    names = [name for item in attributes for name in (item.value("name"), *names_of(item.value("dataType")))]
    return NamedStruct(names=tuple(names), struct=Struct(types=types))


def view(node: Node, production: Production, outer: Scope | None) -> Output:
    """``View``: what it stands for, or a table by its name where the caller asked for that."""
    names = view_name(node)
    below = node.children[0]
    if ".".join(names).lower() not in production.tables:
        return relation(below, production, outer)
    schema = node.value("desc")["schema"]["fields"]
    base = NamedStruct(
        names=tuple(name for item in schema for name in (item["name"], *names_of(item["type"]))),
        struct=Struct(types=tuple(type_of(item["type"], item["nullable"]) for item in schema)),
    )
    return Output(Read(base_schema=base, read_type=NamedTable(names=names)), columns_of(below))


def view_name(node: Node) -> tuple[str, ...]:
    """The name of a view, in parts; of a temporary view, its one part."""
    identifier = node.value("desc")["identifier"]
    parts = (identifier.get("catalog"), identifier.get("database"), identifier["table"])
    return tuple(part for part in parts if part is not None)


def one_row(node: Node, production: Production, outer: Scope | None) -> Output:
    """``OneRowRelation``: a record without columns."""
    schema = NamedStruct(names=(), struct=Struct(types=()))
    read = Read(base_schema=schema, read_type=VirtualTable(expressions=(NestedStruct(fields=()),)))
    return Output(read, ())


def table(node: Node, production: Production, outer: Scope | None) -> Output:
    """``LogicalRelation``: a table of the catalog, by its name."""
    listed = node.value("catalogTable")
    if listed is None:
        raise UnsupportedPlanError("files can't go out yet")
    attributes = node.trees("output")
    identifier = listed["identifier"]
    parts = (identifier.get("catalog"), identifier.get("database"), identifier["table"])
    names = tuple(part for part in parts if part is not None)
    columns: tuple[Column, ...] = tuple(map(column, attributes))
    return Output(Read(base_schema=schema_of(attributes), read_type=NamedTable(names=names)), columns)


FORMS: Final = {"View": view, "OneRowRelation": one_row, "LogicalRelation": table}
