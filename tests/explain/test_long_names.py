"""Names of any length in what shows a plan: their middle is left out, and different ones stay different."""

from __future__ import annotations

import re
from typing import Any

import pyspark_substrait as ps
from pyspark_substrait.message_text import shortened_name

I64 = {"i64": {"nullability": "NULLABILITY_REQUIRED"}}
LONG = 100_000


def plan(first: str, second: str, table: str) -> dict[str, Any]:
    schema = {"names": [first, second], "struct": {"types": [I64, I64], "nullability": "NULLABILITY_REQUIRED"}}
    column = {"selection": {"directReference": {"structField": {"field": 1}}, "rootReference": {}}}
    read = {"read": {"baseSchema": schema, "namedTable": {"names": [table]}}}
    sort = {"sort": {"input": read, "sorts": [{"expr": column, "direction": "SORT_DIRECTION_ASC_NULLS_FIRST"}]}}
    return {
        "version": {"minorNumber": 108, "producer": "an example"},
        "relations": [{"root": {"input": sort, "names": [first, second]}}],
    }


def test_long_names_lose_their_middle() -> None:
    # they differ in the middle only
    first, second = ("n" * LONG + mark + "n" * LONG for mark in "ab")
    source = plan(first, second, "t" * LONG)
    shown = str(ps.explain(source))
    assert len(shown) < 10_000
    names = {*re.findall("n{20,}…[0-9a-f]{8}…n{20,}", shown)}
    assert len(names) == 2
    assert shortened_name(first) in names and shortened_name(second) in names
    # the page holds each name a few times, for its search; what is drawn is short
    drawn = re.findall(r"<(?:text|tspan|title)\b[^<>]*>([^<>]*)", ps.view(source).to_html())
    assert drawn
    assert max(map(len, drawn)) < 1_000


def test_other_names_stay_as_they_are() -> None:
    name = "n" * 240
    assert shortened_name(name) == name
    assert name in str(ps.explain(plan(name, "b", "t")))


def test_what_a_plan_touches_is_named_whole() -> None:
    table = "t" * LONG
    assert [touch.name for touch in ps.touches(plan("a", "b", table))] == [table]
