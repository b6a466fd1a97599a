"""Kill executors of a cluster on this machine in mid-query, again and again: the same rows, or a clear error.

Run as a program of its own: ``python -m faults.executors FOLDER SEED SECONDS``; it prints the tries as JSON.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from faults.outcomes import Counts
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.relations import CreateMode, JoinType, RelationBase, WriteOp
from pyspark_substrait.spark.session_start import embedded_session
from tests.cluster.program import executors
from tests.spark.plans import (
    LONG,
    LONG_,
    aggregate,
    both,
    call,
    col,
    group,
    join,
    long,
    project,
    rows,
    stored,
    where,
)
from tests.spark.writing.records import write

__all__ = ["main"]

MASTER: Final = "local-cluster[2,1,1024]"
_FILES, _ROWS, _STEPS = 8, 20_000, 30
_COLUMNS: Final = {"id": LONG, "customer": LONG}
_SETTINGS: Final[Mapping[str, str | int]] = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.sql.shuffle.partitions": 4,
    "spark.sql.files.maxPartitionBytes": "128k",
    "spark.deploy.maxExecutorRetries": -1,
}


def _tables(folder: Path) -> Path:
    target = folder / "orders"
    target.mkdir(parents=True)
    types = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in _COLUMNS])
    for number in range(_FILES):
        ids = range(number * _ROWS, (number + 1) * _ROWS)
        columns = [pa.array(ids, pa.int64()), pa.array([id * 7919 % 1000 for id in ids], pa.int64())]
        pq.write_table(pa.table(columns, schema=types), target / f"part-{number}.parquet")
    return target


def _mixed(id: int) -> int:
    for step in range(_STEPS):
        id = (id * 31 + step) % 1_000_003
    return id


def _hashed() -> RelationBase:
    orders = stored("orders", _COLUMNS)
    mixed: Any = col(orders, 0)
    for step in range(_STEPS):
        mixed = call("modulus", call("add", call("multiply", mixed, long(31)), long(step)), long(1_000_003))
    return project(orders, col(orders, 1), mixed)


def _summed() -> RelationBase:
    hashed = _hashed()
    return group(hashed, [col(hashed, 0)], [aggregate("sum", col(hashed, 1)), aggregate("count", col(hashed, 1))])


def _joined() -> RelationBase:
    left, right = _hashed(), stored("orders", _COLUMNS)
    few = where(right, call("lt", col(right, 0), long(2000)))
    record = both(left, few)
    joined = join(left, few, call("equal", col(record, 0), col(record, 3)), JoinType.INNER)
    return group(joined, [], [aggregate("count", col(joined, 0)), aggregate("sum", col(joined, 1))])


def _killed(chance: random.Random, seconds: float, running: Future[Any]) -> int:
    """Kill one executor, or all, at a random moment of a query; return how many were killed while it ran."""
    there = sorted(executors())
    victims = there if chance.random() < 0.2 else chance.sample(there, min(1, len(there)))
    wait([running], chance.random() * seconds)
    if running.done():
        return 0
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    return len(victims)


def _await_executors() -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and len([*executors()]) < 2:
        time.sleep(0.2)


def main(folder: Path, seed: int, seconds: float) -> None:
    """Run queries, and kill executors of each, until the time is over."""
    chance = random.Random(seed)
    orders = _tables(folder)
    ids = range(_FILES * _ROWS)
    hashes = [(id * 7919 % 1000, _mixed(id)) for id in ids]
    spark = embedded_session(MASTER, None, **{**_SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")})
    tables = {"orders": str(orders)}
    spark.sql("CREATE TABLE written (customer BIGINT NOT NULL, v BIGINT) USING parquet")
    by_customer: dict[int, list[int]] = {}
    for customer, value in hashes:
        by_customer.setdefault(customer, []).append(value)
    customers = [id * 7919 % 1000 for id in range(2000)]
    summed = sorted((customer, sum(found), len(found)) for customer, found in by_customer.items())
    joined = [
        (
            sum(len(by_customer[customer]) for customer in customers),
            sum(sum(by_customer[customer]) for customer in customers),
        )
    ]

    def read(relation: RelationBase) -> list[tuple[Any, ...]]:
        return sorted(rows(spark, relation, tables=tables, progress=False))

    def written() -> list[tuple[Any, ...]]:
        hashed = _hashed()
        replaced = write(
            WriteOp.CTAS,
            "written",
            hashed,
            {"customer": LONG, "v": LONG_},
            create_mode=CreateMode.REPLACE_IF_EXISTS,
        )
        rows(spark, replaced, tables=tables, progress=False)
        found = pa.dataset.dataset(str(folder / "warehouse" / "written"), format="parquet").to_table()
        return sorted(zip(found["customer"].to_pylist(), found["v"].to_pylist(), strict=True))

    queries: dict[str, tuple[Callable[[], list[tuple[Any, ...]]], list[tuple[Any, ...]]]] = {
        "aggregate": (lambda: read(_summed()), summed),
        "join": (lambda: read(_joined()), joined),
        "CTAS REPLACE": (written, sorted(hashes)),
    }
    counts, lasted = Counts(), dict[str, float]()
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        name = [*queries][turn % len(queries)]
        run, expected = queries[name]
        turn += 1
        _await_executors()
        began = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            killed = _killed(chance, lasted[name], running) if name in lasted else 0
            error = running.exception()
        if not killed:  # the first time takes longest
            lasted[name] = min(lasted.get(name, float("inf")), time.monotonic() - began)
        group_ = f"{'both executors' if killed == 2 else 'an executor'} killed"
        if error is not None and not isinstance(error, SubstraitError):
            counts.fault(group_, name, f"{type(error).__name__}: {error}"[:2000])
        elif error is not None:
            counts.add(group_, name, f"error: {str(error)[:200]}")
        elif running.result() != expected:
            counts.fault(group_, name, f"{len(running.result())} rows, not {len(expected)}")
        elif killed:
            counts.add(group_, name, "same rows")
        print(counts.to_json(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
