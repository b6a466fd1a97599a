"""The page as a whole, beside golden pages that were checked by eye against the plans they show."""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
from pathlib import Path
from typing import get_args

import pytest

from pyspark_substrait.display import explain
from pyspark_substrait.model.expressions import Bound, Expression
from pyspark_substrait.model.masks import Select
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import ExchangeKind, Filter, ReadType, Relation
from pyspark_substrait.model.types import I32
from tests.display import plans
from tests.display.plans import BOOLEAN, call, lit, ref, table
from tests.display.rarer_plans import rarer

PLANS = {**plans.PLANS, "rarer": rarer}
PAGES = Path(__file__).parent / "pages"


@pytest.mark.parametrize("name", PLANS)
def test_page(name: str) -> None:
    assert explain(PLANS[name]()) + "\n" == (PAGES / f"{name}.txt").read_text(encoding="utf-8")


def test_every_node_is_on_a_page() -> None:
    seen: set[type] = set()
    stack: list[object] = [plan() for plan in PLANS.values()]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node):
            seen.add(node.__class__)
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))
    families = (Relation, Expression, ReadType, ExchangeKind, Bound, Select)
    assert {member for family in families for member in get_args(family)} <= seen


@pytest.mark.parametrize("name", PLANS)
def test_no_node_is_written_as_python_writes_it(name: str) -> None:
    page = explain(PLANS[name]())
    assert not re.search(r"object at 0x|\b[A-Z]\w+\((?:\w+=|\))|<\w+\.\w+: ", page)


@pytest.mark.parametrize("name", PLANS)
def test_without_types_no_column_has_one(name: str) -> None:
    for line in explain(PLANS[name](), types=False).splitlines():
        columns = line.partition(" => ")[2]
        if "->" not in columns and "parameter(" not in columns:
            assert not re.search(r": \w+\??(?:<|\b)(?! \w+)", columns)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("width", [20, 60, 100])
def test_width_breaks_at_spaces_only(name: str, width: int) -> None:
    whole, broken = explain(PLANS[name]()), explain(PLANS[name](), width=width)
    assert broken.split() == whole.split()


def test_width_is_kept_where_there_are_spaces() -> None:
    page = explain(PLANS["tutorial"](), width=80)
    assert max(len(line) for line in page.splitlines()) <= 80


def test_control_characters_never_reach_the_terminal() -> None:
    nasty = "a\x1b]0;title\x07\u202e\n"
    plan = Plan(relations=(RelRoot(input=table(nasty, **{nasty: I32()}), names=(nasty,)),))
    page = explain(plan)
    assert all(line.isprintable() for line in page.splitlines())
    assert len(page.splitlines()) == 3
    assert r"\x1b]0;title\x07\u202e\n" in page


def test_deep_plans() -> None:
    relation: Relation = table("t", a=I32())
    for _ in range(1000):
        relation = Filter(input=relation, condition=BOOLEAN)
    expression: Expression = ref(I32(), 0)
    for _ in range(1000):
        expression = call("subtract", lit(I32(), 1), expression, type=I32(), urn="arithmetic")
    plan = Plan(relations=(Filter(input=relation, condition=expression),))
    pages: list[str] = []
    limit, size = sys.getrecursionlimit(), threading.stack_size(256 * 1024 * 1024)
    sys.setrecursionlimit(100_000)
    try:
        thread = threading.Thread(target=lambda: pages.append(explain(plan)))
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    lines = pages[0].splitlines()
    assert len(lines) == 1 + 1 + 1000 + 1
    assert lines[1].count("1 - ") == 1000
    assert lines[1].count("(") == 999
    assert len(lines[-1]) < 100
    assert lines[-1].endswith("(1001) Read[t => a: i32]")
