"""docs/other-engines.md has the table of producers' habits; the table names what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspark_substrait.extensions.producers import Producer, producer_of
from pyspark_substrait.proto.read.habits.table import HABITS, markdown

PAGE = Path(__file__).parent.parent / "docs" / "other-engines.md"


def test_the_page_is_up_to_date() -> None:
    assert markdown() in PAGE.read_text(encoding="utf-8"), "put the text of habits.table.markdown() there"


def test_every_habit_has_a_name_and_says_everything() -> None:
    assert len({habit.rule for habit in HABITS}) == len(HABITS)
    for habit in HABITS:
        assert all((habit.versions, habit.writes, habit.means, habit.evidence)), habit.rule


@pytest.mark.parametrize(
    ("text", "producer"),
    [
        ("DuckDB", Producer.DUCKDB),
        ("datafusion", Producer.DATAFUSION),
        ("isthmus", Producer.ISTHMUS),
        ("substrait-spark", Producer.SUBSTRAIT_SPARK),
        ("ibis-substrait", Producer.IBIS),
        ("Acero 22.0.0", Producer.ACERO),
        ("substrait-java", None),
        ("pyspark-substrait", None),
        ("", None),
    ],
)
def test_producers(text: str, producer: Producer | None) -> None:
    assert producer_of(text) is producer
