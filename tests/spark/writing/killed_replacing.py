"""Replaces tables with other columns for ever, in a catalog that outlives the process, and says what it finds first.

Run as a program of its own: ``python killed_replacing.py FOLDER KIND``. The first line is JSON: for each kind of
command, the columns and records of its table after a next command, and what stands beside it. Then comes a line with
the kind before each command, and an empty line behind it; the first command is of the kind that is given.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import cycle
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from pyspark_substrait.model.relations import CreateMode, DdlOp, RelationBase, WriteOp
from pyspark_substrait.spark.session_start import embedded_session
from tests.conftest import QUICK_SETTINGS
from tests.spark.plans import LONG, TEXT, run, table_names, values
from tests.spark.writing.ddl import table
from tests.spark.writing.records import write

ALTERED, CREATED = "altered", "created_as"
COLUMNS: tuple[dict[str, Any], ...] = ({"n": LONG, "name": TEXT}, {"name": TEXT, "n": LONG})
RECORDS: tuple[list[tuple[Any, ...]], ...] = ([(1, "a"), (2, "b")], [("a", 1), ("b", 2)])
#: the columns and the records of each table in its two forms
STATES = [
    [list(columns), [list(record) for record in records]] for columns, records in zip(COLUMNS, RECORDS, strict=True)
]


def created(name: str, form: int, mode: CreateMode) -> RelationBase:
    columns = COLUMNS[form]
    input = values(tuple(columns.values()), RECORDS[form])
    return write(WriteOp.CTAS, name, input, columns, create_mode=mode)


def command(name: str, form: int) -> RelationBase:
    """The command that brings a table into its other form."""
    if name == ALTERED:
        return table(DdlOp.ALTER, name, COLUMNS[form])
    return created(name, form, CreateMode.REPLACE_IF_EXISTS)


def found(spark: SparkSession, name: str) -> tuple[list[str], list[list[Any]]]:
    frame = spark.table(name)
    return frame.columns, sorted(list(row) for row in frame.collect())


def main(folder: Path, first: str) -> None:
    os.chdir(folder)
    spark = embedded_session(
        "local[1]",
        **{
            "spark.sql.catalogImplementation": "hive",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
            **QUICK_SETTINGS,
            "spark.ui.enabled": False,
        },
    )
    verdict: dict[str, Any] = {}
    for name in (ALTERED, CREATED):
        verdict[f"{name} before"] = spark.catalog.tableExists(name)
        run(spark, created(name, 0, CreateMode.IGNORE_IF_EXISTS))
        verdict[name] = found(spark, name)
    verdict["tables"] = sorted(table_names(spark))
    verdict["folders"] = sorted(os.listdir(folder / "warehouse"))
    verdict["records"] = [
        row.key
        for name in (ALTERED, CREATED)
        for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        if row.key.startswith("pyspark_substrait")
    ]
    print(json.dumps(verdict), flush=True)
    forms = {name: 1 - [STATES[0][0], STATES[1][0]].index(verdict[name][0]) for name in (ALTERED, CREATED)}
    for name in cycle((ALTERED, CREATED) if first == ALTERED else (CREATED, ALTERED)):
        print(name, flush=True)
        run(spark, command(name, forms[name]))
        print(flush=True)
        forms[name] = 1 - forms[name]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
