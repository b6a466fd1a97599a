"""Files that vanish, or are written anew, between planning and reading, and while they are read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import pyspark_substrait as ps
from faults.states import State, state
from faults.subjects import FORM, records
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.relations import FileOrFiles, LocalFiles, ParquetReadOptions, Read, RelationBase
from tests.spark.plans import LONG, aggregate, call, col, group, long, plan, schema, stored, tuples, where

if TYPE_CHECKING:
    from faults.conditions import Bench

__all__ = ["between", "meanwhile", "rewritten", "under_a_write"]

_FILES: Final = 6
_EACH: Final = 2000
_SOURCES: Final = ("a table of the catalog", "files that the plan names", "a path in tables=")
_QUERIES: Final = ("rows", "filter", "sums")


def _made(bench: Bench) -> Path:
    """Return a folder with some files."""
    folder = bench.folder.parent / "read" / f"{bench.chance.getrandbits(64):x}"
    folder.mkdir(parents=True)
    for number in range(_FILES):
        _write(folder / f"part-{number}.parquet", number)
    return folder


def _write(path: Path, number: int) -> None:
    rows = records(FORM, number, number * _EACH, _EACH)
    types = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in FORM])
    table = pa.table([pa.array(cells, pa.int64()) for cells in zip(*rows, strict=True)], schema=types)
    beside = path.with_name(f".{path.name}")
    pq.write_table(table, beside, row_group_size=500)
    os.rename(beside, path)


def _query(bench: Bench, folder: Path, source: str, query: str) -> tuple[RelationBase, dict[str, Any]]:
    """Return a query over the files, and the options of its run."""
    columns = dict.fromkeys(FORM, LONG)
    options: dict[str, Any] = {}
    relation: RelationBase
    if source == _SOURCES[0]:
        bench.spark.sql(f"CREATE TABLE read_{folder.name} USING parquet LOCATION '{folder}'")
        relation = stored(("tried", f"read_{folder.name}"), dict.fromkeys(FORM, LONG))
    elif source == _SOURCES[1]:
        item = FileOrFiles(path_type="uri_folder", path=str(folder), file_format=ParquetReadOptions())
        relation = Read(base_schema=schema((LONG,) * 3, FORM), read_type=LocalFiles(items=(item,)))
        options["allowed_paths"] = [folder]
    else:
        relation = stored("given", columns)
        options["tables"] = {"given": str(folder)}
    if query == "filter":
        relation = where(relation, call("gte", col(relation, 0), long(0)))
    elif query == "sums":
        relation = group(relation, [], [aggregate("count", col(relation, 0)), aggregate("sum", col(relation, 1))])
    return relation, options


def _answer(query: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the rows of a query over files; each of them has a number."""
    if query == "sums":
        return [(_EACH * len(numbers), _EACH * sum(numbers))] if numbers else [(0, None)]
    return sorted(row for place, number in enumerate(numbers) for row in records(FORM, number, place * _EACH, _EACH))


def _drop(bench: Bench, folder: Path) -> None:
    bench.spark.sql(f"DROP TABLE IF EXISTS read_{folder.name}")


def _count(
    bench: Bench,
    name: str,
    kind: str,
    run: Callable[[], list[tuple[Any, ...]]],
    right: Sequence[Any],
    known: str | None = None,
) -> None:
    """Count a run: its rows are one of the right ones, or there is a clear error.

    Args:
        known: the outcome of other rows, where that isn't a fault of this package.
    """
    try:
        found = sorted(run())
    except SubstraitError as error:
        bench.counts.add(name, kind, "clear error" if "file" in str(error).lower() else f"error: {str(error)[:150]}")
    except Exception as error:
        bench.counts.fault(name, kind, f"a foreign exception: {type(error).__name__}: {error}"[:2000])
    else:
        if found in right:
            bench.counts.add(name, kind, "the rows of one moment" if len(right) > 1 else "all rows")
        elif known is not None:
            bench.counts.add(name, kind, known)
        else:
            different = [sorted(set(found) ^ set(each)) for each in right]
            text = f"{len(found)} rows; other rows than expected: {[(len(each), each[:3]) for each in different]}"
            bench.counts.fault(name, kind, text)


