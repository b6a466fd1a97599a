"""The functions, types and type variations that a document declares, and their names in its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.text.lossless.declared import DECLARED
from pyspark_substrait.text.lossless.words import name, quoted

__all__ = ["Symbols"]

_KINDS = {field: kind for kind, (field, _) in DECLARED.items()}


@dataclass(slots=True)
class _Declared:
    urn: int
    kind: str
    anchor: int
    name: str
    alias: str | None
    used: bool = False

    @property
    def text(self) -> str:
        return name(self.alias or self.name, of_function=self.kind == "functions")


@dataclass(slots=True)
class Symbols:
    """The names that stand for the anchors of a document in its text; duplicate names get a number."""

    urns: list[tuple[int, str]]
    declared: list[_Declared]
    _by_anchor: dict[tuple[str, int], _Declared] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Symbols:
        """Return the symbols of a ``Plan`` or an ``ExtendedExpression``."""
        urns = [
            (each.get("extension_urn_anchor", 0), each.get("urn", "")) for each in document.get("extension_urns", ())
        ]
        found: list[_Declared] = []
        taken: dict[str, set[str]] = {kind: set() for kind in DECLARED}
        for item in document.get("extensions", ()):
            for key, parts in item.items():
                kind = _KINDS[key]
                label = parts.get("name", "")
                alias, number = label, 1
                while alias in taken[kind]:
                    number += 1
                    alias = f"{label.partition(':')[0]}_{number}"
                taken[kind].add(alias)
                urn = parts.get("extension_urn_reference", 0)
                anchor = parts.get(DECLARED[kind][1], 0)
                found.append(_Declared(urn, kind, anchor, label, alias if alias != label else None))
        symbols = cls(urns, found)
        for each in found:
            symbols._by_anchor.setdefault((each.kind, each.anchor), each)
        return symbols

    def name(self, kind: str, anchor: int) -> str:
        """Return the name of one of the ``functions``, ``types`` or ``variations``, as text."""
        declared = self._by_anchor.get((kind, anchor))
        if declared is None:
            raise InvalidPlanError(f"{kind} have no anchor {anchor}")
        declared.used = True
        return declared.text

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of the declarations, each with its indentation depth.

        Used declarations are grouped by extension and sorted; unused ones keep the order that they have in
        ``unused_extensions``.
        """
        used = [each for each in self.declared if each.used]
        waiting = dict(self.urns)
        for urn in sorted({each.urn for each in used}, key=lambda anchor: waiting.get(anchor, "")):
            yield self._head(urn)
            for kind in DECLARED:
                group = sorted(
                    (each for each in used if each.urn == urn and each.kind == kind), key=lambda each: each.text
                )
                if group:
                    yield 1, f"{kind} {', '.join(map(_declaration, group))}"
        last: int | None = None
        for each in self.declared:
            if not each.used:
                if each.urn != last:
                    yield self._head(each.urn)
                last = each.urn
                yield 1, f"{each.kind} {_declaration(each)}"
        referred = {each.urn for each in self.declared}
        yield from ((0, f"extension {quoted(urn)}") for anchor, urn in self.urns if anchor not in referred)

    def _head(self, anchor: int) -> tuple[int, str]:
        for known, urn in self.urns:
            if known == anchor:
                return 0, f"extension {quoted(urn)}"
        return 0, "extension"


def _declaration(declared: _Declared) -> str:
    if declared.alias is None:
        return declared.text
    return f"{name(declared.name, of_function=declared.kind == 'functions')} as {declared.text}"
