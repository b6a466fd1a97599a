"""Mutants of stored plans, and what is found in the verbs that they go through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzz import bytes as fuzzing
from fuzz import wire
from fuzz.bytes import Finding, judged, shrunk
from fuzz.kept import keep_finding
from fuzz.mutants import LARGEST, MUTATIONS, Mutant, mutant, originals
from tests import hostile_inputs

FEW = ("load", "validate")


def test_messages_are_read_and_written_without_their_definitions() -> None:
    for original in originals():
        message = wire.parsed(original.message)
        assert message is not None, original.name
        assert wire.serialized(message) == original.message


def test_mutants_are_small_the_same_for_a_seed_and_of_every_kind() -> None:
    made = [mutant(seed) for seed in range(200)]
    assert {item.how for item in made} == set(MUTATIONS)
    assert max(len(item.content) for item in made) < LARGEST
    assert made[:20] == [mutant(seed) for seed in range(20)]
    stored = {original.message for original in originals()}
    assert sum(item.content in stored for item in made) < 10


def test_mutants_end_in_our_errors_only() -> None:
    found = [item for seed in range(40) for *_, item in judged(mutant(seed), FEW) if item is not None]
    assert found == []


def faulty(source: Any) -> None:
    """A verb that has a fault: it raises a foreign exception for inputs with a certain byte in them."""
    content = source if isinstance(source, bytes) else source.encode()
    if b"\x07" in content:
        raise KeyError("planted")


def test_a_foreign_exception_is_found_shrunk_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(hostile_inputs.READING, "load", faulty)
    made = Mutant(1, "none", "bits", bytes(range(200)))
    *_, (verb, _, _, found) = judged(made, ("load",))
    assert found is not None
    assert (verb, found.kind) == ("load", "KeyError")
    smallest = shrunk(found)
    assert smallest.content == b"\x07"
    assert keep_finding(smallest, tmp_path).read_bytes() == b"\x07"


@pytest.mark.parametrize(("limit", "kind"), [("CPU_SECONDS", "CPU time"), ("MEMORY", "memory")])
def test_a_limit_that_is_exceeded_is_a_finding(monkeypatch: pytest.MonkeyPatch, limit: str, kind: str) -> None:
    monkeypatch.setattr(fuzzing, limit, -1)
    found = [item.kind for *_, item in judged(mutant(0), ("load",)) if item is not None]
    assert found == [kind]


@pytest.mark.sweep
def test_processes_try_each_seed_once() -> None:
    tally = fuzzing.fuzz((0, 20))
    assert (tally.inputs, tally.calls) == (20, 20 * len(fuzzing.VERBS))
    assert [item for item in tally.findings if isinstance(item, Finding)] == []
