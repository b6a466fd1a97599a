"""docs/functions.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.functions.support import markdown, supported

PAGE = Path(__file__).parent.parent / "docs" / "functions.md"


def test_the_page_is_up_to_date() -> None:
    made = markdown(supported(Registry.default()))
    assert PAGE.read_text(encoding="utf-8") == made, "make it anew: pyspark-substrait functions --markdown"
