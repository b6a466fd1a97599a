"""Fitting plans to tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from pyspark_substrait.api.loading import PlanSource, bound_message, extensions_of, message_of
from pyspark_substrait.binding import Tables
from pyspark_substrait.binding.schemas import TableSchemas, engine_schemas, of_source
from pyspark_substrait.binding.tables import Names, Schemas
from pyspark_substrait.documents import Plan, as_document
from pyspark_substrait.errors import InvalidPlanError, TableError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.spark.table_schemas import SessionTables, of_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark.tables import Given

__all__ = ["TablesToBind", "bind", "lacks_types", "with_types"]

#: tables by name, or the session of an engine that has them
TablesToBind: TypeAlias = Union[Mapping[Any, Any], "SparkSession", Any]


def bind(
    plan: PlanSource,
    tables: TablesToBind,
    *,
    rename: Mapping[str, str | Names] | None = None,
    registry: Registry | None = None,
) -> Plan:
    """Return a plan that fits the tables it will meet exactly, whoever made it.

    Each read of a named table gets the name that the table has, all of its columns in their order, and their types. A
    table or column is found by its name, or else by one that differs in case only. Types that the plan leaves unbound
    are filled in, and the types and functions above are derived from them. A column of another type is cast in a
    projection over the read, where no value can be lost unnoticed: to a wider type, or to an integer or decimal for
    which a value that doesn't fit is an error. A column that may be null in the table may be null in the plan. Each
    change is one of the result's ``notes``.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        tables: a schema or data for each name: a ``pyarrow.Schema``, a Spark schema or DataFrame, a ``NamedStruct``,
            Arrow data, or a path of Parquet, ORC, Arrow or CSV files. Or a session that has the tables: a Spark
            session, a DataFusion ``SessionContext``, a DuckDB connection.
        rename: the names of tables by the names that the plan has for them (dotted), where these differ.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.

    Raises:
        TableError: a table or a column is missing, or is of a type that can't be cast to the plan's without loss.
        InvalidPlanError: the plan is wrong, or leaves a type unbound that no table has.
        UnsupportedPlanError: a read takes columns apart that would have to be cast or moved.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("ORDERS", {"ID": "i32"}).to_plan()
        >>> print(substrait.explain(substrait.bind(plan, {"orders": pa.schema([("id", pa.int32())])})))
        Plan (0.108.0 by pyspark-substrait)
        Root[ID: i32? = id]
          Read[orders => id: i32?]
        2 assumptions made
    """
    names = {name: _parts(other) for name, other in (rename or {}).items()}
    bound = _bound(plan, Tables(_schemas(tables), names), extensions_of(plan, registry))
    for relation in _reads(bound):
        if is_unbound(relation.base_schema.struct):
            raise InvalidPlanError(
                "a read leaves types of its columns unbound, and is not a read of a named table",
                hint="State the types, or name a table",
            )
    return bound


def lacks_types(plan: Plan) -> bool:
    """Whether a plan leaves types of the columns of named tables unbound."""
    return any(is_unbound(node.base_schema.struct) for node in _reads(plan) if isinstance(node.read_type, NamedTable))


def with_types(plan: Plan, tables: Given | None, spark: SparkSession, registry: Registry) -> Plan:
    """Return a plan with the unbound types of the tables' columns, from given tables or those of a session's catalog.

    Raises:
        TableError: a table or a column is missing.
    """
    schemas = _Several(TableSchemas(tables or {}, _schema_of), SessionTables(spark))
    return _bound(plan, Tables(schemas, only_unbound=True), registry)


class _Several:
    """Tables from several sources; the first that has one of a name counts."""

    def __init__(self, *sources: Schemas) -> None:
        self._sources = sources

    def names(self) -> list[Names]:
        return [name for source in self._sources for name in source.names()]

    def table(self, names: Names) -> tuple[Names, NamedStruct] | None:
        return next((found for source in self._sources if (found := source.table(names)) is not None), None)


def _bound(plan: PlanSource, tables: Tables, registry: Registry) -> Plan:
    parsed = message_of(plan)
    bound = as_document(bound_message(parsed, registry, tables=tables).document, deep=parsed.deep, registry=registry)
    if not isinstance(bound, Plan):
        raise InvalidPlanError("this is an extended expression, which reads no tables", hint="bind(...) is for plans")
    notes = (*bound.notes, *tables.notes)
    if not isinstance(plan, Plan):
        return replace(bound, notes=notes)
    return replace(bound, notes=(*plan.notes, *notes), upgrades=plan.upgrades, original_version=plan.original_version)


def _schemas(tables: Any) -> Schemas:
    if isinstance(tables, Mapping):
        return TableSchemas(tables, _schema_of)
    if hasattr(tables, "createDataFrame") and hasattr(tables, "catalog"):
        return SessionTables(tables)
    found = engine_schemas(tables)
    if found is None:
        raise TableError(
            f"the tables are given as a {type(tables).__name__}",
            hint="Give schemas or data by name, or a session of Spark, DataFusion or DuckDB",
        )
    return found


def _schema_of(name: str, source: Any) -> NamedStruct:
    """Return the schema of a table; for a DataFrame of Spark, or its schema, that of Spark."""
    schema: Any = source if hasattr(source, "jsonValue") else getattr(source, "schema", None)
    return of_spark(schema) if hasattr(schema, "jsonValue") else of_source(name, source)


def _reads(plan: Plan) -> Iterator[Read]:
    trees = [tree.input if isinstance(tree, RelRoot) else tree for tree in plan.relations]
    return (node for node in relations_within(*trees) if isinstance(node, Read))


def _parts(name: str | Names) -> Names:
    return tuple(name.split(".")) if isinstance(name, str) else tuple(name)
