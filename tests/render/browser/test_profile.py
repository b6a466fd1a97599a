"""A page with a profile: the figures of each relation, what they rest on, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.profile import Basis, Figure, Profile, RelationProfile
from pyspark_substrait.documents import Plan
from tests.render.plans import TUTORIAL

pytestmark = pytest.mark.sweep

AGGREGATE = "relations[0].root.input.aggregate"
JOIN = f"{AGGREGATE}.input.join"
#: path, name, rows in, rows out, seconds
RUN: tuple[tuple[str, str, tuple[int, ...], int | None, float], ...] = (
    (AGGREGATE, "Aggregate", (6_000_000,), 12, 1.0),
    (JOIN, "Join", (1_500, 4_000), 6_000_000, 2.5),
    (f"{JOIN}.left.read", "Read", (), 1_500, 0.5),
    (f"{JOIN}.right.filter", "Filter", (8_000,), None, 0.75),
    (f"{JOIN}.right.filter.input.read", "Read", (), 8_000, 0.25),
)
BASES = {"Aggregate": Basis.MEASURED, "Join": Basis.CALCULATED, "Read": Basis.MEASURED, "Filter": Basis.ESTIMATED}


@pytest.fixture
def profile() -> Profile:
    document = ps.load(TUTORIAL)
    assert isinstance(document, Plan)
    relations = tuple(
        RelationProfile(
            path=path,
            name=name,
            rows_in=tuple(Figure(number, Basis.MEASURED) for number in taken),
            rows_out=None if out is None else Figure(out, BASES[name]),
            seconds=Figure(seconds, Basis.ESTIMATED),
            time_share=Figure(seconds / 5, Basis.ESTIMATED),
            note="Spark runs it together with what is above" if out is None else "",
        )
        for path, name, taken, out, seconds in RUN
    )
    return Profile(document=document, relations=relations, seconds=5.0, rows=pa.table({"x": [1]}))


def test_where_rows_explode_can_be_seen(profile: Profile, opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(profile))
    rows = "return [...document.querySelectorAll('table.run tbody tr')].map(row => row.innerText.split('\\t'))"
    table = [[cell.strip() for cell in row] for row in driver.execute_script(rows)]
    assert [(row[0].split()[0], row[1], row[3], row[4]) for row in table] == [
        ("Join", "=6,000,000", "~2.5 s", "50%"),
        ("Aggregate", "12", "~1.0 s", "20%"),
        ("Filter", "?", "~750 ms", "15%"),
        ("Read", "1,500", "~500 ms", "10%"),
        ("Read", "8,000", "~250 ms", "5%"),
    ]
    assert table[0][2] == "× 1,500"  # 6,000,000 rows for the 4,000 of the larger input
    driver.execute_script("document.querySelector('[data-sort=rows]').click()")
    assert [row[1] for row in driver.execute_script(rows)] == ["=6,000,000", "8,000", "1,500", "12", "?"]
    edges = (
        "return [...document.querySelectorAll('g.edge')].map(edge => edge.querySelector('.rows')?.textContent ?? '')"
    )
    shown = [text.replace("\u00a0", " ") for text in driver.execute_script(edges)]
    assert sorted(shown) == ["", "1.5 k", "12", "6 M", "8 k"]


def test_the_panel_says_what_a_figure_rests_on(profile: Profile, opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(profile), hash="#n2")
    rows = "return [...document.querySelectorAll('table.figures tr')].map(row => row.innerText.split('\\t'))"
    assert driver.execute_script(rows) == [
        ["rows in, input 0", "1,500", "measured"],
        ["rows in, input 1", "4,000", "measured"],
        ["rows out", "6,000,000", "calculated"],
        ["rows out for each row in", "1,500", ""],
        ["time of tasks", "2.5 s", "estimated"],
        ["part of the time", "50.0%", "estimated"],
    ]
    driver.execute_script("location.hash = '#n4'")
    driver.execute_async_script("const done = arguments[0]; setTimeout(done, 0)")
    assert ["rows out", "not known", ""] in driver.execute_script(rows)
    panel = driver.execute_script("return document.getElementById('relation').innerText")
    assert "Spark runs it together with what is above" in panel
