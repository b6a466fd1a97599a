"""Work grows in proportion to the size of a plan: calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model.repeats import repeats
from tests.growing import GROWTH, virtual_rows

#: how many more calls twice the size may need
TWICE = 2.2

MAKERS: dict[str, Callable[[int], bytes]] = {
    **{what: growth.made for what, growth in GROWTH.items()},
    "rows of a virtual table": virtual_rows,
}
VERBS: dict[str, Callable[[bytes], object]] = {
    "load": ps.load,
    "validate": ps.validate,
    "validate for Spark": lambda content: ps.validate(content, "spark"),
    "to_sql": ps.to_sql,
}
#: the verbs that only look at a plan, those that others begin with left out
LOOKING: dict[str, Callable[[bytes], object]] = {
    "validate for Spark": VERBS["validate for Spark"],
    "explain": ps.explain,
    "lint": ps.lint,
    "view": ps.view,
    "lineage": lambda content: str(ps.lineage(content)),
    "diff": lambda content: str(ps.diff(content, content)),
    "to_sql": ps.to_sql,
    "to_text": lambda content: ps.load(content).to_text(),
    "to_json": lambda content: ps.load(content).to_json(),
    "for_target": lambda content: ps.for_target(content, "datafusion"),
    "touches": ps.touches,
}


def calls(action: Callable[[], object]) -> int:
    """How many functions are called, those of deep plans' threads and those written in C included."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    threading.setprofile(counted)
    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return count


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("what", MAKERS)
def test_twice_the_size_is_twice_the_work(what: str, verb: str) -> None:
    small, large = MAKERS[what](200), MAKERS[what](400)
    if verb.startswith("validate") and what in GROWTH and GROWTH[what].checked:
        pytest.skip(GROWTH[what].checked)
    VERBS[verb](large)  # what is kept from call to call is there then
    fewer = calls(lambda: VERBS[verb](small))
    assert calls(lambda: VERBS[verb](large)) <= TWICE * fewer


@pytest.mark.parametrize("what", MAKERS)
def test_a_large_plan_is_right(what: str) -> None:
    content = MAKERS[what](1_000)
    assert ps.validate(content, "spark").ok
    assert ps.load(content).to_bytes()


def test_what_stands_twice_is_found() -> None:
    assert list(repeats("abcab")) == [(3, 0), (4, 1)]
    assert list(repeats([(1,), (1,), (1,)])) == [(1, 0), (2, 0)]
    assert list(repeats([])) == []
