"""Limits on what a plan comes to: what exceeds them is refused by all verbs, and they can be raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.type_sizes import TypeSizes
from pyspark_substrait.model.types import I64, List, Map, Struct, Type
from tests.nesting import MAKERS

#: forms that say 2ⁿ in n parts: far more than any limit at this size
BOMBS = [
    "detached expressions twice in each other",
    "detached relations twice in each other",
    "named lambdas twice in each other",
    "aliases twice in each other",
    "structs twice in each other",
    "references twice to each other",
    "references that double the columns",
]
RAISING: dict[str, Callable[[bytes], object]] = {
    "load": ps.load,
    "lineage": ps.lineage,
    "diff": lambda content: ps.diff(content, content),
    "to_sql": ps.to_sql,
    "touches": ps.touches,
    "for_target": lambda content: ps.for_target(content, "datafusion"),
}


@pytest.mark.parametrize("what", BOMBS)
def test_what_comes_to_too_much_is_refused(what: str) -> None:
    content = MAKERS[what](100)
    assert len(content) < 10_000
    for verb in RAISING.values():
        with pytest.raises(ps.PlanFormatError, match=r"more than [0-9,]+") as caught:
            verb(content)
        assert "limited(Limits(" in str(caught.value)
    for report in (ps.validate(content), ps.validate(content, "spark"), ps.lint(content)):
        assert [finding.level for finding in report.findings] == [ps.Level.ERROR]
        assert "more than " in report.findings[0].what
    assert ps.explain(content)
    assert ps.view(content)


@pytest.mark.parametrize("what", BOMBS)
def test_what_is_shared_a_few_times_is_read(what: str) -> None:
    assert ps.load(MAKERS[what](6)).to_bytes()


def test_parts_that_are_used_once_come_to_no_more_than_they_are() -> None:
    assert ps.load(MAKERS["references in a row"](300)).to_bytes()


def test_limits_can_be_set() -> None:
    wide, shared = (
        MAKERS["projections that widen in each other"](50),
        MAKERS["detached expressions twice in each other"](8),
    )
    for limits, content in (
        (ps.Limits(columns=1_000), wide),
        (ps.Limits(repeated=100), shared),
        (ps.Limits(message_bytes=len(wide) - 1), wide),
    ):
        ps.load(content)
        with ps.limited(limits), pytest.raises(ps.PlanFormatError):
            ps.load(content)
    text = ps.load(wide).to_text()
    with ps.limited(ps.Limits(message_bytes=1_000)):
        assert not ps.validate(text).ok
        assert not ps.validate(ps.load(MAKERS["filters in each other"](2)).to_json()).ok


def test_the_size_of_a_type_counts_shared_parts_each_time() -> None:
    number, sizes = I64(), TypeSizes()
    assert sizes.of(number) == 1
    assert sizes.of(List(type=number)) == 2
    assert sizes.of(Map(key=number, value=Struct(types=(number, number)))) == 5
    type: Type = number
    for _ in range(200):
        type = Struct(types=(type, type))
    assert sizes.of(type) == 2**201 - 1
