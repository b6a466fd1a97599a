"""Plans of definitions: short ways to write them, to run them, and to look at what they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Ddl, DdlObject, DdlOp, NamedObjectWrite, Relation, RelationBase
from pyspark_substrait.model.types import NamedStruct, Type
from tests.spark.plans import plan, schema
from tests.spark.writing.records import catalog_says

Names = str | Sequence[str]


def unique(prefix: str = "ddl") -> str:
    """A name that no other test has."""
    return f"{prefix}_{uuid4().hex}"


def named(names: Names) -> NamedObjectWrite:
    return NamedObjectWrite(names=(names,) if isinstance(names, str) else tuple(names))


def table(
    op: DdlOp,
    names: Names,
    columns: Mapping[str, Type] | NamedStruct | None = None,
    defaults: Sequence[Literal] | None = None,
    **more: Any,
) -> Ddl:
    """A definition of a table."""
    if isinstance(columns, Mapping):
        columns = schema(tuple(columns.values()), tuple(columns))
    return Ddl(
        write_type=named(names),
        object=DdlObject.TABLE,
        op=op,
        table_schema=columns,
        table_defaults=None if defaults is None else tuple(defaults),
        **more,
    )


def view(
    op: DdlOp,
    names: Names,
    definition: Relation | None = None,
    columns: Sequence[str] = (),
    **more: Any,
) -> Ddl:
    """A definition of a view; its columns have the types that the definition gives."""
    described = None if definition is None else schema(definition.schema.types, columns)
    return Ddl(
        write_type=named(names),
        object=DdlObject.VIEW,
        op=op,
        table_schema=more.pop("table_schema", described),
        view_definition=definition,
        **more,
    )


def carry_out(spark: SparkSession, node: RelationBase, **options: Any) -> None:
    """Run a plan that puts out nothing."""
    found = ps.run_query(plan(node), spark=spark, **options)
    assert found.num_columns == 0 and found.num_rows == 0


def described(spark: SparkSession, name: str) -> list[tuple[str, str, bool, str | None]]:
    """What Spark's catalog says of the columns of a table: name, type, whether null may be there, default."""
    types = {field.name: field.dataType.simpleString() for field in spark.table(name).schema.fields}
    return [
        (column["name"], types[column["name"]], column["nullable"], column.get("default"))
        for column in catalog_says(spark, name)["columns"]
    ]


def found_rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(query).collect()]
