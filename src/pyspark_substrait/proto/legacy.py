"""The union of all releases: the current messages plus every field that was ever removed, at its old number.

No field number of the specification was ever given to another field, so one descriptor reads the plans of every
release. The messages have a descriptor pool of their own, where they keep their names (``substrait.Plan``). Building it
takes some milliseconds and happens once, when the first plan needs it.

A *probe* is the same descriptor with some fields left out. A plan that has no unknown field under a probe has none of
the fields left out, so that it needn't be walked through in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError, Message

from pyspark_substrait.proto.depth import DEEP
from pyspark_substrait.proto.messages import Messages, files

__all__ = [
    "KINDS",
    "REMOVED_MESSAGES",
    "Probe",
    "current_probe",
    "probe_without",
    "settled_probe",
    "type_probe",
    "union",
]

KINDS = ("Plan", "ExtendedExpression")

_EXPRESSION = "Expression"
_LITERAL = "Expression.Literal"

# message, field, number, type, oneof. The type is a scalar's name or a message's, relative to `substrait`; "*" repeats
# it, and the oneof "?" gives a scalar the presence that it had on the wire.
_REMOVED = """
Plan extension_uris 1 *extensions.SimpleExtensionURI -
ExtendedExpression extension_uris 1 *extensions.SimpleExtensionURI -
extensions.SimpleExtensionDeclaration.ExtensionType extension_uri_reference 1 uint32 ?
extensions.SimpleExtensionDeclaration.ExtensionTypeVariation extension_uri_reference 1 uint32 ?
extensions.SimpleExtensionDeclaration.ExtensionFunction extension_uri_reference 1 uint32 ?
AggregateRel.Grouping grouping_expressions 1 *Expression -
Type timestamp 14 Type.Timestamp kind
Type time 17 Type.Time kind
Type timestamp_tz 29 Type.TimestampTZ kind
Type user_defined_type_reference 31 uint32 kind
Expression.Literal timestamp 14 int64 literal_type
Expression.Literal time 17 int64 literal_type
Expression.Literal timestamp_tz 27 int64 literal_type
Expression.Literal.IntervalDayToSecond microseconds 3 int32 ?
Expression.ScalarFunction args 2 *Expression -
Expression.WindowFunction args 8 *Expression -
AggregateFunction args 2 *Expression -
Expression enum 10 Expression.Enum rex_type
FetchRel offset 3 int64 ?
FetchRel count 4 int64 ?
ReadRel.VirtualTable values 1 *Expression.Literal.Struct -
ReadRel.LocalFiles.FileOrFiles format 5 int32 ?
HashJoinRel left_keys 4 *Expression.FieldReference -
HashJoinRel right_keys 5 *Expression.FieldReference -
MergeJoinRel left_keys 4 *Expression.FieldReference -
MergeJoinRel right_keys 5 *Expression.FieldReference -
"""

# parent message ("" for the file), message, then its fields as above
_REMOVED_MESSAGES = {
    ("extensions", "SimpleExtensionURI"): "extension_uri_anchor 1 uint32 -\nuri 2 string -",
    ("Type", "Timestamp"): "type_variation_reference 1 uint32 -\nnullability 2 Type.Nullability -",
    ("Type", "TimestampTZ"): "type_variation_reference 1 uint32 -\nnullability 2 Type.Nullability -",
    ("Type", "Time"): "type_variation_reference 1 uint32 -\nnullability 2 Type.Nullability -",
    (_EXPRESSION, "Enum"): "specified 1 string enum_kind\nunspecified 2 Expression.Enum.Empty enum_kind",
    ("Expression.Enum", "Empty"): "",
}
_ENUMS = {"Type.Nullability"}

REMOVED_MESSAGES = frozenset(".".join(name) for name in _REMOVED_MESSAGES)
"""The messages that the current release doesn't have, by their names."""

# Fields that are current, but had no presence (or another one) where older plans need it.
_WITH_PRESENCE = {("Expression.Literal.IntervalDayToSecond", "precision")}

