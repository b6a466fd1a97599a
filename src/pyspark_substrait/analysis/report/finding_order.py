"""The order in which findings are listed: that of the plan, as its text form goes through it."""

from __future__ import annotations

import re

from pyspark_substrait.codes import Level
from pyspark_substrait.model.findings import Finding

__all__ = ["GRAVITY", "in_order", "segments"]

GRAVITY = {Level.ERROR: 0, Level.WARNING: 1, Level.INFO: 2}
"""The levels, the most severe first."""

#: The order of the fields that hold the inputs of a relation; they come after its own fields.
_INPUTS = {"input": 1, "left": 2, "right": 3, "inputs": 4}
#: The order of the top-level fields of a plan: the version first, the relations last.
_TOP = {"version": -1, "relations": 1, "referred_expr": 1}
#: The number of characters of a path that are compared: paths grow with the depth of a plan, and so do its findings.
_LOOKED_AT = 4_000
_SEGMENT = re.compile(r"\[([0-9]{1,9})\]|([^.\[]+)")

_Segment = tuple[int, int, str]


def segments(path: str) -> list[str | int]:
    """The parts of a path: names, and positions in lists."""
    return [int(index) if index else name for index, name in _SEGMENT.findall(path)]


def in_order(findings: list[Finding]) -> list[Finding]:
    """Sort findings by their place in the plan: a node before the nodes below it, list elements by position, a
    relation's own fields before its inputs; at one place the most severe first.
    """
    return sorted(findings, key=_key)


def _key(finding: Finding) -> tuple[tuple[_Segment, ...], int, int]:
    path = segments(finding.path[:_LOOKED_AT])
    keys = [_rank(segment, _INPUTS) for segment in path]
    if path:
        keys[0] = _rank(path[0], _TOP)
    return tuple(keys), len(finding.path) if len(finding.path) > _LOOKED_AT else 0, GRAVITY[finding.level]


def _rank(segment: str | int, ranks: dict[str, int]) -> _Segment:
    if isinstance(segment, int):
        return (0, segment, "")
    return (ranks.get(segment, 0), 0, segment)
