"""Continue reading after faults: required fields that aren't set, relations without a valid schema."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import BrokenExpression, Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Relation, Set
from pyspark_substrait.model.relations.base import assume_direct_schema, assume_schema
from pyspark_substrait.model.types import Boolean, NamedStruct, OpenStruct, Struct, Type, Unbound
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.habits.unambiguous import derived_schema, is_untyped_null
from pyspark_substrait.proto.read.quirks import absent_condition
from pyspark_substrait.proto.read.types import named_struct

__all__ = ["lacks", "required_condition", "required_schema", "settle"]


def lacks(message: Any, field: str, reading: Reading, path: Path) -> bool:
    """Whether a message lacks a required field, if findings are collected; it is reported then.

    Otherwise False: the code that reads the field raises the error.
    """
    if reading.findings is None or message.HasField(field):
        return False
    reading.fault(invalid(f"{field} is missing", path, code=Code.PROTO_MISSING_FIELD))
    return True


def required_condition(message: Any, field: str, scope: Scope, path: Path) -> Expression:
    """The condition in a field of ``message``; ``path`` is that of ``message``."""
    if absent_condition(message, field, scope.reading, path):
        return Literal(type=Boolean(), value=True)
    if lacks(message, field, scope.reading, path):
        return BrokenExpression(kind="", fault=f"{field} is missing")
    return expressions.condition(getattr(message, field), scope, (path, field))


def required_schema(message: Any, field: str, scope: Scope, path: Path) -> NamedStruct:
    """The schema in a field of ``message``; an open one if it is missing; ``path`` is that of ``message``."""
    if message.HasField(field):
        return named_struct(getattr(message, field), scope.reading, (path, field))
    if field == "base_schema" and message.WhichOneof("read_type") == "virtual_table":
        with scope.reading.going_on():
            return derived_schema(_cell_types(message.virtual_table, scope, path), scope.reading, path)
        return NamedStruct(names=(), struct=OpenStruct())
    scope.reading.fault(invalid(f"{field} is missing", path, code=Code.PROTO_MISSING_FIELD))
    return NamedStruct(names=(), struct=OpenStruct())


def _cell_types(message: Any, scope: Scope, path: Path) -> list[list[Type | None]]:
    """The types of the cells of a virtual table; None for a null without a type. ``path`` is that of the read."""
    alone, path = Scope(scope.reading.anew(), detached=scope.detached), ((path, "virtual_table"), "expressions")
    return [
        [
            None if is_untyped_null(cell) else expressions.expression(cell, alone, (((path, index), "fields"), at)).type
            for at, cell in enumerate(row.fields)
        ]
        for index, row in enumerate(message.expressions)
    ]


def settle(node: Relation, reading: Reading, path: Path) -> None:
    """Derive the schema of a relation. If findings are collected, an invalid relation gets an assumed schema.

    Raises:
        InvalidPlanError: the relation contradicts itself.
    """
    if reading.findings is None:
        try:
            _ = node.schema
        except SubstraitError as error:
            reading.caught(error, path)
        return
    if isinstance(node, Set):
        _settle_set(node, reading, path)
    with reading.going_on(path, Code.RELATION_INVALID):
        _ = node.direct_schema
        _settle_emit(node, reading, path)
        return
    assume_direct_schema(node, OpenStruct())


def _settle_set(node: Set, reading: Reading, path: Path) -> None:
    faults = list(node.faults())
    for fault in faults:
        with reading.going_on(path):
            raise fault
    if faults:
        assume_direct_schema(node, node.members[0].schema if node.members else OpenStruct())


def _settle_emit(node: Relation, reading: Reading, path: Path) -> None:
    emit, direct = node.common.emit, node.direct_schema
    if emit is None or isinstance(direct, OpenStruct):
        return
    width = len(direct.types)
    wrong = [index for index, position in enumerate(emit) if not 0 <= position < width]
    place: Path = (((path, "common"), "emit"), "output_mapping")
    for index in wrong:
        fault = f"emit names column {emit[index]}, but there are {width} columns"
        reading.fault(invalid(fault, (place, index), code=Code.TYPE_INVALID_SWIZZLE))
    if wrong:
        unbound = Unbound(nullable=True)
        types = [direct.types[position] if 0 <= position < width else unbound for position in emit]
        assume_schema(node, Struct(types=tuple(types)))
