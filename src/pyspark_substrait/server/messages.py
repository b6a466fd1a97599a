"""The messages of Flight SQL, in a descriptor pool of this package's own.

A process may have other classes of the same names, of whatever release another package brings; protobuf's default pool
has room for one. The package that ships classes of them for Python, flightsql-dbapi 0.2.2, has an older standard, and
needs SQLAlchemy 1. So ``flight_sql.proto`` states what the server needs, and this module reads it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from pyspark_substrait.server.refusals import InvalidArgument, Unimplemented

__all__ = ["make", "pack", "parse", "unpack"]

_FILE: Final = "flight_sql.proto"
_PREFIX: Final = "type.googleapis.com/"

_LINE: Final = re.compile(
    r"""
    (?P<blank>(//.*)?)
    | (?P<open>message) [ ] (?P<message>\w+) [ ] \{
    | (?P<close>\})
    | ((?P<label>optional|repeated) [ ])? (?P<type>\w+) [ ] (?P<name>\w+) [ ] = [ ] (?P<number>\d+);
    | (?P<head>(syntax|package) [ =] .*;)
    """,
    re.VERBOSE,
)
_PACKAGE: Final = re.compile(r"^package ([\w.]+);$", re.MULTILINE)
_SCALARS: Final = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "sfixed64": FieldDescriptorProto.TYPE_SFIXED64,
    "string": FieldDescriptorProto.TYPE_STRING,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
}


def described(text: str, name: str = _FILE) -> FileDescriptorProto:
    """Return the descriptor of a file in the small part of protobuf's language that ``flight_sql.proto`` uses.

    Raises:
        ValueError: a line has another form.
    """
    package = _PACKAGE.search(text)
    file = FileDescriptorProto(name=name, package=package[1] if package else "", syntax="proto3")
    message: DescriptorProto | None = None
    for line in text.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None or (found["type"] and message is None):
            raise ValueError(f"{name}: {line!r} is not understood")
        if found["open"]:
            message = file.message_type.add(name=found["message"])
        elif found["close"]:
            message = None
        elif found["type"] and message is not None:
            _add_field(message, found, file.package)
    return file


def _add_field(message: DescriptorProto, found: re.Match[str], package: str) -> None:
    repeated = found["label"] == "repeated"
    field = message.field.add(
        name=found["name"],
        number=int(found["number"]),
        label=FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL,
    )
    if found["type"] in _SCALARS:
        field.type = _SCALARS[found["type"]]
    else:
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{package}.{found['type']}"
    if found["label"] == "optional":
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{found['name']}")


@cache
def _classes() -> dict[str, type[Message]]:
    """The classes by their full names."""
    file = described((files(__package__) / _FILE).read_text(encoding="utf-8"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [f"{file.package}.{message.name}" for message in file.message_type]
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


@cache
def _class(name: str) -> type[Message]:
    [found] = [found for full, found in _classes().items() if full.rpartition(".")[2] == name]
    return found


def make(name: str, **fields: Any) -> Any:
    """Return a message with these fields."""
    return _class(name)(**fields)


def pack(message: Message) -> bytes:
    """Return the bytes of the ``Any`` that Flight SQL wraps a message in."""
    url = f"{_PREFIX}{message.DESCRIPTOR.full_name}"
    return any_pb2.Any(type_url=url, value=message.SerializeToString()).SerializeToString()


def unpack(content: bytes) -> Any:
    """Return the message in the bytes of an ``Any``.

    Raises:
        InvalidArgument: the bytes are no ``Any``, or not of the message that it names.
        Unimplemented: it is another message, or has a field that this server doesn't know.
    """
    try:
        wrapped = any_pb2.Any.FromString(content)
    except DecodeError:
        raise InvalidArgument("the command is not a message of Flight SQL: it is no google.protobuf.Any") from None
    name = wrapped.type_url.rpartition("/")[2]
    if name not in _classes():
        shown = ascii(name)[:100]
        raise Unimplemented(f"the command is not a message of Flight SQL that this server knows: its type is {shown}")
    return _parsed(_classes()[name], wrapped.value)


def parse(name: str, content: bytes) -> Any:
    """Return the message in its own bytes.

    Raises:
        InvalidArgument: the bytes are not such a message.
        Unimplemented: it has a field that this server doesn't know.
    """
    return _parsed(_class(name), content)


def _parsed(kind: type[Message], content: bytes) -> Message:
    name = kind.DESCRIPTOR.name
    try:
        message = kind.FromString(content)
    except DecodeError:
        raise InvalidArgument(f"the {name} cannot be read: its bytes are not such a message") from None
    if _has_unknown(message):
        raise Unimplemented(f"the {name} has a field that this server does not know")
    return message


def _has_unknown(message: Message) -> bool:
    if len(UnknownFieldSet(message)):
        return True
    parts = [value for field, value in message.ListFields() if field.message_type is not None]
    return any(_has_unknown(part) for value in parts for part in ([value] if isinstance(value, Message) else value))
