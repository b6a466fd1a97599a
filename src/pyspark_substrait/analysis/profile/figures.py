"""The figures of one relation in a run: the rows that went in and came out, the bytes read, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Basis", "Figure", "RelationProfile"]


class Basis(Enum):
    """The origin of a figure.

    ``MEASURED``: Spark counted it in this run. ``CALCULATED``: it follows exactly from what was measured or is known,
    as the rows of a projection do from those of its input. ``ESTIMATED``: it is approximate, and may be wrong.
    """

    MEASURED = "measured"
    CALCULATED = "calculated"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and its origin."""

    value: float
    basis: Basis


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationProfile:
    """The figures of one relation in a run.

    Args:
        path: where it stands in the plan, as :meth:`Places.path` has it.
        name: its kind, like ``Filter``.
        rows_in: the rows of each input, in order; None where that isn't known.
        rows_out: the rows that it put out; None where that isn't known.
        bytes_read: the size of the files that a read opened, in bytes; None for all other relations.
        seconds: its share of the task time, summed over all threads; None where that isn't known.
        time_share: ``seconds`` as a fraction of the sum over all relations, from 0 to 1.
        note: why a figure is missing, or what one stands for; empty if there is no note.
    """

    path: str
    name: str
    rows_in: tuple[Figure | None, ...] = ()
    rows_out: Figure | None = None
    bytes_read: Figure | None = None
    seconds: Figure | None = None
    time_share: Figure | None = None
    note: str = ""

    @property
    def selectivity(self) -> float | None:
        """Rows out for each row of the only, or the largest, input; None where one of them isn't known, or is zero."""
        known = [figure.value for figure in self.rows_in if figure is not None]
        if self.rows_out is None or len(known) < len(self.rows_in) or not any(known):
            return None
        return self.rows_out.value / max(known)
