"""The profile of a plan: the figures of its relations in one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark_substrait.analysis.profile.as_json import as_json
from pyspark_substrait.analysis.profile.figures import RelationProfile
from pyspark_substrait.analysis.profile.text import profile_text
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.text.notebook_output import NotebookOutput

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Profile"]


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
        return profile_text(self, types=types, width=width, proto_paths=proto_paths)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Profile: {self.rows.num_rows:,} rows in {self.seconds:.3g} s, {len(self.relations)} relations>"

    def to_json(self) -> str:
        """The figures as an indented JSON object, without the rows of the result."""
        return as_json(self)
