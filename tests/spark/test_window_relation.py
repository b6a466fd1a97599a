"""Consistent-partition windows: every kind of frame beside the others, over partitions and sorts that they share.

Expected values are DuckDB's. That the order of the input stays is seen below a filter, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from pyspark_substrait.model.expressions import Bound, BoundsType, Following, Preceding, SortDirection
from pyspark_substrait.model.relations import ConsistentPartitionWindow, Sort, WindowRelFunction
from tests.spark.plans import INT, INT_, call, col, emit, long, number, rows, sort, values, where
from tests.spark.windowing import CURRENT, RANGE, ROWS, UNBOUNDED, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: a number, a partition, a key with gaps, a value with nulls
CELLS = [(i, i % 3, i * 7 % 31, None if i % 5 == 0 else i * 3 % 7) for i in range(30)]
TABLE = values([INT, INT, INT, INT_], CELLS)

FRAMES: list[tuple[tuple[BoundsType | None, Bound, Bound], str]] = [
    ((None, UNBOUNDED, UNBOUNDED), "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
    ((ROWS, UNBOUNDED, CURRENT), "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    ((ROWS, Preceding(long(1)), Following(long(2))), "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING"),
    ((ROWS, CURRENT, UNBOUNDED), "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
    ((ROWS, Preceding(long(3)), Preceding(long(1))), "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING"),
    ((RANGE, Preceding(number(4)), CURRENT), "RANGE BETWEEN 4 PRECEDING AND CURRENT ROW"),
    ((RANGE, CURRENT, Following(number(4))), "RANGE BETWEEN CURRENT ROW AND 4 FOLLOWING"),
    ((RANGE, Following(number(1)), Following(number(6))), "RANGE BETWEEN 1 FOLLOWING AND 6 FOLLOWING"),
    ((RANGE, UNBOUNDED, CURRENT), "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
]


def function(call_: Any) -> WindowRelFunction:
    fields = ("function", "arguments", "output_type", "derived_type", "invocation")
    bounds = ("bounds_type", "lower_bound", "upper_bound")
    return WindowRelFunction(**{field: getattr(call_, field) for field in (*fields, *bounds)})


def test_every_frame_with_several_functions(spark: SparkSession) -> None:
    shuffled = Sort(input=TABLE, sorts=(sort(col(TABLE, 0), SortDirection.DESC_NULLS_LAST),))
    kept = where(shuffled, call("gt", col(TABLE, 0), number(3)))
    value = col(TABLE, 3)
    functions, columns = [function(over("rank"))], ["rank() OVER w"]
    for bounds, words in FRAMES:
        for name, type in (("sum", "BIGINT"), ("max", "INTEGER"), ("count", "BIGINT")):
            functions.append(function(over(name, value, bounds=bounds)))
            columns.append(f"CAST({name}(v) OVER (PARTITION BY p ORDER BY k {words}) AS {type})")
    relation = ConsistentPartitionWindow(
        input=kept,
        window_functions=tuple(functions),
        partition_expressions=(col(TABLE, 1),),
        sorts=(sort(col(TABLE, 2)),),
        common=emit(0, *range(4, 4 + len(functions))),
    )
    found = rows(spark, relation)
    with duckdb.connect() as duck:
        duck.execute("CREATE TABLE t (i INTEGER, p INTEGER, k INTEGER, v INTEGER)")
        duck.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", CELLS)
        sql = (
            f"SELECT i, {', '.join(columns)} FROM t WHERE i > 3 WINDOW w AS (PARTITION BY p ORDER BY k) ORDER BY i DESC"
        )
        assert found == duck.execute(sql).fetchall()
