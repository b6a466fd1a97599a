"""The lines of a page, and which of them a finding belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pyspark_substrait.codes import Level
from pyspark_substrait.model.findings import Finding

__all__ = ["Line", "LineKind", "innermost", "with_findings"]


class LineKind(Enum):
    """What a line of a page shows.

    ``HEADER``: the plan as a whole, always the first line. ``DEFINITION``: what the plan holds beside its relations: a
    parameter's value, a named lambda, a type alias. ``ROOT``: the result and its names. ``SUBQUERY``: a query that the
    line above it names; its relation is indented below. ``EXPRESSION`` and ``SCHEMA``: of an extended expression.
    ``FAULT``: what contradicts itself in the line above, where no finding says so. ``FOOTER``: what else there is.
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
        depth: how far it is indented.
        text: what it says; all of its characters show.
        path: where in the plan what it shows stands; empty for the plan as a whole, None where that isn't known.
        kind: what it shows.
        findings: what was found in it.
    """

    depth: int
    text: str
    path: str | None
    kind: LineKind
    findings: tuple[Finding, ...] = ()


def with_findings(lines: Sequence[Line], findings: Iterable[Finding]) -> tuple[Line, ...]:
    """Lines with findings, each at the line of the innermost part of the plan that it is in; at the header otherwise.

    What a line says of its faults itself is left out where a finding of an error stands there.
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
    """The place whose path is the longest beginning of ``path`` that ends with one of its segments; else that of all.

    No path of a place is longer than ``longest``; those of findings may be, by far.
    """
    path = path[: longest + 1]
    while path:
        if path in places:
            return places[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return places.get("", 0)
