"""The comparison of functions on two Sparks: calls are the same on each, and values that differ are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.calls import signatures_of
from fuzz.versions import Answers, Difference, answers, calls_of, differences
from pyspark_substrait.extensions.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fuzz.calls import Signature


def _signature(name: str, *types: str) -> Signature:
    overloads = next(made for _, found, made in Registry.default().functions() if found == name)
    found = (item for definition in overloads for item in signatures_of(definition))
    return next(item for item in found if [str(type) for type in item.arguments] == [*types])


def test_values_that_differ_are_found() -> None:
    here: Answers = {"f(i8)": {"0": "1", "1": "error"}, "g(i8)": {"0": "2"}}
    there: Answers = {"f(i8)": {"0": "1", "1": "None"}, "h(i8)": {"0": "3"}}
    assert list(differences(here, there)) == [Difference("f(i8)", "1", "error", "None")]
    assert not list(differences(here, here))


def test_calls_have_options() -> None:
    texts = [str(call) for call in calls_of(_signature("add", "i8", "i8"))]
    assert "functions_arithmetic add(i8, i8)" in texts
    assert "functions_arithmetic add(i8, i8) overflow:SATURATE" in texts


@pytest.mark.sweep
def test_records_are_answered_one_by_one_where_some_fail(spark: SparkSession) -> None:
    found = answers(spark, _signature("add", "i8", "i8"), seed=2)
    plain = found["functions_arithmetic add(i8, i8)"]
    assert len(plain) == 14 and "error" in plain.values() and {*plain.values()} != {"error"}
    # ERROR is what no option means; the statement of SILENT is that of SATURATE
    silent = found["functions_arithmetic add(i8, i8) overflow:SILENT"]
    assert "error" not in silent.values()
    assert all(value in ("error", silent[record]) for record, value in plain.items())
