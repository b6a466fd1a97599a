"""Work grows in proportion to the size of a plan: calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

import pyspark_substrait as ps
from pyspark_substrait.api.loaded_plans import forget_plans
from pyspark_substrait.model.repeats import repeats
from tests.growing import GROWTH, virtual_rows
from tests.nesting import MAKERS as NESTING

#: how many more calls twice the size may need
TWICE = 2.2
#: the same where work grows with the square, but no faster
SQUARE = 4.4

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
INSPECTIONS: dict[str, Callable[[bytes], object]] = {
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


#: kinds of nesting in which some verb's work grows with the square: columns and types that grow with each level are
#: looked at on each, and so is what subqueries see
QUADRATIC = (
    *("that widen", "subqueries in each other", "predicates in each other", "exists", "with any", "lateral joins"),
    *("or-list option", "nested ", "lambdas of calls", "literals in each other", "masks", " in list", " in struct"),
    *(" in map", "fields of structs"),
)
#: kinds whose parts are used twice each, which limits bound (tests/model/test_limits.py)
BOUNDED = ("twice", "that double")
KINDS = [what for what in NESTING if not any(word in what for word in BOUNDED)]
#: each kind with one of the verbs in turn, of which `make test` draws some; all pairs belong to the sweep
KINDS_AND_VERBS = [(what, list(INSPECTIONS)[number % len(INSPECTIONS)]) for number, what in enumerate(KINDS)]


def calls(action: Callable[[], object]) -> int:
    """How many functions are called, those of deep plans' threads and those written in C included."""
    count = 0
    forget_plans()

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


@pytest.mark.sweep
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("what", MAKERS)
def test_twice_the_size_is_twice_the_work(what: str, verb: str) -> None:
    small, large = MAKERS[what](200), MAKERS[what](400)
    if verb.startswith("validate") and what in GROWTH and GROWTH[what].checked:
        pytest.skip(GROWTH[what].checked)
    VERBS[verb](large)  # what is kept from call to call is there then
    fewer = calls(lambda: VERBS[verb](small))
    assert calls(lambda: VERBS[verb](large)) <= TWICE * fewer


def grows(what: str, verb: str, most: float) -> None:
    """Look at one kind of nesting in two sizes, both deep enough to be read level by level."""

    def action(content: bytes) -> Callable[[], object]:
        def looked() -> object:
            try:
                return INSPECTIONS[verb](content)
            except ps.SubstraitError:  # not every kind runs on every engine
                return None

        return looked

    small, large = NESTING[what](64), NESTING[what](128)
    action(large)()  # what is kept from call to call is there then
    assert calls(action(large)) <= most * calls(action(small))


@pytest.mark.sweep(sample=0.15)
@pytest.mark.parametrize(("what", "verb"), KINDS_AND_VERBS)
def test_nested_twice_as_deep_is_twice_the_work(what: str, verb: str) -> None:
    grows(what, verb, SQUARE if any(word in what for word in QUADRATIC) else 2.4)


@pytest.mark.sweep(sample=0.04)
@pytest.mark.parametrize("verb", INSPECTIONS)
@pytest.mark.parametrize("what", KINDS)
def test_no_verb_grows_faster_than_the_square(what: str, verb: str) -> None:
    grows(what, verb, SQUARE)


@pytest.mark.parametrize("what", [what for what in NESTING if what.startswith("nested ")])
def test_constructors_in_each_other_are_typed_once(what: str) -> None:
    """Once they took time that doubled with each level: 20 levels, 3 seconds."""
    content = NESTING[what](24)
    ps.load(content)
    assert calls(lambda: ps.load(content)) < 10_000


def test_the_first_columns_are_listed() -> None:
    shown = ps.explain(NESTING["the number of columns"](1_000))
    assert shown.count("… and 800 more columns") == 2
    assert "c199" in shown and "c200" not in shown


@pytest.mark.parametrize("what", MAKERS)
def test_a_large_plan_is_right(what: str) -> None:
    content = MAKERS[what](1_000)
    assert ps.validate(content, "spark").ok
    assert ps.load(content).to_bytes()


def test_what_stands_twice_is_found() -> None:
    assert list(repeats("abcab")) == [(3, 0), (4, 1)]
    assert list(repeats([(1,), (1,), (1,)])) == [(1, 0), (2, 0)]
    assert list(repeats([])) == []
