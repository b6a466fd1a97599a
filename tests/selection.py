"""The tests of a run: all of them in a sweep, or a part of a sweep; else the quick ones and a sample of the others.

A test marked ``sweep`` is too slow for every change. A run without ``--sweep`` takes a sample of these from each file,
drawn by the date of the newest commit: the same for everybody who tests that commit, and another one the next day.
``--sample DATE`` draws the sample of another day again. Tests that are named on the command line all run.

Hypothesis draws the same examples in each run, so that a change is never stopped by a fault it has nothing to do
with; in a sweep it draws new ones.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

__all__ = ["Part", "drawn", "in_part", "sample_seed", "sampled"]


@dataclass(frozen=True)
class Part:
    """One of several parts of a sweep, like ``2/4``."""

    number: int
    of: int

    @staticmethod
    def parsed(text: str) -> Part:
        """Read ``2/4``.

        Raises:
            pytest.UsageError: it is something else.
        """
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise pytest.UsageError(f"a part is written like 2/4, not {text!r}")
        return Part(int(number), int(of))


def sample_seed(folder: Path) -> str:
    """The date of the newest commit of a checkout; ``none`` outside of one."""
    command = ["git", "-C", str(folder), "log", "-1", "--format=%cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return done.stdout.strip()


def sampled(names: Sequence[str], seed: str, share: float) -> frozenset[str]:
    """A share of some names: those whose hashes with the seed are the smallest.

    A part of a name is one name on as many days out of all: of three, a tenth is one on three days of ten.
    """
    if not names:
        return frozenset()
    ordered = sorted(names, key=lambda name: _hash(seed, name))
    whole, part = divmod(round(share * len(names), 6), 1)
    return frozenset(ordered[: int(whole) + (_hash(seed, min(names), "day") < part)])


def _hash(*words: str) -> float:
    """A number from 0 to 1."""
    return int.from_bytes(hashlib.sha256("\n".join(words).encode()).digest()[:8], "big") / 2**64


def drawn(items: Iterable[pytest.Item], seed: str) -> frozenset[str]:
    """The marked tests in the sample, by their ids: a share of those in each file."""
    files: defaultdict[tuple[str, float], list[str]] = defaultdict(list)
    for item in items:
        if (marker := item.get_closest_marker("sweep")) is not None:
            files[_file(item), marker.kwargs.get("sample", 0.1)].append(item.nodeid)
    return frozenset().union(*(sampled(names, seed, share) for (_, share), names in files.items()))


def in_part(items: Sequence[pytest.Item], part: Part) -> frozenset[str]:
    """The files with tests of a part: whole files, so that what they make for their tests is made once."""
    loads = _loads(items)
    sums = [0] * part.of
    files: list[set[str]] = [set() for _ in sums]
    for file in sorted(loads, key=lambda file: (-loads[file], file)):
        lightest = sums.index(min(sums))
        sums[lightest] += loads[file]
        files[lightest].add(file)
    return frozenset(files[part.number - 1])


def _loads(items: Iterable[pytest.Item]) -> dict[str, int]:
    """How long the tests of each file take, roughly: a marked one as long as twenty others."""
    loads: defaultdict[str, int] = defaultdict(int)
    for item in items:
        loads[_file(item)] += 20 if item.get_closest_marker("sweep") else 1
    return dict(loads)


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


# hooks ----------------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("selection")
    group.addoption("--sweep", action="store_true", help="every test, in sessions as users have them")
    group.addoption("--part", metavar="K/N", help="with --sweep: the K-th of N parts")
    group.addoption("--sample", metavar="DATE", help="draw the sample of slow tests as on this day")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.register_profile("same examples", derandomize=True)
    if not config.getoption("--sweep"):
        hypothesis.settings.load_profile("same examples")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--sweep"):
        part = config.getoption("--part")
        terminalreporter.write_line(f"sweep: {'every test' if part is None else f'part {part}'}")
    elif _chooses(config):
        seed = _seed(config)
        terminalreporter.write_line(f"slow tests: the sample of {seed} (again: --sample {seed}; all of them: --sweep)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--part") is not None:
        files = in_part(items, Part.parsed(config.getoption("--part")))
        kept = [item for item in items if _file(item) in files]
    elif not config.getoption("--sweep") and _chooses(config):
        sample = drawn(items, _seed(config))
        kept = [item for item in items if item.get_closest_marker("sweep") is None or item.nodeid in sample]
    else:
        kept = [*items]
    left_out = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    loads = _loads(kept)
    items[:] = sorted(kept, key=lambda item: (-loads[_file(item)], _file(item)))  # no worker waits for a long one


def _chooses(config: pytest.Config) -> bool:
    """Whether the tests are those of the whole suite, and not named on the command line."""
    suite = {config.rootpath / path for path in config.getini("testpaths")}
    return {(config.rootpath / path).resolve() for path in config.args} == suite


def _seed(config: pytest.Config) -> str:
    given = config.getoption("--sample")
    return given if isinstance(given, str) else sample_seed(config.rootpath)
