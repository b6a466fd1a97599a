"""Changes a table at a path for ever, and says before each change and behind it where it is.

Run as a program of its own: ``python killed.py FOLDER``. The table has the records 0, 1, … ``n``; the changes add one,
remove it, add one to all of them and replace them all, in turns.
"""

from __future__ import annotations

import sys
from itertools import cycle
from pathlib import Path

from pyspark_substrait.model.relations import CreateMode, RelationBase, WriteOp
from pyspark_substrait.spark.session_start import embedded_session
from tests.spark.plans import LONG, call, col, long, run, stored, values, where
from tests.spark.writing.records import delete, insert, update, write

COLUMNS = {"n": LONG}
NAME = "killed"


def changed(kind: str, records: list[int]) -> list[int]:
    """What a change makes of the records."""
    match kind:
        case "insert":
            return [*records, 100]
        case "update":
            return [record + 1 for record in records]
        case "delete":
            return [record for record in records if record < 100]
        case _:
            return [0, 1, 2]


KINDS = ("insert", "update", "delete", "replace")


def relation(kind: str) -> RelationBase:
    source = stored(NAME, COLUMNS)
    match kind:
        case "insert":
            return insert(NAME, values([LONG], [(100,)]), COLUMNS)
        case "update":
            return update(NAME, None, [(0, call("add", col(source, 0), long(1)))], COLUMNS)
        case "delete":
            return delete(NAME, where(source, call("gte", col(source, 0), long(100))), COLUMNS)
        case _:
            input = values([LONG], [(0,), (1,), (2,)])
            return write(WriteOp.CTAS, NAME, input, COLUMNS, create_mode=CreateMode.REPLACE_IF_EXISTS)


def main(folder: Path) -> None:
    spark = embedded_session("local[1]", **{"spark.sql.shuffle.partitions": 1})
    spark.sql(f"CREATE TABLE {NAME} (n BIGINT NOT NULL) USING parquet LOCATION '{folder}'")
    run(spark, relation("replace"))
    records = [0, 1, 2]
    for kind in cycle(KINDS):
        print(f"{kind} {records}", flush=True)
        run(spark, relation(kind))
        records = changed(kind, records)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
