"""Reports as one page for the browser. It is self-contained, and runs no script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from markupsafe import escape as escaped_markup

from pyspark_substrait.analysis.report.facts import counts, page_address, place_text, plan_summary, release, summary
from pyspark_substrait.analysis.report.finding_order import GRAVITY
from pyspark_substrait.analysis.report.schemas import Table, schemas
from pyspark_substrait.codes import Code, Level, class_of
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import ExtendedExpression
from pyspark_substrait.text.explain import page
from pyspark_substrait.text.explain.lines import Line, LineKind
from pyspark_substrait.text.explain.text_direction import pieces

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report.report import Report

__all__ = ["html"]

_T = TypeVar("_T")

_DEEPEST = 24
_LONG = 1_200
_HEAD = re.compile(r"(relations\[\d+\]: )?([A-Za-z#][\w #]*(?:@\d+)?)(?=[\[(:])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the explained plan."""

    anchor: str
    depth: int
    level_down: int
    kind: str
    head: str
    text: str
    level: Level | None
    cards: tuple[_Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A finding, and its anchor on the page."""

    anchor: str
    finding: Finding
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """Findings of one line that share their reason and advice."""

    level: Level
    code: str
    title: str
    page: str
    why: str
    fix: str
    entries: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """A report, prepared for the template."""

    anchor: str
    name: str
    kind: str
    about: str
    summary: str
    level: Level | None
    counts: dict[Level, int]
    rows: tuple[_Row, ...]
    entries: tuple[_Entry, ...]
    tables: tuple[Table, ...]


def html(reports: Sequence[Report]) -> str:
    """Return the page of some reports, each in a section of its own."""
    sheets = [_sheet(report, f"p{number}-") for number, report in enumerate(reports, 1)]
    made: str = _template().render(sheets=sheets, levels=list(Level), release=release(), gravity=GRAVITY)
    # the unpaired half of a surrogate pair, which JSON can name, can't be encoded
    return made.encode("utf-8", "replace").decode("utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("pyspark_substrait.analysis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _shown
    environment.filters["place"] = place_text
    environment.filters["long"] = lambda text: len(text) > _LONG
    return environment.get_template("report.html.j2")


def _shown(text: str) -> Markup:
    """Return text in which every character is visible, and right-to-left parts don't reorder the rest."""
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(part) if apart else escaped_markup(part) for part, apart in pieces(text)
    )


def _sheet(report: Report, prefix: str) -> _Sheet:
    rows = tuple(_rows(_lines(report), prefix))
    return _Sheet(
        anchor=prefix,
        name=report.name,
        kind="The expressions" if isinstance(report.document, ExtendedExpression) else "The plan",
        about=plan_summary(report),
        summary=summary(report),
        level=_gravest(report.findings),
        counts=counts(report),
        rows=rows,
        entries=_in_order(report, rows),
        tables=_tables(report),
    )


def _lines(report: Report) -> Sequence[Line]:
    return _called(report, lambda: page(report.document, places=report.places, findings=report.listed))


def _tables(report: Report) -> tuple[Table, ...]:
    document = report.document
    return () if document is None else _called(report, lambda: schemas(document, report.places))


def _called(report: Report, function: Callable[[], _T]) -> _T:
    found: _T = report.called(function)
    return found


def _rows(lines: Sequence[Line], prefix: str) -> Iterator[_Row]:
    numbers = count(1)
    for position, line in enumerate(lines, 1):
        match = None if line.kind is LineKind.FOOTER else _HEAD.match(line.text)
        head = match.group() if match else ""
        yield _Row(
            anchor=f"{prefix}l{position}",
            depth=min(line.depth, _DEEPEST),
            level_down=line.depth,
            kind=line.kind.value,
            head=head,
            text=line.text[len(head) :],
            level=_gravest(line.findings),
            cards=tuple(_cards(line.findings, prefix, numbers)),
        )


def _cards(findings: Sequence[Finding], prefix: str, numbers: Iterator[int]) -> Iterator[_Card]:
    groups: dict[tuple[Level, Code, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: GRAVITY[finding.level]):
        groups.setdefault((finding.level, finding.code, finding.why, finding.fix), []).append(finding)
    for (level, code, why, fix), members in groups.items():
        known = class_of(code)
        yield _Card(
            level=level,
            code=f"{code:04d}",
            title=known.title,
            page=page_address(known),
            why=why,
            fix=fix,
            entries=tuple(
                _Entry(anchor=f"{prefix}f{next(numbers)}", finding=member, code=f"{code:04d}") for member in members
            ),
        )


def _in_order(report: Report, rows: Sequence[_Row]) -> tuple[_Entry, ...]:
    """Return the findings in the order of the report, which differs from the order of the lines."""
    entries = {entry.finding: entry for row in rows for card in row.cards for entry in card.entries}
    return tuple(entries[finding] for finding in report.listed)


def _gravest(findings: Sequence[Finding]) -> Level | None:
    return min((finding.level for finding in findings), key=GRAVITY.__getitem__, default=None)
