"""The advice of an error about an unknown function."""

from __future__ import annotations

from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError

TIME: dict[str, Any] = {"precisionTimestamp": {"precision": 6, "nullability": "NULLABILITY_NULLABLE"}}


def calling(name: str, producer: str = "", urn: str | None = None) -> dict[str, Any]:
    """A plan that calls a function with a text and a timestamp."""
    function: dict[str, Any] = {"functionAnchor": 1, "name": name}
    if urn is not None:
        function["extensionUrnReference"] = 1
    column = {"selection": {"directReference": {"structField": {"field": 0}}, "rootReference": {}}}
    call = {
        "functionReference": 1,
        "outputType": TIME,
        "arguments": [{"value": {"literal": {"string": "month"}}}, {"value": column}],
    }
    read = {
        "baseSchema": {"names": ["t"], "struct": {"types": [TIME], "nullability": "NULLABILITY_REQUIRED"}},
        "namedTable": {"names": ["t"]},
    }
    project = {"input": {"read": read}, "expressions": [{"scalarFunction": call}]}
    return {
        "version": {"minorNumber": 108, "producer": producer},
        "extensionUrns": [] if urn is None else [{"extensionUrnAnchor": 1, "urn": urn}],
        "extensions": [{"extensionFunction": function}],
        "relations": [{"root": {"names": ["t", "x"], "input": {"project": project}}}],
    }


@pytest.mark.parametrize(
    ("plan", "error", "advice"),
    [
        (
            calling("date_trunc"),
            InvalidPlanError,
            "DataFusion has such a function; a plan can call it if its version.producer is datafusion "
            "(docs/other-engines.md). Declare a function of your own with --functions FILE",
        ),
        (calling("my_function"), InvalidPlanError, "Declare a function of your own with --functions FILE"),
        (calling("uppr"), InvalidPlanError, "Did you mean `upper`"),
        (
            calling("mine", urn="extension:org.example:own"),
            UnsupportedPlanError,
            "Define it for Spark with --functions",
        ),
    ],
)
def test_the_way_out_is_named(plan: dict[str, Any], error: type[SubstraitError], advice: str) -> None:
    with pytest.raises(error) as caught:
        ps.to_sql(plan)
    assert caught.value.hint is not None and advice in caught.value.hint
    assert "docs/own-functions.md" in caught.value.hint


def test_it_is_known_in_plans_of_its_engine() -> None:
    assert "trunc(" in ps.to_sql(calling("date_trunc", "datafusion"))
