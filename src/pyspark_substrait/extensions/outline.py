"""Cutting an extension file into its functions without parsing it.

Parsing all official files takes 50 ms, a plan needs about ten of their functions, and one function takes 0.2 ms. In a
block mapping the sections start in column 0, and the items of a block sequence are exactly the lines that start with
its indentation and a dash: everything inside an item is indented deeper. So cutting needs no parser. A file of any
other form has no outline and is parsed as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Entry", "outline"]

_SECTION: Final = re.compile(r"^([A-Za-z_]+):(.*)\n", re.MULTILINE)
_FIRST_ITEM: Final = re.compile(r"^( *)-(?=[ \n])", re.MULTILINE)
_NAME: Final = re.compile(
    r"""^(?P<indent>\ *(?:-\ +)?)name:\ *
        (?:"(?P<double>[^"\\]+)"|'(?P<single>[^']+)'|(?P<bare>[^\s"'\#]+))\ *(?:\#.*)?$""",
    re.MULTILINE | re.VERBOSE,
)
_FUNCTION_SECTIONS: Final = ("scalar_functions", "aggregate_functions", "window_functions")


@dataclass(frozen=True, slots=True)
class Entry:
    """One function of a file: the section that contains it, its name, and its text, a YAML sequence of one item."""

    section: str
    name: str
    text: str


def outline(text: str) -> tuple[dict[str, list[Entry]], str] | None:
    """The functions of a file by name, and the text of the rest of it; None if the file can't be cut.

    The texts aren't validated: they still have to be parsed.
    """
    sections = list(_SECTION.finditer(text))
    entries: dict[str, list[Entry]] = {}
    rest = []
    for position, section in enumerate(sections):
        end = sections[position + 1].start() if position + 1 < len(sections) else len(text)
        name, inline = section.group(1), section.group(2).strip()
        if name not in _FUNCTION_SECTIONS:
            rest.append(text[section.start() : end])
            continue
        if inline and not inline.startswith("#"):
            return None
        for item in _items(text[section.end() : end]):
            found = _name(item)
            if found is None:
                return None
            entries.setdefault(found, []).append(Entry(name, found, item))
    return entries, "".join(rest)


def _items(body: str) -> Iterator[str]:
    first = _FIRST_ITEM.search(body)
    if first is None:
        return
    starts = [match.start() for match in re.finditer(rf"^{first.group(1)}-(?=[ \n])", body, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        yield body[start:end]


def _name(item: str) -> str | None:
    """The name of the function: of all keys ``name`` in the item, the one with the smallest indentation."""
    names = (
        (len(match["indent"]), match["double"] or match["single"] or match["bare"]) for match in _NAME.finditer(item)
    )
    return min(names, default=(0, None))[1]
