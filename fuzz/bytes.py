"""Mutants through every verb that looks at a plan, in processes with limits of time and memory.

A result or a :class:`SubstraitError` is right; another exception, a crash, more than a second of CPU time or more than
200 MB above what the process had before is a finding. A process that does not come back is ended by its parent.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fuzz.mutants import Mutant, mutant, originals
from tests.hostile_inputs import READING, SHOWING, faults

__all__ = ["CPU_SECONDS", "MEMORY", "VERBS", "Finding", "Tally", "fuzz", "judged", "shrunk"]

CPU_SECONDS = 1.0
"""The most CPU time of one verb for one input."""
MEMORY = 200 * 1024
"""The most memory of one verb for one input, in KB above what the process has."""
VERBS = tuple(name for name in (*SHOWING, *READING) if name != "view")
"""The verbs that mutants go through. Loading writes the plan as text, JSON and bytes, and lists its upgrades, too."""

_GIVEN_UP = 10.0
"""Seconds of CPU time after which a process is ended."""


@dataclass(frozen=True)
class Finding:
    """A fault of a verb. ``kind``: an exception's class, ``CPU time``, ``memory`` or ``crash``."""

    seed: int
    how: str
    original: str
    verb: str
    kind: str
    text: str
    content: bytes = b""
    place: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The mark of all findings of one fault: the kind, and where an exception was raised."""
        return (self.kind, self.place or self.verb, "" if self.place else self.how)


@dataclass
class Tally:
    """The counts of a run."""

    inputs: int = 0
    calls: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    largest: int = 0
    by_mutation: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def __str__(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return (
            f"{self.inputs:,} mutants, {self.calls:,} calls, {rate:.0f} mutants a second; "
            f"most CPU time {self.slowest:.2f} s, most memory {self.largest // 1024} MB; {len(self.findings)} findings"
        )


def _memory(name: str) -> int:
    """A line of this process's status, in KB; 0 where the system has none."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return 0


def _reset_peak() -> int:
    """Set the peak of memory to what the process has now, and return it in KB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS:")


def _place(error: BaseException) -> str:
    """The innermost line of the package in an exception's traceback."""
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "pyspark_substrait" in file:
            found = f"{file.rpartition('pyspark_substrait/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def judged(made: Mutant, verbs: tuple[str, ...] = VERBS) -> Iterator[tuple[str, float, int, Finding | None]]:
    """Yield each verb with its CPU time, its memory in KB, and what it did wrong."""
    for verb in verbs:
        base, started = _reset_peak(), time.process_time()
        errors = [error for _, error in faults(made.source, (verb,))]
        seconds = time.process_time() - started
        memory = max(0, _memory("VmHWM:") - base)
        found = Finding(made.seed, made.how, made.original, verb, "", "", made.content)
        if errors:
            text = f"{errors[0]}"[:300].encode(errors="backslashreplace").decode()
            yield (
                verb,
                seconds,
                memory,
                replace(found, kind=type(errors[0]).__name__, text=text, place=_place(errors[0])),
            )
        elif seconds > CPU_SECONDS:
            yield verb, seconds, memory, replace(found, kind="CPU time", text=f"{seconds:.1f} s")
        elif memory > MEMORY:
            yield verb, seconds, memory, replace(found, kind="memory", text=f"{memory // 1024} MB")
        else:
            yield verb, seconds, memory, None


def _work(first: int, end: int | None, step: int, at: Any, pipe: Connection) -> None:
    """Try the mutants of each ``step``-th seed, and send what came of each."""
    originals()
    for name in VERBS:  # what is made once, like the parsed extensions, is not the first mutant's
        for original in originals()[::40]:
            list(faults(original.message, (name,)))
    seed = first
    while end is None or seed < end:
        at.value = seed
        made = mutant(seed)
        results = list(judged(made))
        pipe.send((seed, made.how, [(verb, seconds, memory) for verb, seconds, memory, _ in results],
                   [item for *_, item in results if item is not None]))  # fmt: skip
        seed += step
    at.value = -1


