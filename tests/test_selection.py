"""Every test is in a sweep and in one part of it; other runs take the quick tests and a sample of the slow ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import ROOT
from tests.selection import Part, drawn, in_part, sample_seed, sampled

pytest_plugins = ["pytester"]

NAMES = [f"tests/test_slow.py::test_it[{number}]" for number in range(200)]


def item(nodeid: str, marker: pytest.Mark | None = None) -> pytest.Item:
    """A stand-in for a test with the attributes that the selection reads."""
    return cast(pytest.Item, SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: marker))


def test_a_sample_is_fixed_spread_and_another_one_the_next_day() -> None:
    today, tomorrow = (sampled(NAMES, f"2026-11-{day}", 0.1) for day in (23, 24))
    assert today == sampled(NAMES[::-1], "2026-11-23", 0.1)
    assert len(today) == len(tomorrow) == 20
    assert today != tomorrow
    days = Counter(name for day in range(100) for name in sampled(NAMES, str(day), 0.1))
    assert days.keys() == set(NAMES), "each comes in time"


def test_a_few_slow_tests_of_a_file_are_drawn_on_some_days() -> None:
    slow = pytest.mark.sweep.mark
    items: list[pytest.Item] = [item(f"tests/test_{file}.py::test_{test}", slow) for file in "abc" for test in range(3)]
    items.append(item("tests/test_d.py::test_quick"))
    days = [drawn(items, str(day)) for day in range(400)]
    assert {len(day) for day in days} == {0, 1, 2, 3}, "none or one of each file"
    assert Counter(name.partition("::")[0] for day in days for name in day).total() == pytest.approx(360, rel=0.15)
    assert frozenset().union(*days) == {found.nodeid for found in items[:-1]}, "each comes in time"


@pytest.mark.parametrize("parts", [1, 2, 4, 7])
def test_every_file_is_in_one_part(parts: int) -> None:
    items = [item(f"tests/test_{file}.py::test_{test}") for file in range(30) for test in range(1 + file % 5)]
    found = Counter(file for number in range(parts) for file in in_part(items, Part(number + 1, parts)))
    assert found == dict.fromkeys({f"tests/test_{file}.py" for file in range(30)}, 1)


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "2/", "a/b", "-1/2"])
def test_what_is_not_a_part(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="like 2/4"):
        Part.parsed(text)


def test_the_seed_is_the_date_of_the_commit(tmp_path: Path) -> None:
    assert sample_seed(tmp_path) == "none"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite of twenty quick and twenty slow tests in each of two files."""
    pytester.makeconftest((ROOT / "tests" / "selection.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\ntestpaths = suite\nmarkers = sweep: slow\n")
    folder = pytester.mkdir("suite")
    test = "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_quick(n): pass\n"
    slow = "@pytest.mark.sweep\n@pytest.mark.parametrize('n', range(20))\ndef test_slow(n): pass\n"
    for name in ("test_one.py", "test_two.py"):
        (folder / name).write_text(test + slow, encoding="utf-8")
    return pytester


def _run(suite: pytest.Pytester, *arguments: str) -> tuple[set[str], str]:
    """The tests that ran, and the last lines."""
    done = suite.runpytest_inprocess("-v", "-p", "no:cacheprovider", *arguments)
    lines: Any = done.outlines
    return {line.partition(" ")[0] for line in lines if "PASSED" in line}, "\n".join(lines[-4:])


def test_a_run_is_the_quick_tests_and_a_sample_and_a_sweep_is_all(suite: pytest.Pytester) -> None:
    every, said = _run(suite, "--sweep")
    assert len(every) == 80
    assert "every test" in said
    chosen, said = _run(suite, "--sample", "2026-11-23")
    assert "--sample 2026-11-23" in said
    assert chosen < every
    assert Counter("slow" in name for name in chosen) == {False: 40, True: 4}
    assert _run(suite, "--sample", "2026-11-23", "suite")[0] == chosen
    parts = [_run(suite, "--sweep", "--part", f"{number}/2")[0] for number in (1, 2)]
    assert parts[0] | parts[1] == every
    assert not parts[0] & parts[1]


def test_what_is_named_runs_whole(suite: pytest.Pytester) -> None:
    named, _ = _run(suite, "suite/test_one.py")
    assert len(named) == 40
