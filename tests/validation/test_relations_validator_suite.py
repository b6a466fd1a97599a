"""The test-suite of substrait-validator (``SUBSTRAIT_VALIDATOR_TESTS``: the ``tests`` folder of a checkout of it)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.peers.validator_suite import Outcome, State, run

FOLDER = os.environ.get("SUBSTRAIT_VALIDATOR_TESTS", "")


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    if not FOLDER:
        pytest.skip("SUBSTRAIT_VALIDATOR_TESTS names no folder")
    return list(run(Path(FOLDER)))


def test_nearly_all_expectations_hold(outcomes: list[Outcome]) -> None:
    counts = Counter(outcome.state for outcome in outcomes)
    assert counts[State.HELD] >= 465
    assert counts[State.HELD] / (counts[State.HELD] + counts[State.NOT_HELD]) >= 0.95


def test_those_that_do_not_hold_are_known(outcomes: list[Outcome]) -> None:
    missed = {
        (outcome.expectation.file, outcome.expectation.kind) for outcome in outcomes if outcome.state is State.NOT_HELD
    }
    assert missed <= {
        # the type of a choice whose branches are of different types: there the first one's, here their common one
        ("expressions/conditionals/if-else.yaml", "type"),
        ("expressions/conditionals/switch.yaml", "type"),
        # a key that a map doesn't have gives null, as an element that a list doesn't have
        ("expressions/field-refs/scalar-map-ref.yaml", "type"),
        # a subquery without a row gives null
        ("expressions/subqueries/scalar.yaml", "type"),
    }
