"""The positions in a JSON text of the parts of a plan."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyspark_substrait.analysis.report.finding_order import segments

__all__ = ["Place", "places_in"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+')
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")

_Way = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of a text, both counted from 1; columns in code points."""

    line: int
    column: int


@dataclass(slots=True)
class _Open:
    """An object or array that is not yet closed; ``way`` is None where no path leads inside."""

    way: _Way | None
    position: int | None
    key: bool = False


def places_in(text: str, paths: Iterable[str]) -> Mapping[str, Place]:
    """Return the position in a JSON text of each path, or of the nearest node above it; empty if the text isn't JSON.

    Names are compared as fields of messages: ``baseSchema`` is ``base_schema``.
    """
    ways = {path: tuple(segments(path)) for path in paths}
    wanted = {way[:length] for way in ways.values() for length in range(len(way) + 1)}
    found = dict(_offsets(text, wanted))
    breaks = [match.start() for match in re.finditer("\n", text)]
    return {
        path: _place(breaks, found[known]) for path, way in ways.items() if (known := _nearest(way, found)) is not None
    }


def _nearest(way: _Way, found: Mapping[_Way, int]) -> _Way | None:
    while way not in found:
        if not way:
            return None
        way = way[:-1]
    return way


def _place(breaks: list[int], offset: int) -> Place:
    line = bisect_right(breaks, offset)
    return Place(line + 1, offset - (breaks[line - 1] if line else -1))


def _offsets(text: str, wanted: set[_Way]) -> Iterator[tuple[_Way, int]]:
    """Return the wanted nodes of a JSON text and the offset of each: a member of an object begins at its name."""
    stack: list[_Open] = []
    way: _Way | None = ()
    for match in _TOKEN.finditer(text):
        token, top = match.group(), stack[-1] if stack else None
        if token == "," and top is not None:
            if top.position is None:
                top.key = True
            else:
                top.position += 1
        elif token == ":":
            continue
        elif token in "}]":
            if stack:
                stack.pop()
        elif top is not None and top.key:
            top.key = False
            way = _inside(top, _field(token), wanted)
            if way is not None:
                yield way, match.start()
        else:
            if top is not None and top.position is not None:
                way = _inside(top, top.position, wanted)
            if way is not None and (top is None or top.position is not None):
                yield way, match.start()
            if token in "{[":
                stack.append(_Open(way, None, True) if token == "{" else _Open(way, 0))


def _inside(top: _Open, segment: str | int, wanted: set[_Way]) -> _Way | None:
    if top.way is None:
        return None
    way = (*top.way, segment)
    return way if way in wanted else None


def _field(token: str) -> str:
    """Return the name of a field as messages spell it."""
    try:
        name = str(json.loads(token))
    except ValueError:
        return token
    return _HUMP.sub(lambda hump: f"_{hump.group().lower()}", name)
