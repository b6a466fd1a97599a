"""Translate reads: files, tables of catalogs, and views and DataFrames that the plan reads by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.model.relations import NamedTable, Read, VirtualTable
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.catalog_tables import (
    is_of_spark,
    other_options,
    read_options,
    refuse_metadata_columns,
    require_current_table,
    require_read_of_name,
)
from pyspark_substrait.spark.producer.relations.files import NAME_IT, Source, local_files
from pyspark_substrait.spark.producer.relations.schemas import schema_of, schema_of_fields
from pyspark_substrait.spark.producer.scope import NamedFrame, Output, Production, Scope, column, columns_of
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["FORMS", "named", "named_frame", "parts_of", "plugin_table", "schema_of"]

#: the version since which relations of Spark say which query is cached
_CACHED_PLAN_SINCE: Final = SparkVersion(4, 0)


def named_frame(name: str | tuple[str, ...], frame: Any) -> NamedFrame:
    """Return the data to recognise a DataFrame that the plan reads by name."""
    plan = frame._jdf.queryExecution().analyzed()
    while (kind := plan.getClass().getSimpleName()) in ("SubqueryAlias", "View"):
        plan = plan.children().apply(0)
    names = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
    return NamedFrame(names, plan, kind, frame.schema.jsonValue()["fields"])


def named(node: Node, production: Production) -> Output | None:
    """Translate a relation that is one of the named DataFrames to a read of a named table; None for any other."""
    for frame in production.frames:
        if node.name == frame.kind and node.java.sameResult(frame.plan):
            return _named(frame.names, schema_of_fields(frame.fields), node)
    return None


def _named(names: tuple[str, ...], schema: NamedStruct, node: Node) -> Output:
    return Output(Read(base_schema=schema, read_type=NamedTable(names=names)), columns_of(node))


def view(node: Node, production: Production, outer: Scope | None) -> Output:
    """``View``: its definition, or a read of a named table if the caller asked for that."""
    known = _asked_for(parts_of(node.value("desc")["identifier"]), production)
    if known is None:
        return relation(node.children[0], production, outer)
    return _named(known, schema_of_fields(node.value("desc")["schema"]["fields"]), node)


def parts_of(identifier: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the name of a table or view, in parts; a temporary view has one part."""
    parts = (identifier.get("catalog"), identifier.get("database"), identifier["table"])
    return tuple(part for part in parts if part is not None)


def _asked_for(parts: tuple[str, ...], production: Production) -> tuple[str, ...] | None:
    """Return the name that the caller gave a table in the plan; None without one.

    Raises:
        UnsupportedPlanError: another table has that name already.
    """
    whole = tuple(part.lower() for part in parts)
    candidates = [whole]
    if len(whole) > 1:
        candidates.append(whole[-2:])
        if production.short_names and production.tables and whole[:-1] == production.database:
            candidates.append(whole[-1:])
    for candidate in candidates:
        asked = production.tables.get(".".join(candidate))
        if asked is not None:
            if production.named.setdefault(asked, whole) != whole:
                raise UnsupportedPlanError(
                    f"two tables of the query would have the name {'.'.join(asked)}: {'.'.join(parts)} and "
                    f"{'.'.join(production.named[asked])}",
                    hint="Give their full names in tables",
                )
            return asked
    return None


def logical(node: Node, production: Production, outer: Scope | None) -> Output:
    """``LogicalRelation``: a table of the catalog by its name, else files."""
    if node.value("isStreaming"):
        return stream(node, production, outer)
    listed = node.value("catalogTable")
    attributes = node.trees("output")
    if listed is not None:
        parts = parts_of(listed["identifier"])
        refuse_metadata_columns(attributes, _schema(node.java.relation().schema()))
        require_read_of_name(node, parts, production.session)
        return _named(_asked_for(parts, production) or parts, schema_of(attributes), node)
    java = node.java.relation()
    if java.getClass().getSimpleName() != "HadoopFsRelation" or not is_of_spark(java.location()):
        # Delta and Hudi have Parquet files, of which not all records are the table's
        kind = java.getClass().getName().rpartition(".")[2].partition("$")[0]
        raise UnsupportedPlanError(f"a read of {java} through {kind} has no Substrait form", hint=NAME_IT)
    source = Source(
        format=_format(java.fileFormat()),
        index=java.location(),
        options=read_options(java.options()),
        data=_schema(java.dataSchema()),
        partitions=_schema(java.partitionSchema()),
    )
    return _files(source, node, production)


