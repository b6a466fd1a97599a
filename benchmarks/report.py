"""What a benchmark found: figures beside a peer's in the same run, and the aims they are held against."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["Aim", "Figure", "Section", "aims_markdown", "amount", "print_section", "section_markdown"]


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, in seconds, bytes or as a number.

    Args:
        what: what was measured, like ``q01``.
        ours: the median of our rounds.
        peer: the median of the peer's rounds in the same run; None where there is no peer.
        unit: ``s``, ``B``, or a word that stands behind the number, like ``plans/s``.
        note: what else a reader should know of this line.
    """

    what: str
    ours: float
    peer: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by the peer's; None without a peer."""
        return None if self.peer is None else self.ours / self.peer


@dataclass(frozen=True)
class Aim:
    """What is aimed at, and what came out. All aims are upper limits."""

    what: str
    limit: float
    found: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        """Whether the limit is kept."""
        return self.found <= self.limit


@dataclass
class Section:
    """The figures of one benchmark.

    Args:
        title: what was measured.
        peer: what it is measured beside, like ``spark.sql``; empty for nothing.
        about: one or two sentences: what exactly was timed on each side, how often.
    """

    title: str
    peer: str = ""
    about: str = ""
    figures: list[Figure] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, ours: float, peer: float | None = None, *, unit: str = "s", note: str = "") -> Figure:
        """Take down a figure."""
        figure = Figure(what, ours, peer, unit, note)
        self.figures.append(figure)
        return figure

    def aim(self, what: str, limit: float, found: float, unit: str = "×") -> None:
        """Hold a finding against an upper limit."""
        self.aims.append(Aim(what, limit, found, unit))

    def median_ratio(self) -> float:
        """The median of the ratios of all figures that have one."""
        return statistics.median(figure.ratio for figure in self.figures if figure.ratio is not None)

    def largest_ratio(self) -> float:
        """The largest ratio of a figure."""
        return max(figure.ratio for figure in self.figures if figure.ratio is not None)

    def total_ratio(self) -> float:
        """The sum of ours by the sum of the peer's."""
        both = [figure for figure in self.figures if figure.peer is not None]
        return sum(figure.ours for figure in both) / sum(figure.peer or 0.0 for figure in both)


def amount(value: float, unit: str) -> str:
    """A number with its unit, three digits of it: ``4.21 ms``, ``12.0 MB``."""
    if unit == "s":
        return (
            f"{value:.2f} s" if value >= 1 else f"{value * 1000:.{2 if value < 0.01 else 1 if value < 0.1 else 0}f} ms"
        )
    if unit == "B":
        return f"{value / 1e6:.1f} MB" if value >= 1e5 else f"{value / 1e3:.1f} kB"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def _columns(section: Section) -> list[tuple[str, Callable[[Figure], str]]]:
    """The headings of a section's table, and what stands under them."""
    columns: list[tuple[str, Callable[[Figure], str]]] = [
        ("", lambda figure: figure.what),
        ("ours", lambda figure: amount(figure.ours, figure.unit)),
    ]
    if section.peer:
        columns.append((section.peer, lambda figure: "" if figure.peer is None else amount(figure.peer, figure.unit)))
        columns.append(("ratio", lambda figure: "" if figure.ratio is None else f"{figure.ratio:.2f}"))
    if any(figure.note for figure in section.figures):
        columns.append(("note", lambda figure: figure.note))
    return columns


def print_section(section: Section, console: Console) -> None:
    """The section as a table for people at a terminal."""
    columns = _columns(section)
    table = Table(title=section.title, title_justify="left", title_style="bold")
    for position, (heading, _) in enumerate(columns):
        table.add_column(heading, justify="right" if position > 0 and heading != "note" else "left")
    for figure in section.figures:
        table.add_row(*(escape(shown(figure)) for _, shown in columns))
    console.print(table)
    for aim in section.aims:
        verdict = "[green]met[/]" if aim.met else "[red]missed[/]"
        console.print(f"  {escape(aim.what)}: {_found(aim)}, aim at most {_limit(aim)}: {verdict}")
    for note in section.notes:
        console.print(f"  {escape(note)}")


def section_markdown(section: Section) -> str:
    """The same as Markdown."""
    columns = _columns(section)
    lines = [f"### {section.title}", "", *([section.about, ""] if section.about else [])]
    lines.append(_row([heading for heading, _ in columns]))
    lines.append(_row(["---", *("---:" if heading != "note" else "---" for heading, _ in columns[1:])]))
    lines.extend(_row([shown(figure) for _, shown in columns]) for figure in section.figures)
    if section.notes:
        lines += ["", *(f"- {note}" for note in section.notes)]
    return "\n".join(lines)


def aims_markdown(sections: Sequence[Section]) -> str:
    """The aims of all sections beside what was found."""
    lines = [_row(["", "aim", "found", ""]), _row(["---", "---:", "---:", "---"])]
    for section in sections:
        for aim in section.aims:
            lines.append(_row([aim.what, f"≤ {_limit(aim)}", _found(aim), "met" if aim.met else "**missed**"]))
    return "\n".join(lines)


def _found(aim: Aim) -> str:
    return f"{aim.found:.2f}×" if aim.unit == "×" else amount(aim.found, aim.unit)


def _limit(aim: Aim) -> str:
    return f"{aim.limit:.2f}×" if aim.unit == "×" else amount(aim.limit, aim.unit)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
