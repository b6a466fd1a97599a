"""Planted faults: each applies to the package as it is, is gone afterwards, and is found by a fuzzer that should."""

from __future__ import annotations

import inspect
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest

from fuzz import planted_faults
from fuzz.plans import plan
from fuzz.planted import FINDERS, first_failure
from fuzz.planted_faults import FAULTS, Changed, Fault, Missing, Replaced
from fuzz.trials import round_trips

NAMES = [f"{fault.part}: {fault.name}" for fault in FAULTS]


def test_there_are_enough_in_each_part_and_each_has_a_name() -> None:
    assert len(set(NAMES)) == len(NAMES)
    counts = {part: sum(fault.part == part for fault in FAULTS) for part in ("compiler", "reader", "producer")}
    assert sum(counts.values()) == len(FAULTS)
    assert min(counts.values()) >= 5
    assert {finder for fault in FAULTS for finder in fault.finders} <= FINDERS.keys()


@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_a_fault_applies_and_is_gone_afterwards(fault: Fault) -> None:
    patch = fault.patch
    if isinstance(patch, Replaced):
        table = getattr(patch.owner, patch.name)
        before = dict(table)
        with patch():
            assert {key for key in table if table[key] != before[key]} == patch.entries.keys()
        assert table == before
        return
    original = patch.original
    with patch():
        assert getattr(patch.owner, patch.name) is not original
    assert getattr(patch.owner, patch.name) is original


@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_a_fault_takes_the_arguments_of_the_function(fault: Fault) -> None:
    """Else it would be found because of its own error."""
    if not isinstance(fault.patch, Changed):
        return
    parameters = inspect.signature(fault.patch.original).parameters.values()
    named = {item.name: None for item in parameters if item.kind is item.KEYWORD_ONLY}
    positional = [None for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]
    inspect.signature(fault.patch.change).bind(fault.patch.original, *positional, **named)


def test_a_place_that_is_gone_is_an_error() -> None:
    for patch in (
        Changed(planted_faults, "no_such_function", lambda original: None),
        Replaced(planted_faults, "_CONFUSED", {"no such key": None}),
        Replaced(planted_faults, "_NO_SUCH_TABLE", {}),
    ):
        with pytest.raises(Missing), patch():
            pass


def written_and_read(seed: int) -> Sequence[tuple[str, str]]:
    return [(item.trial, item.why) for item in round_trips(plan(seed)) if item.failed]


def first_failures(names: Sequence[str]) -> list[tuple[str, Sequence[tuple[str, str]]]]:
    """Return for each fault of the reader the trial that found it, and what fails there without the fault."""
    found = []
    for name in names:
        (fault,) = [item for item in FAULTS if (item.part, item.name) == ("reader", name)]
        trial, _, _, seed = first_failure(fault, written_and_read, 60)
        found.append((trial, written_and_read(seed)))
    return found


@pytest.mark.sweep
def test_faults_of_the_reader_are_found_by_reading() -> None:
    """In another process: what this one has read before may hold on to the functions as they were."""
    names = ["emit is lost", "nulls first and last are swapped", "subseconds of intervals are lost"]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(first_failures, names).result()
    for name, (trial, without) in zip(names, found, strict=True):
        assert trial in ("text", "JSON", "binary", "validate"), name
        assert without == []
