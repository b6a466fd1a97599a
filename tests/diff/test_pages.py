"""Differences as text and as JSON, beside golden pages that were checked by eye against the plans they compare."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.diff import Change, Kind
from pyspark_substrait.model import relations as r
from tests.diff.goldens import DOCS, PAGES, PAIRS, documented, pages
from tests.diff.plans import ORDERS, rooted


@pytest.mark.sweep
def test_pages() -> None:
    for name, text in pages().items():
        assert text == (PAGES / name).read_text(encoding="utf-8"), f"{name}; tests.diff.goldens writes it anew"
    assert {path.name for path in PAGES.iterdir()} == set(pages())


def test_the_documentation_shows_pages_as_they_are() -> None:
    assert documented() == DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_is_in_the_documentation(kind: Kind) -> None:
    assert f"`{kind.value}`" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAIRS)
def test_json_says_the_same(name: str) -> None:
    found = ps.diff(*PAIRS[name]())
    content = json.loads(found.to_json())
    assert content["same"] is found.same is not bool(found)
    assert [item["what"] for item in content["changes"]] == [change.what for change in found]
    assert [item["what"] for item in content["remarks"]] == [change.what for change in found.remarks]
    assert all(Kind(item["kind"]).counts for item in content["changes"])
    assert not any(Kind(item["kind"]).counts for item in content["remarks"])


@pytest.mark.parametrize("name", PAIRS)
def test_each_change_is_in_the_drawn_tree(name: str) -> None:
    found = ps.diff(*PAIRS[name]())
    if name == "expressions" or not found:
        return  # there is no tree
    drawn = str(found).split("\n\n")[2]
    numbers = [int(number) for line in drawn.splitlines() if "←" in line for number in line.split("←")[1].split(",")]
    assert numbers == list(range(1, len(found) + 1))


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_said_is_no_python(name: str) -> None:
    text = str(ps.diff(*PAIRS[name]()))
    for sign in ("None", "object at", "Kind.", "(nullable=", "<", "Literal("):
        assert sign not in text.replace("<=", "").replace(" < ", " "), sign


def test_a_difference_is_a_sequence() -> None:
    found = ps.diff(*PAIRS["two-conditions"]())
    assert len(found) == 4
    assert all(isinstance(change, Change) for change in found)
    assert found[:2] == tuple(found)[:2]
    assert str(found[0]) == found[0].what
    assert repr(found) == "<Difference: 4 changes>"


def test_names_can_not_change_how_the_text_shows() -> None:
    named = replace(ORDERS, read_type=r.NamedTable(names=("or\nders\u202e\x1b[1m",)))
    names = ("id", "customer", "price", "sta\ntus")
    found = ps.diff(rooted(ORDERS, *ORDERS.base_schema.names), rooted(named, *names))
    assert all(line.isprintable() for line in str(found).splitlines())
    assert r"or\nders\u202e\x1b[1m" in str(found)