# Fields that a plan of release 0.72 or later must not have if its bytes are to be used unchanged.
_UNSETTLED = frozenset(
    {
        (_EXPRESSION, "window_function"),
        ("Rel", "window"),
        ("Rel", "hash_join"),
        ("Rel", "merge_join"),
        ("Type", "interval_day"),
        (_LITERAL, "interval_day_to_second"),
        (_LITERAL, "interval_compound"),
    }
)
_CHANGED_TYPES = frozenset(
    {
        ("Type", "timestamp"),
        ("Type", "timestamp_tz"),
        ("Type", "time"),
        ("Type", "user_defined_type_reference"),
        ("Type", "interval_day"),
        (_LITERAL, "timestamp"),
        (_LITERAL, "timestamp_tz"),
        (_LITERAL, "time"),
        (_LITERAL, "interval_day_to_second"),
        (_LITERAL, "interval_compound"),
    }
)

# The runtime reads messages nested up to 100 deep, but looks for unknown fields in the first 63 levels only.
_PARSE_LIMIT = 100
_UNKNOWN_LIMIT = DEEP
_UNUSED_NUMBER = 100_000


class Probe:
    """Detects, at the speed of the runtime, whether a serialised plan has a field that the probe doesn't know."""

    __slots__ = ("_around", "_fields", "_innermost", "_kept", "_wrapper")

    def __init__(self, wrapper: type[Message]) -> None:
        self._wrapper: Any = wrapper
        fields: list[Any] = [wrapper.DESCRIPTOR.fields_by_name[kind] for kind in KINDS]
        self._fields = {field.name: field.number << 3 | 2 for field in fields}
        # Classes live as long as something refers to them.
        self._kept = [message_factory.GetMessageClass(field.message_type) for field in fields]
        # The wrappers around a plan are groups, which begin and end with a tag and don't state their length.
        inner = wrapper.DESCRIPTOR.fields_by_name["inner"].number << 3
        count = _PARSE_LIMIT - _UNKNOWN_LIMIT - 1
        self._around = bytes((inner | 3,)) * count, bytes((inner | 4,)) * count
        self._innermost = attrgetter(".".join(["inner"] * count))

    def unknown(self, data: bytes, kind: str, *, canonical: bool = False) -> bool | None:
        """Whether ``data`` has an unknown field; None when it is nested too deep to tell, or corrupt.

        Of ``canonical`` data, which the runtime wrote, the size is that of the message with its unknown fields.
        """
        start, end = self._around
        try:
            wrapper = self._wrapper.FromString(b"".join((start, _head(self._fields[kind], len(data)), data, end)))
        except DecodeError:
            return None
        message = getattr(self._innermost(wrapper), kind)
        before = len(data) if canonical else message.ByteSize()
        message.DiscardUnknownFields()
        return bool(message.ByteSize() != before)


def _head(tag: int, size: int) -> bytes:
    """The tag and length of a length-delimited field."""
    out = bytearray((tag,))
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


@cache
def union() -> Messages:
    """Return the messages with every field of every release."""
    return _build(removed=True, without=frozenset(), keep=True)


@cache
def settled_probe() -> Probe:
    """Return the probe for removed fields, and for fields that may need a change in a plan of release 0.72 or later."""
    return _probe(removed=False, without=_UNSETTLED)


@cache
def type_probe() -> Probe:
    """Return the probe for types and literals to upgrade, and for fields of no release."""
    return _probe(removed=True, without=_CHANGED_TYPES)


@cache
def current_probe() -> Probe:
    """Return the probe for fields that the current release doesn't have."""
    return _probe(removed=False, without=frozenset())


def probe_without(fields: frozenset[tuple[str, str]]) -> Probe:
    """Return the probe for some fields of the current release: pairs of message (``RelCommon.Hint``) and field."""
    return _probe(removed=False, without=fields)


