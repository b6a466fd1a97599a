"""The fields of all relation messages, as the protobuf descriptors have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from pyspark_substrait.proto.messages import current

#: Messages that relations are made of and that have tables of their own, or are relations again.
ELSEWHERE = (
    "Rel",
    "Expression",
    "Type",
    "NamedStruct",
    "SortField",
    "FunctionArgument",
    "FunctionOption",
    "AggregateFunction",
    "extensions",
)


def messages() -> Iterator[Descriptor]:
    """The messages of relations and of what they alone have inside, each once, in the order a reader meets them."""
    rel, plan_rel, root, common = map(_descriptor, ("Rel", "PlanRel", "RelRoot", "RelCommon"))
    start = [plan_rel, root, common, *(field.message_type for field in rel.fields if field.message_type)]
    seen: set[str] = set()
    for message in start:
        yield from _below(message, seen)


def _descriptor(name: str) -> Descriptor:
    message: Any = current().named(name)
    descriptor: Descriptor = message.DESCRIPTOR
    return descriptor


def _below(message: Descriptor, seen: set[str]) -> Iterator[Descriptor]:
    if message.full_name in seen or not _is_ours(message):
        return
    seen.add(message.full_name)
    yield message
    for field in message.fields:
        if field.message_type is not None:
            yield from _below(field.message_type, seen)


def _is_ours(message: Descriptor) -> bool:
    parts = message.full_name.split(".")
    return parts[0] == "substrait" and parts[1] not in ELSEWHERE


def fields() -> list[str]:
    """``Message.field`` for every field, the package left out."""
    return [f"{short(message)}.{field.name}" for message in messages() for field in message.fields]


def short(message: Descriptor) -> str:
    return message.full_name.removeprefix("substrait.")


def is_deprecated(field: FieldDescriptor) -> bool:
    return bool(field.GetOptions().deprecated)


if __name__ == "__main__":
    print("\n".join(fields()))
