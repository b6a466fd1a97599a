"""The state of the upgrade of one plan, which its rules share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.upgrade.keys import Edit

__all__ = ["SETTLED_MINOR", "Context", "Function"]

SETTLED_MINOR = 72
"""Plans of this release (0.72) or later are not searched for old forms that only a visit of every call can find."""

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function that the plan declares.

    Args:
        anchor: its number in the plan.
        urn_reference: the extension it is from.
        standard: whether that is one of the standard extensions, or none that the plan names.
        key: its name and signature after the upgrade.
        edits: the changes that the new key requires in each call.
    """

    anchor: int
    urn_reference: int
    standard: bool
    key: str
    edits: tuple[Edit, ...]

    @property
    def name(self) -> str:
        """The function's name without its signature."""
        return self.key.partition(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A plan that is being upgraded.

    Args:
        plan: the whole message.
        version: the release that the plan states; None when it states none.
        notes: the changes so far.
        functions: the declared functions by anchor.
        unknown_types: anchors of the type ``unknown`` that `Type.unbound` replaced.
    """

    plan: Any
    version: Version | None
    notes: list[Note]
    functions: dict[int, Function] = field(default_factory=dict)
    unknown_types: set[int] = field(default_factory=set)

    def older_than(self, minor: int) -> bool:
        """Whether the plan was written before the release ``0.minor``; a plan without version counts as oldest."""
        return self.version is None or self.version < (0, minor, 0)

    def note(self, rule: str, path: Path, before: str, after: str) -> None:
        """Record one rewrite."""
        self.notes.append(Note(rule=rule, path=path, before=before, after=after))

    def declared(self, function: Function, key: str) -> int:
        """Return the anchor of ``key`` in the extension of ``function``; declare it if the plan doesn't."""
        for other in self.functions.values():
            if other.key == key and other.urn_reference == function.urn_reference:
                return other.anchor
        anchor = next(anchor for anchor in range(1, len(self.functions) + 2) if anchor not in self.functions)
        declaration = self.plan.extensions.add().extension_function
        declaration.extension_urn_reference = function.urn_reference
        declaration.function_anchor = anchor
        declaration.name = key
        self.functions[anchor] = Function(
            anchor=anchor,
            urn_reference=function.urn_reference,
            standard=function.standard,
            key=key,
            edits=function.edits,
        )
        return anchor
