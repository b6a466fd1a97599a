"""A client that sends messages as they are given, made without the server's code: fields are written as bytes here."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import pyarrow as pa
from google.protobuf import any_pb2
from pyarrow import flight

PREFIX = "type.googleapis.com/arrow.flight.protocol.sql."


def field(number: int, value: bytes | str | int) -> bytes:
    """A field of a message: text or bytes with their length, a number as a varint."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def command(name: str, *fields: bytes) -> bytes:
    """The bytes of a message of Flight SQL in an ``Any``."""
    return any_pb2.Any(type_url=PREFIX + name, value=b"".join(fields)).SerializeToString()


def fields_of(content: bytes) -> dict[int, Any]:
    """The fields of a message with length-delimited fields and varints; the last of each number."""
    found: dict[int, Any] = {}
    place = 0
    while place < len(content):
        tag, place = _read(content, place)
        value, place = _read(content, place)
        if tag & 7 == 2:
            found[tag >> 3] = content[place : place + value]
            place += value
        else:
            found[tag >> 3] = value
    return found


def _read(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def inside(content: bytes) -> dict[int, Any]:
    """The fields of the message in an ``Any``."""
    return fields_of(any_pb2.Any.FromString(content).value)


class RawClient:
    """A client of pyarrow, with a bearer token. ``seconds``: how long a call may take."""

    def __init__(self, uri: str, token: str | None, *, seconds: float = 60, **options: Any) -> None:
        self.client = flight.FlightClient(uri, **options)
        headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
        self.options = flight.FlightCallOptions(headers=headers, timeout=seconds)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def info(self, content: bytes) -> Any:
        """The FlightInfo of a command."""
        return self.client.get_flight_info(flight.FlightDescriptor.for_command(content), self.options)

    def schema(self, content: bytes) -> pa.Schema:
        """The schema of a command."""
        return self.client.get_schema(flight.FlightDescriptor.for_command(content), self.options).schema

    def reader(self, info: Any) -> Any:
        """The stream of a FlightInfo's only endpoint."""
        [endpoint] = info.endpoints
        return self.client.do_get(endpoint.ticket, self.options)

    def table(self, content: bytes) -> pa.Table:
        """The rows of a command, whose schema is the one that was announced."""
        info = self.info(content)
        table = self.reader(info).read_all()
        assert table.schema.equals(info.schema)
        return table

    def action(self, name: str, body: bytes = b"") -> list[bytes]:
        """The results of an action."""
        return [found.body.to_pybytes() for found in self.client.do_action((name, body), self.options)]

    def put(self, content: bytes, record: pa.RecordBatch | None = None) -> bytes:
        """The answer to a DoPut."""
        schema = pa.schema([]) if record is None else record.schema
        writer, reader = self.client.do_put(flight.FlightDescriptor.for_command(content), schema, self.options)
        with writer:
            if record is not None:
                writer.write_batch(record)
            writer.done_writing()
            answer = reader.read()
        return b"" if answer is None else answer.to_pybytes()