def _cpu_seconds(process: int) -> float:
    """The CPU time of another process so far; 0 where the system doesn't say."""
    try:
        parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(
    seeds: tuple[int, int | None], *, seconds: float | None = None, workers: int = 1,
    told: Callable[[Tally], None] = lambda tally: None,
) -> Tally:  # fmt: skip
    """Try the mutants of a range of seeds, or until the time is over.

    Args:
        seeds: the first seed, and the one after the last; None for no end.
        seconds: how long; None until the last seed.
        workers: the number of processes.
        told: is called with the counts from time to time.
    """
    tally, started = Tally(), time.monotonic()
    running = [_Worker(seeds[0] + number, seeds[1], workers) for number in range(workers)]
    try:
        while any(worker.active for worker in running):
            for worker in running:
                worker.take(tally)
            tally.seconds = time.monotonic() - started
            told(tally)
            if seconds is not None and tally.seconds > seconds:
                break
    finally:
        for worker in running:
            worker.end()
    return tally


class _Worker:
    """A process that tries mutants, started anew after a crash."""

    def __init__(self, first: int, end: int | None, step: int) -> None:
        self.context, self.last, self.step = multiprocessing.get_context("spawn"), end, step
        self.active = True
        self._start(first)

    def _start(self, first: int) -> None:
        self.at = self.context.Value("q", first - self.step, lock=False)
        self.pipe, other = self.context.Pipe(duplex=False)
        self.process = self.context.Process(
            target=_work, args=(first, self.last, self.step, self.at, other), daemon=True
        )
        self.process.start()
        other.close()
        self.seen, self.began = self.at.value, 0.0

    def take(self, tally: Tally) -> None:
        """Count what the process has sent; judge a process that ended or doesn't come back."""
        if not self.active:
            return
        wait = 0.2
        try:
            while self.pipe.poll(wait):
                _, how, costs, findings = self.pipe.recv()
                wait = 0.0
                tally.inputs += 1
                tally.calls += len(costs)
                tally.by_mutation[how] += 1
                tally.slowest = max(tally.slowest, *(seconds for _, seconds, _ in costs))
                tally.largest = max(tally.largest, *(memory for *_, memory in costs))
                tally.findings += findings
        except EOFError:
            self.process.join()
            self.active = False
            if self.process.exitcode:
                self._lost(tally, "crash", f"the process ended with {self.process.exitcode}")
            return
        seed = self.at.value
        if seed != self.seen:
            self.seen, self.began = seed, _cpu_seconds(self.process.pid or 0)
        elif seed >= 0 and self.began and _cpu_seconds(self.process.pid or 0) - self.began > _GIVEN_UP * len(VERBS):
            self.end()
            self._lost(tally, "CPU time", f"no end after {_GIVEN_UP * len(VERBS):.0f} s")

    def _lost(self, tally: Tally, kind: str, text: str) -> None:
        seed = self.at.value
        made = mutant(seed)
        tally.inputs += 1
        tally.findings.append(Finding(seed, made.how, made.original, "?", kind, text, made.content))
        self.active = True
        self._start(seed + self.step)

    def end(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def shrunk(found: Finding, tries: int = 400) -> Finding:
    """Return the finding with the shortest input that still does the same, made by leaving out parts.

    A crash stays as it is: it would end this process, too.
    """
    if found.verb not in VERBS:
        return found
    binary = found.how not in ("JSON", "JSON text", "text")

    def same(content: bytes) -> Finding | None:
        source = content if binary else content.decode(errors="surrogatepass")
        made = Mutant(found.seed, found.original, found.how, source)
        *_, (_, _, _, item) = judged(made, (found.verb,))
        return item if item is not None and item.key == found.key else None

    best, size = found, max(1, len(found.content) // 2)
    while size and tries > 0:
        place, shorter = 0, False
        while place < len(best.content) and tries > 0:
            tries -= 1
            content = best.content[:place] + best.content[place + size :]
            with contextlib.suppress(UnicodeDecodeError):
                item = same(content)
                if item is not None:
                    best, shorter = item, True
                    continue
            place += size
        size = size if shorter and size > 1 else size // 2
    return best
