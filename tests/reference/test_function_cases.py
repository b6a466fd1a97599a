"""The evaluator against the function cases, the specification's and ours: whatever it gives is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.conflicts import conflict
from pyspark_substrait.conformance.function_cases import Case, UnreadCase
from tests.reference import STRICT, Choices
from tests.reference.conformance import Outcome, outcome_of

#: the functions with cases in the specification that the evaluator doesn't know, and why
_NOT_COVERED = {
    "regexp_count_substring": "patterns of ICU",
    "regexp_match_substring": "patterns of ICU",
    "regexp_replace": "patterns of ICU",
    "regexp_string_split": "patterns of ICU",
    "approx_count_distinct": "no value is determined",
}
#: the cases of the specification for which it gives no value, and why
_UNDETERMINED = {
    "rpad('abcdef'::str, 4::i32, ' '::str) = 'abcd'::str": "the text of the extension removes characters from the left",
}


_NEAREST = Choices(nearest=True)


def _outcomes(cases: Iterable[Case | UnreadCase], choices: Choices = _NEAREST) -> list[Outcome]:
    return [outcome_of(case, choices) for case in cases if isinstance(case, Case)]


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Those of the specification's cases."""
    return _outcomes(read_cases(own=False))


def _counted(outcomes: list[Outcome]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for outcome in outcomes:
        kind = "window" if outcome.case.window else "scalar" if outcome.case.rows is None else "aggregate"
        listed = "conflict" if conflict(outcome.case) is not None else outcome.kind
        counts[f"{kind}, {listed}"] += 1
    print("", *(f"{what}: {count}" for what, count in sorted(counts.items())), sep="\n")
    return counts


def _wrong(outcomes: list[Outcome]) -> str:
    wrong = [outcome for outcome in outcomes if outcome.kind == "wrong" and conflict(outcome.case) is None]
    return "\n".join(f"{item.case.file}: {item.case.text}: {item.text}" for item in wrong)


@pytest.mark.sweep
def test_no_case_is_wrong_but_the_conflicts(outcomes: list[Outcome]) -> None:
    assert not _wrong(outcomes)
    # without choices it gives fewer values, and no other ones
    assert not _wrong(_outcomes((outcome.case for outcome in outcomes), STRICT))


def test_no_conflict_is_right(outcomes: list[Outcome]) -> None:
    # they were found in another way; the evaluator is a second witness
    assert not [outcome for outcome in outcomes if outcome.kind == "right" and conflict(outcome.case) is not None]


def test_most_cases_of_the_specification_are_covered(outcomes: list[Outcome]) -> None:
    counts = _counted(outcomes)
    scalar = sum(count for what, count in counts.items() if what.startswith("scalar"))
    assert counts["scalar, right"] >= 0.8 * scalar


def test_what_is_not_covered_is_listed(outcomes: list[Outcome]) -> None:
    here = [item for item in outcomes if conflict(item.case) is None]
    assert {item.case.function for item in here if item.kind == "not covered"} == set(_NOT_COVERED)
    assert {item.case.text for item in here if item.kind == "undetermined"} == set(_UNDETERMINED)


@pytest.mark.sweep(sample=0)
def test_none_of_our_own_cases_is_wrong() -> None:
    outcomes = _outcomes(case for case in read_cases() if isinstance(case, Case) and case.ours)
    _counted(outcomes)
    assert not _wrong(outcomes)
