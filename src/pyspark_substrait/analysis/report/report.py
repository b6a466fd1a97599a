"""The findings of one plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pyspark_substrait.analysis.report.as_json import as_json
from pyspark_substrait.analysis.report.facts import summary
from pyspark_substrait.analysis.report.finding_order import GRAVITY, in_order
from pyspark_substrait.analysis.report.sarif import sarif
from pyspark_substrait.analysis.report.text import text
from pyspark_substrait.codes import Level
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.message_text import escaped
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.text.notebook_output import NotebookOutput

__all__ = ["Report", "report"]

_T = TypeVar("_T")


def _plain_call(function: Callable[[], _T]) -> _T:
    return function()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(NotebookOutput):
    """The findings of a plan, as a sequence in the order of the plan: those from the level ``least`` on.

    Args:
        findings: the findings.
        document: the plan or the extended expression as far as it can be understood; None if it can't be read.
        places: the paths of the document's nodes.
        name: the name of the plan in texts, such as its file.
        file: the file it was read from, if it was.
        target: the engine that was asked about; None for the specification alone.
        least: the level from which on findings are listed, here and in the forms of the report; the counts include all.
        called: calls a function that walks the document, on a stack that is large enough for the document's depth.
    """

    findings: tuple[Finding, ...]
    document: Plan | ExtendedExpression | None = None
    places: Places
    name: str = "plan"
    file: Path | None = None
    target: str | None = None
    least: Level = Level.INFO
    called: Callable[[Callable[[], Any]], Any] = field(default=_plain_call, compare=False)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def __bool__(self) -> bool:
        return True  # a report without findings is still one

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return self._of(Level.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return self._of(Level.WARNING)

    @property
    def infos(self) -> tuple[Finding, ...]:
        """The findings that are neither errors nor warnings: information."""
        return self._of(Level.INFO)

    def _of(self, level: Level) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level is level)

    @property
    def listed(self) -> tuple[Finding, ...]:
        """The findings that are at least as severe as ``least``."""
        return tuple(finding for finding in self.findings if GRAVITY[finding.level] <= GRAVITY[self.least])

    def at_least(self, level: Level) -> Report:
        """Return the same report, which lists only findings of this level and of more severe ones."""
        return replace(self, least=level)

    def raise_for_errors(self) -> None:
        """Raise the first error, if there is one.

        Raises:
            InvalidPlanError: with the path, the text and the advice of that finding.
        """
        for finding in self.errors:
            error = InvalidPlanError(finding.what, path=finding.path, hint=finding.fix or None, code=finding.code)
            if self.document is None and self.file is not None:
                error.file = str(self.file)
            raise error

    def to_text(self) -> str:
        """Return text for people: the findings by level and class, the most severe first, and their counts."""
        return text(self)

    def to_json(self) -> str:
        """Return a JSON object, of the form that :func:`~pyspark_substrait.analysis.report.json_schema` describes."""
        return as_json(self)

    def to_sarif(self) -> str:
        """Return a SARIF 2.1.0 log, for code scanning."""
        return sarif([self])

    def to_html(self) -> str:
        """Return a self-contained page for the browser, with the findings beside the explained plan."""
        from pyspark_substrait.analysis.report.html import html  # Jinja

        return html([self])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Report of {escaped(self.name)}: {summary(self)}>"


def report(
    findings: Iterable[Finding],
    *,
    places: Places,
    document: Plan | ExtendedExpression | None = None,
    name: str = "plan",
    file: Path | None = None,
    target: str | None = None,
    called: Callable[[Callable[[], Any]], Any] = _plain_call,
) -> Report:
    """Make a report of findings, each once, in the order of the plan."""
    return Report(
        findings=tuple(in_order(list(dict.fromkeys(findings)))),
        document=document,
        places=places,
        name=name,
        file=file,
        target=target,
        called=called,
    )
