"""Short ways to write plans down that change the records of tables, and to look at the tables afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import (
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Relation,
    TransformExpression,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import NamedStruct, Type
from pyspark_substrait.spark.arrow_transfer import collected
from tests.spark.plans import INT, INT_, TEXT_, ordered, schema, tuples

MODIFIED = OutputMode.MODIFIED_RECORDS

#: the columns of most tables here
PEOPLE = {"id": INT, "name": TEXT_, "age": INT_}

_numbers = count(1)


def columns(named: Mapping[str, Type] | NamedStruct) -> NamedStruct:
    return named if isinstance(named, NamedStruct) else schema(tuple(named.values()), tuple(named))


def write(
    op: WriteOp,
    name: str | tuple[str, ...],
    input: Relation,
    named: Mapping[str, Type] | NamedStruct = PEOPLE,
    **more: Any,
) -> Write:
    """A write to a named table."""
    names = (name,) if isinstance(name, str) else name
    return Write(
        write_type=NamedObjectWrite(names=names),
        table_schema=columns(named),
        op=op,
        input=input,
        **more,
    )


def insert(name: str, input: Relation, named: Mapping[str, Type] | NamedStruct = PEOPLE, **more: Any) -> Write:
    return write(WriteOp.INSERT, name, input, named, **more)


def delete(name: str, input: Relation, named: Mapping[str, Type] | NamedStruct = PEOPLE, **more: Any) -> Write:
    return write(WriteOp.DELETE, name, input, named, **more)


def update(
    name: str,
    condition: Expression | None,
    changes: Sequence[tuple[int, Expression]],
    named: Mapping[str, Type] | NamedStruct = PEOPLE,
    **more: Any,
) -> Update:
    return Update(
        update_type=NamedTable(names=(name,)),
        table_schema=columns(named),
        condition=condition,
        transformations=tuple(TransformExpression(transformation=value, column_target=at) for at, value in changes),
        **more,
    )


@contextmanager
def table(
    spark: SparkSession, ddl: str = "id INT NOT NULL, name STRING, age INT", rest: str = "USING parquet"
) -> Iterator[str]:
    """A new table, dropped in the end."""
    name = f"written_{next(_numbers)}"
    spark.sql(f"CREATE TABLE {name} ({ddl}) {rest}")
    try:
        yield name
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def stored(spark: SparkSession, name: str) -> list[tuple[Any, ...]]:
    """The records that Spark finds in a table, in an order of their own."""
    return ordered(tuples(collected(spark.table(name))))


def catalog_says(spark: SparkSession, name: str) -> dict[str, Any]:
    """The description of a table in Spark's own catalog."""
    if spark.version >= "4":
        found: dict[str, Any] = json.loads(spark.sql(f"DESCRIBE TABLE EXTENDED {name} AS JSON").collect()[0][0])
        return found
    told = {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()}
    pairs = re.findall(r"([^\[,\s=]+)=([^,\]]*)", told.get("Table Properties", ""))
    columns = [
        {"name": field.name, "nullable": field.nullable, "default": field.metadata.get("CURRENT_DEFAULT")}
        for field in spark.table(name).schema.fields
    ]
    return {
        "location": told["Location"],
        "provider": told["Provider"],
        "type": told["Type"],
        "table_properties": dict(pairs),
        "columns": columns,
    }


def folder(spark: SparkSession, name: str) -> Path:
    """Where the files of a table are."""
    return Path(catalog_says(spark, name)["location"].removeprefix("file:"))
