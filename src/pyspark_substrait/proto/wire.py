"""Read plans of any release from binary protobuf, JSON text, messages and files, and write them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import PlanFormatError, SubstraitError
from pyspark_substrait.model.deep_stack import with_deep_stack
from pyspark_substrait.model.limits import check_size
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.plan import Version
from pyspark_substrait.proto import json_text, legacy, messages
from pyspark_substrait.proto.damage import damage
from pyspark_substrait.proto.depth import DEEP, is_deep, is_repeated, parse_message, split_fields
from pyspark_substrait.proto.json_read import message_from_json
from pyspark_substrait.proto.json_write import message_to_json
from pyspark_substrait.proto.other_formats import is_sql, other_format
from pyspark_substrait.proto.upgrade import (
    drop_replaced,
    needs_walk,
    stamp,
    upgrade_messages,
    upgrade_relations,
    upgrade_top,
)

__all__ = ["Faults", "Parsed", "Source", "parse", "to_bytes", "to_json"]

Faults: TypeAlias = list[SubstraitError]
Source: TypeAlias = bytes | bytearray | memoryview | str | os.PathLike[str] | Mapping[str, Any] | Message

_HINT = "A plan is binary protobuf, JSON, the text form, a path to a file with one of them, a dict, or a message"
_INCOMPLETE = "A copy or a download may be incomplete; get the file again"
_FEWEST_SOUND = 3
"""The number of sound fields from which on bytes are called a damaged plan."""
_WIRE_TYPES = ("a number", "8 bytes", "a length-delimited value", "a group", "a group", "4 bytes")
_VERSION_TAGS = (0x08, 0x10, 0x18, 0x22, 0x2A)
_EXPRESSION_KEYS = ("referredExpr", "referred_expr", "baseSchema", "base_schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A plan in its current form.

    Args:
        message: a ``substrait.Plan`` or ``substrait.ExtendedExpression`` of the current release; no unknown fields.
        notes: what was rewritten, in the order in which it was done.
        original_version: the release that the plan says it was written for, like ``0.85.0``; None when it doesn't say.
        stated: the version that the plan itself states; None when it states none.
        faults: the errors of parts that couldn't be read and were left out.
        content: the message as bytes, except for its version; None if it was nested too deep to be searched.
        deep: whether a recursive function should be called through
            :func:`~pyspark_substrait.model.deep_stack.with_deep_stack`.
    """

    message: Any
    notes: tuple[Note, ...]
    original_version: str | None
    deep: bool
    stated: Version | None = None
    faults: tuple[SubstraitError, ...] = ()
    content: bytes | None = None


def parse(source: Source, faults: Faults | None = None) -> Parsed:
    """Read a plan or an extended expression of any release and bring it to its current form.

    Args:
        source: binary protobuf or JSON as ``bytes``; JSON text or a path as ``str``; a path to a file with either;
            a JSON object; a message of any protobuf class of a ``Plan`` or ``ExtendedExpression``.
        faults: collects the errors of fields that no release has, and of JSON values that don't fit their fields; these
            are left out, and parsing continues. None to raise the first error.

    Raises:
        PlanFormatError: the source can't be read, or has fields that no release has.
        InvalidPlanError: the plan contradicts itself, so that its upgrade is ambiguous.
    """
    check_size(source)
    match source:
        case bytes() | bytearray() | memoryview():
            return _parse_content(bytes(source), faults)
        case str():
            if source.lstrip()[:1] in ("{", "["):
                return _parse_text(source.lstrip("\ufeff"), faults)
            return _parse_content(_file_content(source), faults)
        case os.PathLike():
            return _parse_content(_file_content(source), faults)
        case Mapping():
            return _parse_json(source, faults)
        case Message():
            return _parse_message(source, faults)
    raise PlanFormatError(f"an object of the type {type(source).__name__} is not a plan", hint=_HINT)


def _file_content(path: str | os.PathLike[str]) -> bytes:
    name = os.fspath(path)
    if not str(name).strip():
        raise PlanFormatError("the text is empty, neither JSON nor a path", hint=_HINT)
    shown = str(name) if len(str(name)) <= 120 else f"{str(name)[:117]}..."
    try:
        content = FilePath(name).read_bytes()
    except IsADirectoryError as error:
        raise PlanFormatError(
            f"{shown!r} is a directory, not a plan", hint="Name one file in it; a table goes into tables (--table)"
        ) from error
    except (OSError, ValueError) as error:
        found = other_format(str(name).encode(errors="replace")) if "\n" in str(name) or is_sql(str(name)) else None
        if found is not None:
            raise PlanFormatError(f"this is {found.what}, not a plan", hint=found.hint or _HINT) from error
        if isinstance(error, FileNotFoundError):
            raise PlanFormatError(
                f"there is no file {shown!r}", hint="Text that is not JSON is taken for a path"
            ) from error
        reason = getattr(error, "strerror", None) or str(error)
        raise PlanFormatError(f"the file {shown!r} cannot be read: {reason}") from error
    check_size(content)
    return content


