"""The order in which findings are told: that of the plan, as its text form goes through it."""

from __future__ import annotations

import re

from pyspark_substrait.codes import Level
from pyspark_substrait.model.findings import Finding

__all__ = ["GRAVITY", "in_order", "segments"]

GRAVITY = {Level.ERROR: 0, Level.WARNING: 1, Level.INFO: 2}
"""The levels, the gravest first."""

#: Fields that hold the inputs of a relation come after what the relation itself says.
_INPUTS = {"input": 1, "left": 2, "right": 3, "inputs": 4}
#: What a plan says before its relations; the relations are told last.
_TOP = {"version": -1, "relations": 1, "referred_expr": 1}
#: How much of a path is looked at: paths grow with the depth of a plan, and so do the places where it is wrong.
_LOOKED_AT = 4_000
_SEGMENT = re.compile(r"\[([0-9]{1,9})\]|([^.\[]+)")

_Segment = tuple[int, int, str]


def segments(path: str) -> list[str | int]:
    """The parts of a path: names, and positions in lists."""
    return [int(index) if index else name for index, name in _SEGMENT.findall(path)]


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings in the order of the plan: what stands at a node before what stands below it, positions as numbers, what
    a relation says before its inputs; at one place the gravest first.
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
