"""The write targets of this package as messages: details of an ``ExtensionObject``, as in ``write_targets.proto``.

The messages are built in a descriptor pool of their own, so that a program can also use classes generated from that
file.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from pyspark_substrait.errors import InvalidPlanError, PlanFormatError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import Files, InMemoryTable, WriteTarget

__all__ = ["TYPE_URLS", "decoded", "encoded", "pool_of"]

_PACKAGE: Final = "pyspark_substrait.v1"
_PREFIX: Final = "type.googleapis.com/"
_NAMES: Final = ("InMemoryTable", "Files")

#: the type URLs of the messages
TYPE_URLS: Final = tuple(f"{_PREFIX}{_PACKAGE}.{name}" for name in _NAMES)
_PARQUET: Final = 1


def _file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="pyspark_substrait/v1/write_targets.proto", package=_PACKAGE, syntax="proto3")
    text, truth = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BOOL
    one = FieldDescriptorProto.LABEL_OPTIONAL
    memory = file.message_type.add(name="InMemoryTable")
    memory.field.add(name="name", number=1, type=text, label=one)
    memory.field.add(name="pin", number=2, type=truth, label=one)
    files = file.message_type.add(name="Files")
    files.field.add(name="path", number=1, type=text, label=one)
    format_ = f".{_PACKAGE}.Files.Format"
    files.field.add(name="format", number=2, type=FieldDescriptorProto.TYPE_ENUM, type_name=format_, label=one)
    formats = files.enum_type.add(name="Format")
    formats.value.add(name="FORMAT_UNSPECIFIED", number=0)
    formats.value.add(name="FORMAT_PARQUET", number=_PARQUET)
    return file


@cache
def _pool() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return pool


def _name(type_url: str) -> str | None:
    """Return the name of the message that a type URL names; None for any other message."""
    package, _, name = type_url.rpartition("/")[2].rpartition(".")
    return name if package == _PACKAGE and name in _NAMES else None


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def pool_of(type_url: str) -> Any:
    """Return the descriptor pool that has the message of a type URL; None if it isn't a message of this module."""
    return None if _name(type_url) is None else _pool()


def decoded(detail: AnyMessage) -> WriteTarget | None:
    """Return the write target that a detail encodes; None for any other message.

    Raises:
        PlanFormatError: the message is broken, or has a field that isn't known.
        InvalidPlanError: a required field is missing.
    """
    name = _name(detail.type_url)
    if name is None:
        return None
    try:
        message = _class(name).FromString(detail.value)
    except DecodeError as error:
        raise PlanFormatError(f"the {name} cannot be read", path="detail") from error
    if len(UnknownFieldSet(message)):
        raise PlanFormatError(f"the {name} has a field that is not known", path="detail")
    if name == "InMemoryTable":
        if not message.name:
            raise InvalidPlanError("the name of the table in memory is missing", path="detail.name")
        return InMemoryTable(name=message.name, pin=message.pin)
    if not message.path:
        raise InvalidPlanError("the path of the files is missing", path="detail.path")
    if message.format == 0:
        raise InvalidPlanError("the format of the files is missing", path="detail.format", hint="Set FORMAT_PARQUET")
    if message.format != _PARQUET:
        raise UnsupportedPlanError(f"the format {message.format} of files is not known", path="detail.format")
    return Files(path=message.path)


def encoded(target: WriteTarget) -> any_pb2.Any:
    """Return the detail of an ``ExtensionObject`` that encodes a write target."""
    if isinstance(target, InMemoryTable):
        message = _class("InMemoryTable")(name=target.name, pin=target.pin)
    else:
        message = _class("Files")(path=target.path, format=_PARQUET)
    return any_pb2.Any(type_url=f"{_PREFIX}{message.DESCRIPTOR.full_name}", value=message.SerializeToString())
