"""Generators as messages: details of an ``ExtensionSingleRel``, as in ``generate.proto``.

The message is built in a descriptor pool of its own, so that a program can also use a class generated from that file.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from pyspark_substrait.errors import InvalidPlanError, PlanFormatError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.generate import GENERATE, Generator, GeneratorKind

__all__ = ["decoded", "encoded", "pool_of"]

_PACKAGE: Final = "pyspark_substrait.v1"
_NAME: Final = f"{_PACKAGE}.Generate"
_KINDS: Final = dict(enumerate(GeneratorKind, 1))
_NUMBERS: Final = {kind: number for number, kind in _KINDS.items()}


@cache
def _pool() -> Any:
    file = FileDescriptorProto(name="pyspark_substrait/v1/generate.proto", package=_PACKAGE, syntax="proto3")
    message = file.message_type.add(name="Generate")
    one = FieldDescriptorProto.LABEL_OPTIONAL
    generator = f".{_NAME}.Generator"
    message.field.add(name="generator", number=1, type=FieldDescriptorProto.TYPE_ENUM, type_name=generator, label=one)
    message.field.add(name="arguments", number=2, type=FieldDescriptorProto.TYPE_UINT32, label=one)
    message.field.add(name="outer", number=3, type=FieldDescriptorProto.TYPE_BOOL, label=one)
    message.field.add(name="rows", number=4, type=FieldDescriptorProto.TYPE_UINT32, label=one)
    values = message.enum_type.add(name="Generator")
    values.value.add(name="GENERATOR_UNSPECIFIED", number=0)
    for number, kind in _KINDS.items():
        values.value.add(name=f"GENERATOR_{kind.name}", number=number)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _class() -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(_NAME))


def pool_of(type_url: str) -> Any:
    """Return the descriptor pool that has the message of a type URL; None if it isn't the message of this module."""
    return _pool() if type_url.rpartition("/")[2] == _NAME else None


def decoded(detail: AnyMessage) -> Generator | None:
    """Return the generator that a detail encodes; None for any other message.

    Raises:
        PlanFormatError: the message is broken, or has a field that isn't known.
        InvalidPlanError: a required field is missing.
        UnsupportedPlanError: the generator isn't known.
    """
    if pool_of(detail.type_url) is None:
        return None
    try:
        message = _class().FromString(detail.value)
    except DecodeError as error:
        raise PlanFormatError("the Generate cannot be read", path="detail") from error
    if len(UnknownFieldSet(message)):
        raise PlanFormatError("the Generate has a field that is not known", path="detail")
    if message.generator == 0:
        raise InvalidPlanError("the generator is missing", path="detail.generator")
    kind = _KINDS.get(message.generator)
    if kind is None:
        raise UnsupportedPlanError(f"the generator {message.generator} is not known", path="detail.generator")
    if not message.arguments:
        raise InvalidPlanError("the number of arguments is missing", path="detail.arguments")
    if bool(message.rows) != (kind is GeneratorKind.STACK):
        raise InvalidPlanError("rows are those of GENERATOR_STACK", path="detail.rows")
    return Generator(kind=kind, arguments=message.arguments, outer=message.outer, rows=message.rows or None)


def encoded(generator: Generator) -> AnyMessage:
    """Return the detail of an ``ExtensionSingleRel`` that encodes a generator."""
    message = _class()(
        generator=_NUMBERS[generator.kind],
        arguments=generator.arguments,
        outer=generator.outer,
        rows=generator.rows or 0,
    )
    return AnyMessage(GENERATE, message.SerializeToString())
