"""Plans whose form in an engine has inputs several times: many levels of these are refused, or have no copies.

The depths here are such that a form, or the work for it, that doubles with each level would not end.
"""

from __future__ import annotations

import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import Frame, call, count, read

dialects = pytest.importorskip("pyspark_substrait.engines.dialects")  # it needs sqlglot

NUMBERS = {"a": "i64?", "b": "i64?"}


def grouped(depth: int, *sets: tuple[str, ...]) -> Frame:
    """Return so many aggregates one above the other, each with these grouping sets."""
    frame = read("t", NUMBERS)
    for _ in range(depth):
        frame = frame.grouping_sets(*sets).agg(n=count()).select("a", "b")
    return frame


WITH_EMPTY: tuple[tuple[str, ...], ...] = (("a", "b"), ("a",), ())
WITHOUT: tuple[tuple[str, ...], ...] = (("a", "b"), ("a",))


@pytest.mark.parametrize("dialect", ["spark", *dialects.DIALECTS])
def test_grouping_sets_in_grouping_sets_in_sql(dialect: str) -> None:
    assert len(ps.to_sql(grouped(3, *WITH_EMPTY).to_plan(), dialect=dialect)) < 50_000
    assert len(ps.to_sql(grouped(40, *WITHOUT).to_plan(), dialect=dialect, formatted=False)) < 50_000
    native = dialect != "spark" and dialects.DIALECTS[dialect].grouping_sets
    deep = grouped(40, *WITH_EMPTY).to_plan()
    if native:
        assert len(ps.to_sql(deep, dialect=dialect, formatted=False)) < 50_000
        return
    with pytest.raises(ps.UnsupportedPlanError, match=r"relations in place of .* it repeats inputs"):
        ps.to_sql(deep, dialect=dialect)


@pytest.mark.parametrize("target", ["datafusion", "isthmus", "substrait-spark"])
def test_grouping_sets_in_grouping_sets_for_targets(target: str) -> None:
    assert len(ps.for_target(grouped(3, *WITH_EMPTY).to_plan(), target).to_bytes()) < 50_000
    with pytest.raises(ps.UnsupportedPlanError, match=r"relations in place of .* it repeats inputs"):
        ps.for_target(grouped(40, *WITH_EMPTY).to_plan(), target)


def test_calls_in_terms_of_others_for_targets() -> None:
    def chain(depth: int) -> ps.Plan:
        def value(t: object) -> object:
            made = t.a  # type: ignore[attr-defined]
            for _ in range(depth):
                made = call("bitwise_xor", made, t.b)  # type: ignore[attr-defined]
            return made

        return read("t", NUMBERS).select(y=value).to_plan()

    assert len(ps.for_target(chain(4), "datafusion").to_bytes()) < 10_000
    with pytest.raises(ps.UnsupportedPlanError, match="would have a long argument several times"):
        ps.for_target(chain(40), "datafusion")


def test_shared_parts_are_no_repetition() -> None:
    """A shared part of many relations may be used often."""
    frame = read("t", NUMBERS)
    for _ in range(60):
        frame = frame.group_by("a", "b").agg(n=count()).select("a", "b")
    part = frame.shared()
    used = part
    for _ in range(40):
        used = used.union_all(part)
    assert ps.to_sql(used.to_plan(), formatted=False)
