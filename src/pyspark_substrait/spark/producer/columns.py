"""Translate Spark columns over a schema to extended expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.plan import PRODUCER, ExpressionReference, ExtendedExpression, Version
from pyspark_substrait.model.relations import Project, Read, Relation
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.model.walk import subquery_relation as _subquery
from pyspark_substrait.model.walk import with_children
from pyspark_substrait.spark.producer.catalyst import plan_of
from pyspark_substrait.spark.producer.forms import FORMS
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.reads import named_frame
from pyspark_substrait.spark.producer.scope import Production
from pyspark_substrait.spark.producer.types import names_of, type_of
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import first_line

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["expressions_from"]


def expressions_from(
    over: DataFrame | StructType | str,
    columns: Column | Sequence[Column | str] | Mapping[str, Column],
    *,
    names: Sequence[str] | None = None,
    spark: SparkSession | None = None,
    registry: Registry,
    portable: bool = False,
) -> ExtendedExpression:
    """Return the extended expression of columns; for arguments and errors, see ``to_substrait_expressions``."""
    from pyspark.sql import DataFrame, SparkSession

    session: Any = over.sparkSession if isinstance(over, DataFrame) else spark or SparkSession.getActiveSession()
    if session is None:
        raise InvalidPlanError("there is no Spark session to analyse the columns in", hint="Start one, or give it")
    if is_connect(session):
        raise UnsupportedPlanError(
            "extended expressions are made of columns of classic sessions only",
            hint="Build it: pyspark_substrait.builder.extended_expression",
        )
    given, labels = _listed(columns, names)
    records = over if isinstance(over, DataFrame) else _empty(session, over)
    try:
        frame = records.select(*given)
    except spark_errors() as error:
        raise InvalidPlanError(f"Spark rejects the columns: {first_line(error)}") from error
    if labels is not None:
        if len(labels) != len(frame.columns):
            raise InvalidPlanError(f"{len(labels)} names were given for {len(frame.columns)} expressions")
        frame = frame.toDF(*labels)
    frames = (named_frame("records", records),)  # how they are computed doesn't matter
    production = Production(forms=FORMS, session=session, registry=registry, portable=portable, frames=frames)
    made = relation(plan_of(getattr(frame, "_jdf").queryExecution().analyzed()), production)  # noqa: B009
    base = _base_schema(records.schema.jsonValue()["fields"])
    fields = frame.schema.jsonValue()["fields"]
    values = _values(made.relation, base)
    return ExtendedExpression(
        referred_expr=tuple(
            ExpressionReference(expr=value, output_names=(field["name"], *names_of(field["type"])))
            for value, field in zip(values, fields, strict=True)
        ),
        base_schema=base,
        version=Version.current(PRODUCER),
    )


def _empty(session: Any, schema: Any) -> Any:
    """Return an empty DataFrame of a schema."""
    try:
        return session.createDataFrame([], schema)
    except spark_errors() as error:
        raise InvalidPlanError(f"Spark rejects the schema: {first_line(error)}") from error


def _listed(columns: Any, names: Sequence[str] | None) -> tuple[list[Any], Sequence[str] | None]:
    """Return the columns as a list, and their names if given."""
    if isinstance(columns, Mapping):
        if names is not None:
            raise InvalidPlanError("the columns have names already")
        return list(columns.values()), tuple(columns)
    return (list(columns) if isinstance(columns, list | tuple) else [columns]), names


def _base_schema(fields: Sequence[Any]) -> NamedStruct:
    names = tuple(name for field in fields for name in (field["name"], *names_of(field["type"])))
    return NamedStruct(names=names, struct=Struct(types=tuple(type_of(one["type"], one["nullable"]) for one in fields)))


def _values(made: Relation, base: NamedStruct) -> list[Expression]:
    """Return the expressions of projections, over the records of the empty DataFrame."""
    if isinstance(made, Read):
        values: list[Expression] = [
            FieldReference(root=RootReference(), reference=(StructField(position),), type=type)
            for position, type in enumerate(base.struct.types)
        ]
    elif isinstance(made, Project):
        below = _values(made.input, base)
        values = [*below, *(_over(expression, below) for expression in made.expressions)]
    else:
        raise UnsupportedPlanError(
            "an expression aggregates, or makes several records of one",
            hint="Send the query as a plan: to_substrait",
        )
    emit = made.common.emit
    return values if emit is None else [values[position] for position in emit]


def _over(expression: Expression, below: Sequence[Expression]) -> Expression:
    """Convert an expression over computed columns to one over the records below."""
    if _subquery(expression) is not None:
        raise UnsupportedPlanError("an expression outside a plan has no subquery")
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=position), *rest)):
            value = below[position]
            if not rest:
                return value
            if isinstance(value, FieldReference) and isinstance(value.reference, tuple):
                return replace(expression, root=value.root, reference=(*value.reference, *rest))
            return replace(expression, root=value, reference=tuple(rest))
        case _:
            return with_children(expression, lambda child: _over(child, below))
