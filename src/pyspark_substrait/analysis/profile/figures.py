"""The profile of a plan: for each relation the rows that went in and came out, the bytes read, and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.text.notebook_output import NotebookOutput

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Basis", "Figure", "Profile", "RelationProfile"]


class Basis(Enum):
    """Where a figure comes from.

    ``MEASURED``: Spark counted it in this run. ``CALCULATED``: it follows exactly from what was measured or is known,
    as the rows of a projection do from those of its input. ``ESTIMATED``: it is approximate, and may be wrong.
    """

    MEASURED = "measured"
    CALCULATED = "calculated"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and where it comes from."""

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


@dataclass(frozen=True, kw_only=True, repr=False)
class Profile(NotebookOutput):
    """The figures of one run of a plan.

    Args:
        document: the plan.
        relations: the figures of each relation, in the order in which ``explain`` prints them.
        seconds: the wall-clock time of the run, from the statement to the last row.
        rows: the result.
        exact: whether each relation was computed separately, so that its rows could be counted.
        places: where the relations stand in the plan.
    """

    document: Plan
    relations: tuple[RelationProfile, ...]
    seconds: float
    rows: pa.Table
    exact: bool = False
    places: Places = field(default_factory=Places, repr=False, compare=False)

    @cached_property
    def _by_path(self) -> Mapping[str, RelationProfile]:
        return {relation.path: relation for relation in self.relations}

    def at(self, path: str) -> RelationProfile | None:
        """Return the figures of the relation at a path; None if there is none, or it isn't in the root that ran."""
        return self._by_path.get(path)

    def text(self, *, types: bool = True, width: int | None = None, proto_paths: bool = False) -> str:
        """Return the text that ``explain`` prints, with the figures beside each relation, and a legend below it.

        Args:
            types: whether to show the types of columns.
            width: break lines that are longer than this many characters; None leaves them whole.
            proto_paths: whether to end each relation's line with its path in the plan.
        """
        from pyspark_substrait.analysis.profile.text import profile_text

        return profile_text(self, types=types, width=width, proto_paths=proto_paths)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Profile: {self.rows.num_rows:,} rows in {self.seconds:.3g} s, {len(self.relations)} relations>"

    def to_json(self) -> str:
        """The figures as an indented JSON object, without the rows of the result."""
        from pyspark_substrait.analysis.profile.as_json import as_json

        return as_json(self)
