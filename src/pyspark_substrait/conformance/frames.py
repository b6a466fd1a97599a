"""Messages between processes: the number of blocks (4 bytes, little-endian), and each behind its length (8 bytes)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import BinaryIO, Final

import pyarrow as pa

__all__ = ["MOST_BYTES", "arrow_bytes", "read_blocks", "table_of", "write_blocks"]

_COUNT: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")
#: the most bytes of a result; no case needs more
MOST_BYTES: Final = 64 * 1024 * 1024
#: what no message has; a process that writes text instead of messages seems to have it
_TOO_MANY_BLOCKS: Final = 1 << 16
_TOO_MANY_BYTES: Final = 1 << 32


def write_blocks(stream: BinaryIO, blocks: Sequence[bytes]) -> None:
    """Write a message of several blocks."""
    stream.write(_COUNT.pack(len(blocks)) + b"".join(_LENGTH.pack(len(block)) + block for block in blocks))
    stream.flush()


def read_blocks(stream: BinaryIO) -> list[bytes]:
    """Return the blocks of the next message.

    Raises:
        EOFError: the stream ends before the message does.
        ValueError: this is no message.
    """
    (count,) = _COUNT.unpack(_read(stream, _COUNT.size))
    if count >= _TOO_MANY_BLOCKS:
        raise ValueError(f"a message of {count:,} blocks")
    return [_read(stream, _LENGTH.unpack(_read(stream, _LENGTH.size))[0]) for _ in range(count)]


def _read(stream: BinaryIO, size: int) -> bytes:
    if size >= _TOO_MANY_BYTES:
        raise ValueError(f"a block of {size:,} bytes")
    found = bytearray()
    while len(found) < size:
        part = stream.read(size - len(found))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


def arrow_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def table_of(content: bytes) -> pa.Table:
    """Return the table of an Arrow stream, whose values are checked.

    Raises:
        pyarrow.ArrowException: it isn't one.
    """
    table = pa.ipc.open_stream(content).read_all()
    table.validate(full=True)
    return table
