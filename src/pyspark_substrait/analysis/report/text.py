"""A report as text for people, in parts with roles, which a terminal shows in colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyspark_substrait.analysis.report.facts import place_text, plan_summary, summary
from pyspark_substrait.analysis.report.finding_order import GRAVITY
from pyspark_substrait.analysis.report.groups import OfClass, groups
from pyspark_substrait.codes import Level
from pyspark_substrait.message_text import escaped, message_text

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report.report import Report

__all__ = ["Part", "Role", "parts", "text"]

#: The role of a part of the text; a level is the role of the words that name it.
Role: TypeAlias = Literal["plain", "name", "error", "warning", "info", "path", "quiet"]
Part: TypeAlias = tuple[Role, str]

_PATHS = 5


def text(report: Report) -> str:
    """The report as text, without a line break at its end."""
    return "".join(part for _, part in parts(report)).rstrip("\n")


def parts(report: Report) -> Iterator[Part]:
    """The parts of the text, in order."""
    yield "name", message_text(report.name)
    yield "quiet", f" ({plan_summary(report)})\n"
    for group in groups(report.listed):
        yield "plain", "\n"
        yield _role(group.level), f"{group.level.value} {group.code:04d}"
        yield "plain", f" {group.title}\n"
        yield from _group(group)
    yield "plain", "\n" if report.listed else ""
    worst = min((finding.level for finding in report.findings), key=GRAVITY.__getitem__, default=Level.INFO)
    yield _role(worst), f"{summary(report)}\n"


def _group(group: OfClass) -> Iterator[Part]:
    """Return the findings of one class, grouped by reason and advice, and by text."""
    for reason in group.reasons:
        for what, places in reason.messages:
            yield "plain", f"  {escaped(what)}\n"
            for finding in places[:_PATHS]:
                yield "path", f"      at {place_text(finding)}\n"
            if len(places) > _PATHS:
                yield "quiet", f"      and at {len(places) - _PATHS:,} more\n"
        if reason.why:
            yield "quiet", f"    why: {escaped(reason.why)}\n"
        if reason.fix:
            yield "plain", f"    fix: {escaped(reason.fix)}\n"


def _role(level: Level) -> Role:
    match level:
        case Level.ERROR:
            return "error"
        case Level.WARNING:
            return "warning"
        case Level.INFO:
            return "info"
