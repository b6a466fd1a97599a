"""Read the messages that all relations have: ``RelCommon`` with its hints, and ``AdvancedExtension``."""

from __future__ import annotations

from typing import Any

from substrait import algebra_pb2

from pyspark_substrait.codes import Code
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    ComputationType,
    Hint,
    LoadedComputation,
    RelCommon,
    SavedComputation,
    Stats,
)
from pyspark_substrait.proto.enums import COMPUTATION_TYPE
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.literals import any_message

__all__ = ["advanced_extension", "common"]

_PLAIN = RelCommon()


def advanced_extension(message: Any, field: str = "advanced_extension") -> AdvancedExtension | None:
    """The extension in a field of ``message``, or None when it isn't set."""
    if not message.HasField(field):
        return None
    extension = getattr(message, field)
    return AdvancedExtension(
        optimization=tuple(any_message(item) for item in extension.optimization),
        enhancement=any_message(extension.enhancement) if extension.HasField("enhancement") else None,
    )


def common(relation: Any, reading: Reading, path: Path) -> RelCommon:
    """The common part of a relation; ``path`` is that of the relation.

    Raises:
        InvalidPlanError: its ``rel_anchor`` is 0, or that of another relation.
    """
    if not relation.HasField("common"):
        return _PLAIN
    message: algebra_pb2.RelCommon = relation.common
    path = (path, "common")
    anchor: int | None = None
    if message.HasField("rel_anchor"):
        anchor = message.rel_anchor
        with reading.going_on():
            _register(anchor, reading, path)
    return RelCommon(
        emit=tuple(message.emit.output_mapping) if message.WhichOneof("emit_kind") == "emit" else None,
        hint=_hint(message.hint, reading, (path, "hint")) if message.HasField("hint") else None,
        advanced_extension=advanced_extension(message),
        rel_anchor=anchor,
    )


def _register(anchor: int, reading: Reading, path: Path) -> None:
    place = render(path)
    if anchor == 0:
        raise invalid("rel_anchor is 0", path, "It is at least 1", Code.LINK_ANCHOR_ZERO)
    other = reading.rel_anchors.setdefault(anchor, place)
    if other != place:
        fault = f"the rel_anchor {anchor} is that of {other.removesuffix('.common')} too"
        raise invalid(fault, path, code=Code.LINK_DUPLICATE_DEFINITION)


def _hint(message: Any, reading: Reading, path: Path) -> Hint:
    saved = [
        SavedComputation(
            computation_id=item.computation_id,
            type=_computation(item.type, reading, ((path, "saved_computations"), index)),
            advanced_extension=advanced_extension(item),
        )
        for index, item in enumerate(message.saved_computations)
    ]
    loaded = [
        LoadedComputation(
            computation_id_reference=item.computation_id_reference,
            type=_computation(item.type, reading, ((path, "loaded_computations"), index)),
            advanced_extension=advanced_extension(item),
        )
        for index, item in enumerate(message.loaded_computations)
    ]
    return Hint(
        stats=_stats(message.stats) if message.HasField("stats") else None,
        constraint=advanced_extension(message.constraint),
        alias=message.alias,
        output_names=tuple(message.output_names),
        advanced_extension=advanced_extension(message),
        saved_computations=tuple(saved),
        loaded_computations=tuple(loaded),
    )


def _computation(number: int, reading: Reading, path: Path) -> ComputationType:
    return COMPUTATION_TYPE.known(number, reading, path, "type") or ComputationType.UNSPECIFIED


def _stats(message: Any) -> Stats:
    return Stats(
        row_count=message.row_count,
        record_size=message.record_size,
        advanced_extension=advanced_extension(message),
    )
