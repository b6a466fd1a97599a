"""A DataFrame as a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import Plan, RelRoot, Version
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import same_type
from pyspark_substrait.spark.producer.catalyst import plan_of
from pyspark_substrait.spark.producer.expressions import typed
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import DEFAULT_ROWS, Production, field_of
from pyspark_substrait.spark.producer.types import names_of, type_of
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["DEFAULT_ROWS", "plan_from"]

PRODUCER = "pyspark-substrait"


def plan_from(
    frame: DataFrame,
    *,
    registry: Registry,
    tables: Sequence[str] = (),
    max_rows: int = DEFAULT_ROWS,
    optimized: bool = False,
) -> Plan:
    """The plan of a DataFrame; ``to_substrait`` of the package has the arguments and errors."""
    spark: Any = frame.sparkSession
    if is_connect(spark):
        raise UnsupportedPlanError(
            "plans are made of DataFrames of classic sessions only: Spark Connect keeps the query on the server",
            hint="Make it in a classic session, or send the SQL text there",
        )
    java: Any = getattr(frame, "_jdf")  # noqa: B009
    execution = java.queryExecution()
    production = Production(
        session=spark, registry=registry, tables=frozenset(name.lower() for name in tables), max_rows=max_rows
    )
    found = relation(plan_of(execution.optimizedPlan() if optimized else execution.analyzed()), production)
    schema = frame.schema.jsonValue()
    names = [name for field in schema["fields"] for name in (field["name"], *names_of(field["type"]))]
    root = RelRoot(input=_of_schema(found.relation, schema["fields"]), names=tuple(names))
    return Plan(relations=(*production.trees, root), version=Version(producer=PRODUCER))


def _of_schema(input: Relation, fields: Sequence[Any]) -> Relation:
    """The relation with exactly the types that its columns have in Spark, nullability included."""
    values = []
    for position, one in enumerate(fields):
        value, wanted = field_of(input.schema, position), type_of(one["type"], one["nullable"])
        values.append(value if same_type(value.type, wanted) else typed(value, wanted))
    return projected(input, values)
