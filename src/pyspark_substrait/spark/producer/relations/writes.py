"""Translate analysed statements that change tables to writes, updates and DDL, without executing them.

Spec: relations/logical_relations, "Write Operator", "DDL Operator", "Update Operator".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    Filter,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Read,
    Relation,
    TransformExpression,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import NamedStruct, same_type, with_nullability
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, typed
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.catalog_tables import require_own_options
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.reads import parts_of, plugin_table
from pyspark_substrait.spark.producer.relations.schemas import schema_of, schema_of_fields
from pyspark_substrait.spark.producer.relations.values import literals
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, field_of, scope_of
from pyspark_substrait.spark.session import has_setting

__all__ = ["FORMS"]


def insert(node: Node, production: Production, outer: Scope | None) -> Output:
    """INSERT into a table of files in Spark's catalog; INSERT OVERWRITE of the whole table replaces its records."""
    listed = node.value("catalogTable")
    if listed is None:
        raise UnsupportedPlanError(
            "an INSERT into files has no Substrait form", hint="Make a table of the files, and insert into that"
        )
    parts = parts_of(listed["identifier"])
    require_own_options(node.java.options(), node.java.catalogTable().get(), parts)
    schema = _table_schema(listed, production)
    if str(node.java.mode().toString()) == "Overwrite":
        partitioned = bool(node.trees("partitionColumns"))
        if partitioned and (not node.java.staticPartitions().isEmpty() or _dynamic(node, production)):
            raise UnsupportedPlanError(
                f"INSERT OVERWRITE of some partitions of {'.'.join(parts)} has no Substrait form",
                hint="Write it as a DELETE of the records of these partitions and an INSERT",
            )
        return _create(parts, schema, node.children[0], CreateMode.REPLACE_IF_EXISTS, production)
    return _write(parts, schema, _input(node.children[0], schema, production), WriteOp.INSERT)


def _dynamic(node: Node, production: Production) -> bool:
    """Whether only the partitions of the new records are replaced."""
    setting = production.session.conf.get("spark.sql.sources.partitionOverwriteMode", "static")
    options = {pair.lower() for pair in str(node.java.options().toString()).split()}
    return str(setting).lower() == "dynamic" or any("partitionoverwritemode" in option for option in options)


def append(node: Node, production: Production, outer: Scope | None) -> Output:
    """INSERT into a table of another catalog."""
    table = node.tree("table") or node.child("table")
    found = plugin_table(table, production) if table.name == "DataSourceV2Relation" else None
    if found is None:
        raise UnsupportedPlanError("an INSERT into anything but a table has no Substrait form")
    parts, schema = found
    if not node.java.writeOptions().isEmpty():
        raise UnsupportedPlanError(f"the options of the INSERT into {'.'.join(parts)} have no Substrait form")
    query = node.child("query")
    records = _translated(query, production).relation
    if node.value("isByName"):
        names = [field["name"] for field in _fields(query.java)]
        records, schema = _by_name(records, names, table.trees("output"), production)
    elif len(records.schema.types) != len(schema.struct.types):  # a format like Delta has it checked when it writes
        raise UnsupportedPlanError(
            f"an INSERT of {len(records.schema.types)} columns into {'.'.join(parts)}, which has "
            f"{len(schema.struct.types)}, has no Substrait form",
            hint="Name the columns",
        )
    return _write(parts, schema, _fitted(records, schema), WriteOp.INSERT)


