"""The SARIF form has what the standard (OASIS, SARIF 2.1.0) and code scanning require."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.report.report import Report, report
from pyspark_substrait.analysis.report.sarif import sarif
from pyspark_substrait.codes import Level, classes
from pyspark_substrait.model.findings import Finding, Places
from tests.report.plans import HOSTILE, field, plan

MESSAGE = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
INDEX = {"type": "integer", "minimum": 0}

#: by sections 3.13, 3.14, 3.18, 3.19, 3.27, 3.28, 3.29, 3.30, 3.33 and 3.49 of the standard; and, for a region, what
#: code scanning asks for. Nothing else may stand there, so that a slip in a name shows.
STRUCTURE: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                    "additionalProperties": False,
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "artifacts": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/artifact"}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
            "additionalProperties": False,
        },
        "driver": {
            "type": "object",
            "required": ["name", "rules"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "version": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
            "additionalProperties": False,
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "fullDescription", "help"],
            "properties": {
                "id": {"type": "string", "pattern": "^[0-9]{4}$"},
                "name": {"type": "string", "pattern": "^[A-Z][A-Za-z]*$"},
                "shortDescription": MESSAGE,
                "fullDescription": MESSAGE,
                "help": MESSAGE,
                "helpUri": {"type": "string", "pattern": "^https://substrait.io/"},
                "defaultConfiguration": {"properties": {"level": {"$ref": "#/$defs/level"}}, "required": ["level"]},
            },
            "additionalProperties": False,
        },
        "artifact": {
            "type": "object",
            "required": ["location"],
            "properties": {
                "location": {"type": "object", "required": ["uri"]},
                "roles": {"type": "array", "uniqueItems": True, "items": {"enum": ["analysisTarget"]}},
            },
            "additionalProperties": False,
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": INDEX,
                "level": {"$ref": "#/$defs/level"},
                "message": MESSAGE,
                "locations": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "additionalProperties": False,
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation", "region"],
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "required": ["uri"],
                            "properties": {"uri": {"type": "string"}, "index": INDEX},
                            "additionalProperties": False,
                        },
                        "region": {
                            "type": "object",
                            "required": ["startLine"],
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                            "additionalProperties": False,
                        },
                    },
                    "additionalProperties": False,
                },
                "logicalLocations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "fullyQualifiedName": {"type": "string", "minLength": 1},
                            "kind": {"type": "string"},
                        },
                        "required": ["fullyQualifiedName"],
                        "additionalProperties": False,
                    },
                },
            },
            "additionalProperties": False,
        },
        "level": {"enum": ["none", "note", "warning", "error"]},
    },
}


def run(*reports: Report) -> Any:
    value = json.loads(sarif(reports))
    jsonschema.Draft202012Validator(STRUCTURE).validate(value)
    return value["runs"][0]


def everything(name: str = "plans/a.json") -> Report:
    return report([Finding.of(item.code, "version", item.title) for item in classes()], places=Places(), name=name)


def test_every_class() -> None:
    made = run(everything())
    rules = made["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [f"{item.code:04d}" for item in classes()]
    assert len({rule["name"] for rule in rules}) == len(rules)
    for result in made["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_levels_have_the_words_of_the_standard() -> None:
    levels = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
    made = everything()
    assert [item["level"] for item in run(made)["results"]] == [levels[item.level] for item in made]


def test_where_a_result_is(tmp_path: Path) -> None:
    file = tmp_path / "orders plan.json"
    file.write_text(json.dumps(plan({"literal": {"i32": 1}}), indent=2))
    made = run(ps.validate(file))
    (fault,) = [item for item in made["results"] if item["level"] == "error"]
    (place,) = fault["locations"]
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "relations[0].root.input.filter.condition"
    assert place["physicalLocation"]["artifactLocation"] == {"uri": file.as_uri(), "index": 0}
    region = place["physicalLocation"]["region"]
    line = file.read_text().splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 :] == '"condition": {'


def test_a_relative_file_stays_relative() -> None:
    assert run(everything("plans/a b#1.json"))["artifacts"][0]["location"]["uri"] == "plans/a%20b%231.json"


def test_binary_has_the_first_line(tmp_path: Path) -> None:
    file = tmp_path / "plan.pb"
    file.write_bytes(b"\xff\xfe\x00")
    (fault,) = run(ps.validate(file))["results"]
    assert fault["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}


def test_several_plans_are_one_run() -> None:
    made = run(everything("a"), everything("b"), ps.validate(plan(), name="c"))
    assert [item["location"]["uri"] for item in made["artifacts"]] == ["a", "b", "c"]
    indices = [item["locations"][0]["physicalLocation"]["artifactLocation"]["index"] for item in made["results"]]
    assert indices == [0] * len(classes()) + [1] * len(classes())
    assert len(made["tool"]["driver"]["rules"]) == len(classes())


def test_a_finding_is_known_again_wherever_it_stands_in_the_file(tmp_path: Path) -> None:
    marks = []
    for indent in (None, 4):
        file = tmp_path / "plan.json"
        file.write_text(json.dumps(plan(field(9)), indent=indent))
        made = run(ps.validate(file))
        marks.append([item["partialFingerprints"] for item in made["results"]])
    assert marks[0] == marks[1] != []


@pytest.mark.parametrize("name", [*HOSTILE, "half \ud83d of a pair"])
def test_hostile_names(name: str) -> None:
    finding = Finding.of(classes()[0].code, name, name or "empty")
    made = run(report([finding], places=Places(), name=name))
    assert len(made["results"]) == 1
    json.dumps(made).encode()


def test_nothing_found() -> None:
    made = run(ps.validate(plan()))
    assert made["results"] == [] and made["tool"]["driver"]["rules"] == []


def test_a_source_that_is_no_name_of_a_file() -> None:
    document = json.loads(ps.validate("a\0b").to_sarif())
    assert document["runs"][0]["results"]