def second_version(node: Node, production: Production, outer: Scope | None) -> Output:
    """``DataSourceV2Relation``: a table of a catalog by its name, else files."""
    attributes = node.trees("output")
    java = node.java
    table = java.table()
    found = plugin_table(node, production)
    if found is not None:
        refuse_metadata_columns(attributes, _schema(table.schema()))
        require_current_table(java, production.session)
        return _named(*found, node)
    kind = table.getClass().getSimpleName()
    if kind not in _FILE_TABLES:
        raise UnsupportedPlanError(f"a read of {table.name()} has no Substrait form", hint=NAME_IT)
    index = table.fileIndex()
    source = Source(
        format=_FILE_TABLES[kind],
        index=index,
        options=_options(java),
        data=_schema(table.dataSchema()),
        partitions=_schema(index.partitionSchema()),
    )
    return _files(source, node, production)


def plugin_table(node: Node, production: Production) -> tuple[tuple[str, ...], NamedStruct] | None:
    """Return the name and the schema of a ``DataSourceV2Relation`` that is a table of a catalog; None for any other.

    Raises:
        UnsupportedPlanError: it has options of its own.
    """
    java = node.java
    if not (java.identifier().isDefined() and java.catalog().isDefined()):
        return None
    if _options(java):
        raise other_options(java.table().name())
    identifier = java.identifier().get()
    parts = (java.catalog().get().name(), *identifier.namespace(), identifier.name())
    return _asked_for(parts, production) or parts, schema_of(node.trees("output"))


_FILE_TABLES: Final = {
    "ParquetTable": "parquet",
    "OrcTable": "orc",
    "CSVTable": "csv",
    "JsonTable": "json",
    "TextTable": "text",
    "AvroTable": "avro",
}


def _files(source: Source, node: Node, production: Production) -> Output:
    attributes = node.trees("output")
    fields = [*source.data["fields"], *source.partitions["fields"]]
    refuse_metadata_columns(attributes, {"fields": fields})
    schema = schema_of(attributes)
    files = local_files(source, production.session)
    # a read without files can only be expressed as an empty virtual table
    read = Read(base_schema=schema, read_type=files if files.items else VirtualTable(expressions=()))
    return Output(read, tuple(map(column, attributes)))


def hive(node: Node, production: Production, outer: Scope | None) -> Output:
    """``HiveTableRelation``: a table of Hive's metastore, by its name."""
    parts = parts_of(node.value("tableMeta")["identifier"])
    attributes = (*node.trees("dataCols"), *node.trees("partitionCols"))
    schema = schema_of(attributes)
    read = Read(base_schema=schema, read_type=NamedTable(names=_asked_for(parts, production) or parts))
    return Output(read, tuple(map(column, attributes)))


def cached(node: Node, production: Production, outer: Scope | None) -> Output:
    """``InMemoryRelation`` of optimised plans: the query whose result is cached."""
    if session_version(production.session) < _CACHED_PLAN_SINCE:
        raise NewerSparkError(
            "Spark does not say here which query is cached",
            feature="plans of optimised queries over cached data",
            since=_CACHED_PLAN_SINCE,
            hint="Leave optimized=True out",
        )
    below = relation(plan_of(node.java.cacheBuilder().logicalPlan()), production, outer)
    return Output(below.relation, tuple(map(column, node.trees("output"))))


def scanned(node: Node, production: Production, outer: Scope | None) -> Output:
    """``DataSourceV2ScanRelation`` of optimised plans: refused, because it includes pushed-down parts of the query."""
    raise UnsupportedPlanError(
        "the optimized plan pushes a part of the query into its data source",
        hint="Make the plan without optimized=True",
    )


def stream(node: Node, production: Production, outer: Scope | None) -> Output:
    """Refuse a stream."""
    raise UnsupportedPlanError(
        "a stream has no Substrait form: a plan reads bounded tables",
        hint="Make the plan of the query over a table, and pass the stream as that table when the plan runs",
    )


def _format(java: Any) -> str:
    """Return the short name of a file format."""
    kind: str = java.getClass().getSimpleName()
    return _FILE_FORMATS.get(kind, kind.removesuffix("FileFormat").lower())


_FILE_FORMATS: Final = {"ParquetFileFormat": "parquet", "OrcFileFormat": "orc", "CSVFileFormat": "csv"}


def _schema(java: Any) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(java.json())
    return schema


def _options(java: Any) -> dict[str, str]:
    """Return the options of a ``DataSourceV2Relation``, with names in lower case."""
    options = java.options().asCaseSensitiveMap()
    return {str(key).lower(): str(options.get(key)) for key in options.keySet().toArray()}


FORMS: Final = {
    "View": view,
    "LogicalRelation": logical,
    "DataSourceV2Relation": second_version,
    "DataSourceV2ScanRelation": scanned,
    "HiveTableRelation": hive,
    "InMemoryRelation": cached,
    "StreamingRelation": stream,
    "StreamingRelationV2": stream,
    "StreamingExecutionRelation": stream,
}