def _by_name(
    records: Relation, names: Sequence[str], table: Sequence[Node], production: Production
) -> tuple[Relation, NamedStruct]:
    """Return the records with their columns in the order of the table, and those of the table's columns that they have.

    Spark brings them into this order itself, but for formats that take any schema, like Delta.
    """
    is_exact = has_setting(production.session, "spark.sql.caseSensitive", "true")
    spelled: Callable[[str], str] = str if is_exact else str.lower
    given = {spelled(name): position for position, name in enumerate(names)}
    columns = [attribute.value("name") for attribute in table]
    unknown = given.keys() - {spelled(name) for name in columns}
    if unknown or len(given) < len(names):
        raise UnsupportedPlanError(
            f"an INSERT by name of {', '.join(names)} into a table of {', '.join(columns)} has no Substrait form"
        )
    kept = [number for number, name in enumerate(columns) if spelled(name) in given]
    fields = [field_of(records.schema, given[spelled(columns[number])]) for number in kept]
    return projected(records, fields), schema_of([table[number] for number in kept])


def create_as(node: Node, production: Production, outer: Scope | None) -> Output:
    """CREATE TABLE … AS SELECT in Spark's catalog."""
    table = node.value("table")
    parts = parts_of(table["identifier"])
    _check_definition(node.java.table(), parts, production)
    query = node.tree("query")
    assert query is not None
    found = _translated(query, production)
    names = _listed(node.value("outputColumnNames"), node.java.outputColumnNames())
    fields = [
        {"name": name, "type": _as_nullable(field["type"]), "nullable": True}
        for name, field in zip(names, _fields(query.java), strict=True)
    ]
    mode = _SAVE_MODES[str(node.java.mode().toString())]
    schema = schema_of_fields(fields)
    return _written(
        Write(
            write_type=NamedObjectWrite(names=parts),
            table_schema=schema,
            op=WriteOp.CTAS,
            input=_fitted(found.relation, schema),
            create_mode=mode,
            output=OutputMode.NO_OUTPUT,
        )
    )


def _as_nullable(type: Any) -> Any:
    """Make all parts of a type nullable, as Spark does for new tables."""
    match type:
        case {"type": "array"}:
            return {**type, "elementType": _as_nullable(type["elementType"]), "containsNull": True}
        case {"type": "map"}:
            value, key = _as_nullable(type["valueType"]), _as_nullable(type["keyType"])
            return {**type, "keyType": key, "valueType": value, "valueContainsNull": True}
        case {"type": "struct"}:
            fields = [{**field, "type": _as_nullable(field["type"]), "nullable": True} for field in type["fields"]]
            return {**type, "fields": fields}
        case _:
            return type


_SAVE_MODES: Final = {
    "ErrorIfExists": CreateMode.ERROR_IF_EXISTS,
    "Ignore": CreateMode.IGNORE_IF_EXISTS,
    "Overwrite": CreateMode.REPLACE_IF_EXISTS,
}


def _create(
    parts: tuple[str, ...], schema: NamedStruct, query: Node, mode: CreateMode, production: Production
) -> Output:
    return _written(
        Write(
            write_type=NamedObjectWrite(names=parts),
            table_schema=schema,
            op=WriteOp.CTAS,
            input=_input(query, schema, production),
            create_mode=mode,
            output=OutputMode.NO_OUTPUT,
        )
    )


def create_table(node: Node, production: Production, outer: Scope | None) -> Output:
    """CREATE TABLE with columns, in Spark's catalog."""
    table = node.value("table")
    parts = parts_of(table["identifier"])
    if node.value("ignoreIfExists"):
        raise UnsupportedPlanError(
            f"CREATE TABLE IF NOT EXISTS {'.'.join(parts)} has no Substrait form",
            hint="Remove IF NOT EXISTS, or create the table from a query: CREATE TABLE IF NOT EXISTS … AS SELECT",
        )
    _check_definition(node.java.table(), parts, production)
    fields = table["schema"]["fields"]
    for field in fields:
        if "comment" in field["metadata"]:
            raise UnsupportedPlanError(f"the comment of the column {field['name']} has no Substrait form")
    schema = schema_of_fields(fields)
    return _ddl(parts, DdlObject.TABLE, DdlOp.CREATE, schema, defaults=_defaults(fields, schema, production))


