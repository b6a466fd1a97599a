"""Faults around a process that goes on: the disk is full, files vanish, two write at once, the clock jumps.

Run as a program of its own: ``python -m faults.conditions FOLDER SEED SECONDS GROUPS``; it prints the tries as JSON.
Full disks and read-only folders are those of a small file system in memory, which only this program sees: it has to run
in a namespace of its own (``faults.run`` starts it so).
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from faults import clients, clocks, disk, vanishing
from faults.outcomes import Counts
from faults.states import State
from faults.subjects import Place, Subject, Write, subjects
from faults.writer import left
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.session_start import embedded_session
from tests.conftest import QUICK_SETTINGS

__all__ = ["GROUPS", "Bench", "refusal"]


class Bench:
    """The tables, their states, and the counts of tries.

    Args:
        spark: the session.
        folder: where tables and files are.
        chance: chooses.
    """

    def __init__(self, spark: SparkSession, folder: Path, chance: random.Random) -> None:
        self.spark = spark
        self.folder = folder
        self.chance = chance
        self.counts = Counts()
        self.place = Place(spark, folder / "tables", folder / "files")
        self.place.files.mkdir(parents=True)
        self.subjects = {subject.name: subject for subject in subjects(self.place)}
        self.states: dict[str, State | None] = {}
        spark.sql(f"CREATE DATABASE tried LOCATION '{self.place.warehouse}'")
        spark.sql("USE tried")
        for subject in self.subjects.values():
            subject.prepare()
            self.states[subject.name] = subject.state([None])
        #: how long the last write of each kind took
        self.seconds: dict[str, float] = {}

    def choose(self, *names: str) -> tuple[Subject, Write]:
        """Return one of the tables, or any, and a write that fits it."""
        subject = self.subjects[self.chance.choice(names or [*self.subjects])]
        return subject, self.fitting(subject)

    def fitting(self, subject: Subject) -> Write:
        """Return a write that fits the state of a table."""
        number = self.chance.randrange(1_000_000)
        fitting = [each for each in subject.writes(number) if each.fits(self.states[subject.name])]
        return self.timed(self.chance.choice(fitting))

    def moment(self, kind: str) -> float:
        """Return a random moment in a write, in seconds from its beginning."""
        usual = sum(self.seconds.values()) / len(self.seconds) if self.seconds else 1.0
        return self.chance.random() * self.seconds.get(kind, usual)

    def timed(self, write: Write) -> Write:
        """Return a write that keeps how long it takes."""

        def run() -> None:
            began = time.monotonic()
            write.run()
            self.seconds[write.kind] = time.monotonic() - began

        return replace(write, run=run)

    def settle(
        self, group: str, subject: Subject, write: Write, allowed: Mapping[str, State | None], *, outcome: str = ""
    ) -> None:
        """Check that a table has one of some states, and that the next write works and leaves nothing; count the try.

        Args:
            group: the group of the try.
            subject: the table.
            write: the write that was tried.
            allowed: the states in which it may be, by the outcomes that they are.
            outcome: what the outcome begins with.
        """
        try:
            found = subject.state([*allowed.values()])
            told = next((name for name, each in allowed.items() if each == found), None)
            assert told is not None, f"{found} is none of {allowed}"
            self.states[subject.name] = found
            again = self.fitting(subject)
            after = again.after(found)
            again.run()
            now = subject.state([after])
            assert now == after, f"after {again.kind}, {now} is not {after}"
            self.states[subject.name] = now
            there = left(self.place, [*self.subjects.values()], self.states)
            if there:
                told += ", something left until the second write"
                self.forget(subject)
                again = self.fitting(subject)
                self.states[subject.name] = again.after(now)
                again.run()
                there = left(self.place, [*self.subjects.values()], self.states)
            assert not there, f"there is {', '.join(there)}"
        except Exception as error:
            self.counts.fault(group, write.kind, f"{outcome} {type(error).__name__}: {error}"[:3000])
            self.anew()
            return
        self.counts.add(group, write.kind, f"{outcome}{told}")

    def forget(self, subject: Subject) -> None:
        """Make the session forget the files of a table that another one, or another process, has written."""
        if subject.folder.parent == self.place.warehouse and self.spark.catalog.tableExists(subject.name):
            self.spark.catalog.refreshTable(subject.name)

    def anew(self) -> None:
        """Make all tables anew."""
        for name in self.spark.sql("SHOW TABLES IN tried").collect():
            self.spark.sql(f"DROP TABLE IF EXISTS tried.{name.tableName}")
        for folder in (self.place.warehouse, self.place.files):
            shutil.rmtree(folder)
            folder.mkdir()
        for subject in self.subjects.values():
            subject.prepare()
            self.states[subject.name] = subject.state([None])


def refusal(run: Callable[[], object]) -> str | None:
    """Run something, and return the message with which it is refused; None if it isn't.

    Raises:
        Exception: any other than one of this package.
    """
    try:
        run()
    except SubstraitError as error:
        return str(error)
    return None


def two_writers(bench: Bench) -> None:
    """Two sessions write one table at once: both do in some order, or one is refused."""
    other = bench.spark.newSession()
    other.sql("USE tried")
    theirs = {subject.name: subject for subject in subjects(Place(other, bench.place.warehouse, bench.place.files))}
    mine, first = bench.choose()
    bench.states[mine.name] = before = mine.state([bench.states[mine.name]])
    number = bench.chance.randrange(1_000_000)
    second = bench.chance.choice([each for each in theirs[mine.name].writes(number) if each.fits(before)])
    delay = bench.moment(first.kind) * bench.chance.choice((1, -1))
    with ThreadPoolExecutor(2) as pool:
        futures: list[Future[str | None]] = []
        for write, wait in ((first, max(0.0, delay)), (second, max(0.0, -delay))):
            futures.append(pool.submit(_later, wait, write))
    group = "two write at once"
    errors = [future.exception() for future in futures]
    kind = " and ".join(sorted((first.kind, second.kind)))
    if any(errors):
        bench.counts.fault(group, kind, f"{[error for error in errors if error]}"[:2000])
        bench.anew()
        return
    refused = [future.result() for future in futures]
    after: dict[str, State | None]
    if refused == [None, None]:
        after = {"both done": second.after(first.after(before)), "both done ": first.after(second.after(before))}
    elif None in refused:
        done = (first, second)[refused.index(None)]
        after = {"one done, one refused": done.after(before)}
        if "already" in str(refused) or "there is no table" in str(refused):
            # one came when the other had created or dropped the table
            after["one done, then the other refused"] = done.after(before)
    else:
        after = {"both refused": before}
    bench.forget(mine)
    bench.settle(group, mine, first, after)


def _later(seconds: float, write: Write) -> str | None:
    time.sleep(seconds)
    return refusal(write.run)


def someone_else(bench: Bench) -> None:
    """Spark's own INSERT, in another session, while a plan writes: what either says is done is there."""
    other = bench.spark.newSession()
    other.sql("USE tried")
    subject, write = bench.choose("plain", "parts")
    before = bench.states[subject.name]
    assert before is not None
    number = bench.chance.randrange(1_000_000)
    row = (500, number, 1)
    delay = bench.moment(write.kind) * bench.chance.choice((1, -1))
    statement = f"INSERT INTO {subject.name} VALUES {row}"

    def insert() -> bool:
        time.sleep(max(0.0, -delay))
        try:
            other.sql(f"REFRESH TABLE {subject.name}")
            other.sql(statement)
        except Exception:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        theirs = pool.submit(insert)
        mine = pool.submit(_later, max(0.0, delay), write)
    group = "Spark's own INSERT meanwhile"
    if (error := mine.exception()) is not None:
        bench.counts.fault(group, write.kind, f"{type(error).__name__}: {error}"[:2000])
        bench.anew()
        return

    def added(found: State | None) -> State:
        assert found is not None
        return State(found.columns, tuple(sorted([*found.rows, row], key=repr)))

    allowed: dict[str, State | None]
    match mine.result(), theirs.result():
        case None, True:
            allowed = {"both done": added(write.after(before)), "both done ": write.after(added(before))}
        case None, False:
            allowed = {"written, Spark's INSERT fails": write.after(before)}
        case _, True:
            allowed = {"refused, Spark's INSERT done": added(before)}
        case _:
            allowed = {"both refused": before}
    other.catalog.refreshTable(subject.name)
    bench.spark.catalog.refreshTable(subject.name)
    bench.settle(group, subject, write, allowed)


GROUPS: Final[Mapping[str, Sequence[Callable[[Any], None]]]] = {
    "client": (clients.killed_client,) * 4,
    "disk": (disk.full, disk.no_more_files, disk.filling, disk.read_only, disk.becoming_read_only),
    "vanish": (vanishing.between, vanishing.meanwhile, vanishing.rewritten, vanishing.under_a_write),
    "two": (two_writers, someone_else),
    "clock": (clocks.other_times, clocks.changing_times),
}
"""The groups of conditions, with the tries of each."""


def main(folder: Path, seed: int, seconds: float, groups: Sequence[str]) -> None:
    """Try conditions until the time is over, and print the tries after each."""
    chance = random.Random(seed)
    small = folder / "small"
    small.mkdir(parents=True)
    if "disk" in groups:
        disk.mount(small)
    settings: dict[str, str | int] = {
        **QUICK_SETTINGS,
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
    }
    spark = embedded_session("local[2]", None, **settings)
    bench = Bench(spark, small, chance)
    end = time.monotonic() + seconds
    tries = [attempt for group in groups for attempt in GROUPS[group]]
    while time.monotonic() < end:
        for attempt in tries:
            attempt(bench)
            print(bench.counts.to_json(), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4].split(","))
