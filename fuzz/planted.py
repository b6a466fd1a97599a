"""How long the fuzzers take to find faults that are planted into the package.

In another process, the package has one fault after the other. The fuzzer gets its seeds in turn, until it reports a
failure that it doesn't report without the fault. The start of Spark, and of the lists of functions, does not count.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from typing import Final, TypeAlias

from fuzz import strings
from fuzz.bytes import judged
from fuzz.calls import signatures, telling_options
from fuzz.laws import LAWS
from fuzz.mutants import mutant, originals
from fuzz.plans import plan
from fuzz.planted_faults import FAULTS, Fault
from fuzz.queries import QUERIES, QueryEngines, query_outcomes
from fuzz.sessions import engines, session
from fuzz.spark_tokens import Tokens
from fuzz.trials import outcomes, round_trips
from pyspark_substrait.api.loaded_plans import forget_plans
from pyspark_substrait.extensions.definitions import Kind

__all__ = ["FINDERS", "Search", "first_failure", "searches"]

#: tries the input of a seed; returns what failed, each as the name of a trial and why
Finder: TypeAlias = "Callable[[int], Sequence[tuple[str, str]]]"

_PLANS: Final = ("reference", "datafusion", "unoptimized", "produced")
_KINDS: Final[tuple[Kind, ...]] = ("scalar", "aggregate", "window")
_START: Final = 1800.0
"""Seconds for the start of a process, on a busy machine."""
_GRACE: Final = 300.0
"""Seconds for the last input."""


@dataclass(frozen=True)
class Search:
    """The search of one fuzzer for one fault.

    Args:
        fault, finder: the two.
        found: the trial that failed; empty if none did until the limit.
        why: what it reported.
        seconds: how long it took, up to the failure or the limit.
        inputs: the number of inputs that were tried.
    """

    fault: Fault
    finder: str
    found: str
    why: str
    seconds: float
    inputs: int


def _forms() -> Finder:
    return lambda seed: [(item.trial, item.why) for item in round_trips(plan(seed)) if item.failed]


def _plans() -> Finder:
    there = engines(session)

    def find(seed: int) -> list[tuple[str, str]]:
        return [(item.trial, item.why) for item in outcomes(plan(seed), seed, there, _PLANS) if item.failed]

    return find


def _laws() -> Finder:
    there = engines(session)
    return lambda seed: [
        (item.trial, item.why) for item in outcomes(plan(seed), seed, there, tuple(LAWS)) if item.failed
    ]


def _queries() -> Finder:
    there = QueryEngines(session)

    def find(seed: int) -> list[tuple[str, str]]:
        found = query_outcomes("Spark", QUERIES["Spark"](seed), there)
        return [(item.trial, item.why) for item in found if item.failed]

    return find


def _strings() -> Finder:
    strings.corpus()
    tokens = Tokens(session())

    def find(seed: int) -> list[tuple[str, str]]:
        tally = strings.Tally()
        strings.tried(seed, tokens, tally)
        return [(found.place, found.why) for found in tally.findings]

    return find


def _bytes() -> Finder:
    originals()

    def find(seed: int) -> list[tuple[str, str]]:
        return [(item.verb, f"{item.kind}: {item.text}") for *_, item in judged(mutant(seed)) if item is not None]

    return find


FINDERS: Final[dict[str, Callable[[], Finder]]] = {
    "forms": _forms,
    "plans": _plans,
    "laws": _laws,
    "queries": _queries,
    "strings": _strings,
    "bytes": _bytes,
}
"""The fuzzers by name; ``forms`` are plans that are only written and read back, ``plans`` those that only run."""


def _work(numbers: Sequence[int], finder: str, limit: float, pipe: Connection) -> None:
    """Search for some faults, one after the other, and send what came of each."""
    for kind in _KINDS:  # what is found out by compiling is not to have the fault
        for signature in signatures(kind)[0]:
            telling_options(signature)
    find = FINDERS[finder]()
    find(0)
    for number in numbers:
        pipe.send(None)
        pipe.send(first_failure(FAULTS[number], find, limit))


def first_failure(fault: Fault, find: Finder, limit: float) -> tuple[str, str, float, int]:
    """Return the trial that found a fault and why, the seconds, and the number of inputs."""
    started = time.monotonic()
    for seed in count(1):
        with fault.patch():
            forget_plans()  # what was read without the fault
            failed = find(seed)
        seconds = time.monotonic() - started
        forget_plans()
        known = {trial for trial, _ in find(seed)} if failed else set()
        for trial, why in failed:
            if trial not in known:
                return trial, why, seconds, seed
        if time.monotonic() - started > limit:
            break
    return "", "", time.monotonic() - started, seed


def _searched(numbers: Sequence[int], finder: str, limit: float) -> Iterator[Search]:
    """Search for faults in a process, and in another one after a fault that ended it."""
    context = multiprocessing.get_context("spawn")
    left = [*numbers]
    while left:
        started = time.monotonic()
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(left, finder, limit, sender))
        process.start()
        sender.close()
        try:
            while left:
                fault = FAULTS[left[0]]
                if not receiver.poll(_START):
                    process.kill()
                receiver.recv()
                started = time.monotonic()
                if not receiver.poll(limit + _GRACE):
                    process.kill()
                trial, why, seconds, inputs = receiver.recv()
                yield Search(fault, finder, trial, why, seconds, inputs)
                del left[0]
        except EOFError:
            process.join()
            why = f"the process ended with {process.exitcode}"
            yield Search(FAULTS[left.pop(0)], finder, "crash", why, time.monotonic() - started, 0)
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join()


def searches(limit: float, finders: Sequence[str] = (), words: str = "", *, every: bool = False) -> Iterator[Search]:
    """Search for the faults, one after the other.

    Args:
        limit: the seconds for each.
        finders: the fuzzers; by default all.
        words: parts of the names of the faults, like ``reader: emit``, by commas; by default all.
        every: search with every fuzzer, not only with those whose job it is.
    """
    for finder in finders or FINDERS:
        chosen = [
            number
            for number, fault in enumerate(FAULTS)
            if any(word in f"{fault.part}: {fault.name}" for word in words.split(","))
            and (every or finder in fault.finders)
        ]
        yield from _searched(chosen, finder, limit)
