"""Every field of every message has a place in the text, whether or not the message makes sense."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pyspark_substrait.proto.fields import message_fields
from pyspark_substrait.proto.json_read import message_from_json
from pyspark_substrait.text import lossless
from tests.lossless.messages import DECLARED, REFERENCES, random_document

#: at the top, an empty message is the same as none
_EMPTY_IS_NONE = {"version", "type", "value", "lambda", "base_schema"}


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_any_message_comes_back(first: int) -> None:
    for seed in range(first, first + 20):
        message = random_document(seed)
        fields = message_fields(message)
        text = lossless.write(fields, is_plan=message.DESCRIPTOR.name == "Plan")
        union, _ = message_from_json(lossless.parse(text), message.DESCRIPTOR.name, [])
        again = message_fields(type(message).FromString(union.SerializeToString()))
        assert _meaning(again) == _meaning(fields), f"seed {seed}\n{text}"


def _meaning(fields: dict[str, Any]) -> Any:
    """The fields, with the names of functions and types in place of their anchors."""
    urns = {each.get("extension_urn_anchor", 0): each.get("urn") for each in fields.get("extension_urns", ())}
    names = {}
    for item in fields.get("extensions", ()):
        for kind, parts in item.items():
            names[kind, parts.get(DECLARED[kind][0], 0)] = (
                parts.get("name", ""),
                urns.get(parts.get("extension_urn_reference", 0)),
            )
    kept = {key: value for key, value in fields.items() if key not in ("extension_urns", "extensions")}
    return _named(kept, names)


def _named(value: Any, names: dict[tuple[str, int], Any]) -> Any:
    match value:
        case float():
            return struct.pack(">d", value)
        case list():
            return [_named(each, names) for each in value]
        case dict():
            found = {}
            for key, part in value.items():
                if key in REFERENCES and not (key == "type_variation_reference" and part == 0):
                    found[key] = names[REFERENCES[key], part]
                elif key == "common":
                    found[key] = _named({each: of for each, of in part.items() if each != "direct"}, names)
                    if not found[key]:
                        del found[key]
                elif not (key in _EMPTY_IS_NONE and part == {}):
                    found[key] = _named(part, names)
            return found
    return value
