"""JSON to messages of any release: by the protobuf JSON mapping, with the forms that older releases wrote.

The conversion uses no recursion, so the depth of a plan is limited by
:data:`~pyspark_substrait.proto.depth.MAX_NESTING` only.
"""

from __future__ import annotations

import base64
import binascii
import difflib
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import PlanFormatError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.message_text import shortened
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.proto import generates, legacy, write_targets
from pyspark_substrait.proto.depth import MAX_NESTING, is_repeated, too_deep

__all__ = ["message_from_json"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}
_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)
_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_RENAMED_FIELDS = {
    "substrait.Version": {"major": "major_number", "minor": "minor_number", "patch": "patch_number"},
}
_RENAMED_VALUES = {
    "JOIN_TYPE_SEMI": "JOIN_TYPE_LEFT_SEMI",
    "JOIN_TYPE_ANTI": "JOIN_TYPE_LEFT_ANTI",
    "JOIN_TYPE_SINGLE": "JOIN_TYPE_LEFT_SINGLE",
    "OUTPUT_MODE_MODIFIED_TUPLES": "OUTPUT_MODE_MODIFIED_RECORDS",
    "FILE_FORMAT_UNSPECIFIED": 0,
    "FILE_FORMAT_PARQUET": 1,
}
_PRECISION_TIMESTAMP = "substrait.Expression.Literal.PrecisionTimestamp"


def message_from_json(
    value: Mapping[str, Any], kind: str, notes: list[Note], faults: list[SubstraitError] | None = None
) -> tuple[Message, int]:
    """Convert a JSON object to a message with the fields of every release.

    Args:
        value: the object; field names in camelCase or snake_case.
        kind: the message, ``Plan`` or ``ExtendedExpression``.
        notes: receives a note for each change that was needed.
        faults: collects the errors of parts that can't be read, which are then left out; None to raise the first.

    Returns:
        The message, and how deep it is nested.

    Raises:
        PlanFormatError: an unknown field, or a value that its field can't take; with the path.
    """
    root = legacy.union().named(kind)()
    todo: list[tuple[Any, Mapping[str, Any], Path, int]] = [(root, value, None, 1)]
    deepest = 1
    while todo:
        message, content, path, depth = todo.pop()
        if depth > MAX_NESTING:
            raise too_deep()
        deepest = max(deepest, depth)
        children = _fill(message, content, path, depth, notes, faults)
        children.reverse()
        todo.extend(children)
    return root, deepest


_Child = tuple[Any, Mapping[str, Any], Path, int]


def _fill(
    message: Any,
    content: Mapping[str, Any],
    path: Path,
    depth: int,
    notes: list[Note],
    faults: list[SubstraitError] | None,
) -> list[_Child]:
    """Set the fields of a message from its object; message fields are added empty, and returned to be filled."""
    descriptor = message.DESCRIPTOR
    fields = _fields(descriptor)
    children: list[_Child] = []
    taken: set[Any] = set()
    for key, value in content.items():
        try:
            field = fields.get(key)
            if field is None:
                field = _renamed(descriptor, key, path, notes)
            if value is None:
                continue
            here = (path, field.name)
            mark = field.containing_oneof or field
            if mark in taken:
                what = (
                    f"more than one field of {mark.name!r}" if mark is not field else f"the field {field.name!r} twice"
                )
                raise PlanFormatError(f"the object has {what}", path=render(path), hint="Leave one of them")
            taken.add(mark)
            if is_repeated(field):
                value = _repeated(field, value, here, notes)
                target = getattr(message, field.name)
                if field.message_type is None:
                    target.extend([_scalar_value(field, each, (here, i), notes) for i, each in enumerate(value)])
                else:
                    for index, each in enumerate(value):
                        _message_value(field, target.add(), each, (here, index), depth, children, notes)
            elif field.message_type is None:
                setattr(message, field.name, _scalar_value(field, value, here, notes))
            elif _is_old_timestamp(field, value):
                message.MergeFromString(_old_timestamp(field, value, here))
            else:
                part = getattr(message, field.name)
                part.SetInParent()
                _message_value(field, part, value, here, depth, children, notes)
        except SubstraitError as error:
            if faults is None:
                raise
            if error.code is Code.PROTO_UNKNOWN_FIELD:
                error.path = render((path, shortened(str(key))))
            faults.append(error)
    return children


@cache
def _fields(descriptor: Any) -> dict[str, Any]:
    return {name: field for field in descriptor.fields for name in (field.json_name, field.name)}


