"""Mutants of stored plans: messages with changed bits, lengths and fields, JSON and texts that nobody wrote."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from fuzz import wire
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from tests.hostile_inputs import mutate_bytes, mutate_json, mutate_text
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

__all__ = ["LARGEST", "MUTATIONS", "Mutant", "Original", "mutant", "originals"]

LARGEST = 64 * 1024
"""The limits of time and memory are for inputs below this size, in bytes."""


@dataclass(frozen=True)
class Original:
    """A stored plan or extended expression: its message, and as JSON and text."""

    name: str
    message: bytes
    json: str
    text: str


@dataclass(frozen=True)
class Mutant:
    """An input made of a stored plan: binary, or as text (JSON or the text form). ``how`` names the mutation."""

    seed: int
    original: str
    how: str
    source: bytes | str

    @property
    def content(self) -> bytes:
        """The input as bytes."""
        return self.source if isinstance(self.source, bytes) else self.source.encode(errors="surrogatepass")


@cache
def originals() -> tuple[Original, ...]:
    """The samples of the tests (every message, field and enumeration of the specification) and some generated plans."""
    from fuzz.plans import plan

    made = []
    named: dict[str, Plan | ExtendedExpression] = {
        **PLANS,
        **EXTENDED_EXPRESSIONS,
        **{f"generated {seed}": plan(seed) for seed in range(60)},
    }
    for name, node in named.items():
        document = as_document(node, deep=False)
        message = document.to_bytes()
        if len(message) < LARGEST // 2:
            made.append(Original(name, message, document.to_json(), document.to_text()))
    return tuple(made)


_INTERESTING = (0, 1, 2, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)


def _flipped(content: bytes, chance: random.Random) -> bytes:
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def _truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def _random(content: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((1, 10, 100, 1_000, 10_000, 60_000)))


def _length(content: bytes, chance: random.Random) -> bytes:
    """Change a length in front of a nested message or text, and nothing else."""
    message = wire.parsed(content) or []
    parts = [field for field in wire.fields(message) if field.wire_type == 2 and field.value]
    if not parts:
        return _flipped(content, chance)
    value = chance.choice(parts).value
    part = value if isinstance(value, bytes) else wire.serialized(value) if isinstance(value, list) else b""
    place = content.find(wire.varint(len(part)) + part)
    if place < 0:
        return _flipped(content, chance)
    length = max(0, chance.choice((len(part) - 1, len(part) + 1, 2 * len(part), *_INTERESTING)))
    return content[:place] + wire.varint(length) + content[place + len(wire.varint(len(part))) :]


def _changed(change: Callable[[list[wire.Field], int, random.Random], None]) -> Callable[[bytes, random.Random], bytes]:
    """Apply a change to some fields of a message, and keep its lengths right."""

    def mutated(content: bytes, chance: random.Random) -> bytes:
        message = wire.parsed(content)
        if not message:
            return _flipped(content, chance)
        for _ in range(chance.choice((1, 1, 2, 5))):
            places = list(wire.nested_fields(message))
            if places:
                change(*chance.choice(places), chance)
        return wire.serialized(message)

    return mutated


def _spliced(owner: list[wire.Field], position: int, chance: random.Random) -> None:
    """Put a field of another message in the place of one, or before it; its number is its own or the old one."""
    other = wire.parsed(chance.choice(originals()).message) or []
    found = copy.deepcopy(chance.choice(list(wire.fields(other))))
    if chance.random() < 0.5 and found.wire_type == owner[position].wire_type:
        found.number = owner[position].number
    owner[position : position + chance.choice((0, 1))] = [found]


def _moved(owner: list[wire.Field], position: int, chance: random.Random) -> None:
    """Leave out a field, repeat it, nest it in itself, or give it another number."""
    field = owner[position]
    match chance.randrange(4):
        case 0:
            del owner[position]
        case 1:
            owner[position:position] = [copy.deepcopy(field) for _ in range(chance.choice((1, 3, 200)))]
        case 2 if isinstance(field.value, list):
            field.value = [copy.deepcopy(field) for _ in range(1)] + field.value
        case _:
            field.number = chance.choice(
                (field.number + 1, max(1, field.number - 1), chance.randrange(1, 40), 2**29 - 1)
            )


def _value(owner: list[wire.Field], position: int, chance: random.Random) -> None:
    """Change a number, or the bytes of a text."""
    field = owner[position]
    if isinstance(field.value, int):
        field.value = chance.choice((*_INTERESTING, field.value + 1, chance.randrange(64)))
    elif isinstance(field.value, bytes):
        if field.wire_type == 2:
            field.value = chance.choice((b"", field.value * 3, b"\xff", b"\0", mutate_bytes(field.value, chance)))
        else:
            field.value = chance.randbytes(len(field.value))
    else:
        field.value = chance.choice(([], field.value[::-1], field.value * 2, b"x"))


def _json(original: Original, chance: random.Random) -> str:
    made = json.loads(original.json)
    for _ in range(chance.choice((1, 1, 2, 4))):
        mutate_json(made, chance)
    try:
        return json.dumps(made)
    except (TypeError, ValueError):  # of what a dict may hold, and JSON can't
        return mutate_text(original.json, chance)


def _of_message(change: Callable[[bytes, random.Random], bytes]) -> Callable[[Original, random.Random], bytes]:
    return lambda original, chance: change(original.message, chance)


MUTATIONS: Mapping[str, Callable[[Original, random.Random], bytes | str]] = {
    "bits": _of_message(_flipped),
    "truncated": _of_message(_truncated),
    "bytes": _of_message(mutate_bytes),
    "length": _of_message(_length),
    "spliced": _of_message(_changed(_spliced)),
    "moved": _of_message(_changed(_moved)),
    "value": _of_message(_changed(_value)),
    "random": _of_message(_random),
    "JSON": _json,
    "JSON text": lambda original, chance: mutate_text(original.json, chance),
    "text": lambda original, chance: mutate_text(original.text, chance),
}
"""The kinds of mutations by name."""

_OFTEN = ("spliced", "moved", "value", "JSON", "text")


def mutant(seed: int) -> Mutant:
    """Return the mutant of a seed, below :data:`LARGEST` bytes."""
    chance = random.Random(f"mutant {seed}")
    original = chance.choice(originals())
    how = chance.choice((*MUTATIONS, *_OFTEN))
    source = MUTATIONS[how](original, chance)
    if isinstance(source, bytes) and chance.random() < 0.1 and how != "random":
        source = mutate_bytes(source, chance)
    made = Mutant(seed, original.name, how, source)
    return made if len(made.content) < LARGEST else Mutant(seed, original.name, how, source[: LARGEST // 4])
