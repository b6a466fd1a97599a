"""A report as text for people, in parts that have a role, so that a terminal can give them colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pyspark_substrait.codes import Code, Level, class_of
from pyspark_substrait.display.columns import escaped
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.reporting.facts import about, place, summary
from pyspark_substrait.reporting.order import GRAVITY
from pyspark_substrait.reporting.report import Report

__all__ = ["Part", "Role", "parts", "text"]

#: What a part of the text is; a level is one for the words that name it.
Role: TypeAlias = Literal["plain", "name", "error", "warning", "info", "path", "quiet"]
Part: TypeAlias = tuple[Role, str]

_PATHS = 5


def text(report: Report) -> str:
    """The report as text, without a line break at its end."""
    return "".join(part for _, part in parts(report)).rstrip("\n")


def parts(report: Report) -> Iterator[Part]:
    """The parts of the text, in order."""
    yield "name", escaped(report.name)
    yield "quiet", f" ({about(report)})\n"
    for (level, code), found in _by_class(report).items():
        yield "plain", "\n"
        yield _role(level), f"{level.value} {code:04d}"
        yield "plain", f" {class_of(code).title}\n"
        yield from _group(found)
    yield "plain", "\n" if report.listed else ""
    worst = min((finding.level for finding in report), key=GRAVITY.__getitem__, default=Level.INFO)
    yield _role(worst), f"{summary(report)}\n"


def _by_class(report: Report) -> dict[tuple[Level, Code], list[Finding]]:
    """The findings of each class, the gravest first."""
    groups: dict[tuple[Level, Code], list[Finding]] = {}
    for finding in sorted(report.listed, key=lambda finding: GRAVITY[finding.level]):
        groups.setdefault((finding.level, finding.code), []).append(finding)
    return groups


def _group(found: list[Finding]) -> Iterator[Part]:
    """The findings of one class: those with the same reason and advice together, those in the same words as well."""
    groups: dict[tuple[str, str], dict[str, list[Finding]]] = {}
    for finding in found:
        groups.setdefault((finding.why, finding.mend), {}).setdefault(finding.what, []).append(finding)
    for (why, mend), same in groups.items():
        for what, places in same.items():
            yield "plain", f"  {escaped(what)}\n"
            for finding in places[:_PATHS]:
                yield "path", f"      at {place(finding)}\n"
            if len(places) > _PATHS:
                yield "quiet", f"      and at {len(places) - _PATHS:,} more\n"
        if why:
            yield "quiet", f"    why: {escaped(why)}\n"
        if mend:
            yield "plain", f"    mend: {escaped(mend)}\n"


def _role(level: Level) -> Role:
    match level:
        case Level.ERROR:
            return "error"
        case Level.WARNING:
            return "warning"
        case Level.INFO:
            return "info"
