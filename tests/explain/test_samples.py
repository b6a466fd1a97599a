"""Every sample can be shown, and nothing on its page is written as Python writes objects."""

from __future__ import annotations

import re

import pytest

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.text.explain import explain
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

SAMPLES: dict[str, Plan | ExtendedExpression] = {
    **{f"plan: {name}": plan for name, plan in PLANS.items()},
    **{f"extended expression: {name}": expression for name, expression in EXTENDED_EXPRESSIONS.items()},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    page = explain(SAMPLES[name])
    lines = page.splitlines()
    assert all(line.isprintable() for line in lines)
    # a sample is valid, so nothing in it contradicts the specification
    assert not [line for line in lines if line.lstrip().startswith("!") or "  ! " in line]
    assert not re.search(r"object at 0x|\b[A-Z]\w+\(\w+=|<\w+\.\w+: |\bUnknown\b|\bNone\b|…[;\] ]*=>", page)


@pytest.mark.parametrize("name", SAMPLES)
def test_reading_that_goes_on_shows_what_reading_that_stops_shows(name: str) -> None:
    message = as_document(SAMPLES[name], deep=False).to_message()
    assert ps.explain(message, findings=False) == explain(ps.load(message))
