"""Large plans and large inputs, of any size: what tests run once, the benchmark measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyspark_substrait.model.expressions import SingularOrList
from pyspark_substrait.model.relations import FileOrFiles, LocalFiles, ParquetReadOptions, Read
from pyspark_substrait.model.types import I64
from pyspark_substrait.proto import messages
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from tests.spark.plans import LONG, aggregate, call, col, group, long, plan, project, schema, stored, values, where

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Large:
    """A plan of some size.

    Args:
        plan: the plan, as it comes from elsewhere: binary.
        tables: the tables that it reads.
        allowed: the files that it names.
        rows: its rows, worked out in Python.
        peer: the same by hand in Spark.
    """

    plan: bytes
    rows: list[tuple[Any, ...]]
    peer: Callable[[SparkSession], DataFrame]
    tables: dict[str, Any]
    allowed: tuple[Path, ...] = ()


def virtual_rows(size: int, folder: Path) -> Large:
    """An aggregate over a virtual table of so many rows: number, text and a nullable number."""
    read = messages.Rel().read
    required = messages.Type.NULLABILITY_REQUIRED
    nullable = messages.Type.NULLABILITY_NULLABLE
    read.base_schema.names.extend(["id", "name", "value"])
    struct = read.base_schema.struct
    struct.nullability = required
    struct.types.add().i64.nullability = required
    struct.types.add().string.nullability = required
    struct.types.add().fp64.nullability = nullable
    add = read.virtual_table.expressions.add
    for number in range(size):
        fields = add().fields
        fields.add().literal.i64 = number
        fields.add().literal.string = f"name {number % 100}"
        value = fields.add().literal
        value.nullable = True
        if number % 10:
            value.fp64 = number / 2
        else:
            value.null.fp64.nullability = nullable
    message = messages.Plan()
    message.version.minor_number = 108
    root = message.relations.add().root
    root.input.read.CopyFrom(read)
    root.names.extend(["id", "name", "value"])
    rows = [(n, f"name {n % 100}", n / 2 if n % 10 else None) for n in range(size)]

    def peer(spark: SparkSession) -> DataFrame:
        columns = list(zip(*rows, strict=True))
        table = pa.table({"id": columns[0], "name": columns[1], "value": columns[2]})
        return frame_of_arrow(spark, table)

    return Large(plan=message.SerializeToString(), rows=rows, peer=peer, tables={})


def wide_table(size: int, folder: Path) -> Large:
    """All columns of a Parquet file that has so many, one of them changed."""
    file = folder / f"wide-{size}.parquet"
    names = [f"column_{number}" for number in range(size)]
    if not file.exists():
        pq.write_table(pa.table({name: [number, number + 1] for number, name in enumerate(names)}), file)
    read = stored("wide", dict.fromkeys(names, I64(nullable=True)))
    changed = project(read, *(col(read, number) for number in range(size - 1)), call("add", col(read, 0), long(1)))
    wanted = [(*(number + row for number in range(size - 1)), row + 1) for row in (0, 1)]

    def peer(spark: SparkSession) -> DataFrame:
        frame = spark.read.parquet(str(file))
        return frame.select(*names[:-1], (frame.column_0 + 1).alias("changed"))

    return Large(plan=plan(changed).to_bytes(), rows=wanted, peer=peer, tables={"wide": str(file)})


def many_files(size: int, folder: Path) -> Large:
    """A sum over so many Parquet files, each of which the plan names."""
    target = folder / f"files-{size}"
    if not target.exists():
        target.mkdir()
        for number in range(size):
            pq.write_table(pa.table({"number": pa.array([number], pa.int64())}), target / f"{number:05}.parquet")
    items = tuple(
        FileOrFiles(path_type="uri_file", path=str(target / f"{number:05}.parquet"), file_format=ParquetReadOptions())
        for number in range(size)
    )
    read = Read(base_schema=schema([LONG], ["number"]), read_type=LocalFiles(items=items))
    total = group(read, [], [aggregate("sum", col(read, 0)), aggregate("count", col(read, 0))])

    def peer(spark: SparkSession) -> DataFrame:
        frame = spark.read.parquet(*(item.path for item in items))
        return frame.selectExpr("sum(number)", "count(number)")

    rows = [(size * (size - 1) // 2, size)]
    return Large(plan=plan(total).to_bytes(), rows=rows, peer=peer, tables={}, allowed=(target,))


def long_chain(size: int, folder: Path) -> Large:
    """So many relations one above the other: projections, and filters between them."""
    node: Any = values([LONG], [(1,), (2,)])
    for step in range(1, size):
        node = project(node, call("add", col(node, 0), long(1))) if step % 2 else where(node, _positive(node))
    added = size // 2

    def peer(spark: SparkSession) -> DataFrame:
        frame = spark.createDataFrame([(1,), (2,)], "c bigint")
        for step in range(1, size):
            frame = frame.selectExpr("c + 1 AS c") if step % 2 else frame.where("c > 0")
        return frame

    return Large(plan=plan(node).to_bytes(), rows=[(1 + added,), (2 + added,)], peer=peer, tables={})


def _positive(node: Any) -> Any:
    return call("gt", col(node, 0), long(0))


def or_list(size: int, folder: Path) -> Large:
    """Which numbers of a table are in a list of so many."""
    table = pa.table({"number": pa.array(range(2 * size), pa.int64())})
    read = stored("numbers", {"number": LONG})
    options = tuple(long(3 * number) for number in range(size))
    node = where(read, SingularOrList(value=col(read, 0), options=options))

    def peer(spark: SparkSession) -> DataFrame:
        listed = ", ".join(f"{3 * number}L" for number in range(size))
        return spark.sql(f"SELECT * FROM {{numbers}} WHERE number IN ({listed})", numbers=frame_of_arrow(spark, table))

    rows = [(number,) for number in range(0, 2 * size, 3)]
    return Large(plan=plan(node).to_bytes(), rows=rows, peer=peer, tables={"numbers": table})


#: what grows, how it is made, and the sizes to look at; the largest is the one that has to run
GROWTH: dict[str, tuple[Callable[[int, Path], Large], tuple[int, ...]]] = {
    "rows of a virtual table": (virtual_rows, (10_000, 100_000, 1_000_000)),
    "columns of a table": (wide_table, (500, 1_000, 2_000)),
    "files of a read": (many_files, (1_000, 3_000, 10_000)),
    "relations in a chain": (long_chain, (125, 250, 500)),
    "elements of an or-list": (or_list, (500, 1_500, 5_000)),
}
