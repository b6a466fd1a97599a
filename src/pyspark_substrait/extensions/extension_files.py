"""Extension files: the official ones, those that this package ships, and how they are parsed piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pyspark_substrait import specification
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.document import SECTIONS, read_function, read_urn, sequence
from pyspark_substrait.extensions.outline import outline
from pyspark_substrait.extensions.yaml_text import load_yaml
from pyspark_substrait.model.computed_once import computed_once

__all__ = ["ExtensionFile", "official_file", "official_stems", "own_file", "own_stems"]

_OWN_FOLDER: Final = Path(__file__).with_name("own")


class ExtensionFile:
    """One extension file. Each part is parsed once, on first access; with ``cut``, nothing else is parsed."""

    def __init__(self, text: str, *, cut: bool = False) -> None:
        self.text = text
        self.cut = cut
        self._functions: dict[str, tuple[FunctionDefinition, ...]] = {}

    @computed_once
    def _cut(self) -> tuple[dict[str, list[tuple[Kind, Any]]], Mapping[str, Any]]:
        """The functions by name, as text or, if the file can't be cut, as parsed; and the parsed rest of the file."""
        found = outline(self.text) if self.cut else None
        entries: dict[str, list[tuple[Kind, Any]]] = {}
        if found is not None:
            for name, items in found[0].items():
                entries[name] = [(SECTIONS[item.section], item.text) for item in items]
            rest = load_yaml(found[1])
        else:
            rest = load_yaml(self.text)
            read_urn(rest)
            for section, kind in SECTIONS.items():
                for item in sequence(rest.get(section), f"`{section}`"):
                    name = item.get("name", "") if isinstance(item, Mapping) else ""
                    entries.setdefault(name, []).append((kind, item))
        return entries, rest

    @computed_once
    def head(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The URN and the dependencies."""
        return read_urn(self._cut[1])

    def names(self) -> tuple[str, ...]:
        """The names of all functions, in the order of the file."""
        return tuple(self._cut[0])

    def functions(self, name: str) -> tuple[FunctionDefinition, ...]:
        """The implementations of one function; none if the file doesn't have it."""
        known = self._functions.get(name)
        if known is None:
            urn, dependencies = self.head
            found: list[FunctionDefinition] = []
            for kind, item in self._cut[0].get(name, ()):
                for function in load_yaml(item) if isinstance(item, str) else (item,):
                    found += read_function(function, kind, urn, dependencies)
            known = self._functions[name] = tuple(found)
        return known

    def items(self, section: str) -> tuple[Any, ...]:
        """The parsed items of ``types`` or ``type_variations``."""
        return tuple(sequence(self._cut[1].get(section), f"`{section}`"))


@cache
def official_stems() -> tuple[str, ...]:
    """The names of the specification's files, without the extension ``.yaml``."""
    return _stems(specification.folder())


@cache
def official_file(stem: str) -> ExtensionFile:
    """One of the specification's files."""
    return _file(specification.folder(), stem)


@cache
def own_stems() -> tuple[str, ...]:
    """The names of the files that this package ships, without the extension ``.yaml``."""
    return _stems(_OWN_FOLDER)


@cache
def own_file(stem: str) -> ExtensionFile:
    """One of the files that this package ships."""
    return _file(_OWN_FOLDER, stem)


def _stems(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def _file(folder: Path, stem: str) -> ExtensionFile:
    return ExtensionFile((folder / f"{stem}.yaml").read_text(encoding="utf-8"), cut=True)
