"""Facts about a plan that every form of a report states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.codes import Class, Level
from pyspark_substrait.errors import LONGEST_PATH
from pyspark_substrait.message_text import escaped, message_text, shortened
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import ExtendedExpression
from pyspark_substrait.text.explain.literals import counted

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report.report import Report

__all__ = ["counts", "page_address", "place_text", "plan_summary", "release", "summary"]

_SITE = "https://substrait.io/"


def plan_summary(report: Report) -> str:
    """Describe the plan in a few words: its kind, its release, its producer."""
    document = report.document
    if document is None:
        return "could not be read"
    kind = "extended expression" if isinstance(document, ExtendedExpression) else "plan"
    version, written = document.version, document.original_version
    older = f", written as {message_text(written)}" if written is not None and written != str(version) else ""
    producer = f", by {message_text(version.producer)}" if version.producer else ""
    target = f", for {message_text(report.target)}" if report.target else ""
    return f"{kind}, Substrait {version}{older}{producer}{target}"


def place_text(finding: Finding) -> str:
    """Return the path of a finding, for people; a very long one loses its middle."""
    return shortened(escaped(finding.path), LONGEST_PATH) or "the plan as a whole"


def counts(report: Report) -> dict[Level, int]:
    """Return the number of findings of each level."""
    return {level: sum(finding.level is level for finding in report.findings) for level in Level}


def summary(report: Report) -> str:
    """Return the number of findings in words."""
    if not report.findings:
        return "nothing found"
    number = counts(report)
    return ", ".join(
        (
            counted(number[Level.ERROR], "error") if number[Level.ERROR] else "no errors",
            counted(number[Level.WARNING], "warning") if number[Level.WARNING] else "no warnings",
            f"{number[Level.INFO]:,} info",
        )[: 3 if number[Level.INFO] else 2]
    )


def page_address(item: Class) -> str:
    """Return the address of the page of the specification that states the rule of a class; empty if there is none."""
    return f"{_SITE}{item.page}/" if item.page else ""


def release() -> str:
    """Return the release of this package; empty if it isn't installed."""
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return version("pyspark-substrait")
    except PackageNotFoundError:
        return ""
