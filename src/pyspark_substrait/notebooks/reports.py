"""The output for a report: the number of findings, the findings by class, and the plan with its marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyspark_substrait.analysis.report.facts import counts, page_address, place_text, plan_summary, summary
from pyspark_substrait.analysis.report.finding_order import GRAVITY
from pyspark_substrait.analysis.report.groups import OfClass, groups
from pyspark_substrait.analysis.report.report import Report
from pyspark_substrait.codes import Level, class_of
from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.text.explain import page
from pyspark_substrait.text.explain.lines import Line

__all__ = ["report_html"]

_T = TypeVar("_T")

_MOST_PLACES = 5
_MOST_LINES = 300
_DEEPEST = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the plan: its indentation, its text, and its most severe finding."""

    depth: int
    text: str
    level: Level | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """The text of findings, the places of the first of them, and the number of further places."""

    what: str
    places: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """Findings of one class with one reason."""

    level: Level
    code: str
    title: str
    page: str
    messages: tuple[_Message, ...]
    why: str
    fix: str


def report_html(report: Report) -> str:
    """Return the HTML of a report."""
    lines = _called(report, lambda: page(report.document, places=report.places, findings=report.listed))
    return markup(
        "report",
        name=report.name,
        about=plan_summary(report),
        summary=summary(report),
        counts=[(level, number) for level, number in counts(report).items() if number],
        cards=[card for group in groups(report.listed) for card in _cards(group)],
        rows=[_row(line) for line in lines[:_MOST_LINES]],
        more=max(len(lines) - _MOST_LINES, 0),
    )


def _called(report: Report, function: Callable[[], _T]) -> _T:
    found: _T = report.called(function)
    return found


def _row(line: Line) -> _Row:
    level = min((finding.level for finding in line.findings), key=GRAVITY.__getitem__, default=None)
    return _Row(depth=min(line.depth, _DEEPEST), text=line.text, level=level)


def _cards(group: OfClass) -> Sequence[_Card]:
    return [
        _Card(
            level=group.level,
            code=f"{group.code:04d}",
            title=group.title,
            page=page_address(class_of(group.code)),
            messages=tuple(
                _Message(
                    what=what,
                    places=tuple(place_text(finding) for finding in found[:_MOST_PLACES]),
                    more=max(len(found) - _MOST_PLACES, 0),
                )
                for what, found in reason.messages
            ),
            why=reason.why,
            fix=reason.fix,
        )
        for reason in group.reasons
    ]
