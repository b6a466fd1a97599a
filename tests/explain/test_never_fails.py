"""However a plan is broken, it can be shown: mutated messages, cut bytes, JSON that is something else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.proto.depth import is_repeated
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

DOCUMENTS = PLANS | EXTENDED_EXPRESSIONS
NAMES = sorted(DOCUMENTS)
ROUNDS = 1
"""How many mutants of each sample and kind; more find more."""


def messages(message: Any) -> Iterator[Any]:
    """A message and all inside it."""
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for each in value if is_repeated(field) else [value]:
                yield from messages(each)


def cleared(message: Any, chance: random.Random) -> None:
    """Lose one field somewhere."""
    parts = [part for part in messages(message) if part.ListFields()]
    if parts:
        part = chance.choice(parts)
        part.ClearField(chance.choice(part.ListFields())[0].name)


def cut(message: Any, chance: random.Random) -> None:
    """Lose one item of a list, or have it twice."""
    lists = [(part, field.name) for part in messages(message) for field, _ in part.ListFields() if is_repeated(field)]
    if not lists:
        return
    part, name = chance.choice(lists)
    items = getattr(part, name)
    if chance.random() < 0.5:
        del items[chance.randrange(len(items))]
    else:
        items.extend([chance.choice(items)])


def renumbered(message: Any, chance: random.Random) -> None:
    """Change one number: an index, an anchor, an enumeration value, a length."""
    numbers = [
        (part, field.name)
        for part in messages(message)
        for field in part.DESCRIPTOR.fields
        if field.cpp_type
        in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_ENUM)
        and not is_repeated(field)
        and (field.containing_oneof is None or part.HasField(field.name))
    ]
    part, name = chance.choice(numbers)
    setattr(part, name, chance.choice([0, 1, 2, 7, 1_000, 2**31 - 1]))


def swapped(message: Any, chance: random.Random) -> None:
    """Put one part in the place of another of the same kind: an expression, a relation, a type."""
    parts = list(messages(message))
    target = chance.choice(parts)
    source = chance.choice([part for part in parts if part.DESCRIPTOR is target.DESCRIPTOR])
    copied = type(source)()
    copied.CopyFrom(source)
    target.CopyFrom(copied)


MUTATIONS: tuple[Callable[[Any, random.Random], None], ...] = (cleared, cut, renumbered, swapped)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_of_a_mutated_plan_there_is_a_page(mutate: Callable[[Any, random.Random], None]) -> None:
    for name in NAMES:
        original = as_document(DOCUMENTS[name], deep=False).to_message()
        for round in range(ROUNDS):
            message = type(original)()
            message.CopyFrom(original)
            mutate(message, random.Random(f"{mutate.__name__} {name} {round}"))
            page = ps.explain(message, proto_paths=True)
            assert all(line.isprintable() for line in page.splitlines()), (name, round)
            assert "object at 0x" not in page, (name, round)


def test_of_cut_bytes_there_is_a_page() -> None:
    for name in NAMES:
        content = as_document(DOCUMENTS[name], deep=False).to_bytes()
        for round in range(ROUNDS):
            chance = random.Random(f"cut bytes {name} {round}")
            assert ps.explain(content[: chance.randrange(len(content))])
            broken = bytearray(content)
            broken[chance.randrange(len(broken))] = chance.randrange(256)
            assert ps.explain(bytes(broken))


def test_of_other_json_there_is_a_page() -> None:
    for name in NAMES[::5]:
        content = json.loads(as_document(DOCUMENTS[name], deep=False).to_json())
        chance = random.Random(f"json {name}")
        keys = sorted(content)
        content[chance.choice(keys)] = chance.choice([None, 0, "x", [], {}, [{"x": []}], {"rel": 1}])
        assert ps.explain(content)


@pytest.mark.parametrize(
    "source",
    [b"", b"\x00", b"{", b"[]", "{}", "{]", "absent.json", "", {}, {"relations": 1}, {"relations": [{}]}, b"\xff" * 99],
)
def test_what_is_no_plan_is_called_so(source: Any) -> None:
    page = ps.explain(source)
    assert page.startswith(("Not a plan", "Plan ("))
    assert "! error" in page
