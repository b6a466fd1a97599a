"""The page as a whole, beside golden pages that were checked by eye against the plans they show."""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
from typing import get_args

import pytest

from pyspark_substrait.model.expressions import Bound, Expression, Function, SingularOrList
from pyspark_substrait.model.masks import Select
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import (
    ExchangeKind,
    Filter,
    Join,
    JoinType,
    Project,
    ReadType,
    Relation,
    RelCommon,
)
from pyspark_substrait.model.types import I32, String
from pyspark_substrait.text.explain import explain
from tests.explain.goldens import BY_HAND as PLANS
from tests.explain.goldens import DOCS, PAGES, documented, pages
from tests.explain.plans import BOOLEAN, call, lit, ref, table


def test_pages() -> None:
    for name, text in pages().items():
        assert text == (PAGES / name).read_text(encoding="utf-8"), f"{name}; tests.explain.goldens writes it anew"


def test_the_documentation_shows_pages_as_they_are() -> None:
    assert documented() == DOCS.read_text(encoding="utf-8")


def test_every_node_is_on_a_page() -> None:
    seen: set[object] = set()
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


def test_a_side_of_a_join_is_abbreviated_where_all_of_it_may_be_null_now() -> None:
    left, right = table("l", a=I32()), table("r", b=I32(), c=I32(nullable=True))

    def joined(emit: tuple[int, ...] | None, type: JoinType) -> str:
        join = Join(left=left, right=right, type=type, expression=BOOLEAN, common=RelCommon(emit=emit))
        return explain(Plan(relations=(join,))).splitlines()[1].partition(" => ")[2]

    assert joined(None, JoinType.INNER) == "*]"
    assert joined(None, JoinType.LEFT) == "left.*, right.*?]"
    assert joined(None, JoinType.OUTER) == "*?]"
    assert joined((1, 2), JoinType.LEFT) == "right.*?]"
    assert joined((2, 1), JoinType.LEFT) == "c: i32?, b: i32?]"
    # of these, the first is as it was
    assert joined((0, 1, 2), JoinType.LEFT) == "left.*, right.*?]"


def test_negation_stands_where_sql_has_it() -> None:
    a = ref(String(), 0)

    def shown(node: Expression) -> str:
        kept = Filter(input=table("t", a=String()), condition=call("not", node, type=I32(), urn="boolean"))
        return explain(Plan(relations=(kept,))).splitlines()[1]

    like = call("like", a, lit(String(), "x%"), type=I32(), urn="string")
    mine = dataclasses.replace(like, function=Function("extension:mine", "like", ""))
    assert shown(like) == "Filter[a NOT LIKE 'x%' => *]"
    assert shown(call("between", a, a, a, type=I32())) == "Filter[a NOT BETWEEN a AND a => *]"
    assert shown(SingularOrList(value=a, options=(a,))) == "Filter[a NOT IN (a) => *]"
    assert shown(call("equal", a, a, type=I32())) == "Filter[NOT a = a => *]"
    assert shown(mine) == "Filter[NOT like(a, 'x%') => *]"
    assert shown(call("not", like, type=I32(), urn="boolean")) == "Filter[NOT a NOT LIKE 'x%' => *]"


def test_options_stand_once_where_all_calls_have_them() -> None:
    def shown(*calls: Expression) -> list[str]:
        page = explain(Plan(relations=(Project(input=table("t", a=I32()), expressions=calls),)), types=False)
        return [line.strip() for line in page.splitlines() if not line.lstrip().startswith(("Plan", "Read"))]

    a = ref(I32(), 0)
    loud = call("add", a, a, type=I32(), urn="arithmetic", overflow="ERROR")
    quiet = call("add", a, a, type=I32(), urn="arithmetic")
    product = call("multiply", loud, a, type=I32(), urn="arithmetic", overflow="ERROR")
    assert shown(product) == [
        "Project[*, $1 = (a + a) * a]",
        "with options throughout: add, multiply [overflow: ERROR]",
    ]
    assert shown(product, quiet) == [
        "Project[*, $1 = add(a, a)[overflow: ERROR] * a, $2 = a + a]",
        "with options throughout: multiply [overflow: ERROR]",
    ]
    assert shown(quiet) == ["Project[*, $1 = a + a]"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_conditions_are_broken_before_and(width: int) -> None:
    one = call("equal", ref(I32(), 0), ref(I32(), 0), type=I32())
    condition = call("and", *[one] * 30, type=I32(), urn="boolean")
    page = explain(Plan(relations=(Filter(input=table("t", column=I32()), condition=condition),)), width=width)
    folded = [line.strip() for line in page.splitlines()[1:-1]]
    assert len(folded) > 5
    assert all(line.startswith(("AND column = column", "=>")) for line in folded[1:])
    assert max(map(len, page.splitlines())) <= width
