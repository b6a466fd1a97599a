"""Rows of plain literals into Arrow arrays, column by column, from the bytes of a ``ReadRel.VirtualTable``.

A few operations on arrays read a cell of every row at once: first its tags and lengths, then its value. So only tables
are read whose rows look alike, as a program writes them. In any other case the result is None, and nothing has
happened: the table is to be read cell by cell, which also reports what is wrong with it.

The bytes are those that the runtime writes: fields in the order of their numbers, each number in its shortest form.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_substrait.model import types
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations.literal_columns import LiteralColumn, LiteralColumns
from pyspark_substrait.model.types import Type, with_nullability

__all__ = ["literal_columns"]

#: how many rows are read at once
_BATCH = 50_000

#: bytes behind the end. What is found there is refused later: a cell has to end where its length says
_BEHIND = 64

_ROW, _CELL, _LITERAL = 0x12, 0x0A, 0x0A
_NULL, _NULLABLE = b"\xea\x01", b"\x90\x03\x01"

#: the types of columns that are read here: the tag of their literals, and the array that holds the values
_VARINTS: Final[dict[type, tuple[bytes, pa.DataType]]] = {
    types.Boolean: (b"\x08", pa.bool_()),
    types.I8: (b"\x10", pa.int8()),
    types.I16: (b"\x18", pa.int16()),
    types.I32: (b"\x28", pa.int32()),
    types.I64: (b"\x38", pa.int64()),
    types.Date: (b"\x80\x01", pa.int32()),
}
_FIXED: Final[dict[type, tuple[bytes, pa.DataType]]] = {
    types.FP32: (b"\x55", pa.float32()),
    types.FP64: (b"\x59", pa.float64()),
}
_TEXTS: Final[dict[type, tuple[bytes, pa.DataType]]] = {
    types.String: (b"\x62", pa.string()),
    types.Binary: (b"\x6a", pa.binary()),
}
_COUNTS: Final[dict[type, bytes]] = {
    types.PrecisionTimestamp: b"\x92\x02",
    types.PrecisionTimestampTZ: b"\x9a\x02",
}
_DECIMAL = b"\xc2\x01"

_Days: TypeAlias = tuple[int, int]


class _Other(Exception):
    """The rows don't look alike, or there is something in them that isn't read here."""


def literal_columns(
    message: Any, columns: Sequence[Type], null: Callable[[int, int], Any], days: _Days | None
) -> LiteralColumns | None:
    """Read a table of literals of its columns' types; None if it has anything else in it.

    Args:
        message: the ``ReadRel.VirtualTable``.
        columns: the types of the columns, at least one.
        null: reads the null of a row and a column; None if there is anything to say about it.
        days: the first and the last day that a date may be; None for any.
    """
    try:
        readers = [_Column(type, days) for type in columns]
        content: bytes = message.SerializeToString()
        size = len(content)
        content += bytes(_BEHIND)
        data = _Bytes(content)
        first = 0
        for starts, ends in _rows(content, size):
            position = starts
            for number, reader in enumerate(readers):
                position = reader.read(data, position, partial(_null, null, first, number))
            _need(pc.equal(position, ends))
            first += len(starts)
        return LiteralColumns(tuple(reader.finished() for reader in readers))
    except (_Other, pa.ArrowException, OverflowError):
        return None


def _null(null: Callable[[int, int], Any], first: int, column: int, row: int) -> Any:
    return null(first + row, column)


def _rows(content: bytes, size: int) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Yield where the rows start and end, in batches."""
    position = 0
    while position < size:
        starts, ends = array("q"), array("q")
        start, end = starts.append, ends.append
        for _ in range(_BATCH):
            if position >= size:
                break
            if content[position] != _ROW:
                raise _Other
            length = content[position + 1]
            position += 2
            if length > 127:
                length, shift = length & 127, 0
                more = True
                while more:
                    byte = content[position]
                    position, shift, more = position + 1, shift + 7, byte > 127
                    length |= (byte & 127) << shift
            start(position)
            position += length
            end(position)
        yield _array(starts, pa.int64()), _array(ends, pa.int64())


