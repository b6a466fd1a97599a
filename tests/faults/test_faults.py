"""A few tries of each kind of fault: no table is lost or partial, and every error is one of the package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from faults.killed import VICTIMS, interrupted, killed
from faults.outcomes import FAULT, Counts, Fault
from faults.run import KINDS, tried
from faults.states import of_json, state, to_json

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc, and flocks are Linux's")
_KILLS = int(os.environ.get("SUBSTRAIT_KILLS", "6"))


def test_states_are_written_and_read() -> None:
    found = state(("a", "b"), [[2, 1], [1, 1]])
    assert found.rows == ((1, 1), (2, 1))
    assert of_json(to_json(found)) == found
    assert of_json(to_json(None)) is None


def test_the_last_write_of_a_table_may_be_done_or_not() -> None:
    lines: list[dict[str, Any]] = [
        {"event": "begins", "subject": "a", "kind": "INSERT", "before": 0, "after": 1},
        {"event": "begins", "subject": "b", "kind": "DROP", "before": 5, "after": None},
        {"event": "ended", "subject": "a"},
        {"event": "begins", "subject": "a", "kind": "UPDATE", "before": 1, "after": 2},
        {"event": "ended", "subject": "b"},
    ]
    assert interrupted(lines, {"c": [7]}) == ({"a": [1, 2], "b": [None], "c": [7]}, {"a": "UPDATE"})


def test_tries_are_counted_kept_and_shown(tmp_path: Path) -> None:
    counts = Counts()
    counts.add("Java is killed", "INSERT", "old")
    counts.add("Java is killed", "INSERT", "new, no table until the next plan")
    counts.fault("Python is killed", "DROP", "it is partial")
    counts.add("a full disk", "INSERT", "refused")
    (tmp_path / "a").write_text(f"noise\n{Counts().to_json()}\n{counts.to_json()}\n")
    again = Counts.of_files([tmp_path / "a", tmp_path / "a"])
    assert again.tries["Java is killed", "INSERT", "old"] == 2
    assert again.tries["Python is killed", "DROP", FAULT] == 2
    assert again.faults == [Fault("Python is killed", "DROP", "it is partial")] * 2
    assert counts.markdown() == (
        "| write | tries | old table | new table | either | no table until the next plan | faults |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| DROP | 1 | 0 | 0 | 0 | 0 | 1 |\n"
        "| INSERT | 2 | 1 | 1 | 0 | 1 | 0 |\n"
        "| all | 3 | 1 | 1 | 0 | 1 | 1 |\n"
        "\n"
        "| fault | tries | outcomes |\n"
        "| --- | ---: | --- |\n"
        "| a full disk | 1 | refused: 1 |\n"
    )


@needs_linux
@pytest.mark.sweep(sample=0)
def test_killed_at_any_moment_a_table_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    counts, kills = Counts(), 0

    def told(number: int) -> None:
        nonlocal kills
        kills = number

    killed(tmp_path / "here", counts, seed=_KILLS, until=lambda: kills >= _KILLS, told=told)
    assert counts.faults == []
    groups = {group for group, _, _ in counts.tries}
    assert {f"{victim} is killed" for victim in VICTIMS} <= groups


@needs_linux
@pytest.mark.sweep(sample=0)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("killed", "executors")])
def test_nothing_is_lost_or_wrong(kind: str, tmp_path: Path) -> None:
    if kind == "disk" and shutil.which("unshare") is None:
        pytest.skip("a small file system needs unshare")
    counts = tried(kind, 1, 20, tmp_path / "here")
    assert counts.faults == []
    assert counts.tries
