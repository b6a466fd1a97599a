"""Messages of a producer's own, and the extension relations that they are the details of, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.relation_handlers import extension_schema
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import ExtensionLeaf, ExtensionMulti, ExtensionSingle, Relation
from pyspark_substrait.model.relations.extension import ExtensionSchema, input_schema

PACKAGE = "org.example.tests"
_FIELDS: Mapping[str, tuple[str, ...]] = {"Range": ("start", "stop"), "Sample": ("every",), "Unite": ()}


def _classes() -> dict[str, Any]:
    """The message classes, as ``protoc`` would make them: known to protobuf by their names."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for number, field in enumerate(fields, 1):
            message.field.add(
                name=field,
                number=number,
                type=descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
                label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL,
            )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _FIELDS}


_CLASSES = _classes()
Range, Sample, Unite = (_CLASSES[name] for name in _FIELDS)


def url(kind: Any) -> str:
    """The type URL of a message class."""
    return f"type.googleapis.com/{kind.DESCRIPTOR.full_name}"


def packed(message: Message) -> AnyMessage:
    return AnyMessage(url(type(message)), message.SerializeToString())


def leaf(registry: Registry, message: Message, **more: Any) -> ExtensionLeaf:
    """A leaf whose schema is known, as if it had been loaded; nothing of it goes into the message that is written."""
    detail = packed(message)
    return ExtensionLeaf(detail=detail, derived=_derived(registry, detail), **more)


def single(registry: Registry, message: Message, input: Any, **more: Any) -> ExtensionSingle:
    detail = packed(message)
    return ExtensionSingle(detail=detail, input=input, derived=_derived(registry, detail, input), **more)


def multi(registry: Registry, message: Message, *members: Any, **more: Any) -> ExtensionMulti:
    detail = packed(message)
    return ExtensionMulti(detail=detail, members=members, derived=_derived(registry, detail, *members), **more)


def _derived(registry: Registry, detail: AnyMessage, *inputs: Relation) -> ExtensionSchema:
    handler = registry.relation_handler(detail.type_url)
    assert handler is not None
    schemas = [input_schema(input) for input in inputs]
    return extension_schema(handler, detail, [schema for schema in schemas if schema is not None], "")
