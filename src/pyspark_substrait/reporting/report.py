"""The findings of one plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark_substrait.codes import Level
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["Report", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found in a plan: a sequence of findings, in the order of the plan.

    Args:
        findings: what was found.
        document: the plan or the extended expression as far as it can be understood; None when it can't be read.
        places: where the nodes of the document stand.
        name: what the plan is called in texts: its file, say.
    """

    findings: tuple[Finding, ...]
    document: Plan | ExtendedExpression | None = None
    places: Places
    name: str = "plan"

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.level is Level.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple(finding for finding in self.findings if finding.level is Level.WARNING)

    def raise_for_errors(self) -> None:
        """Raise the first error, if there is one.

        Raises:
            InvalidPlanError: with the path, the fault and the advice of that finding.
        """
        for finding in self.errors:
            raise InvalidPlanError(finding.what, path=finding.path, hint=finding.mend or None, code=finding.code)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "nothing found"


def report(
    findings: Iterable[Finding],
    *,
    places: Places,
    document: Plan | ExtendedExpression | None = None,
    name: str = "plan",
) -> Report:
    """A report of findings, each once."""
    return Report(findings=tuple(dict.fromkeys(findings)), document=document, places=places, name=name)
