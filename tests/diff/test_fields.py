"""No field of a plan is overlooked: each is changed in some sample, and the change is seen, or the plan is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

#: What doesn't count, by the specification or because it only leads somewhere; the fields of all messages inside, too.
SILENT = {
    "RelCommon.hint": "hints may be ignored",
    "RelCommon.rel_anchor": "a number that leads to a relation",
    "ScalarFunction.function_reference": "a number that leads to a function, which is found by its arguments, too",
    "AdvancedExtension.optimization": "optimizations don't influence the meaning",
}

_WHOLE = ("relations", "referred_expr", "base_schema", "parameter_bindings")
_ENOUGH = 15

Place = tuple[tuple[FieldDescriptor, int | None], ...]


def places(message: Message, above: Place = ()) -> Iterator[Place]:
    """Every field with a value that isn't a message."""
    for field, value in message.ListFields():
        if ".".join(field.full_name.split(".")[-2:]) in SILENT or (not above and field.name not in _WHOLE):
            continue
        items = list(enumerate(value)) if isinstance(value, list) or hasattr(value, "append") else [(None, value)]
        for index, item in items:
            here = (*above, (field, index))
            if field.name == "nullability" and above and above[-1][0].full_name == "substrait.NamedStruct.struct":
                continue  # a record is never null
            if isinstance(item, Message):
                yield from places(item, here)
            else:
                yield here


def changed(message: Any, place: Place) -> Iterator[Message]:
    """The message with other values in one place."""
    for which in range(2):
        other = type(message)()
        other.CopyFrom(message)
        node: Any = other
        for field, index in place[:-1]:
            node = getattr(node, field.name) if index is None else getattr(node, field.name)[index]
        field, index = place[-1]
        old = getattr(node, field.name) if index is None else getattr(node, field.name)[index]
        new = _another(field, old, which)
        if index is None:
            setattr(node, field.name, new)
        else:
            getattr(node, field.name)[index] = new
        yield other


def _another(field: FieldDescriptor, old: Any, which: int) -> Any:
    match old:
        case bool():
            return not old
        case int() if field.enum_type is not None:
            others = [value.number for value in field.enum_type.values if value.number not in (0, old)]
            return others[which % len(others)] if others else old
        case int():
            return old - 1 if old > 100 or (which and old) else old + 1
        case float():
            return old * 2 + 1
        case str():
            return f"{old}x" if which == 0 else f"{old}1"
        case _:
            return old + b"x" if which == 0 else bytes(byte ^ 1 for byte in old)


def test_a_change_of_any_field_is_seen() -> None:
    tried: dict[str, int] = defaultdict(int)
    silent: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    samples: dict[str, Plan | ExtendedExpression] = {**PLANS, **EXTENDED_EXPRESSIONS}
    for name, document in samples.items():
        message = as_document(document, deep=False).to_message()
        for place in places(message):
            field = place[-1][0]
            key = field.full_name.removeprefix("substrait.")
            if key in seen or tried[key] >= _ENOUGH:
                continue
            for other in changed(message, place):
                tried[key] += 1
                try:
                    found = ps.diff(message, other)
                except ps.SubstraitError:
                    continue
                if found:
                    seen.add(key)
                    break
                silent[key].append(name)
    overlooked = {key: names for key, names in silent.items() if key not in seen}
    assert not overlooked
    assert len(seen) > 150