def _parse_content(content: bytes, faults: Faults | None) -> Parsed:
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise _empty(content)
    if text[:1] in (b"{", b"["):
        if b"\0" in text[:4]:
            raise _not_protobuf(content)
        try:
            decoded = text.decode()
        except UnicodeDecodeError as error:
            raise PlanFormatError(
                f"the JSON text is not UTF-8, at byte {error.start}", hint="Save it as UTF-8"
            ) from error
        return _parse_text(decoded, faults)
    return _parse_binary(content, _binary_kind(content), faults)


def _empty(content: bytes) -> PlanFormatError:
    what = f"has only {len(content):,} bytes of white space" if content else "is empty"
    return PlanFormatError(f"the plan {what}", hint="The program that wrote it may have failed; write it again")


# JSON


def _parse_text(text: str, faults: Faults | None) -> Parsed:
    if json_text.fits_the_stack(text):
        return _parse_json(json_text.parse_text(text), faults)
    return with_deep_stack(lambda: _parse_json(json_text.parse_text(text), faults))


def _parse_json(value: Any, faults: Faults | None) -> Parsed:
    if not isinstance(value, Mapping):
        raise PlanFormatError(
            f"the JSON text is {_json_kind(value)}, not an object", hint="A plan is one JSON object, with 'relations'"
        )
    if not value:
        raise PlanFormatError("the JSON object is empty", hint="A plan has 'relations'")
    kind = "Plan"
    if "relations" not in value and any(key in value for key in _EXPRESSION_KEYS):
        kind = "ExtendedExpression"
    notes: list[Note] = []
    message, depth = message_from_json(value, kind, notes, faults)
    if depth > DEEP:
        return with_deep_stack(_upgrade, message, kind, notes, None, True, faults)
    return _upgrade(message, kind, notes, None, False, faults)


def _json_kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a single value"


# binary


def _parse_message(message: Message, faults: Faults | None) -> Parsed:
    name = message.DESCRIPTOR.name
    if name not in legacy.KINDS:
        raise PlanFormatError(f"a message {message.DESCRIPTOR.full_name} is not a plan", hint=_HINT)
    try:
        data = with_deep_stack(message.SerializeToString) if is_deep(message) else message.SerializeToString()
    except (EncodeError, ValueError) as error:
        raise PlanFormatError(f"the message cannot be serialised: {error}") from error
    if not data:
        raise PlanFormatError("the message is empty", hint="A plan has relations")
    return _parse_binary(data, name, faults)


def _binary_kind(content: bytes) -> str:
    """Whether the bytes are a plan or an extended expression: by their fields, and in doubt by the better fit."""
    try:
        fields = split_fields(content)
    except DecodeError as error:
        raise _not_protobuf(content) from error
    present = {number for number, _, value, _ in fields if value >= 0}
    if not any(
        number in legacy.union().named(kind).DESCRIPTOR.fields_by_number for number in present for kind in legacy.KINDS
    ):
        raise _not_protobuf(content)
    # version is 6 in a plan, where an extended expression has URLs, and 7 there, where a plan has parameter bindings
    plan_version = any(
        number == 6 and value >= 0 and (value == end or content[value] in _VERSION_TAGS)
        for number, _, value, end in fields
    )
    if plan_version and not present & {4, 7}:
        return "Plan"
    misfit = {kind: _misfit(content, kind) for kind in legacy.KINDS}
    return min(legacy.KINDS, key=lambda kind: misfit[kind])


def _misfit(content: bytes, kind: str) -> int:
    """The number of bytes that are unknown fields in a message of this kind, as far as the runtime looks."""
    message_class = legacy.union().named(kind)
    try:
        return _unknown_bytes(message_class.FromString(content))
    except DecodeError:
        return with_deep_stack(_deep_misfit, content, message_class)


def _deep_misfit(content: bytes, message_class: type[Message]) -> int:
    try:
        return _unknown_bytes(parse_message(message_class, content))
    except DecodeError:
        return len(content) + 1
    except PlanFormatError:
        # too deep within known fields: it fits, and the caller raises the error
        return 0


def _unknown_bytes(message: Any) -> int:
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return int(before - message.ByteSize())


def _not_protobuf(content: bytes) -> PlanFormatError:
    """Return the error for bytes that are no message: of another format, of a plan that was cut off, or of neither."""
    found = other_format(content)
    if found is not None:
        return PlanFormatError(f"this is {found.what}, not a plan", hint=found.hint or _HINT)
    faults = [fault for kind in legacy.KINDS if (fault := damage(content, legacy.union().named(kind))) is not None]
    fault = max(faults, key=lambda fault: fault.fields, default=None)
    if fault is not None and fault.fields >= _FEWEST_SOUND:
        where, size = f"at byte {fault.position:,}", f"{len(content):,} bytes"
        what = f"the binary plan is cut off {where}" if fault.cut else f"the binary plan is damaged {where} of {size}"
        return PlanFormatError(what, path=fault.path, hint=_INCOMPLETE)
    return PlanFormatError("the bytes are neither a protobuf message of a plan nor JSON text", hint=_HINT)


