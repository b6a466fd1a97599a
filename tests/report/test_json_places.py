"""Where in a JSON text a path leads."""

from __future__ import annotations

import json

import pytest

from pyspark_substrait.analysis.report.json_places import Place, places_in

TEXT = """\
{
  "version": {"minorNumber": 108},
  "relations": [
    {"root": {"input": {"read": {
      "baseSchema": {"names": ["a", "b,]}\\"{", "c"]},
      "namedTable": {}
    }}}},
    {"root": {"names": [
      "x", "y"
    ]}}
  ]
}
"""


@pytest.mark.parametrize(
    ("path", "line", "begins"),
    [
        ("", 1, "{"),
        ("version", 2, '"version"'),
        ("version.minor_number", 2, '"minorNumber"'),
        ("relations", 3, '"relations"'),
        ("relations[0]", 4, '{"root"'),
        ("relations[0].root.input.read.base_schema", 5, '"baseSchema"'),
        ("relations[0].root.input.read.base_schema.names[1]", 5, '"b,]}'),
        ("relations[0].root.input.read.base_schema.names[2]", 5, '"c"'),
        ("relations[0].root.input.read.named_table", 6, '"namedTable"'),
        ("relations[0].root.input.read.named_table.names[3]", 6, '"namedTable"'),
        ("relations[1]", 8, '{"root"'),
        ("relations[1].root.names[1]", 9, '"y"'),
        ("relations[7].root", 3, '"relations"'),
        ("nowhere", 1, "{"),
    ],
)
def test_a_path_leads_to_its_node_or_the_nearest_above(path: str, line: int, begins: str) -> None:
    place = places_in(TEXT, [path, "relations[1].root.input", "version"])[path]
    assert place.line == line
    assert TEXT.splitlines()[place.line - 1][place.column - 1 :].startswith(begins)


def test_names_of_fields_may_be_those_of_the_messages() -> None:
    assert places_in('{\n"base_schema": 1}', ["base_schema"])["base_schema"] == Place(2, 1)


def test_every_node_of_a_text() -> None:
    value = {"a": [1, [2, {"b": [[], {}]}], "x"], "c": {"d": {"e": None}}}
    paths = {"a": 1, "a[0]": 2, "a[1]": 3, "a[1][0]": 4, "a[1][1]": 5, "a[1][1].b": 6, "a[1][1].b[0]": 7}
    paths |= {"a[1][1].b[1]": 8, "a[2]": 12, "c": 14, "c.d": 15, "c.d.e": 16}
    found = places_in(json.dumps(value, indent=1), paths)
    assert {path: place.line - 1 for path, place in found.items()} == paths


@pytest.mark.parametrize("text", ["", "]", "}}}", "{", '{"a":', "[[[", ",,,", '"', ":", '{"a" "b"}', "{,,}"])
def test_what_isnt_json_does_no_harm(text: str) -> None:
    places_in(text, ["a", "", "a[0].b"])


def test_depth_and_length() -> None:
    deep = "[" * 20_000 + "]" * 20_000
    assert places_in(deep, ["[0][0]"]) == {"[0][0]": Place(1, 3)}
