"""An estimate whether a run takes only seconds, so that its Java process needn't be tuned for more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyspark_substrait.model.expressions import Expression, ScalarFunction
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import Cross, Join, LateralJoin, NestedLoopJoin, Relation
from pyspark_substrait.model.walk import expressions_within, relations_within

__all__ = ["is_brief"]

_MOST_BYTES = 16 * 1024 * 1024
_MOST_FILES = 256


def is_brief(paths: Sequence[str], loaded: Plan | ExtendedExpression | None = None) -> bool:
    """Whether a plan reads little data, and has no relation that multiplies records.

    Args:
        paths: all files and folders that may be read; other tables aren't considered.
        loaded: the plan; None for an evaluation record by record.
    """
    if not paths or not _small(paths):
        return False
    if not isinstance(loaded, Plan):
        return True
    trees = loaded.trees
    return not any(_multiplies(node) for tree in trees for node in relations_within(tree))


def _small(paths: Sequence[str]) -> bool:
    size = 0
    for count, file in enumerate((file for path in paths for file in _files(Path(path))), 1):
        try:
            size += file.stat().st_size
        except OSError:
            return False
        if size > _MOST_BYTES or count > _MOST_FILES:
            return False
    return True


def _files(path: Path) -> Iterator[Path]:
    """Return the file itself, or the files in a folder; a path that doesn't exist, perhaps a pattern, as it is."""
    if not path.is_dir():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _multiplies(node: Relation) -> bool:
    """Whether a relation may compare every record of one input with every record of the other."""
    return isinstance(node, Cross | LateralJoin | NestedLoopJoin) or (
        isinstance(node, Join) and not _compares_keys(node.expression)
    )


def _compares_keys(condition: Expression) -> bool:
    """Whether a condition contains an equality, by which records can be matched."""
    return any(
        isinstance(item, ScalarFunction) and item.function.name in ("equal", "is_not_distinct_from")
        for item in expressions_within((condition,))
    )
