"""What runs on a cluster: ``python -m tests.cluster.program MASTER FOLDER`` prints the rows of several plans as JSON.

MASTER is a Spark master, or the address of a Spark Connect server. FOLDER has the tables that :func:`make_tables`
wrote. With ``--kill``, one executor is killed while a longer query runs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.expressions import Expression, SortDirection
from pyspark_substrait.model.relations import (
    FileOrFiles,
    JoinType,
    LocalFiles,
    ParquetReadOptions,
    Read,
    RelationBase,
    Set,
    SetOp,
    Sort,
)
from tests.spark.plans import (
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    both,
    call,
    col,
    group,
    join,
    long,
    plan,
    project,
    schema,
    sort,
    stored,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 16
ROWS = 200_000
#: queries of TPC-H that run on a cluster too
QUERIES = ("q01", "q05", "q13", "q16", "q21")

ORDERS = {"id": LONG, "customer": LONG, "status": TEXT_}


def make_tables(folder: Path) -> None:
    """Write the table ``orders`` as several files."""
    target = folder / "orders"
    target.mkdir(parents=True)
    for number in range(FILES):
        ids = range(number * ROWS, (number + 1) * ROWS)
        table = pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "customer": pa.array([(id * 7919) % 1000 for id in ids], pa.int64()),
                "status": pa.array([("open", "done", None)[id % 3] for id in ids], pa.string()),
            }
        )
        pq.write_table(table, target / f"part-{number:02}.parquet")


def plans(folder: Path) -> Mapping[str, RelationBase]:
    """Plans over the tables: joins, windows of groups, sets, sorts, virtual tables and files that the plan names."""
    orders = stored("orders", ORDERS)
    names = values([LONG, TEXT], [[number, f"customer {number}"] for number in range(1000)])
    per_customer = group(
        orders, [col(orders, 1)], [aggregate("count", col(orders, 0)), aggregate("max", col(orders, 0))]
    )
    record = both(per_customer, names)
    named = join(per_customer, names, call("equal", col(record, 0), col(record, 3)), JoinType.LEFT)
    files = LocalFiles(
        items=(FileOrFiles(path_type="uri_folder", path=str(folder / "orders"), file_format=ParquetReadOptions()),)
    )
    read = Read(base_schema=schema(tuple(ORDERS.values()), tuple(ORDERS)), read_type=files)
    few = where(read, call("lt", col(read, 0), long(1000)))
    statuses = group(orders, [col(orders, 2)], [aggregate("count", col(orders, 0))])
    return {
        "named": named,
        "sorted": Sort(input=statuses, sorts=(sort(col(statuses, 0), SortDirection.DESC_NULLS_LAST),)),
        "files": few,
        "sets": Set(members=(few, where(read, call("lt", col(read, 0), long(900)))), op=SetOp.MINUS_PRIMARY_ALL),
    }


def slow(folder: Path) -> RelationBase:
    """A query that takes some seconds on two cores: every task has as much to do as the next."""
    orders = stored("orders", ORDERS)
    number = col(orders, 0)
    mixed: Expression = number
    for step in range(1, 60):
        mixed = call("modulus", call("add", call("multiply", mixed, long(31)), long(step)), long(1_000_003))
    hashed = project(orders, mixed, col(orders, 1))
    return group(hashed, [], [aggregate("sum", col(hashed, 0)), aggregate("count", col(hashed, 1))])


def answers(spark: SparkSession, folder: Path) -> dict[str, list[Any]]:
    """The rows of every plan, as text, in an order of their own."""
    tables = {"orders": str(folder / "orders")}
    found = {
        name: _shown(ps.run_query(plan(node), spark=spark, tables=tables, allowed_paths=[folder]))
        for name, node in plans(folder).items()
    }
    shared = Path(__file__).resolve().parents[3] / "shared" / "plans" / "tpch" / "datafusion"
    tpch = Path(os.environ.get("TPCH", "-"))
    if shared.is_dir() and tpch.is_dir():
        tables = {file.stem: str(file) for file in tpch.glob("*.parquet")}
        for name in QUERIES:
            found[name] = _shown(ps.run_query(shared / f"{name}.pb", spark=spark, tables=tables))
    return found


def _shown(table: pa.Table) -> list[Any]:
    return sorted(repr(row) for row in tuples(table))


def with_a_kill(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """The rows of the slow plan, one of whose executors is killed when a task of it is done."""
    document: Plan = plan(slow(folder))
    killed: list[int] = []
    watcher = threading.Thread(target=_kill_one, args=(spark, killed), daemon=True)
    watcher.start()
    rows = _shown(ps.run_query(document, spark=spark, tables={"orders": str(folder / "orders")}))
    watcher.join(30)
    return {"rows": rows, "killed": killed, "alive": [pid for pid in killed if Path(f"/proc/{pid}").exists()]}


def _kill_one(spark: SparkSession, killed: list[int]) -> None:
    tracker = spark.sparkContext.statusTracker()
    for _ in range(6000):
        running = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage is not None and stage.numTasks >= FILES // 2 and stage.numCompletedTasks for stage in running):
            victim = next(executors(), None)
            if victim is not None:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            return
        time.sleep(0.01)


def executors() -> Iterator[int]:
    """The processes of executors that this program's Spark has."""
    driver = str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in command and driver in _ancestors(process):
                yield int(process.name)
        except OSError:
            continue


def _ancestors(process: Path) -> set[str]:
    found: set[str] = set()
    while process.name != "0":
        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        found.add(parent)
        process = process.parent / parent
    return found


def main() -> None:
    """Run everything on the cluster that the arguments name."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("master")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--kill", action="store_true")
    given = arguments.parse_args()
    from pyspark_substrait.spark.session_start import embedded_session

    settings: dict[str, str | int] = {"spark.sql.shuffle.partitions": 4}
    remote = given.master if given.master.startswith("sc://") or "TEST_REMOTE" in os.environ else None
    if remote is None and not given.master.startswith("local["):
        settings |= {"spark.executor.memory": "1g", "spark.sql.files.maxPartitionBytes": "1m"}
    spark = embedded_session(None if remote else given.master, remote, **settings)
    try:
        found = with_a_kill(spark, given.folder) if given.kill else answers(spark, given.folder)
    finally:
        spark.stop()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
