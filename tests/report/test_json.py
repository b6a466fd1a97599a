"""The JSON form is what its schema says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.report import json_schema
from pyspark_substrait.analysis.report.as_json import jsons
from pyspark_substrait.analysis.report.report import report
from pyspark_substrait.codes import Code, Level, classes
from pyspark_substrait.model.findings import Finding, Places
from tests.report.plans import HOSTILE, field, plan


def checked(text: str) -> Any:
    value = json.loads(text)
    jsonschema.Draft202012Validator(json_schema()).validate(value)
    return value


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_a_broken_plan() -> None:
    value = checked(ps.validate(plan({"literal": {"i32": 1}}), name="orders.json").to_json())
    assert value["name"] == "orders.json"
    assert value["ok"] is False
    assert value["plan"] == {
        "kind": "plan",
        "version": value["plan"]["version"],
        "original_version": "0.108.0",
        "producer": "by hand",
    }
    assert value["counts"]["error"] == 1
    (fault,) = [item for item in value["findings"] if item["level"] == "error"]
    assert fault["code"] == 4005 and fault["class"] == "TYPE_MISMATCH"
    assert fault["path"] == "relations[0].root.input.filter.condition"
    assert fault["what"] and fault["why"]


def test_what_cant_be_read() -> None:
    value = checked(ps.validate("{", name="x").to_json())
    assert value["plan"] is None and value["counts"] == {"error": 1, "warning": 0, "info": 0}


def test_the_order_is_that_of_the_report() -> None:
    found = ps.validate(plan(field(9), names=("id",)))
    assert [item["path"] for item in checked(found.to_json())["findings"]] == [item.path for item in found]


def test_a_level_lists_less_and_counts_all() -> None:
    found = report([Finding.of(item.code, "version", item.title) for item in classes()], places=Places())
    every, errors = checked(found.to_json()), checked(found.at_least(Level.ERROR).to_json())
    assert every["counts"] == errors["counts"]
    assert {item["level"] for item in errors["findings"]} == {"error"}
    assert {item["level"] for item in every["findings"]} == {"error", "warning", "info"}


def test_several_are_an_array() -> None:
    value = checked(jsons([ps.validate(plan(), name="a"), ps.validate(b"", name="b")]))
    assert [item["name"] for item in value] == ["a", "b"]


@pytest.mark.parametrize("name", [*HOSTILE, "half \ud83d of a pair"])
def test_names_come_through(name: str) -> None:
    finding = Finding.of(Code.UNCLASSIFIED, "version", name or "empty")
    text = report([finding], places=Places(), name=name).to_json()
    assert checked(text.encode().decode())["name"] == name


def test_what_the_schema_refuses() -> None:
    value = json.loads(ps.validate(plan(field(9))).to_json())
    value["findings"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        checked(json.dumps(value))
