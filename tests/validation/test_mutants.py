"""Mutants of valid plans: each is caught, equal to the original or known to be valid."""

from __future__ import annotations

import pytest

from tests.validation import mutations
from tests.validation.mutation_kinds import KINDS
from tests.validation.mutations import Outcome
from tests.validation.origins import origins


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(mutations.run(720, seed=2026))


@pytest.mark.sweep
def test_none_crashes(outcomes: list[Outcome]) -> None:
    assert [item for item in outcomes if item.verdict == "crashed"] == []


def test_none_is_overlooked(outcomes: list[Outcome]) -> None:
    assert [item for item in outcomes if item.verdict == "uncaught"] == []


def test_none_takes_long(outcomes: list[Outcome]) -> None:
    assert max(item.seconds for item in outcomes) < 1


def test_every_kind_has_mutants_that_are_caught(outcomes: list[Outcome]) -> None:
    assert {item.kind for item in outcomes if item.verdict == "caught"} == set(KINDS)


def test_the_same_seed_makes_the_same_mutants() -> None:
    first, again = (
        [(item.origin, item.path, item.verdict) for item in mutations.run(30, seed=5)],
        [(item.origin, item.path, item.verdict) for item in mutations.run(30, seed=5)],
    )
    assert first == again


def test_originals_have_no_errors() -> None:
    assert len(origins()) > 200
