"""The messages of the current release of the specification, in a descriptor pool of this package's own.

A process may have other classes of the same names, of whatever release another package needs. Protobuf's default pool
has room for one release only, so ours isn't there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, empty_pb2, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import Message

from pyspark_substrait import specification

__all__ = [
    "ANY",
    "AggregateFunction",
    "DynamicParameter",
    "Expression",
    "ExtendedExpression",
    "FunctionArgument",
    "Messages",
    "NamedStruct",
    "Plan",
    "Rel",
    "RelCommon",
    "SortField",
    "Type",
    "current",
    "files",
]

ANY: Final = "google.protobuf.Any"


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of one private descriptor pool, and the classes of them that are kept."""

    pool: Any
    kept: tuple[type[Message], ...] = ()

    @staticmethod
    def of(files: Iterable[FileDescriptorProto], *, keep: bool = False) -> Messages:
        """Return the messages of some files, each of which stands after those it imports.

        The runtime makes the class of a message when it is first met, and forgets it with the last such message. With
        ``keep``, all are made at once and stay, which takes 2 ms and saves making many anew for each plan.
        """
        pool = descriptor_pool.DescriptorPool()
        kept = []
        for file in files:
            pool.Add(file)
            todo = list(pool.FindFileByName(file.name).message_types_by_name.values()) if keep else []
            while todo:
                each = todo.pop()
                kept.append(message_factory.GetMessageClass(each))
                todo.extend(each.nested_types)
        return Messages(pool, tuple(kept))

    def named(self, name: str) -> type[Message]:
        """The class of the message ``substrait.<name>``."""
        found: type[Message] = message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"substrait.{name}"))
        return found

    def enum(self, name: str) -> Any:
        """The descriptor of the enum ``substrait.<name>``."""
        return self.pool.FindEnumTypeByName(f"substrait.{name}")


def files() -> list[FileDescriptorProto]:
    """Return copies of the files that define the messages, and before them those of protobuf that they import."""
    described = descriptor_pb2.FileDescriptorSet()
    for imported in (any_pb2.DESCRIPTOR, empty_pb2.DESCRIPTOR):
        imported.CopyToProto(described.file.add())
    described.MergeFromString((specification.folder() / specification.MESSAGES).read_bytes())
    return list(described.file)


@cache
def current() -> Messages:
    """Return the messages of the current release."""
    return Messages.of(files(), keep=True)


_named = current().named

AggregateFunction: Any = _named("AggregateFunction")
DynamicParameter: Any = _named("DynamicParameter")
Expression: Any = _named("Expression")
ExtendedExpression: Any = _named("ExtendedExpression")
FunctionArgument: Any = _named("FunctionArgument")
NamedStruct: Any = _named("NamedStruct")
Plan: Any = _named("Plan")
Rel: Any = _named("Rel")
RelCommon: Any = _named("RelCommon")
SortField: Any = _named("SortField")
Type: Any = _named("Type")
