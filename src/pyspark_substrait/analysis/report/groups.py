"""Findings as people read them: by level and class, and what is said in the same words once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark_substrait.analysis.report.finding_order import GRAVITY
from pyspark_substrait.codes import Code, Level, class_of
from pyspark_substrait.model.findings import Finding

__all__ = ["OfClass", "Reason", "groups"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Findings that have the reason and the advice in common.

    Args:
        why, mend: what they have in common; either may be empty.
        said: what they say, each with the findings that say just that.
    """

    why: str
    mend: str
    said: tuple[tuple[str, tuple[Finding, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfClass:
    """The findings of one class and level."""

    level: Level
    code: Code
    reasons: tuple[Reason, ...]

    @property
    def title(self) -> str:
        """What the class is, in a few words."""
        return class_of(self.code).title


def groups(findings: Iterable[Finding]) -> tuple[OfClass, ...]:
    """The findings by class, the gravest first; within a class in the order in which they come."""
    found: dict[tuple[Level, Code], dict[tuple[str, str], dict[str, list[Finding]]]] = {}
    for finding in sorted(findings, key=lambda finding: GRAVITY[finding.level]):
        reasons = found.setdefault((finding.level, finding.code), {})
        reasons.setdefault((finding.why, finding.mend), {}).setdefault(finding.what, []).append(finding)
    return tuple(
        OfClass(
            level=level,
            code=code,
            reasons=tuple(
                Reason(why=why, mend=mend, said=tuple((what, tuple(places)) for what, places in said.items()))
                for (why, mend), said in reasons.items()
            ),
        )
        for (level, code), reasons in found.items()
    )
