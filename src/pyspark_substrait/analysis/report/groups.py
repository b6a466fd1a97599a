"""Findings grouped for people: by level and class, then by reason; equal texts are stated once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark_substrait.analysis.report.finding_order import GRAVITY
from pyspark_substrait.codes import Code, Level, class_of
from pyspark_substrait.model.findings import Finding

__all__ = ["OfClass", "Reason", "groups"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Findings that share their reason and advice.

    Args:
        why, fix: the reason and the advice; either may be empty.
        messages: the texts of the findings, each with the findings that have it.
    """

    why: str
    fix: str
    messages: tuple[tuple[str, tuple[Finding, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfClass:
    """The findings of one class and level."""

    level: Level
    code: Code
    reasons: tuple[Reason, ...]

    @property
    def title(self) -> str:
        """The title of the class."""
        return class_of(self.code).title


def groups(findings: Iterable[Finding]) -> tuple[OfClass, ...]:
    """Group the findings by class, the most severe first; within a class in the order in which they come."""
    found: dict[tuple[Level, Code], dict[tuple[str, str], dict[str, list[Finding]]]] = {}
    for finding in sorted(findings, key=lambda finding: GRAVITY[finding.level]):
        reasons = found.setdefault((finding.level, finding.code), {})
        reasons.setdefault((finding.why, finding.fix), {}).setdefault(finding.what, []).append(finding)
    return tuple(
        OfClass(
            level=level,
            code=code,
            reasons=tuple(
                Reason(why=why, fix=fix, messages=tuple((what, tuple(places)) for what, places in messages.items()))
                for (why, fix), messages in reasons.items()
            ),
        )
        for (level, code), reasons in found.items()
    )
