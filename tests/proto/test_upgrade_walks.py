"""Upgrading looks at relations alone where that is enough, and comes to what a look at everything comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyspark_substrait.proto import legacy, upgrade, wire

VERSION = {"minorNumber": 85, "producer": "test"}


def grouped(input: dict[str, Any]) -> dict[str, Any]:
    """An aggregate in the form of releases before 0.88."""
    key: dict[str, Any] = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
    return {"aggregate": {"input": input, "groupings": [{"groupingExpressions": [key]}]}}


def table() -> dict[str, Any]:
    required = {"i64": {"nullability": "NULLABILITY_REQUIRED"}}
    schema = {"names": ["a"], "struct": {"types": [required], "nullability": "NULLABILITY_REQUIRED"}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}}}


def plan(input: dict[str, Any]) -> dict[str, Any]:
    return {"version": VERSION, "relations": [{"root": {"input": input, "names": ["a"]}}]}


def in_a_subquery() -> dict[str, Any]:
    exists = {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": grouped(table())}}
    return grouped({"filter": {"input": table(), "condition": {"subquery": exists}}})


def parsed(source: Any) -> tuple[Any, ...]:
    found = wire.parse(source)
    return found.message, found.notes, found.original_version, found.stated, found.deep


@pytest.mark.parametrize("source", [plan(grouped(table())), plan(in_a_subquery())], ids=["outside", "subquery"])
def test_both_ways_give_the_same(source: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    short = parsed(source)
    monkeypatch.setattr(wire, "needs_walk", lambda context: True)
    assert parsed(source) == short
    assert [note.rule for note in short[1]] == ["grouping-expressions"] * len(short[1])
    assert "groupingExpressions" not in str(short[0])


def test_so_they_do_for_plans_of_producers(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path for path in sorted((shared / "plans" / "tpch").rglob("*")) if path.suffix in (".pb", ".json")]
    short = [parsed(path.read_bytes()) for path in files]
    monkeypatch.setattr(wire, "needs_walk", lambda context: True)
    assert [parsed(path.read_bytes()) for path in files] == short


def test_everything_is_looked_at_only_where_it_has_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[bool] = []
    walk = upgrade.upgrade_messages

    def counted(context: Any, *, with_types: bool) -> None:
        walks.append(with_types)
        walk(context, with_types=with_types)

    monkeypatch.setattr(wire, "upgrade_messages", counted)
    wire.parse(plan(grouped(table())))
    assert walks == []
    wire.parse(plan(in_a_subquery()))
    assert walks == [False]


def nested(count: int) -> bytes:
    """A plan of filters over each other, two messages for each."""
    wrapped = b"\x0a\x00"  # a read
    for _ in range(count):
        for _ in range(2):
            wrapped = legacy._head(2 << 3 | 2, len(wrapped)) + wrapped
    for number in (1, 3):
        wrapped = legacy._head(number << 3 | 2, len(wrapped)) + wrapped
    return wrapped


def test_a_probe_says_nothing_of_what_is_too_deep_for_it() -> None:
    answers = [legacy.current_probe().unknown(nested(count), "Plan") for count in range(40)]
    assert set(answers) == {False, None}
    assert answers.index(None) == (legacy._UNKNOWN_LIMIT - 2) // 2
    assert answers == sorted(answers, key=lambda answer: answer is None)