def _defaults(fields: Sequence[Mapping[str, Any]], schema: NamedStruct, production: Production) -> tuple[Literal, ...]:
    """Return the default of each column, null if none is given."""
    found = []
    for field, type in zip(fields, schema.struct.types, strict=True):
        text = field["metadata"].get("CURRENT_DEFAULT")
        if text is None:
            found.append(Literal(type=with_nullability(type, True), value=None))
            continue
        if not _is_constant(text, production):
            raise UnsupportedPlanError(
                f"the default {text} of the column {field['name']} has no Substrait form: defaults are literals there"
            )
        frame = production.session.sql(f"SELECT {field['metadata']['EXISTS_DEFAULT']} AS value")
        declared = production.session._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(field["type"])).sql()
        value = collected(frame.selectExpr(f"CAST(value AS {declared}) AS value")).column(0)
        found.append(literals(value, with_nullability(type, True))[0])
    return tuple(found)


def _is_constant(text: str, production: Production) -> bool:
    parsed = production.session._jsparkSession.sessionState().sqlParser().parseExpression(text)
    return all(
        item["class"].rsplit(".", 1)[-1] in ("Literal", "Cast", "UnaryMinus") for item in json.loads(parsed.toJSON())
    )


def create_view(node: Node, production: Production, outer: Scope | None) -> Output:
    """CREATE VIEW of a persistent view."""
    parts = parts_of(node.value("name"))
    if node.object_name("viewType") != "PersistedView":
        raise UnsupportedPlanError(
            f"the temporary view {'.'.join(parts)} has no Substrait form",
            hint="Make the plan of the query itself, or remove TEMPORARY",
        )
    if node.value("allowExisting"):
        raise UnsupportedPlanError(
            f"CREATE VIEW IF NOT EXISTS {'.'.join(parts)} has no Substrait form", hint="Leave IF NOT EXISTS out"
        )
    if node.value("comment") or not node.java.properties().isEmpty():
        raise UnsupportedPlanError(f"the comment and the properties of {'.'.join(parts)} have no Substrait form")
    query = node.tree("plan")
    assert query is not None
    given = node.java.userSpecifiedColumns()
    pairs = [given.apply(position) for position in range(given.size())]
    if any(pair._2().isDefined() for pair in pairs):
        raise UnsupportedPlanError(f"the comments of the columns of {'.'.join(parts)} have no Substrait form")
    fields = _fields(query.java)
    names = [pair._1() for pair in pairs] or [field["name"] for field in fields]
    schema = schema_of_fields({**field, "name": name} for field, name in zip(fields, names, strict=True))
    definition = _fitted(_translated(query, production).relation, schema)
    op = DdlOp.CREATE_OR_REPLACE if node.value("replace") else DdlOp.CREATE
    return _ddl(parts, DdlObject.VIEW, op, schema, definition=definition)


def drop_table(node: Node, production: Production, outer: Scope | None) -> Output:
    """DROP TABLE."""
    target = node.children[0].java
    identifier = target.identifier()
    parts = (target.catalog().name(), *identifier.namespace(), identifier.name())
    return _drop(node, parts, DdlObject.TABLE)


def drop(node: Node, production: Production, outer: Scope | None) -> Output:
    """DROP VIEW, and DROP TABLE in the form in which Spark executes it."""
    return _drop(node, parts_of(node.value("tableName")), DdlObject.VIEW if node.value("isView") else DdlObject.TABLE)


def _drop(node: Node, parts: tuple[str, ...], object: DdlObject) -> Output:
    if node.value("purge"):
        raise UnsupportedPlanError("DROP TABLE … PURGE has no Substrait form", hint="Leave PURGE out")
    return _ddl(parts, object, DdlOp.DROP_IF_EXIST if node.value("ifExists") else DdlOp.DROP, None)


