"""What of a source can't be read is left out and found; the rest is looked at. ``load`` still refuses all of it."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_substrait import load, validate
from pyspark_substrait.codes import Level
from pyspark_substrait.errors import PlanFormatError
from tests.proto.messages import I32, ONE, Json, column, message, table

VERSION = {"minorNumber": 108, "producer": "tests"}
FILTER = "relations[0].rel.filter"


def errors(source: Any) -> list[tuple[int, str]]:
    return [(int(found.code), found.path) for found in validate(source) if found.level is Level.ERROR]


def filtered(condition: Json | list[Json], **fields: Any) -> Json:
    return {
        "version": VERSION,
        "relations": [{"rel": {"filter": {"input": table(I32), "condition": condition, **fields}}}],
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (filtered(ONE, comon={}), [(4005, f"{FILTER}.condition"), (1100, f"{FILTER}.comon")]),
        (filtered({"literall": {}}), [(1100, f"{FILTER}.condition.literall")]),
        (filtered({"literal": {"i32": "x"}}), [(1001, f"{FILTER}.condition.literal.i32")]),
        (filtered([]), [(1001, f"{FILTER}.condition")]),
        (
            {"version": VERSION, "relations": [{"rel": {"filterr": {}}}, {"rel": table(I32, nam=1)}]},
            [(1100, "relations[0].rel.filterr"), (1100, "relations[1].rel.read.nam")],
        ),
        (
            {
                "version": VERSION,
                "relations": [
                    {
                        "rel": {
                            "sort": {
                                "input": table(I32),
                                "sorts": [{"expr": column(0), "direction": "SORT_DIRECTION_UP"}],
                            }
                        }
                    }
                ],
            },
            [(1101, "relations[0].rel.sort.sorts[0].direction")],
        ),
    ],
)
def test_json(source: Json, expected: list[tuple[int, str]]) -> None:
    assert sorted(errors(source)) == sorted(expected)
    with pytest.raises(PlanFormatError):
        load(source)


def test_fields_of_no_release_in_the_binary_form() -> None:
    plan = message({"rel": {"filter": {"input": table(I32), "condition": ONE}}}, version=VERSION)
    plan.relations[0].rel.filter.MergeFromString(b"\xf8\x3e\x05")
    plan.relations[0].rel.filter.input.read.MergeFromString(b"\xf8\x3e\x05\xf2\x3e\x01x")
    content = plan.SerializeToString()
    assert errors(content) == errors(plan)
    assert sorted(errors(content)) == [
        (1100, FILTER),
        (1100, f"{FILTER}.input.read"),
        (1100, f"{FILTER}.input.read"),
        (4005, f"{FILTER}.condition"),
    ]
    with pytest.raises(PlanFormatError):
        load(content)


@pytest.mark.parametrize("source", [b"", b"\x00\x01\x02", "{", "[1]", b'{"relations": [}', "no-such-file.json"])
def test_what_is_no_plan_at_all_is_one_finding(source: str | bytes) -> None:
    assert errors(source) == [(1001, "")]
