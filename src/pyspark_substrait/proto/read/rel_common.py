"""Read the messages that all relations have: ``RelCommon`` and ``AdvancedExtension``."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.relations import AdvancedExtension, Hint, RelCommon
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.fields import node

__all__ = ["advanced_extension", "common"]


def common(message: messages.RelCommon, scope: Scope, path: Path) -> RelCommon:
    """Read the common part of a relation.

    Raises:
        InvalidPlanError: its ``rel_anchor`` is 0, or that of another relation.
    """
    anchor: int | None = None
    if message.HasField("rel_anchor"):
        anchor = message.rel_anchor
        with scope.reading.going_on():
            _register(anchor, scope.reading, path)
    return RelCommon(
        emit=tuple(message.emit.output_mapping) if message.WhichOneof("emit_kind") == "emit" else None,
        hint=node(Hint, message.hint, scope, (path, "hint")) if message.HasField("hint") else None,
        advanced_extension=advanced_extension(message, scope, path),
        rel_anchor=anchor,
    )


def advanced_extension(
    message: Any, scope: Scope, path: Path, field: str = "advanced_extension"
) -> AdvancedExtension | None:
    """Read the extension in a field of a message; None if it isn't set."""
    if not message.HasField(field):
        return None
    return node(AdvancedExtension, getattr(message, field), scope, (path, field))


def _register(anchor: int, reading: Reading, path: Path) -> None:
    place = render(path)
    if anchor == 0:
        raise invalid("rel_anchor is 0", path, "It is at least 1", Code.LINK_ANCHOR_ZERO)
    other = reading.rel_anchors.setdefault(anchor, place)
    if other != place:
        fault = f"the rel_anchor {anchor} is that of {other.removesuffix('.common')} too"
        raise invalid(fault, path, code=Code.LINK_DUPLICATE_DEFINITION)
