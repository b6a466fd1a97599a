"""The commands ``dialect`` and ``capabilities``."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from click.testing import CliRunner, Result

import pyspark_substrait as ps
from pyspark_substrait.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_dialect_is_written_as_yaml_and_as_json(tmp_path: Path) -> None:
    expected = ps.dialect()
    printed = run("dialect")
    assert (printed.exit_code, yaml.safe_load(printed.stdout)) == (0, expected)
    for name in ("spark.yaml", "spark.json"):
        assert run("dialect", "-o", tmp_path / name).exit_code == 0
        text = (tmp_path / name).read_text("utf-8")
        assert (json.loads if name.endswith("json") else yaml.safe_load)(text) == expected


def test_a_file_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    result = run("dialect", "-o", tmp_path / "no" / "folder.yaml")
    assert result.exit_code == 1
    assert "folder.yaml" in result.stderr


def test_the_dialect_is_a_target(tmp_path: Path) -> None:
    """A filter whose dialect has no FILTER."""
    table = {
        "baseSchema": {
            "names": ["b"],
            "struct": {
                "types": [{"bool": {"nullability": "NULLABILITY_REQUIRED"}}],
                "nullability": "NULLABILITY_REQUIRED",
            },
        },
        "namedTable": {"names": ["t"]},
    }
    condition: dict[str, object] = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
    plan = {
        "version": {"minorNumber": 108},
        "relations": [
            {"root": {"input": {"filter": {"input": {"read": table}, "condition": condition}}, "names": ["b"]}}
        ],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    run("dialect", "-o", tmp_path / "spark.yaml")
    assert run("validate", tmp_path / "plan.json", "--target", tmp_path / "spark.yaml").exit_code == 0
    (tmp_path / "small.yaml").write_text("name: Small\nsupported_relations: [READ]", "utf-8")
    refused = run("validate", tmp_path / "plan.json", "--target", tmp_path / "small.yaml")
    assert refused.exit_code == 1
    assert "Small does not have the relation FILTER" in refused.stdout


def test_a_target_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}", "utf-8")
    result = run("validate", tmp_path / "plan.json", "--target", "nowhere.yaml")
    assert (result.exit_code, "there is no target nowhere.yaml" in result.stderr) == (2, True)


def test_capabilities_as_text_and_as_json() -> None:
    text = run("capabilities").stdout
    assert text.startswith("reads 0.10.0 to 0.108.0, writes 0.108.0\n")
    assert "extension:io.substrait:functions_boolean" in text
    found = json.loads(run("capabilities", "--format", "json").stdout)
    # the fields of the message, as JSON spells them
    assert set(found) == {"substraitVersions", "advancedExtensionTypeUrls", "simpleExtensions"}
    boolean = next(item for item in found["simpleExtensions"] if item["uri"].endswith("functions_boolean"))
    assert "and:bool" in boolean["functionKeys"]