def _parse_binary(data: bytes, kind: str, faults: Faults | None) -> Parsed:
    notes: list[Note] = []
    try:
        settled = legacy.settled_probe().unknown(data, kind)
        if settled is False:
            message = messages.current().named(kind).FromString(data)
            context = upgrade_top(message, notes)
            if not needs_walk(context):
                return _finished(message, context, data, deep=False)
            notes.clear()
        old = parse_message(legacy.union().named(kind), data)
    except DecodeError as error:
        raise _not_protobuf(data) from error
    if settled is None:
        return with_deep_stack(_upgrade, old, kind, notes, data, True, faults)
    return _upgrade(old, kind, notes, data, False, faults)


def _upgrade(old: Any, kind: str, notes: list[Note], data: bytes | None, deep: bool, faults: Faults | None) -> Parsed:
    """Upgrade a message that has the fields of every release, and convert it to a current one."""
    if data is None:
        data = old.SerializeToString()
    for number, uri in enumerate(old.extension_uris):  # of which the upgrade leaves nothing
        _refuse_unknown(uri, faults, (((None, "extension_uris"), number)))
    known = len(notes)
    context = upgrade_top(old, notes)
    if not deep and not needs_walk(context):
        # Mostly only relations have to change. Otherwise the upgrade starts over.
        upgrade_relations(context)
        upgraded = old.SerializeToString()
        if legacy.settled_probe().unknown(upgraded, kind, canonical=True) is False:
            return _finished(messages.current().named(kind).FromString(upgraded), context, upgraded, deep=False)
        del notes[known:]
        old = parse_message(legacy.union().named(kind), data)
        context = upgrade_top(old, notes)
    changed_types = legacy.type_probe().unknown(data, kind) is not False
    if changed_types:  # or something unknown: of these messages the upgrade leaves nothing, either
        _refuse_unknown(old, faults, None, legacy.REMOVED_MESSAGES)
    upgrade_messages(context, with_types=changed_types or bool(context.unknown_types))
    drop_replaced(context)
    upgraded = old.SerializeToString()
    try:
        message = parse_message(messages.current().named(kind), upgraded)
    except DecodeError as error:
        raise _not_protobuf(data) from error
    unknown = legacy.current_probe().unknown(upgraded, kind, canonical=True)
    if unknown is not False:
        _refuse_unknown(message, faults)
        message.DiscardUnknownFields()
    content = upgraded if unknown is False else None
    return _finished(message, context, content, deep=deep or unknown is None)


def _finished(message: Any, context: Any, content: bytes | None, *, deep: bool) -> Parsed:
    stated = None
    if message.HasField("version"):
        stated = message.version
        stated = Version(
            major_number=stated.major_number,
            minor_number=stated.minor_number,
            patch_number=stated.patch_number,
            git_hash=stated.git_hash,
            producer=stated.producer,
        )
    stamp(message, context)
    version = context.version
    return Parsed(
        message=message,
        notes=tuple(context.notes),
        original_version=None if version is None else ".".join(map(str, version)),
        deep=deep,
        stated=stated,
        content=content,
    )


def _refuse_unknown(
    message: Message, faults: Faults | None, path: Path = None, within: frozenset[str] | None = None
) -> None:
    """Refuse the fields that no release has, or collect these faults; of messages with some names only, if given."""
    for fault in _unknown_fields(message, path, within):
        if faults is None:
            raise fault
        faults.append(fault)


def _unknown_fields(root: Message, path: Path, within: frozenset[str] | None) -> Iterator[PlanFormatError]:
    """The fields that no release has."""
    stack: list[tuple[Any, Path]] = [(root, path)]
    while stack:
        message, path = stack.pop()
        place = message.DESCRIPTOR.full_name.removeprefix("substrait.")
        unknown: Any = UnknownFieldSet(message) if within is None or place in within else ()
        for field in unknown:
            yield PlanFormatError(
                f"field {field.field_number} ({_WIRE_TYPES[field.wire_type]}) is in no release of {place}",
                path=render(path),
                hint="The plan is newer than this package, has private fields, or is not a Substrait plan",
                code=Code.PROTO_UNKNOWN_FIELD,
            )
        found: list[tuple[Any, Path]] = []
        for each, value in message.ListFields():
            if each.message_type is None:
                continue
            here = (path, each.name)
            if is_repeated(each):
                found.extend((one, (here, index)) for index, one in enumerate(value))
            else:
                found.append((value, here))
        found.reverse()
        stack.extend(found)


# out


def to_bytes(message: Message) -> bytes:
    """The message in the binary form, whatever its depth; the same message gives the same bytes."""
    if is_deep(message):
        return with_deep_stack(_serialised, message)
    return _serialised(message)


def _serialised(message: Message) -> bytes:
    return bytes(message.SerializeToString(deterministic=True))


def to_json(message: Message) -> str:
    """The message as JSON text: protobuf's mapping, names in camelCase, indented by two spaces.

    Raises:
        UnsupportedPlanError: it holds a message of a type that JSON can't name.
    """
    return message_to_json(message)
