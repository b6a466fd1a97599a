"""Operands stand in brackets where they need them, and only there: brackets in each other cost Spark's parser much."""

from __future__ import annotations

import pytest

from pyspark_substrait import load, to_sql
from pyspark_substrait.sql.compiler.calls import atom
from tests.growing import GROWTH


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("c1", []),
        ("1.5", []),
        ("abs(c1)", ["c1"]),
        ("f(g(h(c1)))", ["g(h(c1))"]),
        ("CAST(f(g(h(i(c1)))) AS DECIMAL(10, 2))", ["f(g(h(i(c1))))"]),
        ("f(g(h(c1)), g(h(i(c1))))", ["g(h(c1))", "g(h(i(c1)))"]),
        ("(f(g(h(c1))) + 1)", ["f(g(h(c1)))"]),
    ],
)
def test_what_is_one_operand_has_no_more_brackets(text: str, parts: list[str]) -> None:
    assert atom(text, parts) == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("c1 + c2", ["c1", "c2"]),
        ("(c1) + (c2)", ["(c1)", "(c2)"]),
        ("f(c1) + g(c2)", ["f(c1)", "g(c2)"]),
        ("f(g(h(c1))) + f(g(h(c1)))", ["f(g(h(c1)))"]),
        ("f(g(h(c1)))[0]", ["f(g(h(c1)))"]),
        ("- f(g(h(c1)))", ["f(g(h(c1)))"]),
        ("f(g(h(c1))) IN (1, 2)", ["f(g(h(c1)))"]),
        ("x -> f(g(h(x)))", ["f(g(h(x)))"]),
        ("CASE WHEN f(g(h(c1))) THEN (1) ELSE (2) END", ["f(g(h(c1)))"]),
    ],
)
def test_what_is_more_than_one_operand_has_some(text: str, parts: list[str]) -> None:
    assert atom(text, parts) == f"({text})"


def test_casts_in_each_other_have_none() -> None:
    assert "((" not in to_sql(load(GROWTH["casts in each other"].made(40)))