def _renamed(descriptor: Any, key: str, path: Path, notes: list[Note]) -> Any:
    new = _RENAMED_FIELDS.get(descriptor.full_name, {}).get(key)
    if new is not None:
        notes.append(Note(rule="json-name", path=render((path, key)), before=key, after=new))
        return descriptor.fields_by_name[new]
    if descriptor.full_name == "substrait.Expression" and key in ("embeddedFunction", "embedded_function"):
        raise UnsupportedPlanError(
            "this is an embedded function; the specification has such a message, but no release has a place for it",
            path=render((path, "embedded_function")),
            hint="Code inside a plan is never run; call a function of an extension",
            code=Code.PROTO_UNKNOWN_FIELD,
        )
    known = _fields(descriptor)
    near = difflib.get_close_matches(str(key), [str(name) for name in known], n=1)
    hint = (
        f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(sorted({f.json_name for f in known.values()}))}"
    )
    raise PlanFormatError(
        f"{key!r} is not a field of {descriptor.full_name.removeprefix('substrait.')}",
        path=render(path),
        hint=hint.rstrip(".") if near or known else None,
        code=Code.PROTO_UNKNOWN_FIELD,
    )


def _repeated(field: Any, value: Any, path: Path, notes: list[Note]) -> list[Any]:
    if isinstance(value, Mapping) and field.name == "optimization":
        notes.append(
            Note(
                rule="repeated-optimization", path=render(path), before="one message", after="a list with that message"
            )
        )
        return [value]
    if not isinstance(value, (list, tuple)):
        _refuse(field, "a list", value, path)
    if field.message_type is not None and field.message_type.full_name == "substrait.Type" and field.name == "types":
        return _split_types(value, path, notes)
    return list(value)


def _split_types(values: Any, path: Path, notes: list[Note]) -> list[Any]:
    """Split an object with several kinds of type into one type each: for some time, the tutorial printed structs so."""
    split: list[Any] = []
    for index, value in enumerate(values):
        if isinstance(value, Mapping) and len(value) > 1:
            kinds = [str(kind) for kind in value]
            notes.append(
                Note(
                    rule="several-types-in-one",
                    path=render((path, index)),
                    before=f"one type that is {' and '.join(kinds)}",
                    after=f"{len(kinds)} types, {', '.join(kinds)}",
                )
            )
            split.extend({kind: each} for kind, each in value.items())
        else:
            split.append(value)
    return split


def _message_value(
    field: Any, message: Any, value: Any, path: Path, depth: int, children: list[_Child], notes: list[Note]
) -> None:
    full_name = field.message_type.full_name
    if not isinstance(value, Mapping):
        _refuse(field, "an object", value, path)
    if full_name == "google.protobuf.Any":
        _any_value(message, value, path)
        return
    if full_name == "substrait.Expression.Nested.Struct" and field.name == "expressions":
        value = _old_row(value, path, notes)
    children.append((message, value, path, depth + 1))


def _is_old_timestamp(field: Any, value: Any) -> bool:
    return (
        field.message_type.full_name == _PRECISION_TIMESTAMP
        and isinstance(value, (int, str))
        and not isinstance(value, bool)
    )


def _old_timestamp(field: Any, value: Any, path: Path) -> bytes:
    """Return the bytes of a literal as of releases 0.43 to 0.51, where it was a bare number; the upgrade knows them."""
    try:
        number = int(value) % 2**64
    except ValueError:
        _refuse(field, "an object", value, path)
    out = bytearray()
    for part in (field.number << 3, number):
        while part > 0x7F:
            out.append(part & 0x7F | 0x80)
            part >>= 7
        out.append(part)
    return bytes(out)


def _old_row(value: Mapping[str, Any], path: Path, notes: list[Note]) -> Mapping[str, Any]:
    """Convert a row of a virtual table from its form in 0.58: an expression, a nested struct or a literal one."""
    fields: Any = None
    if len(value) == 1:
        if isinstance(nested := value.get("nested"), Mapping) and isinstance(nested.get("struct"), Mapping):
            fields = nested["struct"].get("fields", [])
        elif isinstance(literal := value.get("literal"), Mapping) and isinstance(literal.get("struct"), Mapping):
            fields = literal["struct"].get("fields", [])
            fields = [{"literal": each} for each in fields] if isinstance(fields, (list, tuple)) else None
    if fields is None:
        return value
    notes.append(
        Note(
            rule="virtual-table-row",
            path=render(path),
            before=f"an expression ({next(iter(value))})",
            after="a struct of expressions",
        )
    )
    return {"fields": fields}


