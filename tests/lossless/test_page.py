"""The page about the text form: its grammar is the one that is used, and its examples are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pyspark_substrait as ps
from pyspark_substrait.text import lossless
from pyspark_substrait.text.lossless.shapes import titles
from pyspark_substrait.text.lossless.type_forms import TYPE_NAMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "text-form.md").read_text(encoding="utf-8")
GRAMMAR = Path(lossless.__file__).with_name("grammar.lark").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def examples(title: str, column: int) -> list[str]:
    """The code in a column of a section's table."""
    rows = [line.split("|") for line in section(title).splitlines() if line.startswith("|")]
    return [code for row in rows[2:] for code in re.findall(r"`([^`]+)`", row[column + 1])]


def test_the_grammar_is_the_one_that_is_used() -> None:
    assert re.findall(r"```lark\n(.*?)```", PAGE, re.DOTALL) == [GRAMMAR]


@pytest.mark.parametrize("text", re.findall(r"```substrait\n(.*?)```", PAGE, re.DOTALL))
def test_the_examples_are_valid(text: str) -> None:
    assert not [found for found in ps.validate(text) if found.level.value == "error"]


def test_the_example_that_leaves_nothing_open_is_what_is_written() -> None:
    bare, full, *_ = re.findall(r"```substrait\n(.*?)```", PAGE, re.DOTALL)
    assert ps.load(full).to_text() == full
    loaded = ps.load(bare)
    assert loaded.relations == ps.load(full).relations


@pytest.mark.parametrize("text", [text for text in examples("Relations", 1) if "[" in text and text[-1] != ":"])
def test_every_example_of_a_relation_is_read(text: str) -> None:
    assert lossless.parse(f"substrait plan\n{text}")["relations"]


def test_every_relation_has_an_example() -> None:
    named = re.findall(
        r"[A-Z][A-Za-z]+", " ".join(line.split("|")[1] for line in section("Relations").splitlines() if "|" in line)
    )
    assert {*titles(), "Detached"} <= set(named)


@pytest.mark.parametrize("text", [text for text in examples("Expressions", 0) if "…" not in text])
def test_every_example_of_an_expression_is_read(text: str) -> None:
    blocks = "\n  #1:\n    Read[t()]" if "#1" in text else ""
    if text.startswith("sum"):
        assert lossless.parse(f"substrait expressions\nMeasure[{text}]")["referred_expr"]
    else:
        assert lossless.parse(f"substrait plan\nProject[{text}]{blocks}")["relations"]


def test_every_example_of_a_literal_is_read() -> None:
    paragraph = next(part for part in section("Literals and types").split("\n\n") if part.startswith("`10:i32`"))
    found = [code for code in re.findall(r"`([^`]+)`", paragraph) if code not in ("Z", "precision_timestamp_tz")]
    texts = [code for code in found if "…" not in code]
    assert len(texts) > 15
    for text in texts:
        assert lossless.parse(f"substrait plan\nParameter[1, {text}]")["parameter_bindings"][0]["value"]


def test_the_grammar_has_every_type() -> None:
    words = re.findall(r"^TYPE\.\d: /\(\?:([^)]*)\)", GRAMMAR, re.MULTILINE)
    assert [set(found.split("|")) for found in words] == [TYPE_NAMES]