def between(bench: Bench) -> None:
    """Remove a file between the plan's analysis and the reading."""
    folder = _made(bench)
    source, query = bench.chance.choice(_SOURCES), bench.chance.choice(_QUERIES)
    relation, options = _query(bench, folder, source, query)
    frame = ps.from_substrait(plan(relation), spark=bench.spark, **options)
    (folder / f"part-{bench.chance.randrange(_FILES)}.parquet").unlink()

    def run() -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in frame.collect()]
        except Exception as error:  # a DataFrame's errors are Spark's
            if "FAILED_READ_FILE" in str(error):
                raise SubstraitError(f"a file: {error}") from error
            raise

    _count(bench, "a file vanishes between planning and reading", source, run, [])
    _drop(bench, folder)


def _disturbed(bench: Bench, name: str, change: Callable[[Path], None], more: Sequence[int]) -> None:
    folder = _made(bench)
    source, query = bench.chance.choice(_SOURCES), bench.chance.choice(_QUERIES)
    relation, options = _query(bench, folder, source, query)
    document = plan(relation)
    which = bench.chance.randrange(_FILES)
    numbers = [*range(_FILES)]
    right = [_answer(query, numbers)]
    if more:
        numbers[which] = more[0]
        right.append(_answer(query, numbers))
    began = time.monotonic()

    def run() -> list[tuple[Any, ...]]:
        found = ps.run_query(document, spark=bench.spark, progress=False, **options)
        bench.seconds[f"read {source}"] = time.monotonic() - began
        return tuples(found)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        time.sleep(bench.moment(f"read {source}"))
        change(folder / f"part-{which}.parquet")
        running.exception()
    if not more and query != "sums":
        # if the file is gone before the plan is analysed, it isn't one of the table's
        right.append([row for row in _answer(query, numbers) if not which * _EACH <= row[0] < (which + 1) * _EACH])
    elif not more:
        right.append([(_EACH * (_FILES - 1), _EACH * (sum(numbers) - which))])
    # only Spark reads the file, which this package never replaces under its name
    known = "rows of neither file" if more else None
    _count(bench, name, source, running.result, right, known)
    _drop(bench, folder)


def meanwhile(bench: Bench) -> None:
    """Remove a file at a random moment of a run."""
    _disturbed(bench, "a file vanishes during a run", Path.unlink, [])


def rewritten(bench: Bench) -> None:
    """Replace a file by another one at a random moment of a run."""
    number = bench.chance.randrange(100, 1_000_000)
    _disturbed(bench, "a file is replaced during a run", lambda path: _write(path, number), [number])


def under_a_write(bench: Bench) -> None:
    """Remove a file of a table at a random moment of a write of it."""
    subject, write = bench.choose("plain")
    before = bench.states[subject.name]
    assert before is not None
    files = sorted(subject.folder.glob("*.parquet"))
    victim = bench.chance.choice(files)
    gone = {tuple(row.values()) for row in pq.read_table(victim).select(FORM).to_pylist()}
    rest = state(FORM, [row for row in before.rows if row not in gone])

    def tried() -> SubstraitError | None:
        try:
            write.run()
        except SubstraitError as error:
            return error
        return None

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(tried)
        time.sleep(bench.moment(write.kind))
        victim.unlink(missing_ok=True)
        victim.with_name(f".{victim.name}.crc").unlink(missing_ok=True)
    name = "a file of a table vanishes during a write"
    if (error := running.exception()) is not None:
        bench.counts.fault(name, write.kind, f"a foreign exception: {type(error).__name__}: {error}"[:2000])
        bench.anew()
        return
    bench.spark.catalog.refreshTable(subject.name)
    allowed: dict[str, State | None]
    if running.result() is None:
        # the file may have been removed before, while, or after its rows were changed
        allowed = {"written": write.after(before), "written, without the file": write.after(rest)}
        after = write.after(before)
        assert after is not None
        allowed["written; the file then vanished"] = state(FORM, [row for row in after.rows if row not in gone])
    else:
        allowed = {"refused": rest}
    bench.settle(name, subject, write, allowed)