def _probe(*, removed: bool, without: frozenset[tuple[str, str]]) -> Probe:
    pool = _build(removed=removed, without=without).pool
    file = FileDescriptorProto(name="pyspark_substrait/probe.proto", package="pyspark_substrait", syntax="proto2")
    wrapper = file.message_type.add(name="Wrapper")
    _add(wrapper, "inner", 1, "pyspark_substrait.Wrapper")
    wrapper.field[0].type = FieldDescriptorProto.TYPE_GROUP
    for number, kind in enumerate(KINDS, start=2):
        file.dependency.append(pool.FindMessageTypeByName(f"substrait.{kind}").file.name)
        _add(wrapper, kind, number, f"substrait.{kind}")
    pool.Add(file)
    return Probe(message_factory.GetMessageClass(pool.FindMessageTypeByName("pyspark_substrait.Wrapper")))


def _build(*, removed: bool, without: frozenset[tuple[str, str]], keep: bool = False) -> Messages:
    changed = files()
    messages = {name: message for file in changed for name, message in _messages(file)}
    if removed:
        _add_removed(changed, messages)
    for name, field in without:
        _leave_out(messages[name], field)
    return Messages.of(changed, keep=keep)


def _leave_out(message: DescriptorProto, name: str) -> None:
    """Remove a field from a message; the last one of a oneof, which must not be empty, gets an unused number."""
    field = next(each for each in message.field if each.name == name)
    choice = field.oneof_index if field.HasField("oneof_index") else None
    if (
        choice is not None
        and sum(each.HasField("oneof_index") and each.oneof_index == choice for each in message.field) == 1
    ):
        field.number = _UNUSED_NUMBER + choice
    else:
        message.field.remove(field)


def _messages(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    if not file.package.startswith("substrait"):
        return
    prefix = file.package.removeprefix("substrait").lstrip(".")
    todo = [(prefix, message) for message in file.message_type]
    while todo:
        parent, message = todo.pop()
        name = f"{parent}.{message.name}" if parent else message.name
        yield name, message
        todo.extend((name, nested) for nested in message.nested_type)


def _add_removed(files: list[FileDescriptorProto], messages: dict[str, DescriptorProto]) -> None:
    for (parent, name), fields in _REMOVED_MESSAGES.items():
        if parent in messages:
            message = messages[parent].nested_type.add(name=name)
        else:
            file = next(file for file in files if file.package == f"substrait.{parent}")
            message = file.message_type.add(name=name)
        messages[f"{parent}.{name}"] = message
        for line in fields.splitlines():
            field, number, kind, oneof = line.split()
            _add(message, field, int(number), kind, oneof)
    for line in _REMOVED.strip().splitlines():
        owner, field, number, kind, oneof = line.split()
        _add(messages[owner], field, int(number), kind, oneof)
    for owner, field in _WITH_PRESENCE:
        message = messages[owner]
        _give_presence(message, next(each for each in message.field if each.name == field))


def _add(message: DescriptorProto, name: str, number: int, kind: str, oneof: str = "-") -> None:
    """Add a field; ``kind`` is a scalar, an enum or a message of `substrait` (or any full name), "*" repeats it."""
    field = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
    if kind.startswith("*"):
        kind = kind[1:]
        field.label = FieldDescriptorProto.LABEL_REPEATED
    if kind.islower() and "." not in kind:
        field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    else:
        field.type = FieldDescriptorProto.TYPE_ENUM if kind in _ENUMS else FieldDescriptorProto.TYPE_MESSAGE
        rooted = kind.startswith(("substrait.", "pyspark_substrait."))
        field.type_name = f".{kind}" if rooted else f".substrait.{kind}"
    if oneof == "?":
        _give_presence(message, field)
    elif oneof != "-":
        names = [each.name for each in message.oneof_decl]
        if oneof not in names:
            message.oneof_decl.add(name=oneof)
            names.append(oneof)
        field.oneof_index = names.index(oneof)


def _give_presence(message: DescriptorProto, field: FieldDescriptorProto) -> None:
    field.proto3_optional = True
    field.oneof_index = len(message.oneof_decl)
    message.oneof_decl.add(name=f"_{field.name}")
