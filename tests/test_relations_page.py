"""docs/relations.md says of every field of every relation message what becomes of it, and which test shows it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.coverage.relation_fields import fields
from tests.coverage.relation_table import FIELDS, PAGE, page, rows

TESTS = Path(__file__).resolve().parent


def test_no_field_is_missing_and_none_is_made_up() -> None:
    assert [name for name, _ in rows()] == fields()
    assert set(FIELDS) <= set(fields())


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make it anew: python -m tests.coverage.relation_table"


def test_the_tests_that_it_names_are_there() -> None:
    for name, field in rows():
        file, _, function = field.test.partition("::")
        assert function in _tests_of(file), f"{name}: {field.test}"


@cache
def _tests_of(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