def add_columns(node: Node, production: Production, outer: Scope | None) -> Output:
    """ALTER TABLE … ADD COLUMNS in Spark's catalog: the plan states the existing columns and the new ones."""
    parts = parts_of(node.value("table"))
    catalog = production.session._jsparkSession.sessionState().catalog()
    table = catalog.getTableMetadata(node.java.table())
    before = [*_schema_fields(table.dataSchema())]
    added = [{**field, "type": field["dataType"]} for field in node.value("colsToAdd")]
    behind = [*_schema_fields(table.partitionSchema())]
    for field in added:
        if field["metadata"]:
            raise UnsupportedPlanError(
                f"the comment or default of the new column {field['name']} has no Substrait form", hint="Leave it out"
            )
    return _ddl(parts, DdlObject.TABLE, DdlOp.ALTER, schema_of_fields([*before, *added, *behind]))


def delete(node: Node, production: Production, outer: Scope | None) -> Output:
    """DELETE FROM: removes the records of the table for which the condition is true."""
    target, read = _target(node.children[0], production)
    condition = node.tree("condition")
    input: Relation = read
    if condition is not None and not (condition.name == "Literal" and condition.value("value") == "true"):
        scope = scope_of(target, production, None)
        input = Filter(input=read, condition=expression(condition, scope))
    return _write(_names(read), read.base_schema, input, WriteOp.DELETE)


def truncate(node: Node, production: Production, outer: Scope | None) -> Output:
    """TRUNCATE TABLE: removes all records."""
    if node.value("partitionSpec") or not node.java.partitionSpec().isEmpty():
        raise UnsupportedPlanError("TRUNCATE TABLE … PARTITION has no Substrait form", hint="Write it as a DELETE")
    parts = parts_of(node.value("tableName"))
    catalog = production.session._jsparkSession.sessionState().catalog()
    schema = schema_of_fields(_schema_fields(catalog.getTableMetadata(node.java.tableName()).schema()))
    return _write(parts, schema, Read(base_schema=schema, read_type=NamedTable(names=parts)), WriteOp.DELETE)


def update(node: Node, production: Production, outer: Scope | None) -> Output:
    """UPDATE: changes columns of the records for which the condition is true."""
    target, read = _target(node.children[0], production)
    scope = scope_of(target, production, None)
    transformations = []
    for assignment in node.trees("assignments"):
        key, value = assignment.children
        if key.name != "AttributeReference":
            raise UnsupportedPlanError(
                f"the new value of `{key.sql}`, a part of a column, has no Substrait form",
                hint="Set a new value of the whole column",
            )
        position = scope.positions[key.expression_id]
        new = typed(expression(value, scope), read.schema.types[position])
        transformations.append(TransformExpression(transformation=new, column_target=position))
    condition = node.tree("condition")
    return _written(
        Update(
            update_type=NamedTable(names=_names(read)),
            table_schema=read.base_schema,
            condition=None if condition is None else expression(condition, scope),
            transformations=tuple(transformations),
        )
    )


def merge(node: Node, production: Production, outer: Scope | None) -> Output:
    """Refuse MERGE INTO."""
    raise UnsupportedPlanError(
        "MERGE INTO has no Substrait form", hint="Write it as UPDATE, DELETE and INSERT statements, a plan for each"
    )


def executed(node: Node, production: Production, outer: Scope | None) -> Output:
    """Refuse ``CommandResult``, a statement that ``spark.sql`` has executed already."""
    raise UnsupportedPlanError(
        "the statement has been executed already, and its result has no Substrait form",
        hint="from_sql(text, spark) makes the plan of a statement without executing it",
    )


def _target(node: Node, production: Production) -> tuple[Output, Read]:
    """Translate the table that a statement changes to a read of its records."""
    found = relation(node, production, None)
    read = found.relation
    if not (isinstance(read, Read) and isinstance(read.read_type, NamedTable)):
        raise UnsupportedPlanError("a change of anything but a table has no Substrait form")
    return found, read


def _names(read: Read) -> tuple[str, ...]:
    assert isinstance(read.read_type, NamedTable)
    return read.read_type.names


