"""docs/findings.md is what the table of classes says; and the table holds together."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspark_substrait.analysis.report.classes import markdown
from pyspark_substrait.codes import Class, Code, class_of, classes

PAGE = Path(__file__).parent.parent.parent / "docs" / "findings.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "make it anew: pyspark-substrait findings --markdown"


def test_every_code_has_one_class() -> None:
    assert [item.code for item in classes()] == sorted(Code)
    assert all(class_of(code).code is code for code in Code)


@pytest.mark.parametrize("item", classes(), ids=lambda item: item.code.name)
def test_a_class_says_what_and_why(item: Class) -> None:
    assert item.title and item.why
    assert not item.title.endswith(".")
    assert item.code < 10_000
    assert "|" not in item.title
    assert not item.page.startswith(("/", "http")) and not item.page.endswith(("/", ".md"))


def test_titles_tell_classes_apart() -> None:
    assert len({item.title for item in classes()}) == len(classes())
