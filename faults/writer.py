"""Writes for ever, in a catalog and folders that outlive the process, and first checks what an earlier process left.

Run as a program of its own: ``python -m faults.writer FOLDER NUMBER SEED``. It reads ``FOLDER/NUMBER.before.json`` (the
states in which each table may be), and writes lines of JSON to ``FOLDER/NUMBER.journal``: what it found, that it is
ready, and the beginning and end of each write. One thread writes each table.
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pyspark_substrait as ps
from faults.states import State, of_json, to_json
from faults.subjects import LEFT, Place, Subject, names_below, subjects
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.session_start import embedded_session
from tests.conftest import QUICK_SETTINGS
from tests.spark.plans import table_names

__all__ = ["HIVE", "settings"]

#: how many of each kind of table are written, and how many tables are checked at once
_COPIES, _CHECKS = 2, 3

HIVE = "jdbc:derby:;databaseName={}/metastore;create=true"


def settings(folder: Path) -> dict[str, str | int]:
    """Return the settings of a session with a catalog that outlives it.

    The classes that Java loaded are kept from the first process for the next ones, which start sooner.
    """
    classes = folder / "classes.jsa"
    option = f"-XX:SharedArchiveFile={classes}" if classes.exists() else f"-XX:ArchiveClassesAtExit={classes}"
    return {
        **QUICK_SETTINGS,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{QUICK_SETTINGS['spark.driver.extraJavaOptions']} {option}",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": HIVE.format(folder),
        "spark.local.dir": str(folder / "local"),
    }


class Journal:
    """The lines that a process writes; each is written at once, and what is written survives the process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._lock = Lock()

    def write(self, event: str, **more: Any) -> None:
        """Write a line."""
        with self._lock:
            os.write(self._file, (json.dumps({"event": event, **more}) + "\n").encode())


def checked(subject: Subject, allowed: Sequence[State | None], journal: Journal, chance: random.Random) -> State | None:
    """Check that a table is in one of the states in which it may be, and that the next write works; return its state.

    Half of the times, the write is the first thing that is done to the table.
    """
    number = chance.randrange(1_000_000)
    kept = False
    missing = allowed[0] is not None and not subject.folder.exists()
    found: State | None = None
    blind = [write for write in subject.writes(number) if write.always]
    reads = not blind or chance.random() < 0.5
    if reads:
        found = subject.state(allowed)
        assert found in allowed, f"{_short(found)} is none of {[_short(each) for each in allowed]}"
        kept = found == allowed[0]
        write = chance.choice([write for write in subject.writes(number) if write.fits(found)])
        after = [write.after(found)]
    else:
        write = chance.choice(blind)
        after = [write.after(each) for each in allowed]
    write.run()
    now = subject.state(after)
    assert now in after, f"after {write.kind}, {_short(now)} is none of {[_short(each) for each in after]}"
    told = "old" if kept or (not reads and now == after[0]) else "new"
    if len(set(allowed)) == 1 or (not reads and len(set(after)) == 1):
        told = "either"
    journal.write("checked", subject=subject.name, found=told, reads=reads, missing=missing, by=write.kind)
    return now


def _short(found: State | None) -> str:
    return "no table" if found is None else f"{found.columns} × {len(found.rows)} {found.rows[:2]}…{found.rows[-1:]}"


def left(place: Place, all: Sequence[Subject], states: dict[str, State | None]) -> list[str]:
    """Return what is beside the tables and files, and in their properties, when nobody writes."""
    there = {subject.name for subject in all if states[subject.name] is not None}
    tables = {subject.name for subject in all if subject.folder.parent == place.warehouse}
    found = [f"the table {name}" for name in table_names(place.spark, views=False) ^ (there & tables)]
    found += [f"warehouse/{name}" for name in names_below(place.warehouse) ^ (there & tables)]
    found += [f"files/{name}" for name in names_below(place.files) ^ (there - tables)]
    for name in sorted(there & tables):
        keys = [row.key for row in place.spark.sql(f"SHOW TBLPROPERTIES {name}").collect()]
        found += [f"the property {key} of {name}" for key in keys if key.startswith(LEFT)]
    for folder in (place.warehouse, place.files):
        found += [str(path.relative_to(folder.parent)) for path in folder.rglob("*") if path.name.endswith(LEFT)]
    return found


def _writes(subject: Subject, found: State | None, journal: Journal, chance: random.Random) -> None:
    while True:
        number = chance.randrange(1_000_000)
        fitting = [write for write in subject.writes(number) if write.fits(found)]
        write = chance.choice(fitting)
        after = write.after(found)
        line = {"subject": subject.name, "kind": write.kind, "before": to_json(found), "after": to_json(after)}
        journal.write("begins", **line)
        try:
            write.run()
        except BaseException as error:
            clear = isinstance(error, SubstraitError) or "Flight" in type(error).__name__
            text = f"{type(error).__name__}: {error}"[:500]
            trace = "" if clear else traceback.format_exc()[-6000:]
            journal.write("failed", subject=subject.name, kind=write.kind, clear=clear, text=text + trace)
            return
        journal.write("ended", subject=subject.name)
        found = after


def main(folder: Path, number: int, seed: int) -> None:
    """Check what is there, and write until the process ends."""
    os.chdir(folder)
    chance = random.Random(seed)
    journal = Journal(folder / f"{number}.journal")
    before = folder / f"{number}.before.json"
    states = json.loads(before.read_text()) if before.exists() else {}
    spark = embedded_session("local[2]", None, **settings(folder))
    gateway: Any = spark.sparkContext._gateway
    journal.write("started", java=gateway.proc.pid)
    for name in ("warehouse", "files"):
        (folder / name).mkdir(exist_ok=True)
    with ps.serve(spark, allow_sql=True, allow_writes=True) as server:
        place = Place(spark, folder / "warehouse", folder / "files", server)
        all = [*subjects(place, _COPIES)]

        def begun(subject: Subject, seed: float) -> State | None:
            if subject.name not in states:
                subject.prepare()
                return subject.state([None])
            return checked(subject, [of_json(each) for each in states[subject.name]], journal, random.Random(seed))

        found: dict[str, State | None] = {}
        faults = 0
        with ThreadPoolExecutor(_CHECKS) as pool:
            futures = {subject.name: pool.submit(begun, subject, chance.random()) for subject in all}
        for name, future in futures.items():
            if (error := future.exception()) is None:
                found[name] = future.result()
            else:
                faults += 1
                trace = "".join(traceback.format_exception(error))[-3000:]
                journal.write("fault", subject=name, text=f"{type(error).__name__}: {error}"[:2000], trace=trace)
        if faults:
            return
        if states:
            journal.write("left", names=left(place, all, found))
        journal.write("ready")
        if not (folder / "classes.jsa").exists():
            spark.stop()
            gateway.proc.stdin.close()
            gateway.proc.wait()  # it keeps the classes
            return
        threads = [
            Thread(target=_writes, args=(each, found[each.name], journal, random.Random(chance.random())), daemon=True)
            for each in all
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.write("done")
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
