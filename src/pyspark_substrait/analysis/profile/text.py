"""A profile as text: the page of the plan, with figures beside its relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.analysis.profile.figures import Basis, Figure, RelationProfile
from pyspark_substrait.text.explain.page import page
from pyspark_substrait.text.explain.text import rendered

if TYPE_CHECKING:
    from pyspark_substrait.analysis.profile.profile import Profile

__all__ = ["beside", "bytes_text", "figure_text", "legend", "profile_text", "seconds_text"]

_MARKS = {Basis.MEASURED: "", Basis.CALCULATED: "=", Basis.ESTIMATED: "~"}


def profile_text(profile: Profile, *, types: bool = True, width: int | None = None, proto_paths: bool = False) -> str:
    """The page of a profile; see :meth:`Profile.text`."""
    texts = {relation.path: beside(relation) for relation in profile.relations}
    lines = page(profile.document, places=profile.places, types=types, beside=texts)
    return "\n".join([rendered(lines, width=width, proto_paths=proto_paths), *legend(profile)])


def beside(relation: RelationProfile) -> str:
    """The figures of a relation in one line, like ``[1,500 rows → 12 (0.8%), 3.1 MB, ~41% of time]``."""
    parts = [_rows(relation)]
    if relation.bytes_read is not None:
        parts.append(_marked(relation.bytes_read, bytes_text(relation.bytes_read.value)))
    if relation.time_share is not None and relation.time_share.value >= 0.005:
        parts.append(_marked(relation.time_share, f"{relation.time_share.value:.0%}") + " of time")
    text = ", ".join(parts)
    return f"[{text}; {relation.note}]" if relation.note else f"[{text}]"


def legend(profile: Profile) -> list[str]:
    """Return the lines that explain the figures of a profile."""
    rows = f"{profile.rows.num_rows:,} row{'' if profile.rows.num_rows == 1 else 's'}"
    lines = [
        f"ran in {seconds_text(profile.seconds)}, {rows}",
        "rows in → rows out; = follows from other figures, ~ is an estimate, ? is not known, the rest was measured",
    ]
    if any(relation.bytes_read is not None for relation in profile.relations):
        lines.append("bytes: the size of the files that were opened, also of columns that were left out")
    if any(relation.seconds is not None for relation in profile.relations):
        lines.append("time: of all tasks; those of a stage share its time by the rows they handle")
    if profile.exact:
        lines.append("each relation was computed by itself: filters did not reach the scans, so this took longer")
    return lines


def figure_text(figure: Figure | None) -> str:
    """Format a number of rows with the mark of its basis; ``?`` where it isn't known."""
    return "?" if figure is None else _marked(figure, f"{figure.value:,.0f}")


def bytes_text(value: float) -> str:
    """Format a number of bytes, in powers of 1,000."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def seconds_text(value: float) -> str:
    """Format a duration."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def _marked(figure: Figure, text: str) -> str:
    return _MARKS[figure.basis] + text


def _rows(relation: RelationProfile) -> str:
    out = figure_text(relation.rows_out)
    if not relation.rows_in:
        return f"{out} row" if relation.rows_out is not None and relation.rows_out.value == 1 else f"{out} rows"
    taken = " and ".join(map(figure_text, relation.rows_in))
    word = "row" if taken.lstrip("=~") == "1" else "rows"
    change = _change(relation)
    return f"{taken} {word} → {out}{f' ({change})' if change else ''}"


def _change(relation: RelationProfile) -> str:
    """Format how the number of rows changed: as a percentage where it fell, as a factor where it grew."""
    factor = relation.selectivity
    if factor is None or factor == 1:
        return ""
    if factor > 1:
        return f"×{factor:,.0f}" if factor >= 100 else f"×{factor:.3g}"
    percent = 100 * factor
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.1f}%" if percent >= 0.1 or not percent else "<0.1%"
