"""Write the messages that all relations have: ``RelCommon`` with its hints, and ``AdvancedExtension``."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.model.relations import AdvancedExtension, Hint, RelCommon
from pyspark_substrait.proto.enums import COMPUTATION_TYPE
from pyspark_substrait.proto.write.literals import any_message

__all__ = ["advanced_extension", "common"]


def advanced_extension(extension: AdvancedExtension | None, message: Any, field: str = "advanced_extension") -> None:
    """Write an extension into a field of ``message``, if there is one."""
    if extension is None:
        return
    into = getattr(message, field)
    into.SetInParent()
    for optimization in extension.optimization:
        any_message(optimization, into.optimization.add())
    if extension.enhancement is not None:
        any_message(extension.enhancement, into.enhancement)


def common(node: RelCommon, into: Any) -> None:
    """Write the common part of a relation into a ``RelCommon`` message."""
    if node.emit is None:
        into.direct.SetInParent()
    else:
        into.emit.SetInParent()
        into.emit.output_mapping.extend(node.emit)
    if node.hint is not None:
        _hint(node.hint, into.hint)
    advanced_extension(node.advanced_extension, into)
    if node.rel_anchor is not None:
        into.rel_anchor = node.rel_anchor


def _hint(hint: Hint, into: Any) -> None:
    into.SetInParent()
    if hint.stats is not None:
        into.stats.SetInParent()
        into.stats.row_count = hint.stats.row_count
        into.stats.record_size = hint.stats.record_size
        advanced_extension(hint.stats.advanced_extension, into.stats)
    if hint.constraint is not None:
        advanced_extension(hint.constraint, into.constraint)
    into.alias = hint.alias
    into.output_names.extend(hint.output_names)
    advanced_extension(hint.advanced_extension, into)
    for saved in hint.saved_computations:
        item = into.saved_computations.add(
            computation_id=saved.computation_id, type=COMPUTATION_TYPE.numbers[saved.type]
        )
        advanced_extension(saved.advanced_extension, item)
    for loaded in hint.loaded_computations:
        item = into.loaded_computations.add(
            computation_id_reference=loaded.computation_id_reference, type=COMPUTATION_TYPE.numbers[loaded.type]
        )
        advanced_extension(loaded.advanced_extension, item)