def _array(values: Any, type: pa.DataType) -> pa.Array:
    """An array of the bytes of values."""
    buffer = pa.py_buffer(values)
    return pa.Array.from_buffers(type, buffer.size * 8 // type.bit_width, [None, buffer])


def _need(true: pa.Array) -> None:
    if not pc.all(true, min_count=0).as_py():
        raise _Other


_LOW, _MORE = pa.scalar(127, pa.uint8()), pa.scalar(128, pa.uint8())
_ZERO = pa.scalar(0, pa.uint64())


class _Bytes:
    """The bytes of a message. Positions are arrays, one for each row."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._array = _array(content, pa.uint8())

    def at(self, positions: pa.Array) -> pa.Array:
        return self._array.take(positions)

    def equal(self, positions: pa.Array, text: bytes) -> pa.Array:
        """Whether two bytes stand there."""
        first, second = (pa.scalar(byte, pa.uint8()) for byte in text)
        return pc.and_(pc.equal(self.at(positions), first), pc.equal(self.at(pc.add(positions, 1)), second))

    def constant(self, positions: pa.Array, text: bytes) -> pa.Array:
        """Require that some bytes stand there in all rows, and return where they end."""
        for byte in text:
            _need(pc.equal(self.at(positions), pa.scalar(byte, pa.uint8())))
            positions = pc.add(positions, 1)
        return positions

    def varint(self, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Read numbers of 64 bits without sign, and where they end."""
        byte = self.at(positions)
        value = pc.bit_wise_and(byte, _LOW).cast(pa.uint64())
        positions = pc.add(positions, 1)
        more = pc.greater_equal(byte, _MORE)
        shift = 7
        while pc.any(more, min_count=0).as_py():
            if shift > 63:
                raise _Other
            byte = self.at(positions)
            part = pc.shift_left(pc.bit_wise_and(byte, _LOW).cast(pa.uint64()), pa.scalar(shift, pa.uint64()))
            value = pc.bit_wise_or(value, pc.if_else(more, part, _ZERO))
            positions = pc.add(positions, more.cast(pa.int64()))
            more = pc.and_(more, pc.greater_equal(byte, _MORE))
            shift += 7
        return value, positions

    def length(self, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Read the length of a part, and where it starts."""
        value, positions = self.varint(positions)
        return value.cast(pa.int64()), positions

    def slices(self, starts: pa.Array, ends: pa.Array) -> list[bytes]:
        content = self.content
        return [content[start:end] for start, end in zip(starts.to_pylist(), ends.to_pylist(), strict=True)]


#: reads values that start at some positions, and returns them with where they end
_Reader: TypeAlias = "Callable[[_Bytes, pa.Array], tuple[pa.Array, pa.Array]]"


class _Column:
    """A column while its batches are read. What they must have in common is that of the first."""

    def __init__(self, type: Type, days: _Days | None) -> None:
        kind = type.__class__
        if type.variation is not None:
            raise _Other
        self._type = type
        self._days = days if kind is types.Date else None
        self._nullable: bool | None = None
        self._null: bytes | None = None
        self._batches: list[pa.Array] = []
        self._stored, self._tag, self._values = self._of_kind(kind)

    def _of_kind(self, kind: type) -> tuple[pa.DataType, bytes, _Reader]:
        """Return how the values of a kind of literals are held, their tag, and what reads them."""
        type: Any = self._type
        for known, reader in ((_VARINTS, self._varints), (_FIXED, self._fixed), (_TEXTS, self._texts)):
            if kind in known:
                tag, stored = known[kind]
                return stored, tag, reader
        if kind in _COUNTS:
            return pa.int64(), _COUNTS[kind], self._counts
        if kind is types.Decimal:
            return pa.decimal128(type.precision, type.scale), _DECIMAL, self._decimals
        raise _Other

    def read(self, data: _Bytes, cells: pa.Array, null: Callable[[int], Any]) -> pa.Array:
        """Read the cells that start at some positions, and return where they end."""
        length, positions = data.length(data.constant(cells, bytes([_CELL])))
        ends = pc.add(positions, length)
        length, positions = data.length(data.constant(positions, bytes([_LITERAL])))
        _need(pc.equal(pc.add(positions, length), ends))
        nulls = data.equal(positions, _NULL)
        if not pc.any(nulls, min_count=0).as_py():
            self._batches.append(self._given(data, positions, ends))
            return ends
        self._nulls(data, positions.filter(nulls), ends.filter(nulls), lambda: null(nulls.index(True).as_py()))
        given = pc.invert(nulls)
        values = self._given(data, positions.filter(given), ends.filter(given))
        places = pc.subtract(pc.cumulative_sum(given.cast(pa.int64())), 1)
        self._batches.append(values.take(pc.if_else(given, places, pa.scalar(None, pa.int64()))))
        return ends

    def _nulls(self, data: _Bytes, starts: pa.Array, ends: pa.Array, null: Callable[[], Any]) -> None:
        text = data.content[starts[0].as_py() : ends[0].as_py()]
        if self._null is None:
            found = null()
            if found != Literal(type=with_nullability(self._type, True), value=None) or not self._type.nullable:
                raise _Other
            self._null = text
        if text != self._null:
            raise _Other
        _need(pc.equal(data.constant(starts, text), ends))

    def _given(self, data: _Bytes, starts: pa.Array, ends: pa.Array) -> pa.Array:
        """Read the literals that aren't null."""
        if not len(starts):
            return pa.array([], self._stored)
        values, positions = self._values(data, data.constant(starts, self._tag))
        nullable = positions[0] != ends[0]
        if self._nullable is None:
            self._nullable = nullable
        if nullable is not self._nullable:
            raise _Other
        _need(pc.equal(data.constant(positions, _NULLABLE) if nullable else positions, ends))
        return values

    def finished(self) -> LiteralColumn:
        nullable = with_nullability(self._type, True)
        values = pa.chunked_array(self._batches, self._stored)
        return LiteralColumn(with_nullability(self._type, bool(self._nullable)), nullable, values)

    # the values of kinds of literals, and where they end

    def _varints(self, data: _Bytes, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        found, ends = data.varint(positions)
        values = found.view(pa.int64()).cast(self._stored)
        if self._days is not None:
            span = pc.min_max(values).as_py()
            if span["min"] < self._days[0] or span["max"] > self._days[1]:
                raise _Other
        return values, ends

    def _fixed(self, data: _Bytes, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        ends = pc.add(positions, self._stored.bit_width // 8)
        values = _array(b"".join(data.slices(positions, ends)), self._stored)
        unknown = pc.is_nan(values)
        if pc.any(unknown).as_py():
            values = pc.if_else(unknown, pa.scalar(math.nan, self._stored), values)
        return values, ends

    def _texts(self, data: _Bytes, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        length, starts = data.length(positions)
        ends = pc.add(starts, length)
        return pa.array(data.slices(starts, ends), pa.binary()).cast(self._stored), ends

    def _counts(self, data: _Bytes, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        type: Any = self._type
        length, positions = data.length(positions)
        ends = pc.add(positions, length)
        if type.precision:
            positions = data.constant(positions, bytes([0x08, type.precision]))
        # a zero isn't written
        given = pc.less(positions, ends)
        _need(pc.or_(pc.invert(given), pc.equal(data.at(positions), pa.scalar(0x10, pa.uint8()))))
        found, behind = data.varint(pc.add(positions, 1))
        _need(pc.equal(pc.if_else(given, behind, positions), ends))
        return pc.if_else(given, found.view(pa.int64()), pa.scalar(0, pa.int64())), ends

    def _decimals(self, data: _Bytes, positions: pa.Array) -> tuple[pa.Array, pa.Array]:
        type: Any = self._type
        length, positions = data.length(positions)
        ends = pc.add(positions, length)
        starts = data.constant(positions, b"\x0a\x10")
        behind = pc.add(starts, 16)
        texts = data.slices(starts, behind)
        last = bytes([0x10, type.precision]) + (bytes([0x18, type.scale]) if type.scale else b"")
        _need(pc.equal(data.constant(behind, last), ends))
        values = _array(b"".join(texts), self._stored)
        values.validate(full=True)  # the digits that the type has
        return values, ends
