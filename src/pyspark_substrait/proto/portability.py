"""Find the uses of extensions that aren't part of the specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from google.protobuf.message import Message

from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.proto.messages import ANY

__all__ = ["Use", "uses"]

Kind: TypeAlias = Literal["function", "type", "type variation", "message"]

#: the fields that refer to a declaration
_FUNCTION: Final = "function_reference"
_TYPE: Final = ("type_reference", "type_anchor_reference")
_VARIATION: Final = "type_variation_reference"
#: custom messages in these fields don't change the meaning of a plan
_ADVICE: Final = frozenset({"optimization"})
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A place where a plan needs an extension that isn't one of the specification's own.

    Args:
        kind: what is used. ``message`` is a custom message: a relation, a table, a file format or a target.
        name: the function by its signature, the type or variation, or the type URL of the message.
        urn: the extension; empty for a message.
        path: where in the plan it stands.
        text: the content of that place, shortened.
    """

    kind: Kind
    name: str
    urn: str
    path: str
    text: str

    def __str__(self) -> str:
        of = f" of {self.urn}" if self.urn else ""
        return f"{self.path}: the {self.kind} {self.name}{of}"


_Declared: TypeAlias = Mapping[tuple[str, int], tuple[str, str]]


def uses(message: Any) -> tuple[Use, ...]:
    """The uses in a plan or an extended expression, in the order of the message; every place is listed."""
    declared = _declarations(message)
    found = []
    for path, field, value, parent in _fields(message):
        kind, anchor = _reference(field, value)
        if kind == "message":
            found.append(Use(kind=kind, name=value.type_url, urn="", path=path, text=value.type_url.rsplit("/", 1)[-1]))
        elif kind is not None:
            urn, name = declared.get((kind, anchor), ("", ""))
            if urn and not urn.startswith(OFFICIAL):
                text = _call(parent, declared) if kind == "function" else name
                found.append(Use(kind=kind, name=name, urn=urn, path=path.rpartition(".")[0], text=_shortened(text)))
    return tuple(found)


def _declarations(message: Any) -> _Declared:
    urns = {one.extension_urn_anchor: one.urn for one in message.extension_urns}
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for one in message.extensions:
        match one.WhichOneof("mapping_type"):
            case "extension_function":
                item, kind, anchor = one.extension_function, "function", one.extension_function.function_anchor
            case "extension_type":
                item, kind, anchor = one.extension_type, "type", one.extension_type.type_anchor
            case "extension_type_variation":
                item = one.extension_type_variation
                kind, anchor = "type variation", item.type_variation_anchor
            case _:
                continue
        found[kind, anchor] = urns.get(item.extension_urn_reference, ""), item.name
    return found


def _reference(field: str, value: Any) -> tuple[Kind | None, int]:
    """Return the kind of thing that a field refers to (None if it refers to nothing), and the anchor."""
    if _is_custom(value):
        return ("message", 0) if field not in _ADVICE else (None, 0)
    if not isinstance(value, int):
        return None, 0
    if field == _FUNCTION:
        return "function", value
    if field in _TYPE:
        return "type", value
    return ("type variation", value) if field == _VARIATION and value else (None, 0)


def _is_custom(value: Any) -> bool:
    return isinstance(value, Message) and value.DESCRIPTOR.full_name == ANY


def _fields(message: Message) -> Iterator[tuple[str, str, Any, Message]]:
    """Every field that is set: its path, its name, its value and the message it stands in; depth first, in order."""
    pending: list[tuple[str, str, Any, Message]] = [("", "", message, message)]
    while pending:
        path, name, value, parent = pending.pop()
        if name:
            yield path, name, value, parent
        if not isinstance(value, Message) or _is_custom(value):
            continue
        inner = []
        for field, content in value.ListFields():
            if not path and field.name in ("extension_urns", "extensions", "extension_uris", "advanced_extensions"):
                continue
            where = f"{path}.{field.name}" if path else field.name
            if field.name in (_FUNCTION, *_TYPE, _VARIATION) or isinstance(content, Message):
                inner.append((where, field.name, content, value))
            elif field.type == field.TYPE_MESSAGE and not isinstance(content, Message):
                inner += _repeated(where, field.name, content, value)
        # an anchor of 0 isn't listed as a field that is set
        if any(field.name == _FUNCTION for field in value.DESCRIPTOR.fields) and not getattr(value, _FUNCTION):
            inner.insert(0, (f"{path}.{_FUNCTION}", _FUNCTION, 0, value))
        pending.extend(reversed(inner))


def _repeated(path: str, name: str, content: Any, parent: Message) -> list[tuple[str, str, Any, Message]]:
    if isinstance(content, Mapping):
        return [(f"{path}[{key}]", name, item, parent) for key, item in content.items() if isinstance(item, Message)]
    return [(f"{path}[{number}]", name, item, parent) for number, item in enumerate(content)]


def _call(message: Any, declared: _Declared) -> str:
    """A call as text: names of functions, literals and positions of columns."""
    name = declared.get(("function", message.function_reference), ("", "?"))[1].partition(":")[0]
    arguments = getattr(message, "arguments", ())
    return f"{name}({', '.join(_argument(argument, declared) for argument in arguments)})"


def _argument(argument: Any, declared: _Declared) -> str:
    match argument.WhichOneof("arg_type"):
        case "enum":
            return str(argument.enum)
        case "value":
            return _expression(argument.value, declared)
        case _:
            return "…"


def _expression(value: Any, declared: _Declared) -> str:
    match value.WhichOneof("rex_type"):
        case "scalar_function":
            return _call(value.scalar_function, declared)
        case "literal":
            kind = value.literal.WhichOneof("literal_type")
            content = getattr(value.literal, kind) if kind else None
            return repr(content) if isinstance(content, bool | int | float | str) else kind or "…"
        case "cast":
            return _expression(value.cast.input, declared)
        case "selection" if value.selection.direct_reference.HasField("struct_field"):
            return f"${value.selection.direct_reference.struct_field.field}"
        case _:
            return "…"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
