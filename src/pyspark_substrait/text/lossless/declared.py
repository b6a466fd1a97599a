"""The declarations of a text, and the anchors that its names get."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["DECLARED", "Declarations", "Fault"]

DECLARED = {
    "functions": ("extension_function", "function_anchor"),
    "types": ("extension_type", "type_anchor"),
    "variations": ("extension_type_variation", "type_variation_anchor"),
}
"""The field of a declaration that holds one of each kind, and the field of its anchor."""


class Fault(Exception):
    """A fault in a text, raised at the position being read."""


@dataclass(slots=True)
class Declarations:
    """Extensions, and the functions, types and variations of each. An unknown name is declared by its first use."""

    urns: list[dict[str, Any]] = field(default_factory=list)
    extensions: list[dict[str, Any]] = field(default_factory=list)
    _anchors: dict[tuple[str, str], int] = field(default_factory=dict)
    _known: dict[str, int] = field(default_factory=dict)
    _undeclared: set[tuple[str, str]] = field(default_factory=set)
    _current: str | None = None

    def extension(self, urn: str | None) -> None:
        """Start an extension; the declarations that follow belong to it."""
        self._current = urn
        if urn is not None:
            self.urns.append({"extension_urn_anchor": len(self.urns) + 1, "urn": urn})
            self._known[urn] = len(self.urns)

    def declare(self, kind: str, name: str, alias: str) -> None:
        """Declare a function, type or variation of the current extension, with its name in the text.

        Raises:
            Fault: the name is taken.
        """
        if (kind, alias) in self._undeclared:
            raise Fault(f"{alias} is declared behind its first use; declarations stand at the top")
        if (kind, alias) in self._anchors:
            raise Fault(f"there are two {kind} {alias}; call one of them otherwise: {name} as {alias}_2")
        self._add(kind, name, alias, self._known[self._current] if self._current is not None else 0)

    def anchor(self, kind: str, alias: str) -> int:
        """Return the anchor of a function, type or variation."""
        found = self._anchors.get((kind, alias))
        if found is None:
            self._undeclared.add((kind, alias))
            found = self._add(kind, alias, alias, 0)
        return found

    def _add(self, kind: str, name: str, alias: str, urn: int) -> int:
        anchor = len(self._anchors) + 1
        self._anchors[kind, alias] = anchor
        message, field_name = DECLARED[kind]
        parts: dict[str, Any] = {field_name: anchor, "name": name}
        if urn:
            parts["extension_urn_reference"] = urn
        self.extensions.append({message: parts})
        return anchor
