"""The lines of a page, and the line that each finding belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pyspark_substrait.codes import Level
from pyspark_substrait.model.findings import Finding

__all__ = ["Line", "LineKind", "innermost", "with_findings"]


class LineKind(Enum):
    """The kind of content that a line of a page shows.

    ``HEADER``: the plan as a whole, always the first line. ``DEFINITION``: a part of the plan outside its relations: a
    parameter's value, a named lambda, a type alias. ``ROOT``: the result and its names. ``SUBQUERY``: a query that the
    line above it names; its relation is indented below. ``EXPRESSION`` and ``SCHEMA``: of an extended expression.
    ``FAULT``: a contradiction in the line above that no finding reports. ``FOOTER``: all other content.
    """

    HEADER = "header"
    DEFINITION = "definition"
    ROOT = "root"
    RELATION = "relation"
    SUBQUERY = "subquery"
    EXPRESSION = "expression"
    SCHEMA = "schema"
    FAULT = "fault"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a page.

    Args:
        depth: its level of indentation.
        text: its text; all characters are visible.
        path: the path in the plan of what it shows; empty for the plan as a whole, None if unknown.
        kind: the kind of its content.
        findings: the findings in it.
    """

    depth: int
    text: str
    path: str | None
    kind: LineKind
    findings: tuple[Finding, ...] = ()


def with_findings(lines: Sequence[Line], findings: Iterable[Finding]) -> tuple[Line, ...]:
    """Attach each finding to the line of the innermost part of the plan that contains it, or else to the header.

    The ``FAULT`` lines of a line are left out where an error finding is attached to it.
    """
    places: dict[str, int] = {}
    for number, line in enumerate(lines):
        if line.path is not None and line.kind is not LineKind.FAULT:
            places.setdefault(line.path, number)
    found: dict[int, list[Finding]] = {}
    longest = max(map(len, places), default=0)
    for finding in findings:
        found.setdefault(innermost(finding.path, places, longest), []).append(finding)
    shown: list[Line] = []
    faulty = False
    for number, line in enumerate(lines):
        if line.kind is LineKind.FAULT:
            if not faulty:
                shown.append(line)
            continue
        here = tuple(found.get(number, ()))
        faulty = any(finding.level is Level.ERROR for finding in here)
        shown.append(replace(line, findings=here) if here else line)
    return tuple(shown)


def innermost(path: str, places: dict[str, int], longest: int) -> int:
    """Return the place with the longest path that is a prefix of ``path``, segment by segment; else that of the plan.

    No place has a path longer than ``longest``; a finding may have a much longer one.
    """
    path = path[: longest + 1]
    while path:
        if path in places:
            return places[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return places.get("", 0)