def _any_value(message: Any, value: Mapping[str, Any], path: Path) -> None:
    from google.protobuf import json_format

    type_url = value.get("@type", "")
    if not (isinstance(type_url, str) and _is_text(type_url)):
        raise PlanFormatError(f"'@type' takes text, not {_shown(type_url)}", path=render(path))
    content = value.get("value")
    if isinstance(content, bytes):  # from the text form; JSON itself has no bytes
        message.type_url, message.value = type_url, content
        return
    standard = type_url.rpartition("/")[2].startswith("substrait.")
    try:
        pool = legacy.union().pool if standard else write_targets.pool_of(type_url) or generates.pool_of(type_url)
        json_format.ParseDict(dict(value), message, descriptor_pool=pool)
    except Exception as error:  # of many classes: protobuf assumes that a value is of the right kind
        raise PlanFormatError(
            f"the message of type {type_url!r} cannot be read from JSON" if type_url else "a message without '@type'",
            path=render(path),
            hint="Import the class of the message first, so that protobuf knows its fields; or use the binary form",
        ) from error


def _scalar_value(field: Any, value: Any, path: Path, notes: list[Note]) -> Any:
    kind = field.type
    if isinstance(value, str) and not _is_text(value):
        _refuse(field, "text", value, path)
    if kind == FieldDescriptor.TYPE_STRING:
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping) and field.full_name == "substrait.FunctionArgument.enum":
            return _old_enum(value, path)
        _refuse(field, "a string", value, path)
    if kind == FieldDescriptor.TYPE_ENUM:
        return _enum_value(field, value, path, notes)
    if kind in _INTEGERS:
        if field.name == "format" and isinstance(value, str) and value in _RENAMED_VALUES:
            return _RENAMED_VALUES[value]
        return _integer(field, value, path)
    if kind == FieldDescriptor.TYPE_BOOL:
        if not isinstance(value, bool):
            _refuse(field, "true or false", value, path)
        return value
    if kind in _FLOATS:
        return _float(field, value, path)
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        _refuse(field, "bytes in base64", value, path)
    try:
        return base64.b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        _refuse(field, "bytes in base64", value, path)


def _integer(field: Any, value: Any, path: Path) -> int:
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    elif isinstance(value, str) and value == value.strip() and len(value) < 64:
        try:
            number = int(value)
        except ValueError:
            number = None
    low, high = _INTEGERS[field.type]
    if number is None or not low <= number <= high:
        # releases before 0.53 declared the value unsigned: large numbers were negative ones
        if field.full_name == f"{_PRECISION_TIMESTAMP}.value" and number is not None and 2**63 <= number < 2**64:
            return number - 2**64
        _refuse(field, f"a whole number from {low} to {high}", value, path)
    return number


def _float(field: Any, value: Any, path: Path) -> float:
    if isinstance(value, str):
        special = _SPECIAL_FLOATS.get(value)
        if special is not None:
            return special
        if _NUMBER.fullmatch(value):
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _refuse(field, "a number", value, path)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    limit = 3.4028235677973366e38 if field.type == FieldDescriptor.TYPE_FLOAT else math.inf
    if math.isinf(number) or (math.isfinite(number) and abs(number) >= limit):
        _refuse(field, "a number in range", value, path)
    return number


def _enum_value(field: Any, value: Any, path: Path, notes: list[Note]) -> int:
    values = field.enum_type.values_by_name
    if isinstance(value, str):
        if value in values:
            return int(values[value].number)
        new = _RENAMED_VALUES.get(value)
        if isinstance(new, str) and new in values:
            notes.append(Note(rule="json-enum-name", path=render(path), before=value, after=new))
            return int(values[new].number)
        near = difflib.get_close_matches(value, list(values), n=1)
        raise PlanFormatError(
            f"{value!r} is not a value of {field.name!r}",
            path=render(path),
            hint=f"Did you mean {near[0]!r}?" if near else f"It can be: {', '.join(values)}",
            code=Code.PROTO_UNKNOWN_ENUM,
        )
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    _refuse(field, "the name of a value", value, path)


def _old_enum(value: Mapping[str, Any], path: Path) -> str:
    """Return the enum value for the object that was here before 0.20, as its binary form reads now, for the upgrade."""
    text = value.get("specified")
    if len(value) == 1 and isinstance(text, str) and _is_text(text):
        size = len(text.encode())
        return f"\n{chr(size)}{text}" if size < 0x80 else text
    if set(value) == {"unspecified"}:
        return "\x12\x00"
    raise PlanFormatError(
        "an enum argument is a string", path=render(path), hint="Before 0.20 it was an object with 'specified'"
    )


def _is_text(value: str) -> bool:
    """Whether a text has no lone surrogate, which JSON allows and protobuf strings don't."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(field: Any, expected: str, value: Any, path: Path) -> NoReturn:
    if isinstance(value, Mapping):
        found = "an object"
    elif isinstance(value, (list, tuple)):
        found = "a list"
    else:
        found = _shown(value)
    raise PlanFormatError(f"{field.name!r} takes {expected}, not {found}", path=render(path))


def _shown(value: Any) -> str:
    """A single value, as an error shows it."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