def _translated(query: Node, production: Production) -> Output:
    """Translate the query whose records are stored."""
    production.writing = True
    try:
        return relation(query, production, None)
    finally:
        production.writing = False


def _input(query: Node, schema: NamedStruct, production: Production) -> Relation:
    return _fitted(_translated(query, production).relation, schema)


def _fitted(input: Relation, schema: NamedStruct) -> Relation:
    """Cast a relation to the types of a schema; nulls in required columns are found when it runs."""
    values = []
    for position, wanted in enumerate(schema.struct.types):
        value = field_of(input.schema, position)
        values.append(value if same_type(value.type, wanted) else typed(value, wanted))
    return projected(input, values)


def _table_schema(listed: Mapping[str, Any], production: Production) -> NamedStruct:
    return schema_of_fields(listed["schema"]["fields"])


def _schema_fields(java: Any) -> list[Any]:
    fields: list[Any] = json.loads(java.json())["fields"]
    return fields


def _fields(java: Any) -> list[Any]:
    return _schema_fields(java.schema())


def _listed(value: Any, java: Any) -> Iterable[str]:
    return value if isinstance(value, list) else [java.apply(number) for number in range(java.size())]


def _check_definition(table: Any, parts: tuple[str, ...], production: Production) -> None:
    """Refuse a table definition with more than columns.

    Args:
        table: the ``CatalogTable`` of the JVM.
        parts: its name.
        production: the translation.
    """
    name = ".".join(parts)
    usual = production.session.conf.get("spark.sql.sources.default")
    provider = table.provider().get() if table.provider().isDefined() else usual
    if str(provider).lower() != str(usual).lower():
        raise UnsupportedPlanError(
            f"USING {provider} has no Substrait form: {name} gets the format of the session that runs the plan",
            hint=f"Leave it out, or make the plan in a session with spark.sql.sources.default={provider}",
        )
    storage = table.storage()
    stated = {
        "PARTITIONED BY": not table.partitionColumnNames().isEmpty(),
        "CLUSTERED BY": table.bucketSpec().isDefined(),
        "LOCATION": storage.locationUri().isDefined(),
        "OPTIONS": not storage.properties().isEmpty(),
        "TBLPROPERTIES": not table.properties().isEmpty(),
        "COMMENT": table.comment().isDefined(),
    }
    for clause, there in stated.items():
        if there:
            raise UnsupportedPlanError(f"{clause} of {name} has no Substrait form", hint="Leave it out")


def _write(parts: tuple[str, ...], schema: NamedStruct, input: Relation, op: WriteOp) -> Output:
    return _written(
        Write(
            write_type=NamedObjectWrite(names=parts),
            table_schema=schema,
            op=op,
            input=input,
            output=OutputMode.NO_OUTPUT,
        )
    )


def _ddl(
    parts: tuple[str, ...],
    object: DdlObject,
    op: DdlOp,
    schema: NamedStruct | None,
    *,
    defaults: tuple[Literal, ...] | None = None,
    definition: Relation | None = None,
) -> Output:
    return _written(
        Ddl(
            write_type=NamedObjectWrite(names=parts),
            object=object,
            op=op,
            table_schema=schema,
            table_defaults=defaults,
            view_definition=definition,
        )
    )


def _written(statement: Write | Ddl | Update) -> Output:
    return Output(statement, ())


FORMS: Final = {
    "InsertIntoHadoopFsRelationCommand": insert,
    "AppendData": append,
    "CreateDataSourceTableAsSelectCommand": create_as,
    "CreateDataSourceTableCommand": create_table,
    "CreateViewCommand": create_view,
    "DropTable": drop_table,
    "DropTableCommand": drop,
    "AlterTableAddColumnsCommand": add_columns,
    "DeleteFromTable": delete,
    "TruncateTableCommand": truncate,
    "UpdateTable": update,
    "MergeIntoTable": merge,
    "CommandResult": executed,
}
