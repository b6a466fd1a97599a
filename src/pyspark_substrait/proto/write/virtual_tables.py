"""Virtual tables into ``ReadRel.VirtualTable`` messages; of those held by column, no cell becomes a node."""

from __future__ import annotations

import decimal
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from pyspark_substrait.model import types
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import VirtualTable
from pyspark_substrait.model.relations.literal_columns import LiteralColumn, LiteralColumns
from pyspark_substrait.model.types import Type
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.write.context import Declarations, Parts
from pyspark_substrait.proto.write.fields import fields
from pyspark_substrait.proto.write.literals import literal

__all__ = ["virtual_table"]

#: how many rows are turned into bytes at once
_BATCH = 50_000

#: the tags of literals, by their types; those of other types are written as messages
_TAGS: Final[dict[type, bytes]] = {
    types.Boolean: b"\x08",
    types.I8: b"\x10",
    types.I16: b"\x18",
    types.I32: b"\x28",
    types.I64: b"\x38",
    types.FP32: b"\x55",
    types.FP64: b"\x59",
    types.String: b"\x62",
    types.Binary: b"\x6a",
    types.Date: b"\x80\x01",
}
_NULLABLE = b"\x90\x03\x01"
#: for all digits of a decimal
_EXACT = decimal.Context(prec=40)
_ALL_BITS = (1 << 64) - 1


def virtual_table(node: VirtualTable, into: Any, parts: Parts) -> None:
    """Write the records of a table."""
    if node.columns is None:
        fields(node, into, parts)
        return
    for rows in _rows(node.columns, parts.declarations):
        into.MergeFromString(rows)


def _rows(columns: LiteralColumns, declarations: Declarations) -> Iterator[bytes]:
    """Yield the bytes of the records, in batches."""
    cells = [_cells(column, declarations) for column in columns.columns]
    for start in range(0, len(columns), _BATCH):
        count = min(_BATCH, len(columns) - start)
        values = [column.values.slice(start, count).to_pylist() for column in columns.columns]
        made = [list(map(cell, some)) for cell, some in zip(cells, values, strict=True)]
        rows = map(b"".join, zip(*made, strict=True))
        yield b"".join([_part(0x12, row) for row in rows])


def _part(tag: int, content: bytes) -> bytes:
    size = len(content)
    return bytes((tag, size)) + content if size < 128 else bytes((tag,)) + _varint(size) + content


def _cells(column: LiteralColumn, declarations: Declarations) -> Callable[[Any], bytes]:
    """Return what turns a value of a column into the bytes of its cell."""
    null = _cell(_message(Literal(type=column.null_type, value=None), declarations))
    encoded = _encoder(column.type, declarations)
    return lambda value: null if value is None else _cell(encoded(value))


def _cell(literal: bytes) -> bytes:
    return _part(0x0A, _part(0x0A, literal))


def _message(node: Literal, declarations: Declarations) -> bytes:
    message = messages.Expression()
    literal(node, message.literal, declarations)
    content: bytes = message.literal.SerializeToString()
    return content


def _encoder(type: Type, declarations: Declarations) -> Callable[[Any], bytes]:
    """Return what turns a value of a type into the bytes of its literal."""
    kind, end = type.__class__, _NULLABLE if type.nullable else b""
    if isinstance(type, types.Decimal):
        last = bytes((0x10, type.precision)) + (bytes((0x18, type.scale)) if type.scale else b"")
        scale, before, behind = type.scale, b"\xc2\x01" + bytes((18 + len(last), 0x0A, 16)), last + end
        return lambda value: before + int(_EXACT.scaleb(value, scale)).to_bytes(16, "little", signed=True) + behind
    if kind not in _TAGS:
        return lambda value: _message(Literal(type=type, value=value), declarations)
    tag = _TAGS[kind]
    if kind in (types.FP32, types.FP64):
        pack = struct.Struct("<f" if kind is types.FP32 else "<d").pack
        return lambda value: tag + pack(value) + end
    if kind is types.String:
        return lambda value: tag + _text(value.encode()) + end
    if kind is types.Binary:
        return lambda value: tag + _text(value) + end
    return lambda value: tag + _varint(value) + end


def _text(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """The bytes of an integer of 64 bits; of a negative one, those of its two's complement."""
    if 0 <= number < 128:
        return _SHORT[number]
    number &= _ALL_BITS
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


_SHORT = [bytes((number,)) for number in range(128)]
