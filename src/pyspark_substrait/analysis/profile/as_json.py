"""A profile as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark_substrait.analysis.profile.figures import Figure, RelationProfile
from pyspark_substrait.message_text import json_text

if TYPE_CHECKING:
    from pyspark_substrait.analysis.profile.profile import Profile

__all__ = ["as_json"]


def as_json(profile: Profile) -> str:
    """The figures of a profile as an indented JSON object."""
    content = {
        "seconds": profile.seconds,
        "rows": profile.rows.num_rows,
        "exact": profile.exact,
        "relations": [_relation(relation) for relation in profile.relations],
    }
    return json_text(content, indent=2)


def _relation(relation: RelationProfile) -> dict[str, Any]:
    return {
        "path": relation.path,
        "name": relation.name,
        "rows_in": [_figure(figure) for figure in relation.rows_in],
        "rows_out": _figure(relation.rows_out),
        "selectivity": relation.selectivity,
        "bytes_read": _figure(relation.bytes_read),
        "seconds": _figure(relation.seconds),
        "time_share": _figure(relation.time_share),
        "note": relation.note,
    }


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else {"value": figure.value, "basis": figure.basis.value}
