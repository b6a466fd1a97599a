"""The names of the package: what editors know of them, and what they print."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import pytest

import pyspark_substrait as substrait
from pyspark_substrait import samples
from pyspark_substrait.documents import ExtendedExpression, Plan


def test_every_name_is_there() -> None:
    assert {name for name in substrait.__all__ if not hasattr(substrait, name)} == set()
    assert {*substrait.__all__, "builder", "samples"} <= {*dir(substrait)}
    assert substrait.__version__ == version("pyspark-substrait")


def test_load_is_typed_for_plans_and_takes_expressions() -> None:
    """The annotations are checked by the type checker."""
    plan: Plan = substrait.load(samples.plan())
    expression: ExtendedExpression = substrait.load_expressions(samples.expression())
    again: ExtendedExpression = substrait.load(expression)
    assert [type(found) for found in (plan, expression)] == [Plan, ExtendedExpression]
    assert again is expression
    untyped: Any = substrait.load(samples.expression())
    assert type(untyped) is ExtendedExpression
    with pytest.raises(substrait.InvalidPlanError, match="this is a plan, not an extended expression"):
        substrait.load_expressions(samples.plan())


def test_what_is_printed_shows_no_private_fields() -> None:
    report = substrait.validate(samples.plan_2023(), "spark", name="old")
    mine = substrait.Registry.default().with_yaml(YAML).with_function("extension:org.example:mine", "f", sql="1")
    plan = substrait.load(samples.plan())
    assert [repr(shown) for shown in (report, substrait.lint(plan), mine, substrait.Registry.default())] == [
        "<Report of old: no errors, 8 warnings, 11 info>",
        "<Report of plan: no errors, no warnings, 2 info>",
        "<Registry: the specification, and 1 extension, 1 function of yours>",
        "<Registry: the specification>",
    ]
    assert repr(substrait.lineage(plan)) == "<Lineage: 6 relations, 3 columns in the result>"
    assert re.fullmatch(r"<Capabilities: plans of 0\.10\.0 to [\d.]+, \d+ extensions>", repr(substrait.capabilities()))


YAML = """
urn: extension:org.example:mine
scalar_functions:
  - name: f
    impls:
      - args: [{value: i32}]
        return: i32
"""
