"""Inputs that nobody would write, made of right ones, and the verbs that may end in our errors only."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pyspark_substrait as ps
from pyspark_substrait.api.validate import upgrades
from pyspark_substrait.errors import SubstraitError

HALF = "\ud800"
"""Half of a surrogate pair, which JSON and Python can name and UTF-8 can't."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    2**31 - 1,
    -(2**31),
    2**63 - 1,
    -(2**63),
    2**64,
    10**400,
    10**5000,
    -(10**400),
    1.5,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x",
    "9" * 30,
    "9" * 5000,
    "-" + "1" * 63,
    "1e400",
    "NaN",
    "½",
    "\x00",
    "a\x00b",
    HALF,
    f"a{HALF}b",
    "\x1b]0;x\x07\x1b[2J",
    "\u202eabc",
    "n" * 100_000,
    "!!!",
    "====",
    "QUJD",
    "A" * 21,
    "A" * 22,
    "A" * 2400,
    "/" * 2400,
    [],
    {},
    [[]],
    [None],
    [{}],
    ["x"],
    [HALF],
    {"x": 1},
    {HALF: 1},
    {"": {}},
    {"x": HALF},
    {"@type": HALF},
    {"@type": "type.googleapis.com/substrait.Plan", "relations": 7},
    {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": HALF},
    b"\xff",
    object(),
    {1: 2},
    (1, 2),
)
"""Values that a caller may put anywhere in a dict that is loaded as a plan."""


def containers(value: Any) -> Iterator[Any]:
    """The objects and lists in a JSON value."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, (dict, list)):
            yield part
            todo.extend(part.values() if isinstance(part, dict) else part)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container with each of its keys or positions."""
    return [
        (part, key)
        for part in containers(value)
        for key in (list(part) if isinstance(part, dict) else range(len(part)))
    ]


def mutate_json(content: Any, chance: random.Random) -> str:
    """Change one thing in a JSON value, and say what."""
    container, key = chance.choice(places(content))
    kind = chance.random()
    if kind < 0.7:
        value = chance.choice(VALUES)
        old = container[key]
        if kind < 0.2 and isinstance(old, (str, int, float)) and not isinstance(old, bool):
            value = chance.choice([each for each in VALUES if isinstance(each, type(old))])
        container[key] = value
        return f"{key!r:.60} = {_shown(value)}"
    if kind < 0.8 and isinstance(container, dict):
        name = chance.choice(["", "x", HALF, "\x1b[2J", "n" * 100_000, key.upper() if isinstance(key, str) else "k"])
        container[name] = container.pop(key)
        return f"{key!r:.60} called {name!r:.60}"
    if kind < 0.9:
        del container[key]
        return f"{key!r} deleted"
    other, other_key = chance.choice(places(content))
    container[key], other[other_key] = other[other_key], container[key]
    return f"{key!r} swapped with {other_key!r}"


def _shown(value: Any) -> str:
    return "a huge number" if isinstance(value, int) and abs(value) > 2**65 else f"{value!r:.60}"


def mutate_bytes(content: bytes, chance: random.Random) -> bytes:
    """Change some bytes, leave some out, or repeat some."""
    made = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 8])):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(4):
            case 0:
                made[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[place : place + chance.choice([1, 2, 10])]
            case 2:
                made[place:place] = bytes(
                    chance.choice([0, 0xFF, 0x80, 0x0A]) for _ in range(chance.choice([1, 5, 11]))
                )
            case _:
                made[place:place] = made[chance.randrange(len(made) + 1) :][:20]
    return bytes(made)


_MARKS = (
    *"()[]{}<>`'\"\\:,#@$-\n\t\x00",
    *("\\u{d800}", "\\u{110000}", HALF, "=>", "null", "nan", "-0", "1e999", "  "),
    *("9" * 5000, "x" * 500, "decimal<99,-1>"),
)


def mutate_text(content: str, chance: random.Random) -> str:
    """Put a mark into a text, take something out, or repeat some of it."""
    made = content
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(3):
            case 0:
                made = made[:place] + chance.choice(_MARKS) + made[place + chance.choice([0, 0, 1, 4]) :]
            case 1:
                made = made[:place] + made[place + chance.choice([1, 3, 30]) :]
            case _:
                start = chance.randrange(len(made) + 1)
                made = made[:place] + made[start : start + chance.choice([1, 10, 60])] + made[place:]
    return made


def _text_of(found: Any) -> None:
    str(found).encode()


def _loaded(source: Any) -> None:
    document = ps.load(source)
    for text in (document.to_text, document.to_json):
        text().encode()
    document.to_bytes()
    for finding in upgrades(document):
        str(finding).encode()


def _reported(report: Any) -> None:
    for text in (str(report), report.to_json(), report.to_sarif(), report.to_html()):
        text.encode()
    for finding in report:
        assert max(map(len, (finding.what, finding.why, finding.fix))) <= 4000


def _touched(source: Any) -> None:
    for touch in ps.touches(source):
        str(touch).encode()


#: the verbs that raise nothing for a plan
SHOWING: dict[str, Callable[[Any], None]] = {
    "validate": lambda source: _reported(ps.validate(source, "spark")),
    "explain": lambda source: _text_of(ps.explain(source, proto_paths=True)),
    "view": lambda source: _text_of(ps.view(source).to_html()),
    "lint": lambda source: _reported(ps.lint(source)),
}

#: the other verbs that look at a plan
READING: dict[str, Callable[[Any], None]] = {
    "load": _loaded,
    "lineage": lambda source: _text_of(ps.lineage(source).to_json(conditions=True)),
    "diff": lambda source: _text_of(ps.diff(source, source).to_json()),
    "to_sql": lambda source: _text_of(ps.to_sql(source)),
    "touches": _touched,
    "fixed": lambda source: _text_of(ps.fixed(source)[1]),
    "for_target": lambda source: _text_of(ps.for_target(source, "datafusion").to_json()),
}


def faults(source: Any, verbs: tuple[str, ...] = (*SHOWING, *READING)) -> Iterator[tuple[str, BaseException]]:
    """The verbs that end in something that they may not end in, and what that is."""
    for name in verbs:
        try:
            (SHOWING.get(name) or READING[name])(source)
        except SubstraitError as error:
            if name in SHOWING:
                yield name, error
                continue
            try:
                str(error).encode()
                assert len(str(error)) < 10_000, "long"
                assert all(char.isprintable() or char == "\n" for char in str(error)), "not printable"
            except (UnicodeEncodeError, AssertionError) as fault:
                yield name, fault
        except BaseException as error:
            yield name, error
