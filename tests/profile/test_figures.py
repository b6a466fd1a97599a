"""What a profile says of its figures: as text, as JSON, and what follows from what."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from pyspark_substrait.analysis.profile import Basis, Figure, Profile, RelationProfile
from pyspark_substrait.analysis.profile.rows import RowCounts, relations_of, repeats_read_filter, row_counts
from pyspark_substrait.analysis.profile.text import beside, bytes_text
from pyspark_substrait.builder import read
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Filter, Read, Relation, RelCommon

MEASURED, CALCULATED, ESTIMATED = Basis.MEASURED, Basis.CALCULATED, Basis.ESTIMATED

items = read("items", {"i": "i64", "k": "i64?"})


def figure(text: str) -> Figure | None:
    """``12`` is measured, ``=12`` calculated, ``~12`` estimated, and ``?`` not known."""
    marks = {"=": CALCULATED, "~": ESTIMATED}
    return None if text == "?" else Figure(float(text.lstrip("=~")), marks.get(text[0], MEASURED))


@pytest.mark.parametrize(
    ("taken", "out", "more", "text"),
    [
        (["1500"], "12", {}, "[1,500 rows → 12 (0.8%)]"),
        (["=1500"], "=1500", {}, "[=1,500 rows → =1,500]"),
        (["1"], "0", {}, "[1 row → 0 (0.0%)]"),
        (["1500", "10"], "~6000", {}, "[1,500 and 10 rows → ~6,000 (×4)]"),
        (["?", "10"], "5", {}, "[? and 10 rows → 5]"),
        (["100000"], "1", {}, "[100,000 rows → 1 (<0.1%)]"),
        (["2"], "800", {}, "[2 rows → 800 (×400)]"),
        ([], "1", {"bytes_read": "3100000", "time_share": "~0.41"}, "[1 row, 3.1 MB, ~41% of time]"),
        (["5"], "?", {"time_share": "0.001"}, "[5 rows → ?; why]"),
    ],
)
def test_the_text_beside_a_line(taken: list[str], out: str, more: dict[str, str], text: str) -> None:
    relation = RelationProfile(
        path="relations[0]",
        name="Filter",
        rows_in=tuple(map(figure, taken)),
        rows_out=figure(out),
        note="why" if out == "?" else "",
        **{name: figure(value) for name, value in more.items()},
    )
    assert beside(relation) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (150_000, "150 kB"), (999_600, "1.0 MB"), (2e15, "2,000.0 TB")],
)
def test_bytes(value: float, text: str) -> None:
    assert bytes_text(value) == text


def test_json_and_page() -> None:
    plan = items.filter(lambda r: r.i > 1).to_plan()
    relation = RelationProfile(
        path="relations[0].root.input.filter", name="Filter", rows_in=(None,), rows_out=figure("3")
    )
    profile = Profile(document=plan, relations=(relation,), seconds=0.5, rows=pa.table({"i": [1, 2, 3]}))
    assert json.loads(profile.to_json()) == {
        "seconds": 0.5,
        "rows": 3,
        "exact": False,
        "relations": [
            {
                "path": "relations[0].root.input.filter",
                "name": "Filter",
                "rows_in": [None],
                "rows_out": {"value": 3.0, "basis": "measured"},
                "selectivity": None,
                "bytes_read": None,
                "seconds": None,
                "time_share": None,
                "note": "",
            }
        ],
    }
    assert profile.at("relations[0].root.input.filter") is relation and profile.at("") is None
    assert "ran in 500 ms, 3 rows" in str(profile)


def test_what_follows_from_what() -> None:
    """A result of 5 rows below a fetch of 5; the filter below it was measured, but not asked for all that it has."""
    plan = items.filter(lambda r: r.i > 1).with_columns(j=lambda r: r.i + 1).limit(5).to_plan()
    fetch, project, filter, source = relations_of(_tree(plan))
    early = frozenset(map(id, (project, filter, source)))
    counted = RowCounts(measured={id(filter): 30}, stored={id(source): 100}, early=early)
    known = row_counts(fetch, counted)
    told = [(known[id(node)].value, known[id(node)].basis) for node in (fetch, project, filter, source)]
    assert told == [(5, CALCULATED), (30, ESTIMATED), (30, MEASURED), (100, CALCULATED)]


def test_filters_that_repeat_what_the_read_says() -> None:
    filter = _tree(items.filter(lambda r: r.i > 1).to_plan())
    assert isinstance(filter, Filter) and isinstance(filter.input, Read) and not repeats_read_filter(filter)
    condition = filter.condition
    assert repeats_read_filter(_over(filter, filter.input, condition))
    other = _tree(items.filter(lambda r: r.i > 2).to_plan())
    assert isinstance(other, Filter) and not repeats_read_filter(_over(filter, filter.input, other.condition))
    # a read that puts out its columns in the other order has its condition over the first of the table still
    swapped = replace(filter.input, filter=condition, common=RelCommon(emit=(1, 0)))
    assert not repeats_read_filter(replace(filter, input=swapped))


def _tree(plan: Plan) -> Relation:
    (root,) = plan.relations
    assert isinstance(root, RelRoot)
    return root.input


def _over(filter: Filter, read: Read, condition: Expression) -> Filter:
    """The filter over a read that has a condition itself."""
    return replace(filter, input=replace(read, filter=condition))
