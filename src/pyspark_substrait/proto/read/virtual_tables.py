"""``ReadRel.VirtualTable`` messages. They may have millions of cells, each of which has to be read quickly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import Expression, NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import VirtualTable
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Type, Unbound, with_nullability
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Scope, invalid
from pyspark_substrait.proto.read.habits.unambiguous import null_of
from pyspark_substrait.proto.read.literals import CERTAIN_DAYS, PLAIN, literal
from pyspark_substrait.proto.read.type_checks import as_cell

__all__ = ["virtual_table"]

_OPEN = Unbound(nullable=True)


def virtual_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> VirtualTable:
    """Read the rows, with their cells as values of the columns' types.

    Raises:
        InvalidPlanError: a row has too few or too many cells, or one that its column can't hold.
    """
    if len(message.expressions) >= _MANY and not isinstance(schema.struct, OpenStruct):
        found = _by_column(message, schema.struct.types, scope, path)
        if found is not None:
            return found
    columns = [_Column(type, scope, position) for position, type in enumerate(schema.struct.types)]
    width, rows = len(columns), []
    path = (path, "expressions")
    for index, row in enumerate(message.expressions):
        fields = row.fields
        if len(fields) != width:
            if not isinstance(schema.struct, OpenStruct):
                fault = f"the row has {len(fields)} values for {width} columns"
                scope.reading.fault(invalid(fault, (path, index), code=Code.TYPE_MISMATCH))
            columns += [_Column(_OPEN, scope, len(columns) + more) for more in range(len(fields) - len(columns))]
        cells = [column.cell(cell, path, index) for column, cell in zip(columns, fields, strict=False)]
        rows.append(NestedStruct(fields=tuple(cells)))
    return VirtualTable(expressions=tuple(rows))


#: tables of at least so many rows are read by column, if they can be; for others Arrow is not worth its import
_MANY = 1_000


def _by_column(message: Any, types: Sequence[Type], scope: Scope, path: Path) -> VirtualTable | None:
    """Read a table of plain literals by column; None for any other table."""
    from pyspark_substrait.proto.read.literal_columns import literal_columns

    if not types:
        return None
    reading = scope.reading

    def null(row: int, column: int) -> Expression | None:
        alone = replace(scope, reading=reading.anew())
        cell = _Column(types[column], alone, column).cell(message.expressions[row].fields[column], path, row)
        return None if alone.reading.notes else cell

    try:
        found = literal_columns(message, types, null, None if reading.findings is None else CERTAIN_DAYS)
    except SubstraitError:  # of a null; it is reported with its place by the reader of cells
        return None
    return None if found is None else VirtualTable.of_columns(found)


_slots: Any = Literal
_new, _set_type, _set_value = object.__new__, _slots.type.__set__, _slots.value.__set__


def _literal(type: Type, value: Any) -> Literal:
    """Create a literal from a protobuf value, in a quarter of the time that the constructor takes."""
    made = _new(Literal)
    _set_type(made, type)
    _set_value(made, value if value == value else math.nan)
    return made


class _Column:
    """Reads the cells of a column. Literals of the column's type, which are nearly all cells, take a fast path."""

    def __init__(self, type: Type, scope: Scope, position: int) -> None:
        self._type = type
        self._scope = scope
        self._position = position
        #: for plain literals of the column's type: their field in the message; and their types, required and nullable
        self._kind, self._types = _plain(type)
        if scope.reading.findings is not None and self._kind == "date":
            self._kind = ""
        #: the type of the last literal that fitted unchanged; further literals of this type need no check
        self._fitting: Type | None = None
        #: the last null: its serialised message, and the cell read from it
        self._null: tuple[bytes, Expression] | None = None

    def cell(self, message: Any, path: Path, index: int) -> Expression:
        """A cell of a row; ``path`` is that of all rows."""
        if not message.HasField("literal"):
            place: Path = (((path, index), "fields"), self._position)
            return self._fitted(expressions.expression(message, self._scope, place), place)
        message = message.literal
        kind = message.WhichOneof("literal_type")
        if kind == self._kind and message.type_variation_reference == 0:
            return _literal(self._types[message.nullable], getattr(message, kind))
        place = (((path, index), "fields"), self._position)
        if kind == "null" and message.null.WhichOneof("kind") is None and not isinstance(self._type, Unbound):
            return null_of(self._type, self._scope.reading, (place, "literal"))
        if kind == "null":
            return self._null_cell(message, place)
        value = literal(message, self._scope.reading, (place, "literal"))
        if value.type is self._fitting:
            return value
        cell = self._fitted(value, place)
        if cell is value and not isinstance(value.value, tuple):
            self._fitting = value.type
        return cell

    def _checked_null(self, message: Any, path: Path) -> Expression:
        """Read a null where findings are collected; report one of a required type in a required column only once."""
        reading, place = self._scope.reading, (path, "literal")
        remarks = len(reading.notes)
        value = literal(message, reading, place)
        if len(reading.notes) == remarks or self._type.nullable:
            return self._fitted(value, path)
        del reading.notes[remarks:]
        fault = f"a null of the required type {with_nullability(value.type, False)}"
        hint = "Make the type and its column nullable"
        reading.fault(invalid(fault, (place, "null"), hint, Code.TYPE_MISMATCHED_NULLABILITY))
        return value

    def _fitted(self, value: Expression, path: Path) -> Expression:
        """Cast a value to the column's type; unchanged if it doesn't fit and findings are collected."""
        with self._scope.reading.going_on(code=Code.TYPE_MISMATCH):
            return as_cell(value, self._type, self._scope.reading, path)
        return value

    def _null_cell(self, message: Any, path: Path) -> Expression:
        if self._scope.reading.findings is not None:
            return self._checked_null(message, path)
        content = message.SerializeToString()
        if self._null is None or self._null[0] != content:
            reading = self._scope.reading
            remarks = len(reading.notes)
            cell = as_cell(literal(message, reading, (path, "literal")), self._type, reading, path)
            if len(reading.notes) > remarks:
                return cell
            self._null = (content, cell)
        return self._null[1]


def _plain(type: Type) -> tuple[str, tuple[Type, Type]]:
    return next(((kind, types) for kind, types in PLAIN.items() if type in types), ("", (type, type)))
