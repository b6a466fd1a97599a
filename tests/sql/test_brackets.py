"""Operands stand in brackets where they need them, and only there: brackets in each other cost Spark's parser much."""

from __future__ import annotations

from itertools import product

import pytest

from pyspark_substrait import load, to_sql
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
)
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.fragment import Atom, Constant, Name, atom, is_atomic
from pyspark_substrait.sql.functions.catalog import combinations, example
from tests.growing import GROWTH

TYPES: list[Type] = [
    Boolean(),
    I8(),
    I32(),
    I64(),
    FP32(),
    FP64(),
    Decimal(precision=10, scale=2),
    Decimal(precision=38, scale=0),
    String(),
    VarChar(length=20),
    FixedChar(length=20),
    Binary(),
    FixedBinary(length=4),
    UUID(),
    Date(),
    *(
        kind(precision=precision)
        for kind in (PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)
        for precision in (3, 9)
    ),
    IntervalYear(),
    IntervalDay(precision=6),
    IntervalDay(precision=9),
    IntervalCompound(precision=6),
    List(type=I32()),
    List(type=String()),
    Map(key=I32(), value=String()),
    Map(key=I64(), value=I32()),
    Struct(types=(I32(),)),
    Struct(types=(String(),)),
]
REGISTRY = Registry.default()
URNS = [urn for urn in (*REGISTRY.urns(), *REGISTRY.own_urns()) if functions.table(urn) is not None]


def needs_none(text: str) -> bool:
    """Whether a text is one name, one literal, or one thing in brackets with at most a name before them."""
    rest = text.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
    if not rest:
        return True
    depth, quote, skip = 0, "", False
    for position, character in enumerate(rest):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\" and quote == "'"
            quote = "" if character == quote else quote
        elif character in "'`":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        if depth == 0 and not quote:
            return position == len(rest) - 1 and position > 0
    return False


@pytest.mark.parametrize("urn", URNS)
def test_a_function_s_text_is_an_atom_if_it_needs_no_brackets(urn: str) -> None:
    table, wrong = functions.table(urn), []
    for definition in (made for name in REGISTRY.function_names(urn) for made in REGISTRY.overloads(urn, name)):
        for combination in combinations(definition, table):
            try:
                text = example(combination, REGISTRY)
            except SubstraitError:
                continue
            if isinstance(text, Atom) != needs_none(text):
                wrong.append((definition.key, text))
    assert not wrong


@pytest.mark.parametrize(
    "text", ["c1", "1.5", "abs(c1)", "f(g(h(c1)), ')')", "(a + b)", "'it\\'s'", "`a b`", "DATE'2020-01-01'"]
)
def test_the_check_knows_what_needs_none(text: str) -> None:
    assert needs_none(text)


@pytest.mark.parametrize(
    "text", ["a + b", "(a) + (b)", "f(a)[0]", "- f(a)", "f(a) IN (1, 2)", "x -> f(x)", "'a' = 'b'"]
)
def test_the_check_knows_what_needs_some(text: str) -> None:
    assert not needs_none(text)


@pytest.mark.parametrize(
    "template", ["{x}", "abs({x})", "CAST({0} AS STRING)", "({x} + {y})", "f(')', {x})", "current_date()"]
)
def test_templates_that_are_one_operand(template: str) -> None:
    assert is_atomic(template)


@pytest.mark.parametrize(
    "template", ["{x} + {y}", "({x}) + ({y})", "f({x})[0]", "{x}[0]", "-{x}", "CASE WHEN f({x}) END"]
)
def test_templates_that_are_more(template: str) -> None:
    assert not is_atomic(template)


def test_an_atom_stays_as_it_is() -> None:
    assert atom(Name("c1")) == "c1"
    assert atom(Atom("f(g(h(c1)))")) == "f(g(h(c1)))"
    assert atom("c1 + c2") == "(c1 + c2)"
    assert isinstance(atom("c1 + c2"), Atom)


def test_names_and_short_constants_are_cheap_to_repeat() -> None:
    assert Name("c1.f0").cheap
    assert Constant("5L", 5).cheap
    assert not Constant(f"'{'x' * 100}'", "x" * 100).cheap
    assert not Atom("f(c1)").cheap


def test_a_cast_s_text_is_an_atom_if_it_needs_no_brackets() -> None:
    wrong = []
    for source, target in product(TYPES, TYPES):
        for failure in (FailureBehavior.THROW_EXCEPTION, FailureBehavior.RETURN_NULL):
            try:
                text = cast(Name("c1"), source, target, failure)
            except SubstraitError:
                continue
            if isinstance(text, Atom) != needs_none(text):
                wrong.append((source, target, text))
    assert not wrong


def test_casts_in_each_other_have_none() -> None:
    assert "((" not in to_sql(load(GROWTH["casts in each other"].made(40)), formatted=False)
